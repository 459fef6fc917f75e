/* Functions that programs found in libc's static part until version 2.33: the system calls for the status of files, on
 * architectures where libc uses the kernel's structure. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __LP64__
#error "the kernel's structure is not libc's here"
#endif

struct stat;

#define LOCAL __attribute__((visibility("hidden")))

LOCAL int fstatat(int folder, const char *path, struct stat *status, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

LOCAL int stat(const char *path, struct stat *status)
{
    return fstatat(AT_FDCWD, path, status, 0);
}

LOCAL int lstat(const char *path, struct stat *status)
{
    return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

LOCAL int fstat(int descriptor, struct stat *status)
{
    return (int)syscall(SYS_fstat, descriptor, status);
}

/* The same functions by their names for large files. */
LOCAL int fstatat64(int, const char *, struct stat *, int) __attribute__((alias("fstatat")));
LOCAL int stat64(const char *, struct stat *) __attribute__((alias("stat")));
LOCAL int lstat64(const char *, struct stat *) __attribute__((alias("lstat")));
LOCAL int fstat64(int, struct stat *) __attribute__((alias("fstat")));
