# The mail server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 50,000 files around 16 KiB, 100 threads, a read for each write. The
# rest is filebench's own varmail.

set $nfiles = 50000
set $nthreads = 100
