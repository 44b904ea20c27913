# The web server of the ParDispatcher paper ("PD": Wang et al.), which names filebench and Sehgal et al. (FAST 2010) and no
# sizes. The sizes are therefore those of Sehgal et al.: 20,000 files around 32 KiB, 100 threads, ten reads for a write. The
# rest is filebench's own webserver.

set $nfiles = 20000
set $meanfilesize = 32k
