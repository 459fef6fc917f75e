/*
 * stepped.c - the peer runs after the n-th instruction of a post, for many values of n.
 *
 *     writer                                    target
 *     post a short write                        stopped: does not execute the write
 *     post a long write: n instructions
 *       stopped by the third process            runs, executes the short write
 *     the rest of the post
 *
 * The long write must wait for the short write. It must arrive and complete for each n.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel does not copy SHORT bytes atomically, so the target executes the write. LONG exceeds the record size. */
enum { SHORT = 4, LONG = 8384, AT = 4096, SIZE = AT + 2 * LONG };

/* Approximate number of instructions of all posts together. */
enum { STEPS = 200000 };

#define SILENT DAT_COMPLETION_SUPPRESS_FLAG

/* Signals without an effect, before and after the stepped post. */
#define BEGIN SIGURG
#define END SIGWINCH

/* ---- The target ---- */

static bool shows(const unsigned char *place, unsigned value)
{
    unsigned now;

    memcpy(&now, place, sizeof now);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return now == value;
}

struct watched {
    const unsigned char *place;
    unsigned value;
};

static bool is_there(void *arg)
{
    const struct watched *w = arg;

    return shows(w->place, w->value);
}

static void await_bytes(const unsigned char *place, unsigned value, const char *what)
{
    struct watched w = { place, value };

    must(wait_until(is_there, &w, SOON_MS), "the %s write %u does not arrive", what, value);
}

static int target_role(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    unsigned value;
    DAT_EVENT event;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    side_accept_peer(&s, up);
    must(link_send_target(up, target(&r, 0, SIZE)), "the other process is gone");
    while (LINK_RECV(up, value) && value > 0) {
        await_bytes(r.mem, value, "short");
        /* Poll twice: after the second poll, the thread that executes the write has finished. */
        must(dat_evd_dequeue(s.recv, &event) != DAT_SUCCESS, "an event of a write");
        must(dat_evd_dequeue(s.recv, &event) != DAT_SUCCESS, "an event of a write");
        must(link_say(up, "first"), "the other process is gone");
        await_bytes(r.mem + AT + LONG - sizeof value, value, "long");
        must(link_say(up, "second"), "the other process is gone");
    }
    fx_close(&fx);
    return 0;
}

/* ---- The third process ---- */

/* Shared by the writer and the third process, which traces the writer. */
struct shared {
    unsigned steps; /* instructions before the target runs; 0: the third process ends */
    unsigned done;  /* executed instructions of the current post */
    pid_t target;
    int seen;       /* readable after the short write has been executed */
};

/* Waits until the thread stops. Returns the signal, SIGTRAP for a step, or 0 if the thread no longer exists. */
static int await_stop(pid_t tid)
{
    int status;

    while (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
        if (errno != EINTR)
            return 0;
    return WSTOPSIG(status);
}

/* Resumes the target. Returns whether it executes the short write within SOON_MS. */
static bool resume_target(struct shared *shared)
{
    struct pollfd seen = { shared->seen, POLLIN, 0 };

    return kill(shared->target, SIGCONT) == 0 && poll(&seen, 1, (int)env_ms(SOON_MS)) == 1;
}

static int step(struct shared *shared, pid_t tid)
{
    int sig;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return 1;
    shared->done = 1;
    while ((sig = await_stop(tid)) != 0) {
        if (sig == BEGIN) {
            unsigned n = 0;

            if (shared->steps == 0)
                return 0;
            for (; n < shared->steps && (sig == BEGIN || sig == SIGTRAP); n++) {
                if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) != 0 || (sig = await_stop(tid)) == 0)
                    return 1;
            }
            shared->done = n;
            if (!resume_target(shared))
                return 1;
        }
        /* Deliver only signals that this program does not use. */
        if (sig == BEGIN || sig == END || sig == SIGTRAP)
            sig = 0;
        if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)sig) != 0)
            return 1;
    }
    return 0;
}

/* ---- The writer ---- */

