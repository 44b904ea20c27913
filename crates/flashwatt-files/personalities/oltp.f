# A database: readers look rows up at random; their posts let ten writers write changed rows, and a log writer its log.
#
# Every number is filebench's own (workloads/oltp.f of versions 1.4 and 1.5, "OLTP Version 3.0"): 10 files of 10 MiB and a log of
# 10 MiB (all of that size: version 1.4 has filesizegamma=0), calls of 2 KiB, 200 readers that compute 200,000 steps behind
# each read, 10 writers that write 100 rows for 1000 posts, a log writer that writes 256 KiB for 3200. A step of `hog` takes a
# nanosecond here (chosen). The rate is not limited.

set $dir = /db
set $eventrate = 0
set $iosize = 2k
set $nshadows = 200
set $ndbwriters = 10
set $usermode = 200000
set $filesize = 10m
set $logfilesize = 10m
set $memperthread = 1m
set $workingset = 0
set $nfiles = 10
set $nlogfiles = 1
set $directio = 0
set $logposts = 3200
set $dbposts = 1000

eventgen rate=$eventrate

define fileset name=tables, path=$dir, size=$filesize, filesizegamma=0, entries=$nfiles, dirwidth=1024, prealloc=100, reuse
define fileset name=redo, path=$dir, size=$logfilesize, filesizegamma=0, entries=$nlogfiles, dirwidth=1024, prealloc=100, reuse

define process name=log_writer, instances=1
{
  thread name=log_writer, memsize=$memperthread, useism
  {
    flowop aiowrite name=log_write, filesetname=redo, iosize=256k, random, directio=$directio, dsync
    flowop aiowait name=log_wait
    flowop semblock name=log_block, value=$logposts, highwater=1000
  }
}

define process name=db_writer, instances=$ndbwriters
{
  thread name=db_writer, memsize=$memperthread, useism
  {
    flowop aiowrite name=db_write, filesetname=tables, iosize=$iosize, workingset=$workingset, random, iters=100, opennext,
      directio=$directio, dsync
    flowop hog name=db_compute, value=10000
    flowop semblock name=db_block, value=$dbposts, highwater=2000
    flowop aiowait name=db_wait
  }
}

define process name=shadow, instances=$nshadows
{
  thread name=shadow, memsize=$memperthread, useism
  {
    flowop read name=db_read, filesetname=tables, iosize=$iosize, workingset=$workingset, random, opennext, directio=$directio
    flowop hog name=user_compute, value=$usermode
    flowop sempost name=post_log, value=1, target=log_block, blocking
    flowop sempost name=post_db, value=1, target=db_block, blocking
    flowop eventlimit name=rate
  }
}

run 60
