#!/bin/sh
# A study as an array of SLURM jobs, a shard each:
#   sbatch --array=0-15 examples/cluster/slurm-array.sh study.toml results 16
#   flashwatt sweep study.toml --out results --merge
# The directory must be one that all nodes see. A job that is submitted again goes on where it ended.
#SBATCH --job-name=flashwatt
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
set -eu
study=$1 results=$2 shards=$3
exec flashwatt sweep "$study" --out "$results" --shard "$SLURM_ARRAY_TASK_ID/$shards" --workers "${SLURM_CPUS_PER_TASK:-1}"
