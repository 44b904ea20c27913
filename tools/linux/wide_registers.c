/* Lets user-mode Linux 6.1 run on processors with registers that it does not know (AMX).
 *
 * It sets the floating-point registers of its processes with a buffer of 2,696 bytes. Newer kernels of the machine outside
 * take a buffer of the full size only, and refuse that one (EFAULT). This ptrace, loaded before the C library's, adds what lacks
 * in its unused form: zeroes, and their bits in the header of the XSAVE area cleared. capture_files.py builds and loads it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { SIZE_MAX_BYTES = 16384, HEADER_AT = 512 };
#define TILES (UINT64_C(3) << 17)

static size_t full_bytes(void)
{
    uint32_t a = 13, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b;
}

long ptrace(enum __ptrace_request request, ...)
{
    static long (*next)(enum __ptrace_request, pid_t, void *, void *);
    static char buffer[SIZE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ptrace");
    struct iovec *part = data;
    size_t full = full_bytes();
    if (request != PTRACE_SETREGSET || (uintptr_t)address != NT_X86_XSTATE || part->iov_len >= full || full > sizeof buffer)
        return next(request, pid, address, data);
    uint64_t used;
    memset(buffer, 0, full);
    memcpy(buffer, part->iov_base, part->iov_len);
    memcpy(&used, buffer + HEADER_AT, sizeof used);
    used &= ~TILES;
    memcpy(buffer + HEADER_AT, &used, sizeof used);
    struct iovec whole = {buffer, full};
    return next(request, pid, address, &whole);
}
