# The fileserver of Park et al. 2011, section 4.3 ("P11"; Seo et al. 2008, section 3.3, has the same numbers): files that were
# updated are read. Only the reading is measured.
#
# Published: files of 8 MB on average, about 8 GB in all (1024 files), each written sequentially one by one, updated about
# thirty times by random writes of 16 KB on average; then 50 threads read them sequentially. Chosen: every file is written and
# synced before the first is updated, and updates are synced, or they would meet in memory and never reach the drive; updates
# have the gamma distribution of files' sizes, in multiples of 512 bytes; calls of 1 MiB and directories of 20 as in filebench's
# own fileserver. The attributes `after` and `rounds` are not filebench's: a process starts when the other has ended, a thread ends
# after that number of rounds.

set $dir = /files
set $nfiles = 1024
set $meandirwidth = 20
set $meanfilesize = 8m
set $nupdates = 30
set $updatesize = cvar(type=cvar-gamma, parameters=mean:16384;gamma:1.5, min=512, round=512)
set $nreaders = 50
set $iosize = 1m

define fileset name=files, path=$dir, size=$meanfilesize, entries=$nfiles, dirwidth=$meandirwidth

define process name=writer
{
  thread name=writer, rounds=$nfiles
  {
    flowop createfile name=create, filesetname=files, fd=1
    flowop writewholefile name=write, srcfd=1, fd=1, iosize=$iosize
    flowop fsync name=write_fsync, fd=1
    flowop closefile name=write_close, fd=1
  }
}

define process name=updater, after=writer
{
  thread name=updater, rounds=$nfiles
  {
    flowop openfile name=update_open, filesetname=files, fd=1
    flowop write name=update, iosize=$updatesize, random, iters=$nupdates, fd=1
    flowop fsync name=update_fsync, fd=1
    flowop closefile name=update_close, fd=1
  }
}

define process name=reader, after=updater
{
  thread name=reader, instances=$nreaders
  {
    flowop openfile name=read_open, filesetname=files, fd=1
    flowop readwholefile name=read, iosize=$iosize, fd=1
    flowop closefile name=read_close, fd=1
  }
}

run 60
