#!/bin/sh
# A study on the machines of a list, by GNU parallel over ssh; without a list, on this machine:
#   examples/cluster/parallel.sh study.toml results 16 machines.txt
# The directory must be one that all machines see, under the same name.
set -eu
study=$1 results=$2 shards=$3
seq 0 $((shards - 1)) |
  parallel ${4:+--sshloginfile "$4" --workdir "$PWD"} --resume-failed --joblog "$results.log" \
    flashwatt sweep "$study" --out "$results" --shard "{}/$shards" --workers 1
flashwatt sweep "$study" --out "$results" --merge
