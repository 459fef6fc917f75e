/*
 * held_up.c - a thread that has slept in a wait and now does something else does not delay other waits.
 *
 * That thread is in a signal handler, in cancellation handlers, of the lowest priority, or stopped by a debugger.
 */
#define _GNU_SOURCE
#include "common/usage.h"
#include "common/waiter.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The timeout of a wait, and the time within which an event must end the wait. */
#define LIMIT_MS (SOON_MS / 2)
#define WOKEN_MS (LIMIT_MS / 2)

enum { FIRST, SECOND, SIDES };
enum { ROUNDS = 400, FEWER_ROUNDS = 40, MAX_WAKEUPS = 8 };

static struct side side[SIDES];
static struct region region;
static struct peer other;

/* ---- The second process ---- */

/* SEND: sends `count` messages on a side. ECHO: replies to `count` messages, each after a pause. END: exits. */
struct order {
    enum { SEND, ECHO, END } what;
    int side;
    int count;
};

static int partner(struct link *up)
{
    struct fx fx;
    struct side s[SIDES];
    struct region r;
    struct order o;

    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    for (int i = 0; i < SIDES; i++) {
        side_make(&s[i], &fx, NULL);
        must_rc(post_recv(&s[i], &r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
        side_connect_peer(&s[i], up);
    }
    while (LINK_RECV(up, o) && o.what != END) {
        struct side *to = &s[o.side];
        struct timespec pause = { 0, 200000 };
        int done = 1;

        for (int i = 0; i < o.count; i++) {
            if (o.what == ECHO) {
                must(wait_dto(to->recv, 0, DAT_DTO_SUCCESS, NULL), "no message to answer");
                must_rc(post_recv(to, &r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
                nanosleep(&pause, NULL);
            }
            must_rc(post_send(to, &r, 0, 8, 1), DAT_SUCCESS, "dat_ep_post_send");
            done = done && wait_dto(to->req, 1, DAT_DTO_SUCCESS, NULL);
        }
        must(LINK_SEND(up, done), "the other process is gone");
    }
    fx_close(&fx);
    return 0;
}

static void order(int what, int on, int count)
{
    struct order o = { what, on, count };

    must(LINK_SEND(&other.link, o), "the other process is gone");
}

static bool has_sent(unsigned ms)
{
    int done;

    return link_recv(&other.link, &done, sizeof done, ms) && done;
}

/* ---- Threads of this process that wait ---- */

/* The thread that sleeps first, and the state of its handler. */
static pthread_t sleeper;
static volatile sig_atomic_t inside, release;
static DAT_RETURN inner_rc;
static uint64_t inner_ms;

static void reset(void)
{
    inside = release = 0;
}

static void await_inside(void)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (!inside) {
        must(now_ms() < end, "the thread does not get there");
        breathe();
    }
}

/* Sets `inside`. Returns when main sets `release`, or after SOON_MS (scaled). */
static void stay(void)
{
    struct timespec tick = { 0, 1000000 };
    uint64_t end = now_ms() + env_ms(SOON_MS);

    inside = 1;
    while (!release && now_ms() < end)
        nanosleep(&tick, NULL);
}

static void long_handler(int signo)
{
    (void)signo;
    stay();
}

static void waiting_handler(int signo)
{
    uint64_t start = now_ms();
    DAT_EVENT e;
    DAT_COUNT more;

    (void)signo;
    inner_rc = dat_evd_wait(side[SECOND].recv, env_us(LIMIT_MS), 1, &e, &more);
    inner_ms = now_ms() - start;
    inside = 1;
}

static void cleanup(void *arg)
{
    (void)arg;
    stay();
}

static void *wait_first(void *arg)
{
    DAT_EVENT e;
    DAT_COUNT more;
    DAT_RETURN rc;

    pthread_cleanup_push(cleanup, NULL);
    do
        rc = dat_evd_wait(side[FIRST].recv, DAT_TIMEOUT_INFINITE, 1, &e, &more);
    while (rc_is(rc, DAT_INTERRUPTED_CALL));
    *(DAT_RETURN *)arg = rc;
    pthread_cleanup_pop(0);
    return NULL;
}

static bool is_waited_for(void *evd)
{
    DAT_EVENT e;
    DAT_RETURN rc = dat_evd_dequeue(evd, &e);

    must(rc_is(rc, DAT_QUEUE_EMPTY) || rc_is(rc, DAT_INVALID_STATE), "dat_evd_dequeue: %s", rc_text(rc));
    return rc_is(rc, DAT_INVALID_STATE);
}

static bool is_asleep(void *tid)
{
    char name[64], state = '?';
    FILE *file;

    snprintf(name, sizeof name, "/proc/self/task/%d/stat", *(int *)tid);
    file = fopen(name, "r");
    must(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "no state of a thread");
    fclose(file);
    return state == 'S';
}

static int sleeper_tid;
static void (*prepare)(void);

static void *sleeper_body(void *arg)
{
    if (prepare != NULL)
        prepare();
    __atomic_store_n(&sleeper_tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    return wait_first(arg);
}

/* Starts the thread that must sleep before any other thread waits. */
static void sleeper_start(DAT_RETURN *rc)
{
    reset();
    __atomic_store_n(&sleeper_tid, 0, __ATOMIC_SEQ_CST);
    must(pthread_create(&sleeper, NULL, sleeper_body, rc) == 0, "no thread");
    must(wait_until(is_waited_for, side[FIRST].recv, SOON_MS), "the thread does not wait");
    must(wait_until(is_asleep, &sleeper_tid, SOON_MS), "the thread does not sleep");
}

static void sleeper_end(DAT_RETURN *rc)
{
    release = 1;
    order(SEND, FIRST, 1);
    must(pthread_join(sleeper, NULL) == 0, "pthread_join");
    must(has_sent(SOON_MS), "a message does not arrive");
    is_success(*rc, "the thread's own wait ends by its event");
    must_rc(post_recv(&side[FIRST], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
}

/* Checks as a subtest that an event ends the wait of another thread within WOKEN_MS. */
static void is_woken(struct waiter *w, const char *while_what)
{
    order(SEND, SECOND, 1);
    ok(waiter_done(w, WOKEN_MS) && w->rc == DAT_SUCCESS, "another thread's wait is woken while %s", while_what);
    waiter_join(w);
    must(has_sent(SOON_MS), "a message does not arrive");
    must_rc(post_recv(&side[SECOND], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
}

static void start_second(struct waiter *w)
{
    waiter_start(w, side[SECOND].recv, env_us(LIMIT_MS), 1);
}

static void handle(int signo, void (*handler)(int))
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    must(sigaction(signo, &act, NULL) == 0, "sigaction");
}

/* ---- States of the first thread ---- */

static void in_a_handler(void)
{
    DAT_RETURN rc = DAT_INTERNAL_ERROR;
    struct waiter w;

    handle(SIGUSR1, long_handler);
    sleeper_start(&rc);
    start_second(&w);
    pthread_kill(sleeper, SIGUSR1);
    await_inside();
    is_woken(&w, "the first one is in a signal handler");
    start_second(&w);
    is_woken(&w, "the first one is still there");
    sleeper_end(&rc);

    /* Now no other thread of this process waits. */
    sleeper_start(&rc);
    pthread_kill(sleeper, SIGUSR1);
    await_inside();
    for (int i = 0; i < 2; i++) {
        order(SEND, SECOND, 1);
        ok(has_sent(WOKEN_MS), "a message is received while the only thread that waits is in a signal handler");
        must_rc(post_recv(&side[SECOND], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    }
    must(drain_dtos(side[SECOND].recv, 2) == 2, "no messages");
    sleeper_end(&rc);
}

static void waits_in_a_handler(void)
{
    DAT_RETURN rc = DAT_INTERNAL_ERROR;

    handle(SIGUSR1, waiting_handler);
    sleeper_start(&rc);
    pthread_kill(sleeper, SIGUSR1);
    must(wait_until(is_waited_for, side[SECOND].recv, SOON_MS), "the handler does not wait");
    must(wait_until(is_asleep, &sleeper_tid, SOON_MS), "the handler does not sleep");
    order(SEND, SECOND, 1);
    await_inside();
    is_success(inner_rc, "dat_evd_wait in a signal handler that interrupted dat_evd_wait: success");
    ok(inner_ms < env_ms(WOKEN_MS), "dat_evd_wait in such a handler is woken");
    must(has_sent(SOON_MS), "a message does not arrive");
    must_rc(post_recv(&side[SECOND], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    sleeper_end(&rc);
}

static void cancelled(void)
{
    DAT_RETURN rc = DAT_INTERNAL_ERROR;
    struct waiter w, again;
    void *result = NULL;
    DAT_EVENT e;

    sleeper_start(&rc);
    start_second(&w);
    pthread_cancel(sleeper);
    await_inside();
    is_type(dat_evd_dequeue(side[FIRST].recv, &e), DAT_QUEUE_EMPTY,
            "a thread that is cancelled in a wait does not wait any more when its own handlers run");
    is_woken(&w, "the handlers of a cancelled one run");
    start_second(&w);
    waiter_start(&again, side[FIRST].recv, env_us(LIMIT_MS), 1);
    is_woken(&w, "the handlers are still running, and a third one waits");
    order(SEND, FIRST, 1);
    ok(waiter_done(&again, WOKEN_MS) && again.rc == DAT_SUCCESS,
       "a thread waits in the place of one that is cancelled, and is woken");
    waiter_join(&again);
    must(has_sent(SOON_MS), "a message does not arrive");
    must_rc(post_recv(&side[FIRST], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    release = 1;
    must(pthread_join(sleeper, &result) == 0, "pthread_join");
    ok(result == PTHREAD_CANCELED, "the thread ends by its cancellation");
}

static void idle_class(void)
{
    struct sched_param none = { 0 };

    must(sched_setscheduler(0, SCHED_IDLE, &none) == 0, "SCHED_IDLE");
}

static long switches(void)
{
    char name[64], line[128];
    long count = -1;
    FILE *file;

    snprintf(name, sizeof name, "/proc/self/task/%d/status", sleeper_tid);
    file = fopen(name, "r");
    must(file != NULL, "no status of a thread");
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
            break;
    fclose(file);
    must(count >= 0, "no switches of a thread");
    return count;
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Makes `rounds` round trips, with sleeps in between. Returns the number of complete rounds, and their median in ns. */
static int round_trips(int rounds, uint64_t *median)
{
    static uint64_t took[ROUNDS];
    struct side *s = &side[SECOND];
    int n;

    order(ECHO, SECOND, rounds);
    for (n = 0; n < rounds; n++) {
        uint64_t start = now_ns();

        if (post_send(s, &region, 0, 8, 2) != DAT_SUCCESS || !wait_dto(s->recv, 0, DAT_DTO_SUCCESS, NULL))
            break;
        took[n] = now_ns() - start;
        must(wait_dto(s->req, 2, DAT_DTO_SUCCESS, NULL), "a send does not complete");
        must_rc(post_recv(s, &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    }
    if (n > 0)
        qsort(took, (size_t)n, sizeof took[0], by_time);
    *median = took[n / 2];
    must(n < rounds || has_sent(SOON_MS), "the other process does not answer");
    return n;
}

/* The first thread has SCHED_IDLE, so it rarely gets a CPU. Messages for other threads must not wake it each time. */
static void of_low_priority(void)
{
    DAT_RETURN rc = DAT_INTERNAL_ERROR;
    int rounds = env_count(ROUNDS, FEWER_ROUNDS);
    uint64_t alone, beside;
    long before, woken;

    must(round_trips(rounds, &alone) == rounds, "a message is missing");
    prepare = idle_class;
    sleeper_start(&rc);
    prepare = NULL;
    before = switches();
    is_int(round_trips(rounds, &beside), rounds, "round trips beside a thread of SCHED_IDLE that sleeps");
    woken = switches() - before;
    /* A few wakeups have other reasons. */
    if (strncmp(env_ia(), "tcp", 3) == 0)
        skip_named("the thread of SCHED_IDLE is not woken for them", "a message can wake each thread that sleeps on the one set of sockets");
    else
        ok(woken <= MAX_WAKEUPS, "the thread of SCHED_IDLE is not woken for them");
    diag("woken %ld times in %d rounds; %llu us a round, %llu without it", woken, rounds,
         (unsigned long long)beside / 1000, (unsigned long long)alone / 1000);
    sleeper_end(&rc);
}

/* ---- A debugger ---- */

static int debugger(struct link *up)
{
    int tid, status, failed;

    must(LINK_RECV(up, tid), "no thread");
    failed = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 &&
                     waitpid(tid, &status, __WALL) == tid
                 ? 0
                 : errno;
    must(LINK_SEND(up, failed), "the other process is gone");
    link_hear(up, "go on");
    if (failed == 0)
        must(ptrace(PTRACE_DETACH, tid, NULL, NULL) == 0, "PTRACE_DETACH");
    return 0;
}

static void debugged(void)
{
    DAT_RETURN rc = DAT_INTERNAL_ERROR;
    struct waiter w;
    struct peer d;
    int failed = ETIME;

    sleeper_start(&rc);
    start_second(&w);
    peer_start(&d, "debugger");
    must(LINK_SEND(&d.link, sleeper_tid) && LINK_RECV(&d.link, failed), "no debugger");
    if (failed == 0)
        is_woken(&w, "a debugger has stopped the first one");
    else
        skip_named("another thread's wait is woken while a debugger has stopped the first one", strerror(failed));
    link_say(&d.link, "go on");
    peer_ok(&d, "the debugger ends well");
    if (failed != 0)
        is_woken(&w, "no debugger has stopped the first one");
    sleeper_end(&rc);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "partner", partner }, { "debugger", debugger }, { NULL, NULL }
    };
    struct fx fx;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &region, 4096, MEM_LOCAL);
    peer_start(&other, "partner");
    for (int i = 0; i < SIDES; i++) {
        side_make(&side[i], &fx, NULL);
        for (int n = 0; n < (i == SECOND ? 3 : 1); n++)
            must_rc(post_recv(&side[i], &region, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
        side_accept_peer(&side[i], &other.link);
    }
    in_a_handler();
    waits_in_a_handler();
    cancelled();
    of_low_priority();
    debugged();
    order(END, FIRST, 0);
    peer_ok(&other, "the other process ends well");
    fx_close(&fx);
    return done_testing();
}
