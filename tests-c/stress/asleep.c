/*
 * asleep.c - two threads that wake each other, in two processes or in one.
 *
 * No wakeup is lost, even if another process writes into the shared words on which threads sleep. Events, signals and
 * timeouts end a sleep.
 */
#define _GNU_SOURCE
#include "common/waiter.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4000, FEWER_ROUNDS = 200, NO_CPU = -1 };

struct order {
    int rounds;
    int cpu;
};

static unsigned long long seed = 88172645463325252u;

static unsigned any(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % below);
}

/* Returns immediately in half of the calls. Otherwise sleeps or spins, so that the peer falls asleep in between. */
static void delay(void)
{
    struct timespec time = { 0, (long)any(100000) };
    volatile unsigned work = any(20000);

    switch (any(4)) {
    case 0: nanosleep(&time, NULL); break;
    case 1:
        while (work > 0)
            work--;
        break;
    default: break;
    }
}

static int nth_cpu(int n)
{
    cpu_set_t all;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return NO_CPU;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && n-- == 0)
            return i;
    return NO_CPU;
}

static void stay_on(int cpu)
{
    cpu_set_t one;

    if (cpu == NO_CPU)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    must(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

/* Exchanges messages in turn; this side sends first if `first` is true. Returns the number of complete rounds. */
static int take_turns(struct side *s, struct region *r, int rounds, bool first)
{
    DAT_EVENT e;
    int n;

    for (n = 0; n < rounds; n++) {
        if (first && (delay(), post_send(s, r, 0, 8, (DAT_UINT64)n) != DAT_SUCCESS))
            break;
        if (!wait_dto(s->recv, (DAT_UINT64)n, DAT_DTO_SUCCESS, &e) ||
            post_recv(s, r, 64, 8, (DAT_UINT64)n + 1) != DAT_SUCCESS)
            break;
        if (!first && (delay(), post_send(s, r, 0, 8, (DAT_UINT64)n) != DAT_SUCCESS))
            break;
        if (!wait_dto(s->req, (DAT_UINT64)n, DAT_DTO_SUCCESS, NULL))
            break;
    }
    return n;
}

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct order o;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must(LINK_RECV(up, o), "no order");
    seed += (unsigned long long)o.cpu + 7;
    must_rc(post_recv(&s, &r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    side_connect_peer(&s, up);
    stay_on(o.cpu);
    must(link_say(up, "ready"), "ready");
    must(take_turns(&s, &r, o.rounds, false) == o.rounds, "a message or a completion is missing");
    must(link_hear(up, "bye"), "bye");
    fx_close(&fx);
    return 0;
}

/* Receives `rounds` messages and sends none. On iWARP, reports each receive that it posts for the next message. */
static int taker(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct order o;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must(LINK_RECV(up, o), "no order");
    must_rc(post_recv(&s, &r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    side_connect_peer(&s, up);
    for (int n = 0; n < o.rounds; n++) {
        DAT_EVENT e;

        delay();
        must(wait_dto(s.recv, (DAT_UINT64)n, DAT_DTO_SUCCESS, &e), "a message is missing");
        must_rc(post_recv(&s, &r, 64, 8, (DAT_UINT64)n + 1), DAT_SUCCESS, "dat_ep_post_recv");
        if (env_is_iwarp())
            must(link_say(up, "posted"), "posted");
    }
    must(link_hear(up, "bye"), "bye");
    fx_close(&fx);
    return 0;
}

/* Receives `rounds` messages after the order "go". Posts their receives then, but on iWARP before it connects. */
static int keeper(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct order o;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must(LINK_RECV(up, o), "no order");
    for (int n = 0; env_is_iwarp() && n < o.rounds; n++)
        must_rc(post_recv(&s, &r, 64, 8, (DAT_UINT64)n), DAT_SUCCESS, "dat_ep_post_recv");
    side_connect_peer(&s, up);
    must(link_hear(up, "go"), "go");
    for (int n = 0; n < o.rounds; n++) {
        if (!env_is_iwarp())
            must_rc(post_recv(&s, &r, 64, 8, (DAT_UINT64)n), DAT_SUCCESS, "dat_ep_post_recv");
        must(wait_dto(s.recv, (DAT_UINT64)n, DAT_DTO_SUCCESS, NULL), "a message is missing");
    }
    must(link_hear(up, "bye"), "bye");
    fx_close(&fx);
    return 0;
}

static DAT_RETURN post(DAT_EVD_HANDLE evd)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    return dat_evd_post_se(evd, &e);
}

/* Makes its memory writable, and makes no call, while a thread of it waits for something else. */
static int bystander(struct link *up)
{
    DAT_EVD_HANDLE evd;
    struct waiter w;
    struct fx fx;
    struct side s;
    struct region r;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    evd = fx_evd(&fx, 4, DAT_EVD_SOFTWARE_FLAG);
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    must(link_send_target(up, target(&r, 0, 8)), "the target");
    must(link_hear(up, "bye"), "bye");
    must_rc(post(evd), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    fx_close(&fx);
    return 0;
}

/* Stores random values, and values read before, into the words on which processes report that they sleep. */
static int scribbler(struct link *up)
{
    struct fx fx;
    struct side s;
    FILE *maps;
    char line[512], access[5];
    unsigned *words[16];
    int n = 0;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_connect_peer(&s, up);
    maps = fopen("/proc/self/maps", "r");
    must(maps != NULL, "/proc/self/maps");
    while (n < 16 && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from;

        if (sscanf(line, "%lx-%*x %4s", &from, access) == 2 && strcmp(access, "rw-s") == 0 &&
            strstr(line, "dat-shm-alarm") != NULL)
            words[n++] = (unsigned *)from;
    }
    fclose(maps);
    must(link_send(up, &n, sizeof n), "the number of words");
    for (;;) /* ended by peer_kill() */
        for (int i = 0; i < n; i++) {
            unsigned seen = __atomic_load_n(words[i], __ATOMIC_SEQ_CST);

            for (int k = 0; k < 50; k++)
                __atomic_store_n(words[i], any(8) == 0 ? any(~0u) : seen, __ATOMIC_SEQ_CST);
        }
    return 0;
}

static const struct peer_role roles[] = { { "partner", partner }, { "taker", taker }, { "keeper", keeper },
                                          { "bystander", bystander }, { "scribbler", scribbler }, { NULL, NULL } };

/* Exchanges messages between this process, on the CPU `here`, and another on `there`. Returns the complete rounds. */
static int turns(struct fx *fx, struct region *r, int here, int there, int rounds)
{
    struct order o = { rounds, there };
    struct peer p;
    struct side s;
    cpu_set_t before;
    int done;

    peer_start(&p, "partner");
    side_make(&s, fx, NULL);
    must_rc(post_recv(&s, r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    must(LINK_SEND(&p.link, o), "the other process is gone");
    side_accept_peer(&s, &p.link);
    must(link_hear(&p.link, "ready"), "the other process is not ready");
    must(sched_getaffinity(0, sizeof before, &before) == 0, "sched_getaffinity");
    stay_on(here);
    done = take_turns(&s, r, rounds, true);
    must(sched_setaffinity(0, sizeof before, &before) == 0, "sched_setaffinity");
    link_say(&p.link, "bye");
    if (peer_join(&p, SOON_MS) != 0)
        done = -1;
    side_free(&s);
    return done;
}

struct thread {
    DAT_EVD_HANDLE mine, other;
    int rounds, done;
};

static void *wake_each_other(void *arg)
{
    struct thread *t = arg;
    DAT_EVENT e;

    for (t->done = 0; t->done < t->rounds; t->done++) {
        delay();
        if (post(t->other) != DAT_SUCCESS || !wait_number(t->mine, DAT_SOFTWARE_EVENT, &e))
            break;
    }
    return NULL;
}

static int threads(struct fx *fx, int rounds)
{
    struct thread t[2];
    pthread_t other;

    memset(t, 0, sizeof t);
    t[0].rounds = t[1].rounds = rounds;
    t[0].mine = t[1].other = fx_evd(fx, 8, DAT_EVD_SOFTWARE_FLAG);
    t[1].mine = t[0].other = fx_evd(fx, 8, DAT_EVD_SOFTWARE_FLAG);
    must(pthread_create(&other, NULL, wake_each_other, &t[1]) == 0, "no thread");
    wake_each_other(&t[0]);
    pthread_join(other, NULL);
    dat_evd_free(t[0].mine);
    dat_evd_free(t[1].mine);
    return t[0].done < t[1].done ? t[0].done : t[1].done;
}

static void short_limits(struct fx *fx)
{
    static const unsigned micros[] = { 1, 7, 29, 31, 100, 1500, 60000, 130000 };
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    int early = 0, other = 0;

    for (size_t i = 0; i < sizeof micros / sizeof micros[0]; i++) {
        struct timespec from, to;
        DAT_EVENT e;
        DAT_COUNT more;
        long long took;

        clock_gettime(CLOCK_MONOTONIC, &from);
        other += !rc_is(dat_evd_wait(evd, micros[i], 1, &e, &more), DAT_TIMEOUT_EXPIRED);
        clock_gettime(CLOCK_MONOTONIC, &to);
        took = (to.tv_sec - from.tv_sec) * 1000000000ll + (to.tv_nsec - from.tv_nsec);
        if (took < micros[i] * 1000ll || took > micros[i] * 1000ll + env_ms(SOON_MS) * 1000000ll) {
            diag("%u us took %lld ns", micros[i], took);
            early++;
        }
    }
    is_int(early, 0, "dat_evd_wait: limits from 1 us: it lasts that long");
    is_int(other, 0, "dat_evd_wait: limits from 1 us: DAT_TIMEOUT_EXPIRED");
    dat_evd_free(evd);
}

static void nothing(int signo)
{
    (void)signo;
}

/* A signal ends a wait, with and without SA_RESTART. */
static void signals(struct fx *fx)
{
    static const int flags[] = { 0, SA_RESTART };
    static const DAT_TIMEOUT limits[] = { DAT_TIMEOUT_INFINITE, 3600000000u };
    struct sigaction act, old;

    for (int i = 0; i < 4; i++) {
        DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
        struct waiter w;
        uint64_t end = now_ms() + env_ms(SOON_MS);

        memset(&act, 0, sizeof act);
        act.sa_handler = nothing;
        act.sa_flags = flags[i % 2];
        sigaction(SIGUSR1, &act, &old);
        waiter_start(&w, evd, limits[i / 2], 1);
        /* A signal before the sleep has no effect, so repeat it. */
        while (!waiter_done(&w, 20) && now_ms() < end)
            pthread_kill(w.thread, SIGUSR1);
        if (!waiter_done(&w, 0))
            post(evd);
        waiter_join(&w);
        is_type(w.rc, DAT_INTERRUPTED_CALL, "dat_evd_wait: a signal, handler %s SA_RESTART, %s limit: DAT_INTERRUPTED_CALL",
                i % 2 ? "with" : "without", i / 2 ? "a long" : "no");
        sigaction(SIGUSR1, &old, NULL);
        dat_evd_free(evd);
    }
}

static void *sleep_on(void *evd)
{
    DAT_EVENT e;
    DAT_COUNT more;

    dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &e, &more);
    return NULL;
}

/* Cancels two waiting threads at a random time. One of the two polls for both, the other sleeps. */
static void cancelled(struct fx *fx, int rounds)
{
    DAT_EVD_HANDLE evds[2] = { fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG), fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG) };
    int ended = 0, usable = 0;
    DAT_EVENT e;

    for (int n = 0; n < rounds; n++) {
        pthread_t thread[2];

        alarm(env_ms(60000) / 1000); /* ends the process if a join blocks */
        for (int i = 0; i < 2; i++)
            must(pthread_create(&thread[i], NULL, sleep_on, evds[i]) == 0, "no thread");
        delay();
        delay();
        for (int i = 0; i < 2; i++) {
            void *result = NULL;

            pthread_cancel(thread[i]);
            pthread_join(thread[i], &result);
            ended += result == PTHREAD_CANCELED;
            usable += post(evds[i]) == DAT_SUCCESS && wait_event(evds[i], &e);
        }
    }
    alarm(0);
    is_int(ended, 2 * rounds, "pthread_cancel: threads that wait: they end");
    is_int(usable, 2 * rounds, "dat_evd_wait: on EVDs whose waiters were cancelled: the event comes");
    dat_evd_free(evds[0]);
    dat_evd_free(evds[1]);
}

/* A stopped peer wakes no thread, but other wakeups reach the threads of this process. */
static void stopped(struct fx *fx, struct region *r)
{
    struct order o = { 1, NO_CPU };
    struct peer p;
    struct side s;
    DAT_EVENT e;
    DAT_COUNT more;
    uint64_t start;

    peer_start(&p, "partner");
    side_make(&s, fx, NULL);
    must_rc(post_recv(&s, r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    must(LINK_SEND(&p.link, o), "the other process is gone");
    side_accept_peer(&s, &p.link);
    must(link_hear(&p.link, "ready"), "the other process is not ready");
    kill(p.pid, SIGSTOP);
    must(waitpid(p.pid, NULL, WUNTRACED) == p.pid, "the other process does not stop");
    must_rc(post_send(&s, r, 0, 8, 0), DAT_SUCCESS, "dat_ep_post_send");
    start = now_ms();
    is_type(dat_evd_wait(s.recv, 200000, 1, &e, &more), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: the peer is stopped: DAT_TIMEOUT_EXPIRED");
    ok(now_ms() - start <= 200 + env_ms(5000), "dat_evd_wait: the peer is stopped: it ends in time");
    is_int(threads(fx, 50), 50, "dat_evd_wait: the peer is stopped: threads of this process wake each other");
    kill(p.pid, SIGCONT);
    ok(wait_dto(s.recv, 0, DAT_DTO_SUCCESS, &e), "dat_evd_wait: the peer goes on: its message wakes the thread");
    ok(wait_dto(s.req, 0, DAT_DTO_SUCCESS, &e), "dat_evd_wait: the peer goes on: the send is complete");
    link_say(&p.link, "bye");
    peer_ok(&p, "the peer that was stopped has got what it needs");
    side_free(&s);
}

/* A request completion wakes its waiter while another thread waits for messages. */
static void completions(struct fx *fx, struct region *r, int rounds)
{
    struct order o = { rounds, NO_CPU };
    struct waiter messages, request;
    struct peer p;
    struct side s;
    DAT_EVD_HANDLE evd = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    DAT_EP_ATTR attr;
    int done;

    peer_start(&p, "taker");
    side_make(&s, fx, NULL);
    must_rc(post_recv(&s, r, 64, 8, 0), DAT_SUCCESS, "dat_ep_post_recv");
    must(LINK_SEND(&p.link, o), "the other process is gone");
    side_accept_peer(&s, &p.link);
    waiter_start(&messages, s.recv, DAT_TIMEOUT_INFINITE, 1);
    for (done = 0; done < rounds; done++) {
        delay();
        if (post_send(&s, r, 0, 8, (DAT_UINT64)done) != DAT_SUCCESS ||
            !wait_dto(s.req, (DAT_UINT64)done, DAT_DTO_SUCCESS, NULL) ||
            (env_is_iwarp() && !link_hear(&p.link, "posted")))
            break;
    }
    is_int(done, rounds, "dat_evd_wait: for completions, beside a wait for messages: all come");
    ok(!waiter_done(&messages, 0), "dat_evd_wait: for messages: completions do not end it");
    link_say(&p.link, "bye");
    waiter_join(&messages);
    is_type(messages.rc, DAT_SUCCESS, "dat_evd_wait: the peer goes: the receive is flushed");
    peer_ok(&p, "the process that took the messages has got what it needs");
    side_free(&s);

    o.rounds = 1;
    peer_start(&p, "taker");
    waiter_start(&request, evd, DAT_TIMEOUT_INFINITE, 1);
    ok(!waiter_done(&request, 50), "dat_evd_wait: nothing completes on the EVD yet: the thread sleeps");
    side_make(&s, fx, NULL);
    must_rc(dat_ep_free(s.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(s.req), DAT_SUCCESS, "dat_evd_free");
    s.req = evd;
    attr_default(&attr);
    must_rc(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, &attr, &s.ep), DAT_SUCCESS, "dat_ep_create");
    must(LINK_SEND(&p.link, o), "the other process is gone");
    side_accept_peer(&s, &p.link);
    must_rc(post_send(&s, r, 0, 8, 0), DAT_SUCCESS, "dat_ep_post_send");
    ok(waiter_done(&request, SOON_MS),
       "dat_evd_wait: an endpoint gets the EVD for its requests: their completion wakes the thread");
    link_say(&p.link, "bye");
    waiter_join(&request);
    peer_ok(&p, "the process that took the message has got what it needs");
    side_free(&s);
}

/* Connects a side, whose requests complete on evd, to a process that receives `messages` messages after "go". */
static void keeper_start(struct peer *p, struct side *s, struct fx *fx, DAT_EVD_HANDLE evd, int messages)
{
    struct order o = { messages, NO_CPU };
    DAT_EP_ATTR attr;

    peer_start(p, "keeper");
    side_make(s, fx, NULL);
    must_rc(dat_ep_free(s->ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(s->req), DAT_SUCCESS, "dat_evd_free");
    s->req = evd;
    attr_default(&attr);
    attr.max_request_dtos = messages;
    must_rc(dat_ep_create(fx->ia, fx->pz, s->recv, s->req, s->conn, &attr, &s->ep), DAT_SUCCESS, "dat_ep_create");
    must(LINK_SEND(&p->link, o), "the other process is gone");
    side_accept_peer(s, &p->link);
}

/* Posts n sends if `now` is true. */
static void sends(struct side *s, struct region *r, int n, bool now)
{
    for (int i = 0; now && i < n; i++)
        must_rc(post_send(s, r, 0, 8, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_send");
}

static void agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    (void)evd;
    __atomic_store_n((int *)data, 1, __ATOMIC_SEQ_CST);
}

static bool called(void *data)
{
    return __atomic_load_n((int *)data, __ATOMIC_SEQ_CST) != 0;
}

/*
 * Completions that no thread waits for cause events that a thread waits for. The sends complete when the peer takes
 * them, but on iWARP immediately, so there they are posted when the thread waits.
 */
static void consequences(struct fx *fx, struct region *r)
{
    const bool later = env_is_iwarp();
    DAT_EVD_HANDLE evd = fx_evd(fx, 1, DAT_EVD_DTO_FLAG);
    DAT_OS_WAIT_PROXY_AGENT a;
    DAT_CNO_HANDLE cno;
    int calls = 0;
    DAT_EVD_PARAM q;
    struct waiter w;
    struct peer p;
    struct side s;

    must_rc(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q), DAT_SUCCESS, "dat_evd_query");
    if (q.evd_qlen > 1000) {
        skip_named("overflow by sends", "the provider's shortest EVD is too long to fill");
        must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    } else {
        keeper_start(&p, &s, fx, evd, q.evd_qlen + 1);
        sends(&s, r, q.evd_qlen + 1, !later);
        waiter_start(&w, fx->async, DAT_TIMEOUT_INFINITE, 1);
        ok(!waiter_done(&w, 50), "dat_evd_wait: for asynchronous events: the thread sleeps");
        sends(&s, r, q.evd_qlen + 1, later);
        link_say(&p.link, "go");
        ok(waiter_done(&w, SOON_MS) && w.event.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW,
           "dat_evd_wait: for asynchronous events: completions of sends find no room: the thread wakes");
        if (!waiter_done(&w, 0))
            dat_evd_set_unwaitable(fx->async);
        waiter_join(&w);
        dat_evd_clear_unwaitable(fx->async);
        link_say(&p.link, "bye");
        peer_ok(&p, "the process that took the messages has got what it needs");
        side_free(&s);
    }

    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    evd = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    keeper_start(&p, &s, fx, evd, 1);
    sends(&s, r, 1, !later);
    waiter_start_cno(&w, cno, DAT_TIMEOUT_INFINITE);
    ok(!waiter_done(&w, 50), "dat_cno_wait: no EVD is tied to it: the thread sleeps");
    must_rc(dat_evd_modify_cno(evd, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    sends(&s, r, 1, later);
    link_say(&p.link, "go");
    ok(waiter_done(&w, SOON_MS) && w.hint == evd,
       "dat_cno_wait: an EVD comes to it: the completion of a send there wakes the thread");
    if (!waiter_done(&w, 0))
        wait_dto(evd, 0, DAT_DTO_SUCCESS, NULL);
    waiter_join(&w);
    link_say(&p.link, "bye");
    peer_ok(&p, "the process that took the message has got what it needs");
    side_free(&s);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");

    a.instance_data = &calls;
    a.proxy_agent_func = agent;
    must_rc(dat_cno_create(fx->ia, a, &cno), DAT_SUCCESS, "dat_cno_create");
    evd = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    must_rc(dat_evd_modify_cno(evd, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    keeper_start(&p, &s, fx, evd, 1);
    must_rc(post_send(&s, r, 0, 8, 0), DAT_SUCCESS, "dat_ep_post_send");
    link_say(&p.link, "go");
    ok(wait_until(called, &calls, SOON_MS), "agent: a send completes, and no thread calls in: it is called");
    link_say(&p.link, "bye");
    peer_ok(&p, "the process that took the message has got what it needs");
    side_free(&s);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");

    evd = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    keeper_start(&p, &s, fx, evd, 3);
    sends(&s, r, 3, true);
    if (later) /* The connection ends immediately. */
        waiter_start(&w, s.conn, DAT_TIMEOUT_INFINITE, 1);
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    if (!later)
        waiter_start(&w, s.conn, DAT_TIMEOUT_INFINITE, 1);
    if (!none_waits("dat_ep_disconnect: graceful, and the peer takes no message: the thread sleeps"))
        ok(!waiter_done(&w, 50), "dat_ep_disconnect: graceful, and the peer takes no message: the thread sleeps");
    link_say(&p.link, "go");
    ok(waiter_done(&w, SOON_MS) && w.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
       "dat_ep_disconnect: graceful, and the peer takes the last message: the thread wakes");
    if (!waiter_done(&w, 0))
        dat_evd_set_unwaitable(s.conn);
    waiter_join(&w);
    link_say(&p.link, "bye");
    peer_ok(&p, "the process that took the messages has got what it needs");
    side_free(&s);
}

/* Writes to a process of which one thread sleeps complete at once. On a busy machine, some of each series are late. */
static void prompt(struct fx *fx, struct region *r)
{
    enum { SERIES = 256, AT_ONCE = 4, LATE_MS = 8 };
    uint64_t end = now_ms() + env_ms(SOON_MS);
    DAT_RMR_TRIPLET there;
    int late = SERIES;
    struct peer p;
    struct side s;

    peer_start(&p, "bystander");
    side_make(&s, fx, NULL);
    side_accept_peer(&s, &p.link);
    must(link_recv_target(&p.link, &there), "the other process is gone");
    while (late > SERIES / 32 && now_ms() < end) {
        late = 0;
        for (int n = 0; n < SERIES; n++) {
            uint64_t start = now_ms();

            for (int i = 0; i < AT_ONCE; i++)
                must_rc(post_write(&s, r, 0, 8, there, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_rdma_write");
            for (int i = 0; i < AT_ONCE; i++)
                must(wait_dto(s.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL), "a write does not complete");
            late += now_ms() - start >= LATE_MS;
        }
    }
    ok(late <= SERIES / 32, "dat_ep_post_rdma_write: a thread of the peer waits for something else: it completes at once");
    diag("%d of %d took %d ms or longer", late, SERIES, LATE_MS);
    link_say(&p.link, "bye");
    peer_ok(&p, "the process whose thread waits has got what it needs");
    side_free(&s);
}

static void hostile(struct fx *fx, struct region *r)
{
    int rounds = env_count(300, 50), words = 0;
    struct peer bad;
    struct side s;

    peer_start(&bad, "scribbler");
    side_make(&s, fx, NULL);
    side_accept_peer(&s, &bad.link);
    must(LINK_RECV(&bad.link, words), "the hostile process fails");
    if (words == 0) {
        skip(2, "processes share no word that they sleep on");
    } else {
        is_int(turns(fx, r, NO_CPU, NO_CPU, rounds), rounds,
               "dat_evd_wait: somebody changes the words that sleepers look at: messages of others come");
        is_int(threads(fx, rounds), rounds,
               "dat_evd_wait: somebody changes the words that sleepers look at: threads wake each other");
    }
    peer_kill(&bad);
    side_free(&s);
}

int main(int argc, char **argv)
{
    int rounds, one, two;
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    rounds = env_count(ROUNDS, FEWER_ROUNDS);
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    short_limits(&fx);
    signals(&fx);
    cancelled(&fx, env_count(400, 40));
    is_int(threads(&fx, rounds), rounds, "dat_evd_wait: two threads wake each other: no wake-up is lost");
    one = nth_cpu(0);
    two = nth_cpu(1);
    is_int(turns(&fx, &r, one, one, rounds), rounds,
           "dat_evd_wait: two processes on one processor wake each other: no wake-up is lost");
    if (two == NO_CPU)
        skip(1, "there is one processor");
    else
        is_int(turns(&fx, &r, one, two, rounds), rounds,
               "dat_evd_wait: two processes on two processors wake each other: no wake-up is lost");
    completions(&fx, &r, env_count(1000, 50));
    consequences(&fx, &r);
    stopped(&fx, &r);
    if (strncmp(env_ia(), "verbs", 5) == 0)
        skip(2, "the device sends the acknowledgements");
    else
        prompt(&fx, &r);
    hostile(&fx, &r);
    fx_close(&fx);
    return done_testing();
}
