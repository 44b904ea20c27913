# The database of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no sizes.
# The sizes are therefore those of Sehgal et al.: 10 files of 0.5 GiB, calls of 2 KiB, 200 readers and 10 writers, 20 reads for a
# write. filebench's own oltp lets the ten writers write 1000 rows for 1000 reads: 20,000 posts for 100 rows (chosen) give the
# ratio. The rest, log included, is filebench's own oltp.

set $filesize = 512m
set $dbposts = 20000
