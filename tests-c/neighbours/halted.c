/*
 * halted.c - a peer is stopped after its decision to copy and before the copy.
 *
 *     peer:      check the access ── stopped ────────────────────────────── copy: must fail
 *     program:                       revoke the access, overwrite the memory
 *
 * Interposed functions process_vm_readv() and process_vm_writev() stop the peer. If the library copies without these
 * functions, the tests that need a stopped copy are skipped.
 */
#define _GNU_SOURCE
#include "common/bystander.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, OURS = 7, THEIRS = 3, MESSAGES = 200 };

static unsigned seed_of(int message)
{
    return 20 + (unsigned)message % 100;
}


/*
 * Maximum time in ms of a call while a peer is stopped. A busy machine can delay any call, so a slow attempt is
 * repeated up to MAX_TRIES times.
 */
#define MAX_CALL_MS 1000u
#define MAX_TRIES 5

/* ---- The peer ---- */

enum halt { HALT_NOT, HALT_STOP, HALT_SLEEP };

static int halt_at; /* number of the copy before which the peer halts, counted down; 0: no halt */
static enum halt halt_how;
static int wake_pipe[2];

static void before_copy(pid_t pid)
{
    char c;

    if (pid == 0 || __atomic_load_n(&halt_at, __ATOMIC_SEQ_CST) == 0 ||
        __atomic_sub_fetch(&halt_at, 1, __ATOMIC_SEQ_CST) != 0)
        return;
    if (halt_how == HALT_STOP)
        kill(getpid(), SIGSTOP);
    else
        must(read(wake_pipe[0], &c, 1) == 1, "read");
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
                          const struct iovec *rvec, unsigned long riovcnt, unsigned long flags)
{
    before_copy(pid);
    return syscall(SYS_process_vm_writev, pid, lvec, liovcnt, rvec, riovcnt, flags);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
                         const struct iovec *rvec, unsigned long riovcnt, unsigned long flags)
{
    before_copy(pid);
    return syscall(SYS_process_vm_readv, pid, lvec, liovcnt, rvec, riovcnt, flags);
}

/*
 * What the peer does. FETCH: it receives a long message, which it copies. GIVE: it sends messages, and may copy parts
 * of them into the receiver's memory. STREAM: it writes until the connection ends.
 */
enum deed { WRITE, READ, FETCH, GIVE, STREAM };

struct order {
    enum deed deed;
    enum halt halt;
    int at;
    DAT_RMR_TRIPLET there;
};

struct answer {
    bool halted;  /* the peer reached the halt */
    bool success; /* its last completion was successful */
    long saw;     /* -1 if its memory has the pattern THEIRS */
};

static void *waker(void *arg)
{
    struct link *up = arg;

    must(link_hear(up, "wake"), "the other process is gone");
    must(write(wake_pipe[1], "", 1) == 1, "write");
    return NULL;
}

