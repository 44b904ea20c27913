# The file server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 50,000 files around 256 KiB, 100 threads, a read for two writes. The
# rest is filebench's own fileserver.

set $dir = /home
set $nfiles = 50000
set $meandirwidth = 20
set $meanfilesize = 256k
set $nthreads = 100
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=homes, path=$dir, size=$meanfilesize, entries=$nfiles, dirwidth=$meandirwidth, prealloc=80

define process name=server, instances=1
{
  thread name=user, memsize=10m, instances=$nthreads
  {
    flowop createfile name=save_create, filesetname=homes, fd=1
    flowop writewholefile name=save_write, srcfd=1, fd=1, iosize=$iosize
    flowop closefile name=save_close, fd=1

    flowop openfile name=append_open, filesetname=homes, fd=1
    flowop appendfilerand name=append_write, iosize=$meanappendsize, fd=1
    flowop closefile name=append_close, fd=1

    flowop openfile name=load_open, filesetname=homes, fd=1
    flowop readwholefile name=load_read, iosize=$iosize, fd=1
    flowop closefile name=load_close, fd=1

    flowop deletefile name=remove, filesetname=homes
    flowop statfile name=look_up, filesetname=homes
  }
}

run 60
