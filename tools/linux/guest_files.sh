#!/bin/bash
# First process of the guest of capture_files.py. The kernel's command line gives lab=DIR, a folder of the machine outside, and fs=NAME.
# Makes a file system on the disk, runs DIR/job.fio on it, and leaves what fio and the file system say in DIR. A read of 512
# bytes in sector N marks the end of phase N in the disk's log; file systems and their tools do not read sectors so.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
word() { tr ' ' '\n' < /proc/cmdline | sed -n "s/^$1=//p"; }
lab=$(word lab)
fs=$(word fs)
mount -t tmpfs mnt /mnt
mkdir /mnt/out /mnt/t
mount -t hostfs -o "$lab" lab /mnt/out || echo "cannot write outside"

modules=/usr/lib/uml/modules/$(uname -r)/kernel
insmod "$modules/drivers/block/virtio_blk.ko"
case $fs in
    nilfs2) insmod "$modules/fs/nilfs2/nilfs2.ko" ;;
    f2fs) insmod "$modules/crypto/crc32_generic.ko"; insmod "$modules/fs/f2fs/f2fs.ko" ;;
esac
queue=/sys/block/vda/queue
echo "write back" > $queue/write_cache
echo 0 > $queue/rotational

cat > /tmp/mark <<'END'
#!/bin/sh
exec dd if=/dev/vda of=/dev/null bs=512 skip="$1" count=1 iflag=direct status=none
END
# A thread of fio that has laid out its files waits here for the others: DIR/job.fio runs this before a thread's first operation.
cat > /tmp/laid_out <<'END'
#!/bin/sh
echo >> /tmp/threads
if [ "$(wc -l < /tmp/threads)" = 8 ] && mkdir /tmp/last 2> /dev/null; then /tmp/mark 4; echo > /tmp/all; fi
while [ ! -e /tmp/all ]; do sleep 0.05; done
END
chmod +x /tmp/mark /tmp/laid_out

uname -r > /mnt/out/kernel
(cd $queue && grep -H . scheduler write_cache nr_requests max_sectors_kb max_segments read_ahead_kb rotational discard_max_bytes) > /mnt/out/queue
(cd /proc/sys/vm && grep -H . dirty_*) > /mnt/out/vm
/tmp/mark 1
case $fs in
    ext2) mkfs.ext2 -q -b 4096 /dev/vda ;;
    ext3) mkfs.ext3 -q -b 4096 /dev/vda ;;
    ext3_noatime) mkfs.ext3 -q -b 4096 /dev/vda ;;
    ext3_nobarrier) mkfs.ext3 -q -b 4096 /dev/vda ;;
    ext3_seconds) mkfs.ext3 -q -b 4096 -I 128 /dev/vda ;;
    nilfs2) mkfs.nilfs2 -q -B 512 /dev/vda ;;
    f2fs) mkfs.f2fs -q /dev/vda ;;
esac > /mnt/out/mkfs.messages 2>&1
/tmp/mark 2
case $fs in
    nilfs2) mount -t nilfs2 -i /dev/vda /mnt/t ;;
    ext3 | ext3_seconds) mount -t ext4 -o nodelalloc /dev/vda /mnt/t ;;
    ext3_noatime) mount -t ext4 -o nodelalloc,noatime /dev/vda /mnt/t ;;
    ext3_nobarrier) mount -t ext4 -o nodelalloc,barrier=0 /dev/vda /mnt/t ;;
    *) mount -t $fs /dev/vda /mnt/t ;;
esac
grep /mnt/t /proc/mounts > /mnt/out/mounts
/tmp/mark 3
(cd /tmp && fio --output-format=json --output=/mnt/out/fio.json /mnt/out/job.fio) > /mnt/out/fio.messages 2>&1
/tmp/mark 5
sync
/tmp/mark 6
filefrag -v /mnt/t/v.* > /mnt/out/filefrag 2>&1
df -k /mnt/t > /mnt/out/df
cat /proc/fs/jbd2/vda-8/info > /mnt/out/jbd2 2> /dev/null
/tmp/mark 7
umount /mnt/t
/tmp/mark 8
echo done > /mnt/out/finished
exec /usr/sbin/poweroff -f -f