static void obey(struct fx *fx, struct link *up, const struct order *o)
{
    struct side s;
    struct region r;
    struct answer a;
    DAT_EVENT event;
    pthread_t thread;
    int copies = o->deed == STREAM ? INT_MAX : o->deed == GIVE ? MESSAGES : 1;

    memset(&a, 0, sizeof a);
    side_make(&s, fx, NULL);
    region_make(fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(r.mem, SIZE, OURS);
    must_rc(post_recv(&s, &r, 0, SIZE, 4), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    must(pipe(wake_pipe) == 0, "pipe");
    if (o->halt == HALT_SLEEP)
        must(pthread_create(&thread, NULL, waker, up) == 0, "pthread_create");
    halt_how = o->halt;
    __atomic_store_n(&halt_at, o->halt == HALT_NOT ? 0 : o->at, __ATOMIC_SEQ_CST);
    must(link_say(up, "begins"), "the other process is gone");
    for (; copies > 0; copies--) {
        DAT_RETURN rc = DAT_SUCCESS;

        if (o->deed == READ)
            rc = post_read(&s, &r, 0, SIZE, o->there, 1);
        else if (o->deed == GIVE) {
            pattern_fill(r.mem, SIZE, seed_of(MESSAGES - copies));
            rc = post_send(&s, &r, 0, SIZE, 1);
        }
        else if (o->deed != FETCH)
            rc = post_write(&s, &r, 0, SIZE, o->there, 1);
        if (rc != DAT_SUCCESS)
            break;
        /* A sender copies only while it polls. */
        must(o->deed == GIVE ? poll_event(s.req, &event) : wait_event(o->deed == FETCH ? s.recv : s.req, &event),
             "nothing completes");
        a.success = event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
        if (!a.success)
            break;
    }
    a.halted = o->halt != HALT_NOT && __atomic_exchange_n(&halt_at, 0, __ATOMIC_SEQ_CST) == 0;
    a.saw = pattern_check(r.mem, SIZE, THEIRS);
    if (o->halt == HALT_SLEEP)
        must(pthread_join(thread, NULL) == 0, "pthread_join");
    close(wake_pipe[0]);
    close(wake_pipe[1]);
    must(LINK_SEND(up, a), "the other process is gone");
    side_free(&s);
    region_free(&r);
}

static int worker(struct link *up)
{
    struct fx fx;
    struct order o;

    fx_open(&fx);
    while (LINK_RECV(up, o))
        obey(&fx, up, &o);
    fx_close(&fx);
    return 0;
}

/* ---- The first process ---- */

struct progress {
    struct bystander *b;
    unsigned wanted;
};

static bool advanced(void *arg)
{
    struct progress *progress = arg;

    return bystander_rounds(progress->b) >= progress->wanted;
}

enum way { LMR_FREE, DISCONNECT, EP_FREE, RMR_UNBIND, RMR_FREE, IA_CLOSE, WAYS };

static const char *const way_names[WAYS] = { "dat_lmr_free", "dat_ep_disconnect", "dat_ep_free",
                                             "dat_rmr_bind", "dat_rmr_free",      "dat_ia_close" };

struct scene {
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_TRIPLET there;
    int messages; /* received messages of a stream */
    int wrong;    /* of these, messages with wrong bytes */
};

static void bind_rmr(struct scene *c, DAT_VLEN length, DAT_RMR_CONTEXT *context)
{
    DAT_LMR_TRIPLET part = segment(&c->r, 0, length);
    DAT_RMR_CONTEXT unwanted;
    DAT_EVENT event;

    must_rc(bind_to_lmr(c->rmr, c->r.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                        c->s.ep, cookie(9), DAT_COMPLETION_DEFAULT_FLAG, context != NULL ? context : &unwanted),
            DAT_SUCCESS, "dat_rmr_bind");
    must(wait_number(c->s.req, DAT_RMR_BIND_COMPLETION_EVENT, &event), "dat_rmr_bind: no event");
}

/* With GIVE, the region has no remote rights, because the peer only sends messages. */
static void scene_open(struct scene *c, enum way way, enum deed deed)
{
    fx_open(&c->fx);
    side_make(&c->s, &c->fx, NULL);
    region_make(&c->fx, &c->r, SIZE, deed == GIVE ? MEM_LOCAL : DAT_MEM_PRIV_ALL_FLAG);
    c->there = target(&c->r, 0, SIZE);
    c->rmr = DAT_HANDLE_NULL;
    c->messages = c->wrong = 0;
    if (way == RMR_UNBIND || way == RMR_FREE)
        must_rc(dat_rmr_create(c->fx.pz, &c->rmr), DAT_SUCCESS, "dat_rmr_create");
}

/* Revokes the access with the call `way`. Returns the time of the call in ms. */
static unsigned finish(struct scene *c, enum way way)
{
    uint64_t start = now_ms();
    DAT_RETURN rc = DAT_SUCCESS;

    switch (way) {
    case LMR_FREE:
        rc = dat_lmr_free(c->r.lmr);
        break;
    case DISCONNECT:
        rc = dat_ep_disconnect(c->s.ep, DAT_CLOSE_ABRUPT_FLAG);
        break;
    case EP_FREE:
        rc = dat_ep_free(c->s.ep);
        break;
    case RMR_UNBIND:
        bind_rmr(c, 0, NULL);
        break;
    case RMR_FREE:
        rc = dat_rmr_free(c->rmr);
        break;
    case IA_CLOSE:
    case WAYS:
        rc = dat_ia_close(c->fx.ia, DAT_CLOSE_ABRUPT_FLAG);
        break;
    }
    must_rc(rc, DAT_SUCCESS, "%s", way_names[way]);
    return (unsigned)(now_ms() - start);
}

static void scene_close(struct scene *c, enum way way)
{
    if (way != IA_CLOSE)
        fx_close(&c->fx);
}

struct watch {
    struct peer *p;
    enum halt how;
    struct scene *receiver; /* receiver of a stream, or NULL */
    bool halted;
};

static bool is_asleep(pid_t pid)
{
    char path[64], text[256] = "", *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    state = strrchr(text, ')');
    return state != NULL && state[2] == 'S';
}

/* Receives up to 1000 messages of a stream, all into the same buffer. Returns when a receive is flushed. */
static void receive(struct scene *c)
{
    DAT_EVENT event;

    for (int i = 0; i < 1000; i++)
        if (dat_evd_dequeue(c->s.recv, &event) == DAT_SUCCESS) {
            if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
                return;
            c->wrong += pattern_check(c->r.mem, SIZE, seed_of(c->messages++)) >= 0;
            must_rc(post_recv(&c->s, &c->r, 0, SIZE, 5), DAT_SUCCESS, "dat_ep_post_recv");
        }
}

static bool has_halted_or_passed(void *arg)
{
    struct watch *w = arg;
    struct pollfd answer;
    int status;

    if (w->receiver != NULL)
        receive(w->receiver);

    answer.fd = w->p->link.in;
    answer.events = POLLIN;
    if (poll(&answer, 1, 0) == 1)
        return true;
    if (w->how == HALT_SLEEP)
        w->halted = is_asleep(w->p->pid);
    else
        w->halted = waitpid(w->p->pid, &status, WUNTRACED | WNOHANG) == w->p->pid && WIFSTOPPED(status);
    return w->halted;
}

/* Waits until the peer has halted. Returns false if it completes its work without a halt, or after SOON_MS. */
static bool await_halt(struct peer *p, enum halt how, struct scene *receiver)
{
    struct watch w;

    w.p = p;
    w.how = how;
    w.receiver = receiver;
    w.halted = false;
    return wait_until(has_halted_or_passed, &w, SOON_MS) && w.halted;
}

static const char *const deed_names[] = { "RDMA write", "RDMA read", "reading of a message",
                                          "writing of a part of a message" };

static bool has_halted; /* set once a peer has halted: it copies with the interposed functions */

/*
 * Makes one attempt: the peer halts before copy number `at`. Returns false if the attempt must be repeated, which it
 * never does if `last`.
 */
static bool attempt(struct peer *p, struct bystander *b, enum deed deed, enum way way,
                    enum halt how, int at, bool last)
{
    struct scene c;
    struct order o;
    struct answer a;
    unsigned ms;
    struct progress progress;
    bool halted, went_on;
    const char *halts = how == HALT_STOP ? "stopped" : "asleep";

    scene_open(&c, way, deed);
    memset(&o, 0, sizeof o);
    o.deed = deed;
    o.halt = how;
    o.at = at;
    o.there = c.there;
    if (c.rmr == DAT_HANDLE_NULL)
        must(LINK_SEND(&p->link, o), "the other process is gone");
    else {
        /* A bind needs a connection. */
        struct pair own;

        pair_open(&own, &c.fx, NULL);
        {
            struct side s = c.s;

            c.s = own.a;
            bind_rmr(&c, SIZE, &o.there.rmr_context);
            c.s = s;
        }
        pair_close(&own);
        must(LINK_SEND(&p->link, o), "the other process is gone");
    }
    if (deed == GIVE)
        must_rc(post_recv(&c.s, &c.r, 0, SIZE, 5), DAT_SUCCESS, "dat_ep_post_recv");
    side_connect_peer(&c.s, &p->link);
    must(link_hear(&p->link, "begins"), "the other process is gone");
    pattern_fill(c.r.mem, SIZE, THEIRS);
    if (deed == FETCH)
        must_rc(post_send(&c.s, &c.r, 0, SIZE, 6), DAT_SUCCESS, "dat_ep_post_send");
    halted = await_halt(p, how, deed == GIVE ? &c : NULL);
    ms = finish(&c, way);
    /* The peer must no longer change or read the memory. */
    pattern_fill(c.r.mem, SIZE, 11);
    progress = (struct progress){ b, b != NULL ? bystander_rounds(b) + 3 : 0 };
    went_on = b == NULL || wait_until(advanced, &progress, SOON_MS);
    if (how == HALT_STOP)
        kill(p->pid, SIGCONT);
    else
        must(link_say(&p->link, "wake"), "the other process is gone");
    must(LINK_RECV(&p->link, a), "the other process does not go on");
    has_halted = has_halted || a.halted;
    if (!halted && deed == GIVE && !last) {
        /* The sender did not poll while the receiver was willing to let it copy. */
        scene_close(&c, way);
        return false;
    }
    if (!a.halted || !halted) {
        skip(1, "the provider does not copy with process_vm_readv() and process_vm_writev()");
    } else {
        bool right = pattern_check(c.r.mem, SIZE, 11) < 0;
        bool told = (deed == READ || deed == FETCH) && a.success && a.saw >= 0;

        if (right && !told && went_on && ms >= env_ms(MAX_CALL_MS) && !last) {
            scene_close(&c, way);
            return false;
        }
        ok(right && !told && ms < env_ms(MAX_CALL_MS) && went_on,
           "%s: the peer is %s before %s, copy %d: soon, and the memory is the program's "
           "(%u ms%s%s%s)",
           way_names[way], halts, deed_names[deed], at, ms, right ? "" : ", overwritten",
           told ? ", read" : "", went_on ? "" : ", other traffic waits");
    }
    scene_close(&c, way);
    return true;
}

static void halted(struct peer *p, struct bystander *b, enum deed deed, enum way way, enum halt how,
                   int at)
{
    int i;

    for (i = 1; !attempt(p, b, deed, way, how, at, i == MAX_TRIES); i++)
        ;
}

/* ---- A peer that runs again after a halt in its part of a message ---- */

static bool has_answered(void *arg)
{
    struct watch *w = arg;
    struct pollfd answer = { .fd = w->p->link.in, .events = POLLIN };
    int status;
    /* Checked before the receive, because all messages arrive before the answer. */
    bool answered = poll(&answer, 1, 0) == 1;

    receive(w->receiver);
    /* On a slow machine the peer can halt only now. */
    if (waitpid(w->p->pid, &status, WUNTRACED | WNOHANG) == w->p->pid && WIFSTOPPED(status))
        kill(w->p->pid, SIGCONT);
    return answered;
}

static bool resume(struct peer *p, bool last)
{
    struct scene c;
    struct order o = { .deed = GIVE, .halt = HALT_STOP, .at = 2 };
    struct answer a;
    struct watch w = { .p = p, .receiver = &c };
    bool halted, ended;

    scene_open(&c, DISCONNECT, GIVE);
    o.there = c.there;
    must(LINK_SEND(&p->link, o), "the other process is gone");
    must_rc(post_recv(&c.s, &c.r, 0, SIZE, 5), DAT_SUCCESS, "dat_ep_post_recv");
    side_connect_peer(&c.s, &p->link);
    must(link_hear(&p->link, "begins"), "the other process is gone");
    halted = await_halt(p, HALT_STOP, &c);
    if (halted) {
        ok(quiet(c.s.recv), "the peer is stopped before it writes its part of a message: that is not complete");
        kill(p->pid, SIGCONT);
    } else if (last) {
        skip(1, "the provider does not write parts of messages with process_vm_writev()");
    }
    ended = wait_until(has_answered, &w, 3 * SOON_MS);
    if (halted || last || !ended || c.wrong != 0)
        ok(ended && c.messages == MESSAGES && c.wrong == 0,
           "the peer goes on: all messages are there and right (%d, wrong %d)", c.messages, c.wrong);
    must(LINK_RECV(&p->link, a), "the other process does not go on");
    scene_close(&c, DISCONNECT);
    return halted;
}

static void resumed(struct peer *p)
{
    int i;

    for (i = 1; !resume(p, i == MAX_TRIES) && i < MAX_TRIES; i++)
        ;
}

/* Starts an attempt in which the peer writes until the connection ends. */
static void stream(struct scene *c, struct peer *p, enum way way)
{
    struct order o;

    scene_open(c, way, STREAM);
    memset(&o, 0, sizeof o);
    o.deed = STREAM;
    o.there = c->there;
    must(LINK_SEND(&p->link, o), "the other process is gone");
    side_connect_peer(&c->s, &p->link);
    must(link_hear(&p->link, "begins"), "the other process is gone");
}

/* ---- A peer that a debugger stops at the entry of the system call ---- */

#ifdef PTRACE_GET_SYSCALL_INFO
static bool traced(pid_t pid, bool begin)
{
    int status;

    if (begin && ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) != 0)
        return false;
    if (begin && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0)
        return false;
    for (;;) {
        if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
            return false;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;

            memset(&info, 0, sizeof info);
            if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) > 0 &&
                info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_process_vm_writev)
                return true;
        }
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0)
            return false;
    }
}

