# The mail server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 50,000 files around 16 KiB, 100 threads, a read for each write. The
# rest is filebench's own varmail.

set $dir = /mail
set $nfiles = 50000
set $meandirwidth = 1000000
set $meanfilesize = 16k
set $nthreads = 100
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
