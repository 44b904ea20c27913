# The file server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 50,000 files around 256 KiB, 100 threads, a read for two writes. The
# rest is filebench's own fileserver.

set $nfiles = 50000
set $meanfilesize = 256k
set $nthreads = 100
