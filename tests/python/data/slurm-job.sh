#!/usr/bin/env bash

#SBATCH -J flashwatt
#SBATCH -p short
#SBATCH -A me
#SBATCH -n 1
#SBATCH --cpus-per-task=4
#SBATCH --mem=15G
#SBATCH -t 02:00:00
#SBATCH --requeue
module load python
/shared/venv/bin/python -m distributed.cli.dask_worker tcp://SCHEDULER:PORT --name flashwatt --nthreads 1 --memory-limit 3.73GiB --nworkers 4 --nanny --death-timeout 60 --resources flashwatt_mb=4000
