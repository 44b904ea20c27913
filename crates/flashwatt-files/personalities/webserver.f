# A web server: each thread sends ten pages, then adds a line to the log that all share.
#
# Every number is filebench's own (workloads/webserver.f of versions 1.4 and 1.5, "Web-server Version 3.x"): 1000 files around
# 16 KiB, all there from the beginning, directories of about 20 entries, 100 threads, calls of 1 MiB, appends below 16 KiB to
# one log of 16 KiB. The shape of the sizes, 1.5, is filebench 1.4's for a constant `size`.

set $dir = /www
set $nfiles = 1000
set $meandirwidth = 20
set $meanfilesize = 16k
set $nthreads = 100
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=pages, path=$dir, size=$meanfilesize, entries=$nfiles, dirwidth=$meandirwidth, prealloc=100, readonly
define fileset name=logs, path=$dir, size=$meanfilesize, entries=1, dirwidth=$meandirwidth, prealloc

define process name=server, instances=1
{
  thread name=connection, memsize=10m, instances=$nthreads
  {
    flowop openfile name=open1, filesetname=pages, fd=1
    flowop readwholefile name=read1, iosize=$iosize, fd=1
    flowop closefile name=close1, fd=1
    flowop openfile name=open2, filesetname=pages, fd=1
    flowop readwholefile name=read2, iosize=$iosize, fd=1
    flowop closefile name=close2, fd=1
    flowop openfile name=open3, filesetname=pages, fd=1
    flowop readwholefile name=read3, iosize=$iosize, fd=1
    flowop closefile name=close3, fd=1
    flowop openfile name=open4, filesetname=pages, fd=1
    flowop readwholefile name=read4, iosize=$iosize, fd=1
    flowop closefile name=close4, fd=1
    flowop openfile name=open5, filesetname=pages, fd=1
    flowop readwholefile name=read5, iosize=$iosize, fd=1
    flowop closefile name=close5, fd=1
    flowop openfile name=open6, filesetname=pages, fd=1
    flowop readwholefile name=read6, iosize=$iosize, fd=1
    flowop closefile name=close6, fd=1
    flowop openfile name=open7, filesetname=pages, fd=1
    flowop readwholefile name=read7, iosize=$iosize, fd=1
    flowop closefile name=close7, fd=1
    flowop openfile name=open8, filesetname=pages, fd=1
    flowop readwholefile name=read8, iosize=$iosize, fd=1
    flowop closefile name=close8, fd=1
    flowop openfile name=open9, filesetname=pages, fd=1
    flowop readwholefile name=read9, iosize=$iosize, fd=1
    flowop closefile name=close9, fd=1
    flowop openfile name=open10, filesetname=pages, fd=1
    flowop readwholefile name=read10, iosize=$iosize, fd=1
    flowop closefile name=close10, fd=1

    flowop appendfilerand name=log_append, filesetname=logs, iosize=$meanappendsize, fd=2
  }
}

run 60