static bool debug(struct peer *p, enum way way, bool last)
{
    struct scene c;
    struct answer a;
    unsigned ms;

    stream(&c, p, way);
    alarm(env_ms(SOON_MS) / 1000);
    if (!traced(p->pid, true)) {
        skip(1, "no tracing, or nothing to trace");
        alarm(0);
        ptrace(PTRACE_DETACH, p->pid, NULL, NULL);
        kill(p->pid, SIGCONT);
        finish(&c, way);
        must(LINK_RECV(&p->link, a), "the other process does not go on");
        scene_close(&c, way);
        return true;
    }
    alarm(0);
    ms = finish(&c, way);
    pattern_fill(c.r.mem, SIZE, 11);
    must(ptrace(PTRACE_DETACH, p->pid, NULL, NULL) == 0, "PTRACE_DETACH");
    must(LINK_RECV(&p->link, a), "the other process does not go on");
    if (pattern_check(c.r.mem, SIZE, 11) < 0 && ms >= env_ms(MAX_CALL_MS) && !last) {
        scene_close(&c, way);
        return false;
    }
    ok(pattern_check(c.r.mem, SIZE, 11) < 0 && ms < env_ms(MAX_CALL_MS),
       "%s: a debugger holds the peer before its call: soon, and the memory is the program's "
       "(%u ms)",
       way_names[way], ms);
    scene_close(&c, way);
    return true;
}
#else
static bool debug(struct peer *p, enum way way, bool last)
{
    (void)p;
    (void)way;
    (void)last;
    skip(1, "no such tracing here");
    return true;
}
#endif

