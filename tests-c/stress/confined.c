/*
 * confined.c - transfers without process_vm_readv(2) and process_vm_writev(2), as in containers and on hardened hosts.
 *
 * Every transfer works if one or both processes may not make these calls.
 */
#define _GNU_SOURCE
#include "common/fixture.h"
#include "common/order.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE (3u << 20)

/* Makes the kernel reject both calls with EPERM. Returns false if that is impossible. */
static bool confine(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    struct iovec nothing = { NULL, 0 };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return false;
    return process_vm_readv(getpid(), &nothing, 1, &nothing, 1, 0) < 0 && errno == EPERM;
}

/* Role: executes orders. It makes no dat_ call while it waits for the next order. */
static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_RMR_TRIPLET all;
    struct order o;
    int confined;

    must(LINK_RECV(up, confined), "no orders");
    if (confined)
        must(confine(), "no filter");
    fx_open(&fx);
    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = 4u << 20;
    side_make(&s, &fx, &attr);
    region_make(&fx, &r, SIZE + 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_accept_peer(&s, up);
    all = target(&r, 0, r.size);
    must(LINK_SEND(up, all), "the other process is gone");
    while (LINK_RECV(up, o) && o.what != END) {
        long wrong = -1;

        switch (o.what) {
        case RECEIVE:
            must_rc(post_recv(&s, &r, o.offset, o.size, 1), DAT_SUCCESS, "dat_ep_post_recv");
            link_say(up, "posted");
            must(wait_dto(s.recv, 1, DAT_DTO_SUCCESS, NULL), "no message");
            break;
        case FILL: pattern_fill(r.mem + o.offset, o.size, o.seed); break;
        default: break;
        }
        if (o.what == CHECK)
            (void)written(r.mem + o.offset, o.size, o.seed); /* waits on iWARP */
        wrong = pattern_check(r.mem + o.offset, o.size, o.seed);
        if (o.what != FILL)
            memset(r.mem + o.offset, 0, o.size);
        must(LINK_SEND(up, wrong), "the other process is gone");
    }
    fx_close(&fx);
    return 0;
}

static long hear(struct link *l)
{
    long wrong = 0;

    must(LINK_RECV(l, wrong), "the other process does not answer");
    return wrong;
}

static void transfers(int there, const char *who)
{
    static const size_t sizes[] = { 1, 100, 4096, 10000, 65536, 100001, 1u << 20, SIZE };
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_RMR_TRIPLET all, t;

    fx_open(&fx);
    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = 4u << 20;
    side_make(&s, &fx, &attr);
    region_make(&fx, &r, SIZE + 4096, DAT_MEM_PRIV_ALL_FLAG);
    peer_start(&p, "partner");
    must(LINK_SEND(&p.link, there), "the other process is gone");
    side_connect_peer(&s, &p.link);
    must(LINK_RECV(&p.link, all), "no memory at the other end");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        unsigned seed = (unsigned)i + 1;

        pattern_fill(r.mem + 1, n, seed);
        order_send(&p.link, RECEIVE, 3, n, seed);
        must(link_hear(&p.link, "posted"), "the other process does not answer");
        must_rc(post_send(&s, &r, 1, n, i), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL) && hear(&p.link) < 0,
           "%s: a message of %zu bytes", who, n);
        t = all;
        t.target_address += 5;
        t.segment_length = n;
        must_rc(post_write(&s, &r, 1, n, t, i), DAT_SUCCESS, "dat_ep_post_rdma_write");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "%s: an RDMA write of %zu bytes completes", who,
           n);
        order_send(&p.link, CHECK, 5, n, seed);
        is_int(hear(&p.link), -1, "%s: an RDMA write of %zu bytes", who, n);
        order_send(&p.link, FILL, 5, n, seed + 50);
        hear(&p.link);
        memset(r.mem, 0, n + 1);
        must_rc(post_read(&s, &r, 1, n, t, i), DAT_SUCCESS, "dat_ep_post_rdma_read");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL) && pattern_check(r.mem + 1, n, seed + 50) < 0,
           "%s: an RDMA read of %zu bytes", who, n);
    }
    /* Post 24 requests before taking a completion. */
    {
        int good = 1;

        pattern_fill(r.mem, 200000, 99);
        t = all;
        t.segment_length = 200000;
        for (unsigned i = 0; i < 24; i++)
            must_rc(i % 4 == 3 ? post_read(&s, &r, 400000 + i, 1000,
                                           (DAT_RMR_TRIPLET){ .rmr_context = all.rmr_context,
                                                              .target_address = all.target_address + 300000,
                                                              .segment_length = 1000 },
                                           i)
                               : post_write(&s, &r, 0, 200000, t, i),
                    DAT_SUCCESS, "posting");
        for (unsigned i = 0; i < 24; i++)
            good &= wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL);
        ok(good, "%s: writes and reads mixed: complete in posting order", who);
        order_send(&p.link, CHECK, 0, 200000, 99);
        is_int(hear(&p.link), -1, "%s: writes and reads mixed: the bytes", who);
    }
    t = all;
    t.segment_length = 64;
    t.target_address += all.segment_length - 63;
    must_rc(post_write(&s, &r, 0, 64, t, 77), DAT_SUCCESS, "dat_ep_post_rdma_write");
    /* On iWARP, a write gets no answer, so its completion has any status. */
    ok(env_is_iwarp() ? drain_dtos(s.req, 1) == 1 : wait_dto(s.req, 77, DAT_DTO_ERR_REMOTE_ACCESS, NULL),
       "%s: a write past the end: REMOTE_ACCESS", who);
    ok(wait_broken(s.conn), "%s: a write past the end: BROKEN", who);
    order_send(&p.link, END, 0, 0, 0);
    peer_ok(&p, "%s: the other process ends well", who);
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };

    env_init(argc, argv, roles);
    if (env_valgrind())
        skip_all("the filter would be valgrind's as well");
    transfers(1, "the other process is confined");
    if (!confine()) {
        skip_named("both are confined", "no system call filter can be had here");
    } else {
        transfers(0, "this process is confined");
        transfers(1, "both are confined");
    }
    return done_testing();
}
