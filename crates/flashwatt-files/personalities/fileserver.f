# A file server with home directories: each user writes a file, appends to one, reads one, removes one, looks one up.
#
# Every number is filebench's own (workloads/fileserver.f of versions 1.4 and 1.5, "File-server Version 3.0"): 10,000 files
# around 128 KiB of which 80 % exist at first, directories of about 20 entries, 50 threads, calls of 1 MiB, appends below
# 16 KiB. The shape of the sizes, 1.5, is filebench 1.4's for a constant `size`.

set $dir = /home
set $nfiles = 10000
set $meandirwidth = 20
set $meanfilesize = 128k
set $nthreads = 50
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