static DAT_RETURN write_to(struct side *s, struct region *r, size_t off, size_t len, DAT_RMR_TRIPLET to,
                           DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET from = segment(r, off, len);

    to.target_address += off;
    to.segment_length = len;
    return dat_ep_post_rdma_write(s->ep, 1, &from, cookie(off), &to, flags);
}

static void halt(pid_t pid)
{
    int status;

    if (kill(pid, SIGSTOP) != 0 || waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        bail("the other process cannot be stopped");
}

/* Writes twice; the target runs after shared->steps instructions of the second post. Returns whether both arrive. */
static bool write_twice(struct side *s, struct region *r, DAT_RMR_TRIPLET to, struct peer *p,
                        struct shared *shared, unsigned value)
{
    struct pollfd in = { p->link.in, POLLIN, 0 };
    uint64_t limit;
    DAT_EVENT event;
    DAT_RETURN first, second;
    bool complete = false;

    memcpy(r->mem, &value, sizeof value);
    memcpy(r->mem + AT + LONG - sizeof value, &value, sizeof value);
    if (!LINK_SEND(&p->link, value))
        return false;
    halt(p->pid);
    first = write_to(s, r, 0, SHORT, to, SILENT);
    raise(BEGIN);
    second = write_to(s, r, AT, LONG, to, DAT_COMPLETION_DEFAULT_FLAG);
    raise(END);
    if (first != DAT_SUCCESS || second != DAT_SUCCESS || !link_hear(&p->link, "first"))
        return false;
    limit = now_ms() + env_ms(SOON_MS) / 4;
    while (!complete || poll(&in, 1, 0) != 1) {
        if (dat_evd_dequeue(s->req, &event) == DAT_SUCCESS)
            complete = true;
        if (now_ms() > limit) {
            diag("after %u instructions: the long write %s", shared->done,
                 complete ? "has not arrived" : "is not complete");
            return false;
        }
        breathe();
    }
    return link_hear(&p->link, "second");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "target", target_role }, { NULL, NULL } };
    struct shared *shared;
    struct peer p;
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET to;
    unsigned value = 0, last = 0, stride, none = 0;
    bool arrives;
    pid_t pid;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("a post of another adapter goes through the system");
    if (env_valgrind())
        skip_all("valgrind's own instructions would be stepped through");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        bail("mmap: %s", strerror(errno));
    peer_start(&p, "target");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, &p.link);
    if (!link_recv_target(&p.link, &to))
        bail("the other process is gone");
    shared->target = p.pid;
    shared->seen = p.link.in;
    pid = fork();
    if (pid == 0) {
        while (__atomic_load_n(&shared->steps, __ATOMIC_ACQUIRE) == 0)
            breathe();
        _exit(step(shared, getppid()));
    }
    if (pid < 0)
        bail("fork: %s", strerror(errno));
    prctl(PR_SET_PTRACER, (unsigned long)pid, 0, 0, 0);
    __atomic_store_n(&shared->steps, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) == 0) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            skip_all("no process may step through another one here");
        breathe();
    }

    /* Count the instructions of one post, to choose the distance between the values of n. */
    shared->steps = UINT_MAX;
    arrives = write_twice(&s, &r, to, &p, shared, ++value);
    last = shared->done;
    stride = 1 + (unsigned)((uint64_t)last * last / 2 / (uint64_t)env_count(STEPS, STEPS / 20));
    for (unsigned steps = 1; arrives && steps < last; steps += stride) {
        shared->steps = steps;
        arrives = write_twice(&s, &r, to, &p, shared, ++value);
    }
    ok(arrives, "dat_ep_post_rdma_write: a write behind one that is carried out meanwhile: it arrives");
    diag("%u posts of %u instructions, the last one with %u before it went on", value, last, shared->done);
    ok(last > 100, "the post was stepped through");

    shared->steps = 0;
    raise(BEGIN);
    kill(p.pid, SIGCONT);
    if (arrives) {
        LINK_SEND(&p.link, none);
        peer_ok(&p, "the other process has seen all");
    } else
        peer_kill(&p);
    fx_close(&fx);
    return done_testing();
}