static void debugger(struct peer *p, enum way way)
{
    int i;

    if (!has_halted) {
        skip(1, "the provider does not copy with process_vm_writev()");
        return;
    }
    for (i = 1; !debug(p, way, i == MAX_TRIES); i++)
        ;
}

/* ---- A peer that is stopped at a random time ---- */

static void anywhere(struct peer *p, int rounds)
{
    int i, wrong = 0, slow = 0, whole = 0;
    unsigned longest = 0, seed = (unsigned)getpid();

    for (i = 0; i < rounds; i++) {
        enum way way = (enum way)(i % 3 == 2 ? IA_CLOSE : i % 3);
        struct scene c;
        struct answer a;
        struct timespec pause = { 0, 0 };
        unsigned ms;
        int status;

        stream(&c, p, way);
        seed = seed * 1103515245u + 12345u;
        pause.tv_nsec = (long)(seed >> 8) % 3000000;
        nanosleep(&pause, NULL);
        kill(p->pid, SIGSTOP);
        /* The peer may have completed its work before, but it still runs, so it can be stopped. */
        must(waitpid(p->pid, &status, WUNTRACED) == p->pid && WIFSTOPPED(status),
             "the other process cannot be stopped");
        ms = finish(&c, way);
        pattern_fill(c.r.mem, SIZE, 11);
        kill(p->pid, SIGCONT);
        must(LINK_RECV(&p->link, a), "the other process does not go on");
        whole += a.success;
        wrong += pattern_check(c.r.mem, SIZE, 11) >= 0;
        slow += ms >= env_ms(MAX_CALL_MS);
        if (ms > longest)
            longest = ms;
        scene_close(&c, way);
    }
    ok(wrong == 0 && slow <= rounds / 3,
       "the peer is stopped at any moment of a stream of RDMA writes, %d times: the memory is the "
       "program's (wrong %d, slow %d, at most %u ms; %d streams had ended)",
       rounds, wrong, slow, longest, whole);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "worker", worker },
                                              { "bystander", bystander_echo },
                                              { NULL, NULL } };
    struct peer p;
    struct fx fx;
    struct bystander b;
    int way;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("a process that is stopped does not stop its device");
    fx_open(&fx);
    bystander_start(&b, &fx);
    peer_start(&p, "worker");
    for (way = 0; way < WAYS; way++) {
        /* The process has another adapter and other connections. */
        halted(&p, &b, WRITE, (enum way)way, HALT_STOP, 1);
        halted(&p, &b, READ, (enum way)way, HALT_STOP, 1);
    }
    halted(&p, &b, WRITE, LMR_FREE, HALT_STOP, 2);
    halted(&p, &b, WRITE, LMR_FREE, HALT_SLEEP, 1);
    halted(&p, &b, WRITE, DISCONNECT, HALT_SLEEP, 1);
    halted(&p, &b, FETCH, DISCONNECT, HALT_STOP, 1);
    halted(&p, &b, FETCH, EP_FREE, HALT_SLEEP, 1);
    halted(&p, &b, GIVE, LMR_FREE, HALT_STOP, 1);
    halted(&p, &b, GIVE, DISCONNECT, HALT_STOP, 2);
    halted(&p, &b, GIVE, EP_FREE, HALT_STOP, 3);
    resumed(&p);
    debugger(&p, LMR_FREE);
    debugger(&p, DISCONNECT);
    bystander_stop(&b);
    ok(b.fine && b.longest < env_ms(4 * MAX_CALL_MS),
       "the peer is stopped: traffic with another process goes on (%u rounds, at most %u ms)", b.rounds, b.longest);
    bystander_end(&b);
    fx_close(&fx);
    /* The adapters above are closed, so the next attempt has the only adapter of the process. */
    halted(&p, NULL, WRITE, IA_CLOSE, HALT_STOP, 1);
    anywhere(&p, env_count(60, 10));
    close(p.link.out);
    p.link.out = -1;
    peer_ok(&p, "the other process ends well");
    return done_testing();
}
