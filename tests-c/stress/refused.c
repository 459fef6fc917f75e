/*
 * refused.c - the kernel starts to reject copies between processes during a connection.
 *
 * In either process, one of these happens during messages, RDMA writes and RDMA reads of all lengths. Each transfer
 * completes with the right bytes.
 *
 * - FAIL: the n-th and all later calls of process_vm_readv(2) and process_vm_writev(2) fail
 * - FILTER: a system call filter rejects these calls
 * - DUMPABLE: the process clears PR_SET_DUMPABLE, which revokes its peers' access to its memory
 * - USER: the process changes its user, with the same effect
 */
#define _GNU_SOURCE
#include "common/fixture.h"
#include "common/rights.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define AREA (2u << 20)
#define STEPS 12

/* The event that makes the kernel reject copies. struct plan also specifies its time and process. */
enum change { NOTHING, FAIL, FILTER, DUMPABLE, USER };

struct plan {
    enum change change;
    int there;        /* 1: in the second process */
    int error, nth;   /* of FAIL: the errno, and the number of the first call that fails */
    int step;         /* of other changes: the transfer before which the change happens */
};

/* ---- system calls that fail from the n-th call on ---- */

static int fail_error, fail_after, calls;


static ssize_t vm(int number, pid_t pid, const struct iovec *local, unsigned long ln,
                  const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    int call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);

    if (fail_error != 0 && call >= fail_after) {
        errno = fail_error;
        return -1;
    }
    return syscall(number, pid, local, ln, remote, rn, flags);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long ln,
                         const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    return vm(SYS_process_vm_readv, pid, local, ln, remote, rn, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long ln,
                          const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    return vm(SYS_process_vm_writev, pid, local, ln, remote, rn, flags);
}

static void plan_begin(const struct plan *p, bool here)
{
    if (here && p->change == FAIL) {
        fail_after = __atomic_load_n(&calls, __ATOMIC_SEQ_CST) + p->nth;
        fail_error = p->error;
    }
}

/* Makes the kernel reject process_vm_readv and process_vm_writev of all threads with EPERM. */
static void filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };

    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
             syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
         "no filter of system calls");
}

static void plan_step(const struct plan *p, bool here, int step)
{
    if (!here || step != p->step)
        return;
    if (p->change == FILTER)
        filter();
    else if (p->change == DUMPABLE)
        must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "prctl");
    else if (p->change == USER)
        must(setresuid(65534, 65534, 65534) == 0, "setresuid");
}

/* ---- transfers ---- */

enum kind { SEND, WRITE, READ };

struct step {
    enum kind kind;
    size_t len;
};

/* Transfers through the ring and by the kernel. Long ones need several copies, so a rejection can occur in between. */
static const struct step steps[STEPS] = {
    { SEND, 100000 }, { WRITE, 8 },      { READ, 65536 },   { WRITE, 1400001 },
    { SEND, 700007 }, { READ, 1200000 }, { WRITE, 300004 }, { SEND, 9000 },
    { SEND, 64 },     { READ, 5 },       { WRITE, 30002 },  { SEND, 270003 },
};

static DAT_EP_ATTR *attributes(void)
{
    static DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = AREA;
    return &attr;
}

/* State of one process. Each transfer has two areas: local bytes, and bytes that the peer accesses. */
struct end {
    struct side s;
    struct region own[STEPS], far[STEPS];
};

static void end_make(struct end *e, struct fx *fx)
{
    side_make(&e->s, fx, attributes());
    for (int i = 0; i < STEPS; i++) {
        region_make(fx, &e->own[i], steps[i].len + 64, DAT_MEM_PRIV_ALL_FLAG);
        region_make(fx, &e->far[i], steps[i].len + 64, DAT_MEM_PRIV_ALL_FLAG);
    }
}

static void recvs_post(struct end *e)
{
    for (int i = 0; i < STEPS; i++)
        if (steps[i].kind == SEND)
            must_rc(post_recv(&e->s, &e->far[i], 3, steps[i].len, (DAT_UINT64)i), DAT_SUCCESS,
                    "dat_ep_post_recv");
}

