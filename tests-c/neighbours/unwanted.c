/*
 * unwanted.c - DAT_SHM_VM=0 in one process also keeps its peers from copying directly from and to its memory.
 *
 * The kernel kills the peer at the first call of process_vm_readv(2) or process_vm_writev(2). Each side sends a message,
 * writes and reads, whichever side has connected.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 3 << 20, ROUNDS = 4 };

static const size_t sizes[ROUNDS] = { 100, 10000, 1 << 20, SIZE };

/* Makes the kernel end this process at a copy between processes. */
static bool die_at_copies(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* One side of a connection. The first half of the region is for messages, the second half for RDMA. */
struct end {
    struct fx fx;
    struct side side;
    struct region r;
    DAT_RMR_TRIPLET theirs;
    struct link *link;
};

static void end_open(struct end *e)
{
    DAT_EP_ATTR attr;

    fx_open(&e->fx);
    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = 4u << 20;
    side_make(&e->side, &e->fx, &attr);
    region_make(&e->fx, &e->r, 2 * SIZE, DAT_MEM_PRIV_ALL_FLAG);
}

static void end_connect(struct end *e, struct link *l, bool active)
{
    DAT_RMR_TRIPLET ours = target(&e->r, SIZE, SIZE);

    e->link = l;
    if (active)
        side_connect_peer(&e->side, l);
    else
        side_accept_peer(&e->side, l);
    must(link_send_target(l, ours) && link_recv_target(l, &e->theirs), "the other process is gone");
}

/* Receives a message, while the other side acts. Returns whether its bytes are right. */
static bool serve(struct end *e, size_t n, unsigned seed)
{
    bool good;

    must_rc(post_recv(&e->side, &e->r, 0, n, 1), DAT_SUCCESS, "dat_ep_post_recv");
    link_say(e->link, "posted");
    good = wait_dto(e->side.recv, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(e->r.mem, n, seed) < 0;
    return link_hear(e->link, "done") && good;
}

/* Sends a message, writes the same bytes, and reads them back. Returns whether all of this works. */
static bool act(struct end *e, size_t n, unsigned seed)
{
    DAT_RMR_TRIPLET there = e->theirs;
    bool good = link_hear(e->link, "posted");

    there.segment_length = n;
    pattern_fill(e->r.mem, n, seed);
    must_rc(post_send(&e->side, &e->r, 0, n, 1), DAT_SUCCESS, "dat_ep_post_send");
    good &= wait_dto(e->side.req, 1, DAT_DTO_SUCCESS, NULL);
    must_rc(post_write(&e->side, &e->r, 0, n, there, 2), DAT_SUCCESS, "dat_ep_post_rdma_write");
    good &= wait_dto(e->side.req, 2, DAT_DTO_SUCCESS, NULL);
    memset(e->r.mem, 0, n);
    must_rc(post_read(&e->side, &e->r, 0, n, there, 3), DAT_SUCCESS, "dat_ep_post_rdma_read");
    good &= wait_dto(e->side.req, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(e->r.mem, n, seed) < 0;
    link_say(e->link, "done");
    return good;
}

/* Role: the peer, whose environment has no variable. */
static int peer(struct link *up)
{
    struct end e;
    bool active;

    must(LINK_RECV(up, active), "no orders");
    must(die_at_copies(), "no filter");
    end_open(&e);
    end_connect(&e, up, active);
    for (unsigned i = 0; i < ROUNDS; i++) {
        must(serve(&e, sizes[i], i), "a message");
        must(act(&e, sizes[i], i + ROUNDS), "a transfer");
    }
    link_hear(up, "bye");
    fx_close(&e.fx);
    return 0;
}

static void with(bool peer_connects, const char *who)
{
    struct end e;
    struct peer p;

    must(setenv("DAT_SHM_VM", "0", 1) == 0, "setenv");
    end_open(&e);
    unsetenv("DAT_SHM_VM");
    peer_start(&p, "peer");
    must(LINK_SEND(&p.link, peer_connects), "the other process is gone");
    end_connect(&e, &p.link, !peer_connects);
    for (unsigned i = 0; i < ROUNDS; i++) {
        ok(act(&e, sizes[i], i), "%s: this process transfers %zu bytes", who, sizes[i]);
        ok(serve(&e, sizes[i], i + ROUNDS), "%s: the peer transfers %zu bytes", who, sizes[i]);
    }
    link_say(&p.link, "bye");
    peer_ok(&p, "%s: the peer does not copy directly", who);
    fx_close(&e.fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "peer", peer }, { NULL, NULL } };

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("only shm copies between the memories of processes");
    if (env_valgrind())
        skip_all("the filter would be valgrind's as well");
    with(false, "this process connects");
    with(true, "the peer connects");
    return done_testing();
}
