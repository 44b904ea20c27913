#!/bin/bash
# First process of the guest. The kernel's command line gives two words: lab=DIR, a folder of the machine outside, and depth=N,
# the requests that the disk takes. DIR/plan has lines "SCHEDULER JOB NR_REQUESTS NAME": each runs DIR/JOB.fio under the scheduler, with
# that many requests in the queue (0: as many as the kernel chooses), and leaves fio's report in DIR/NAME.json.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
word() { tr ' ' '\n' < /proc/cmdline | sed -n "s/^$1=//p"; }
mount -t hostfs -o "$(word lab)" lab /mnt || echo "cannot write outside"

modules=/usr/lib/uml/modules/$(uname -r)/kernel
insmod "$modules/drivers/block/virtio_blk.ko" queue_depth="$(word depth)"
insmod "$modules/block/bfq.ko"
queue=/sys/block/vda/queue

# The disk has no cache, no rotating parts, and no throttle of its own for write-back (wbt). Write-back begins early and
# the page cache stays small, so that a buffered job keeps the disk busy from its first second on.
echo "write through" > $queue/write_cache
echo 0 > $queue/rotational
echo 0 > $queue/add_random
echo 256 > $queue/max_sectors_kb
echo $((4 << 20)) > /proc/sys/vm/dirty_background_bytes
echo $((16 << 20)) > /proc/sys/vm/dirty_bytes
echo 0 > /proc/sys/vm/dirty_writeback_centisecs

last=$(($(cat /sys/block/vda/size) / 8 - 1))
mark() { dd if=/dev/vda of=/dev/null bs=4096 skip=$last count=1 iflag=direct status=none; }

uname -r > /mnt/kernel
while read -r scheduler job requests name; do
    echo none > $queue/scheduler
    echo "$scheduler" > $queue/scheduler
    [ "$requests" != 0 ] && [ "$scheduler" != none ] && echo "$requests" > $queue/nr_requests
    # Linux 6.1 sets async_depth from the number of requests before the change; here nobody is to have fewer than all.
    [ -e $queue/iosched/async_depth ] && [ "$scheduler" = mq-deadline ] && cat $queue/nr_requests > $queue/iosched/async_depth
    [ -e $queue/wbt_lat_usec ] && echo 0 > $queue/wbt_lat_usec
    (cd $queue && grep -H . scheduler nr_requests max_sectors_kb max_segments nomerges rotational wbt_lat_usec) > "/mnt/$name.queue" 2>&1
    grep -sH . $queue/iosched/* >> "/mnt/$name.queue"
    mark
    cat /sys/block/vda/stat > "/mnt/$name.before"
    (cd /tmp && fio --output-format=json --output="/mnt/$name.json" "/mnt/$job.fio") > "/mnt/$name.messages" 2>&1
    cat /sys/block/vda/stat > "/mnt/$name.after"
    sync
    mark
    echo 1 > /proc/sys/vm/drop_caches
done < /mnt/plan
echo done > /mnt/finished
exec /usr/sbin/poweroff -f -f
