/* refuse.h - refuses ways to list network interfaces, as a sandbox does. */
#ifndef TESTS_C_REGISTRY_REFUSE_H
#define TESTS_C_REGISTRY_REFUSE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Loads the lower half of an argument on a little-endian machine. */
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define ON_CALL(number) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3)

/*
 * In this process and its children, socket(AF_NETLINK) fails with `netlink`, and the ioctl that lists IPv4 addresses
 * with `list`; 0 permits a call. Returns false if the kernel has no such filters.
 */
static inline bool refuse(int netlink, int list)
{
    struct sock_filter filter[] = {
        ON_CALL(SYS_socket),
        LOAD_ARGUMENT(0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, netlink == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (unsigned)netlink),
        ON_CALL(SYS_ioctl),
        LOAD_ARGUMENT(1),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIOCGIFCONF, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, list == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (unsigned)list),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