/* Posts all transfers, then waits for all completions. Returns whether all succeeded. */
static bool transfers(struct end *e, const DAT_RMR_TRIPLET *to, const struct plan *p, bool here, unsigned seed)
{
    bool good = true;

    for (int i = 0; i < STEPS; i++) {
        DAT_RMR_TRIPLET t = to[i];
        DAT_RETURN rc;

        plan_step(p, here, i);
        if (steps[i].kind != READ)
            pattern_fill(e->own[i].mem + 5, steps[i].len, seed + (unsigned)i);
        switch (steps[i].kind) {
        case SEND: rc = post_send(&e->s, &e->own[i], 5, steps[i].len, (DAT_UINT64)i); break;
        case WRITE: rc = post_write(&e->s, &e->own[i], 5, steps[i].len, t, (DAT_UINT64)i); break;
        default: rc = post_read(&e->s, &e->own[i], 5, steps[i].len, t, (DAT_UINT64)i); break;
        }
        must_rc(rc, DAT_SUCCESS, "posting");
    }
    for (int i = 0; i < STEPS; i++)
        good &= wait_dto(e->s.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    return good;
}

/* Returns whether the bytes are right that the peer has sent or written, and that this side has read. */
static bool arrived(struct end *e, unsigned far)
{
    bool good = true;

    for (int i = 0; i < STEPS; i++)
        if (steps[i].kind == READ)
            good &= pattern_check(e->own[i].mem + 5, steps[i].len, far + (unsigned)i) < 0;
        else
            good &= pattern_check(e->far[i].mem + 3, steps[i].len, far + (unsigned)i) < 0;
    return good;
}

static void targets(struct end *e, DAT_RMR_TRIPLET *t)
{
    for (int i = 0; i < STEPS; i++)
        t[i] = target(&e->far[i], 3, steps[i].len);
}

/* Fills the areas that the peer reads. */
static void offer(struct end *e, unsigned seed)
{
    for (int i = 0; i < STEPS; i++)
        if (steps[i].kind == READ)
            pattern_fill(e->far[i].mem + 3, steps[i].len, seed + (unsigned)i);
        else
            memset(e->far[i].mem, 0, steps[i].len + 64);
}

/* Runs two rounds of transfers in both directions, with the event in the first. Returns whether all bytes are right. */
static bool play(struct end *e, struct link *l, const struct plan *p, bool here, unsigned own, unsigned far)
{
    DAT_RMR_TRIPLET mine[STEPS], theirs[STEPS];
    bool good = true;

    for (int round = 0; round < 2; round++) {
        offer(e, own);
        recvs_post(e);
        targets(e, mine);
        must(LINK_SEND(l, mine) && LINK_RECV(l, theirs), "the other process is gone");
        if (round == 0)
            plan_begin(p, here);
        good &= transfers(e, theirs, p, here && round == 0, own);
        for (int i = 0; i < STEPS; i++)
            if (steps[i].kind == SEND)
                good &= wait_dto(e->s.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
        link_say(l, "done");
        must(link_hear(l, "done"), "the other process does not come to the end");
        good &= arrived(e, far);
        link_say(l, "seen");
        must(link_hear(l, "seen"), "the other process does not come to the end");
    }
    return good;
}

static int partner(struct link *up)
{
    struct fx fx;
    struct end e;
    struct plan plan;
    bool good;

    drop_ptrace();
    must(LINK_RECV(up, plan), "no orders");
    fx_open(&fx);
    end_make(&e, &fx);
    side_accept_peer(&e.s, up);
    good = play(&e, up, &plan, plan.there != 0, 100, 50);
    must(LINK_SEND(up, good), "the other process is gone");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

/* Role: runs the plan with a partner. It is a separate process, because the plan may take its rights. */
static int leader(struct link *up)
{
    struct fx fx;
    struct end e;
    struct peer other;
    struct plan plan;
    bool good, there = false;
    int made;

    drop_ptrace();
    must(LINK_RECV(up, plan), "no orders");
    fx_open(&fx);
    end_make(&e, &fx);
    peer_start(&other, "partner");
    must(LINK_SEND(&other.link, plan), "the other process is gone");
    side_connect_peer(&e.s, &other.link);
    good = play(&e, &other.link, &plan, plan.there == 0, 50, 100);
    good &= LINK_RECV(&other.link, there) && there;
    link_say(&other.link, "bye");
    good &= peer_join(&other, SOON_MS) == 0;
    made = calls;
    must(LINK_SEND(up, good) && LINK_SEND(up, made), "the first process is gone");
    fx_close(&fx);
    return 0;
}

/* Runs one plan. Returns the number of copies that the leader requested from the kernel, or -1 after an error. */
static int scene(const struct plan *plan)
{
    struct peer p;
    bool good = false;
    int made = 0;

    peer_start(&p, "leader");
    must(LINK_SEND(&p.link, *plan), "the other process is gone");
    good = LINK_RECV(&p.link, good) && good && LINK_RECV(&p.link, made);
    return peer_join(&p, SOON_MS) == 0 && good ? made : -1;
}

static void failures(int there, int made)
{
    static const int errors[] = { EPERM, ENOSYS, EACCES };
    int bad = 0;

    for (int nth = 1; nth <= made + 2; nth++) {
        struct plan plan = { FAIL, there, errors[nth % 3], nth, 0 };

        if (scene(&plan) < 0) {
            diag("the %d-th copy and all later ones fail with %s", nth, strerror(plan.error));
            bad++;
        }
    }
    is_int(bad, 0, "copies of %s fail from the n-th on, n up to %d: all goes on",
           there ? "the other process" : "one process", made + 2);
}

static void rights(enum change change, const char *what)
{
    for (int there = 0; there < 2; there++) {
        int bad = 0;

        for (int step = 0; step < STEPS; step++)
            bad += scene(&(struct plan){ change, there, 0, 0, step }) < 0;
        is_int(bad, 0, "%s, %s: all goes on", there ? "the other process" : "one process", what);
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "leader", leader }, { "partner", partner }, { NULL, NULL } };
    int made;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("devices do their copying themselves");
    if (env_valgrind())
        skip_all("valgrind has its own process_vm_readv");
    made = scene(&(struct plan){ NOTHING, 0, 0, 0, 0 });
    ok(made > 10, "nothing is refused: all arrives, with %d copies", made);
    failures(0, made);
    failures(1, made);
    rights(FILTER, "a filter of system calls");
    rights(DUMPABLE, "PR_SET_DUMPABLE 0");
    if (geteuid() == 0)
        rights(USER, "another user from then on");
    else
        skip(2, "only root can become another user");
    return done_testing();
}
