# The database of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no sizes.
# The sizes are therefore those of Sehgal et al.: 10 files of 0.5 GiB, calls of 2 KiB, 200 readers and 10 writers, 20 reads for a
# write. filebench's own oltp lets the ten writers write 1000 rows for 1000 reads: 20,000 posts for 100 rows (chosen) give the
# ratio. The rest, log included, is filebench's own oltp.

set $dir = /db
set $eventrate = 0
set $iosize = 2k
set $nshadows = 200
set $ndbwriters = 10
set $usermode = 200000
set $filesize = 512m
set $logfilesize = 10m
set $memperthread = 1m
set $workingset = 0
set $nfiles = 10
set $nlogfiles = 1
set $directio = 0
set $logposts = 3200
set $dbposts = 20000

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
