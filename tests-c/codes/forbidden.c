/*
 * forbidden.c - the system forbids a process to listen, or lacks descriptors for a connection. Programs try the next
 * qualifier after DAT_CONN_QUAL_IN_USE, and connect again after a rejection, so neither code may have another cause.
 */
#define _GNU_SOURCE
#include "common/fixture.h"
#include "common/rights.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OTHER_USER = 65534 };

/* Makes two system calls fail with `error` in this process. Returns false if the kernel has no such filters. */
static bool fail_calls(unsigned first, unsigned second, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Over TCP a connection needs a descriptor, which the call allocates. */
static void no_descriptor(struct fx *fx)
{
    struct side s;

    side_make(&s, fx, NULL);
    must(fail_calls(SYS_socket, SYS_socket, EMFILE), "no filter");
    is_code(side_connect(&s, fx_address(fx), unique_qual(false)), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
            "dat_ep_connect: no descriptor: DAT_INSUFFICIENT_RESOURCES");
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED, "dat_ep_connect: no descriptor: the endpoint is UNCONNECTED");
    side_free(&s);
}

static void may_not_listen(struct fx *fx)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_RSP_HANDLE rsp = UNTOUCHED;
    DAT_CONN_QUAL q = 0x5a5a;
    struct side s;

    side_make(&s, fx, NULL);
    if (env_has_device())
        /* The kernel then refuses to use the descriptors of rdma_cm. */
        must(become_user(OTHER_USER), "not root");
    else
        must(fail_calls(SYS_mkdirat, SYS_bind, EACCES), "no filter");
    is_code(dat_psp_create(fx->ia, unique_qual(false), fx->cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_PRIVILEGES_VIOLATION,
            DAT_NO_SUBTYPE, "dat_psp_create: forbidden: DAT_PRIVILEGES_VIOLATION");
    is_code(dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_PRIVILEGES_VIOLATION,
            DAT_NO_SUBTYPE, "dat_psp_create_any: forbidden: DAT_PRIVILEGES_VIOLATION");
    is_code(dat_rsp_create(fx->ia, unique_qual(false), s.ep, fx->cr, &rsp), DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE,
            "dat_rsp_create: forbidden: DAT_PRIVILEGES_VIOLATION");
    ok(psp == UNTOUCHED && rsp == UNTOUCHED && q == 0x5a5a, "dat_psp_create: forbidden: the outputs are untouched");
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED, "dat_rsp_create: forbidden: the endpoint is UNCONNECTED");
#if UDAPL == 20
    {
        DAT_COMM comm = { fx_address(fx)->sa_family, SOCK_STREAM, 0 };
        DAT_CSP_HANDLE csp = UNTOUCHED;

        is_code(dat_csp_create(fx->ia, &comm, fx_address(fx), fx->cr, &csp), DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE,
                "dat_csp_create: forbidden: DAT_PRIVILEGES_VIOLATION");
        ok(csp == UNTOUCHED, "dat_csp_create: forbidden: the handle is untouched");
    }
#endif
}

int main(int argc, char **argv)
{
    struct fx fx;
    int status;

    env_init(argc, argv, NULL);
    if (env_has_device() && geteuid() != 0)
        skip_all("only root can change the user");
    fx_open(&fx);
    may_not_listen(&fx);
    if (!env_is_shm() && !env_has_device())
        no_descriptor(&fx);
    status = done_testing();
    fflush(stdout);
    /* The process may not be able to close the adapter. */
    _exit(status);
}
