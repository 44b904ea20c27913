# A mail server that keeps each message in a file: messages are removed, delivered, read and extended, read.
#
# Every number is filebench's own (workloads/varmail.f of versions 1.4 and 1.5, "Varmail Version 3.0"): 1000 files around
# 16 KiB of which 80 % exist at first, all in one directory (its mean width is a million), 16 threads, calls of 1 MiB,
# appends below 16 KiB. The shape of the sizes, 1.5, is filebench 1.4's for a constant `size`.

set $dir = /mail
set $nfiles = 1000
set $meandirwidth = 1000000
set $meanfilesize = 16k
set $nthreads = 16
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=mailboxes, path=$dir, size=$meanfilesize, entries=$nfiles, dirwidth=$meandirwidth, prealloc=80

define process name=mailer, instances=1
{
  thread name=session, memsize=10m, instances=$nthreads
  {
    flowop deletefile name=expunge, filesetname=mailboxes

    flowop createfile name=deliver_create, filesetname=mailboxes, fd=1
    flowop appendfilerand name=deliver_append, iosize=$meanappendsize, fd=1
    flowop fsync name=deliver_fsync, fd=1
    flowop closefile name=deliver_close, fd=1

    flowop openfile name=extend_open, filesetname=mailboxes, fd=1
    flowop readwholefile name=extend_read, iosize=$iosize, fd=1
    flowop appendfilerand name=extend_append, iosize=$meanappendsize, fd=1
    flowop fsync name=extend_fsync, fd=1
    flowop closefile name=extend_close, fd=1

    flowop openfile name=fetch_open, filesetname=mailboxes, fd=1
    flowop readwholefile name=fetch_read, iosize=$iosize, fd=1
    flowop closefile name=fetch_close, fd=1
  }
}

run 60
