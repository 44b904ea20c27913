# The varmail of Park et al. 2011, section 4.3 ("P11"; Seo et al. 2008, section 3.3, has the same numbers).
#
# Published: writes of 16 KiB on average, files of 128 KiB on average, a read for each write, about 1.5 GB in all: 12,288 files.
# An append is an even draw below `iosize`: 32 KiB give the published mean. Not published, so filebench's own varmail: threads,
# the share of files that exist at first, directories, calls. The four reads and writes of a round are two of each.

set $dir = /mail
set $nfiles = 12288
set $meandirwidth = 1000000
set $meanfilesize = 128k
set $nthreads = 16
set $iosize = 1m
set $appendsize = 32k

define fileset name=mailboxes, path=$dir, size=$meanfilesize, entries=$nfiles, dirwidth=$meandirwidth, prealloc=80

define process name=mailer, instances=1
{
  thread name=session, memsize=10m, instances=$nthreads
  {
    flowop deletefile name=expunge, filesetname=mailboxes

    flowop createfile name=deliver_create, filesetname=mailboxes, fd=1
    flowop appendfilerand name=deliver_append, iosize=$appendsize, fd=1
    flowop fsync name=deliver_fsync, fd=1
    flowop closefile name=deliver_close, fd=1

    flowop openfile name=extend_open, filesetname=mailboxes, fd=1
    flowop readwholefile name=extend_read, iosize=$iosize, fd=1
    flowop appendfilerand name=extend_append, iosize=$appendsize, fd=1
    flowop fsync name=extend_fsync, fd=1
    flowop closefile name=extend_close, fd=1

    flowop openfile name=fetch_open, filesetname=mailboxes, fd=1
    flowop readwholefile name=fetch_read, iosize=$iosize, fd=1
    flowop closefile name=fetch_close, fd=1
  }
}

run 60
