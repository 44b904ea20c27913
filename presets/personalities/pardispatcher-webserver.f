# The web server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 20,000 files around 32 KiB, 100 threads, ten reads for a write. The
# rest is filebench's own webserver.

set $dir = /www
set $nfiles = 20000
set $meandirwidth = 20
set $meanfilesize = 32k
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
