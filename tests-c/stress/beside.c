/*
 * beside.c - small messages during long transfers.
 *
 * Two endpoints exchange messages of 8 bytes. Other connections of the same two processes move long messages, RDMA
 * writes and RDMA reads into untouched memory. Each of these maxima is below 2 ms in at least two rounds:
 *
 *   - the CPU time of a call, at both ends
 *   - the time between two replies, less the time in which either end waited for a CPU
 *
 * One copy of the complete transfer takes about 100 times as long. The kernel can charge interrupts to a thread's CPU
 * time. Therefore:
 *
 *   - up to 20 rounds run until two are good for each maximum
 *   - a call that first touches at most 4 MiB may take 20 ms
 *   - the limit between replies is at least twice the slowest of many copies of 1 MiB
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MANY 8
#define MIN_GOOD 2
#define MAX_ROUNDS 20
#define LONGEST_NS ((int64_t)env_ms(2) * 1000000)
/* The limit is larger by this factor for calls that first touch at most MAX_SHORT_COPY bytes. */
#define INTERRUPTED 10
#define MAX_SHORT_COPY ((size_t)4 << 20)

enum kind { MESSAGE, WRITE, READ, END };

static const char *const names[] = { "message", "RDMA write", "RDMA read" };

struct order {
    enum kind kind;
    unsigned count;
    size_t length; /* of each transfer */
};

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the time that this thread has waited for a CPU, or 0 if the kernel does not report it. */
static uint64_t delay_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    unsigned long long delay = 0;

    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &delay) != 1)
            delay = 0;
        fclose(file);
    }
    return delay;
}

/*
 * Returns the bytes of the pages that this thread has touched first, in this process or by a copy to another process.
 */
static uint64_t touched(void)
{
    static size_t page;
    struct rusage usage;

    if (page == 0)
        page = (size_t)sysconf(_SC_PAGESIZE);
    must(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
    return (uint64_t)usage.ru_minflt * page;
}

/* Maximum CPU time of this thread's calls in ns, scaled so that LONGEST_NS is the limit of each call. */
static __thread uint64_t longest;

static void took(uint64_t ns, uint64_t bytes)
{
    if (bytes <= MAX_SHORT_COPY)
        ns /= INTERRUPTED;
    if (ns > longest)
        longest = ns;
}

#define TIMED(rc, call)                                                   \
    do {                                                                  \
        uint64_t bytes_ = touched();                                      \
        uint64_t start_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);              \
        rc = (call);                                                      \
        start_ = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_;              \
        took(start_, touched() - bytes_);                                 \
    } while (0)

/* Returns the time of the slowest of 64 copies of 1 MiB to untouched memory. */
static int64_t slowest_copy(void)
{
    size_t size = (size_t)1 << 20, many = 64;
    unsigned char *from = malloc(size);
    unsigned char *to = mmap(NULL, many * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t slowest = 0;

    must(from != NULL && to != MAP_FAILED, "no memory");
    memset(from, 1, size);
    for (size_t i = 0; i < many; i++) {
        uint64_t start = clock_ns(CLOCK_MONOTONIC), ns;

        memcpy(to + i * size, from, size);
        ns = clock_ns(CLOCK_MONOTONIC) - start;
        if (ns > slowest)
            slowest = ns;
    }
    munmap(to, many * size);
    free(from);
    return (int64_t)slowest;
}

struct end {
    struct fx *fx;
    struct side small, large[MANY];
    struct region words; /* buffers of small messages */
    struct region area;  /* buffers of long transfers */
};

static size_t total(void)
{
    return (size_t)env_count(128, 64) << 20;
}

static void end_make(struct end *e, struct fx *fx)
{
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = total();
    e->fx = fx;
    side_make(&e->small, fx, &attr);
    for (int i = 0; i < MANY; i++)
        side_make(&e->large[i], fx, &attr);
    region_make(fx, &e->words, 4096, MEM_LOCAL);
    region_make(fx, &e->area, total() + 4096, DAT_MEM_PRIV_ALL_FLAG);
}

static uint64_t value(size_t at)
{
    return (at + 1) * 0x9e3779b97f4a7c15u;
}

static unsigned char *first(struct end *e)
{
    return e->area.mem + (4096 - (uintptr_t)e->area.mem % 4096) % 4096;
}

static void fill(struct end *e)
{
    uint64_t *words = (uint64_t *)(void *)first(e);

    for (size_t i = 0; i < total() / 8; i++)
        words[i] = value(i);
}

/* Discards the pages, so that the next access touches them for the first time. */
static void untouch(struct end *e)
{
    must(madvise(first(e), total(), MADV_DONTNEED) == 0, "madvise");
}

static bool check(struct end *e, size_t length)
{
    const uint64_t *words = (const uint64_t *)(void *)first(e);

    for (size_t i = 0; i < length / 8; i += i % 8192 < 8100 ? 61 : 1)
        if (words[i] != value(i))
            return false;
    return words[length / 8 - 1] == value(length / 8 - 1);
}

static size_t offset(struct end *e, const struct order *o, unsigned i)
{
    return (size_t)(first(e) - e->area.mem) + i * o->length;
}

static void small_post(struct end *e)
{
    DAT_RETURN rc;

    TIMED(rc, post_recv(&e->small, &e->words, 0, 8, 1));
    must_rc(rc, DAT_SUCCESS, "dat_ep_post_recv");
}

static void small_send(struct end *e, unsigned char what)
{
    DAT_RETURN rc;

    e->words.mem[64] = what;
    TIMED(rc, post_send(&e->small, &e->words, 64, 8, 2));
    must_rc(rc, DAT_SUCCESS, "dat_ep_post_send");
}

/* Dequeues an event. Returns false if there is none. */
static bool fetch(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN rc;

    TIMED(rc, dat_evd_dequeue(evd, event));
    if (!rc_is(rc, DAT_SUCCESS))
        return false;
    must(event->event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS, "a transfer failed");
    return true;
}

/* The echoing end's measurements of a round. */
struct report {
    uint64_t longest, delay;
};

/* Echoes small messages until one marks the end of the round. */
static struct report answer(struct end *e)
{
    uint64_t delay = delay_ns();
    DAT_EVENT event;
    unsigned char what;

    longest = 0;
    do {
        while (!fetch(e->small.recv, &event))
            continue;
        what = e->words.mem[0];
        small_post(e);
        small_send(e, what);
        while (!fetch(e->small.req, &event))
            continue;
    } while (what != 1);
    return (struct report){ longest, delay_ns() - delay };
}

static int echo(struct link *up)
{
    struct fx fx;
    struct end e;
    struct order o;
    struct report report;
    DAT_RMR_TRIPLET all;
    bool filled = false;

    fx_open(&fx);
    end_make(&e, &fx);
    side_accept_peer(&e.small, up);
    for (int i = 0; i < MANY; i++)
        side_accept_peer(&e.large[i], up);
    all = target(&e.area, offset(&e, &(struct order){ END, 0, 0 }, 0), total());
    must(LINK_SEND(up, all), "the other process is gone");
    small_post(&e);
    while (LINK_RECV(up, o) && o.kind != END) {
        bool good = true;

        if (o.kind != READ)
            untouch(&e);
        else if (!filled)
            fill(&e);
        filled = o.kind == READ;
        for (unsigned i = 0; o.kind == MESSAGE && i < o.count; i++)
            must_rc(post_recv(&e.large[i], &e.area, offset(&e, &o, i), o.length, i), DAT_SUCCESS,
                    "dat_ep_post_recv");
        link_say(up, "ready");
        report = answer(&e);
        must(LINK_SEND(up, report), "the other process is gone");
        for (unsigned i = 0; o.kind == MESSAGE && i < o.count; i++)
            good &= wait_dto(e.large[i].recv, i, DAT_DTO_SUCCESS, NULL);
        if (o.kind != READ)
            good &= check(&e, o.count * o.length);
        must(LINK_SEND(up, good), "the other process is gone");
    }
    fx_close(&fx);
    return 0;
}

struct times {
    int64_t gap[MAX_ROUNDS], call[MAX_ROUNDS], far_call[MAX_ROUNDS];
    int rounds;
    int64_t soon; /* limit of a gap */
    unsigned answers;
    bool good;
};

static DAT_RETURN post_large(struct end *e, const struct order *o, unsigned i, DAT_RMR_TRIPLET all)
{
    DAT_RMR_TRIPLET t = all;

    t.target_address += i * o->length;
    t.segment_length = o->length;
    switch (o->kind) {
    case MESSAGE: return post_send(&e->large[i], &e->area, offset(e, o, i), o->length, i);
    case WRITE: return post_write(&e->large[i], &e->area, offset(e, o, i), o->length, t, i);
    default: return post_read(&e->large[i], &e->area, offset(e, o, i), o->length, t, i);
    }
}

/* Sends a small message and waits for the reply. Returns the round-trip time in ns. */
static int64_t ask(struct end *e, unsigned char what)
{
    uint64_t start = clock_ns(CLOCK_MONOTONIC), took;
    DAT_EVENT event;

    small_send(e, what);
    while (!fetch(e->small.recv, &event))
        continue;
    took = clock_ns(CLOCK_MONOTONIC) - start;
    small_post(e);
    while (fetch(e->small.req, &event))
        continue;
    return (int64_t)took;
}

/* Runs one round: exchanges small messages until all long transfers have completed. */
static void exchange(struct end *e, const struct order *o, DAT_RMR_TRIPLET all, struct times *t)
{
    int64_t *gap = &t->gap[t->rounds];
    uint64_t delay = delay_ns();
    unsigned done = 0, turn = 0;
    uint64_t until = now_ms() + env_ms(SOON_MS);
    DAT_EVENT event;
    DAT_RETURN rc;

    *gap = 0;
    /* Make the other end poll before the long transfers start. */
    for (int i = 0; i < 20; i++)
        ask(e, 0);
    longest = 0;
    for (unsigned i = 0; i < o->count; i++) {
        TIMED(rc, post_large(e, o, i, all));
        must_rc(rc, DAT_SUCCESS, "posting a long transfer");
    }
    for (bool last = false;; t->answers++) {
        int64_t took;

        last = last || done == o->count || now_ms() > until;
        took = ask(e, last);
        if (took > *gap)
            *gap = took;
        if (last)
            break;
        turn = (turn + 1) % o->count;
        if (fetch(e->large[turn].req, &event))
            done++;
    }
    while (done < o->count && wait_event(e->large[turn = (turn + 1) % o->count].req, &event))
        done++;
    t->good &= done == o->count;
    t->call[t->rounds] = (int64_t)longest;
    *gap -= (int64_t)(delay_ns() - delay);
}

static int good_rounds(const struct times *t, const int64_t ns[MAX_ROUNDS], int64_t limit)
{
    int good = 0;

    for (int i = 0; i < t->rounds; i++)
        good += ns[i] < limit;
    return good;
}

/* Records the other end's measurements of a round. Returns true after the last round. */
static bool note(struct times *t, struct report far)
{
    int64_t soon = 2 * slowest_copy();

    t->far_call[t->rounds] = (int64_t)far.longest;
    t->gap[t->rounds] -= (int64_t)far.delay;
    t->rounds++;
    t->soon = soon > t->soon ? soon : t->soon;
    return t->rounds == MAX_ROUNDS
           || (good_rounds(t, t->call, LONGEST_NS) >= MIN_GOOD && good_rounds(t, t->far_call, LONGEST_NS) >= MIN_GOOD
               && good_rounds(t, t->gap, t->soon) >= MIN_GOOD);
}

static void judge_one(const struct times *t, const int64_t ns[MAX_ROUNDS], int64_t limit, const struct order *o,
                      const char *where, const char *what)
{
    if (!ok(good_rounds(t, ns, limit) >= MIN_GOOD, "%s, %u x %s: %s", where, o->count, names[o->kind], what))
        for (int i = 0; i < t->rounds; i++)
            diag("  %ld us, at most %ld", (long)ns[i] / 1000, (long)limit / 1000);
}

static void judge(const struct times *t, const struct order *o, const char *where)
{
    ok(t->good, "%s, %u x %s: the bytes (%u answers meanwhile)", where, o->count, names[o->kind], t->answers);
    judge_one(t, t->call, LONGEST_NS, o, where, "calls are short");
    judge_one(t, t->far_call, LONGEST_NS, o, where, "calls at the other end are short");
    judge_one(t, t->gap, t->soon, o, where, "answers come soon");
}

static void between(const char *where, size_t length)
{
    struct fx fx;
    struct peer p;
    struct end e;
    DAT_RMR_TRIPLET all;

    fx_open(&fx);
    end_make(&e, &fx);
    peer_start(&p, "echo");
    side_connect_peer(&e.small, &p.link);
    for (int i = 0; i < MANY; i++)
        side_connect_peer(&e.large[i], &p.link);
    must(LINK_RECV(&p.link, all), "no memory at the other end");
    small_post(&e);
    for (enum kind kind = MESSAGE; kind < END; kind++)
        for (unsigned count = 1; count <= MANY; count += MANY - 1) {
            struct order o = { kind, count, length / count };
            struct times t = { .soon = LONGEST_NS, .good = true };
            struct report far = { 0, 0 };

            do {
                bool good = false;

                if (kind == READ)
                    untouch(&e);
                else if (t.rounds == 0)
                    fill(&e);
                must(LINK_SEND(&p.link, o) && link_hear(&p.link, "ready"), "the other process is gone");
                exchange(&e, &o, all, &t);
                must(LINK_RECV(&p.link, far) && LINK_RECV(&p.link, good), "the other process is gone");
                t.good &= good && (kind != READ || check(&e, count * o.length));
            } while (!note(&t, far));
            judge(&t, &o, where);
        }
    must(LINK_SEND(&p.link, ((struct order){ END, 0, 0 })), "the other process is gone");
    peer_ok(&p, "%s: the other process ends well", where);
    fx_close(&fx);
}

/* The echoing end as a thread of this process. */
struct here {
    struct end *end;
    struct report report;
};

static void *answer_here(void *arg)
{
    struct here *here = arg;

    here->report = answer(here->end);
    return NULL;
}

static void within(void)
{
    struct fx fx;
    struct end a, b;
    DAT_RMR_TRIPLET all;

    fx_open(&fx);
    end_make(&a, &fx);
    end_make(&b, &fx);
    sides_connect(&a.small, &b.small);
    for (int i = 0; i < MANY; i++)
        sides_connect(&a.large[i], &b.large[i]);
    all = target(&b.area, offset(&b, &(struct order){ END, 0, 0 }, 0), total());
    small_post(&a);
    small_post(&b);
    for (enum kind kind = MESSAGE; kind < END; kind++) {
        struct order o = { kind, 2, total() / 8 };
        struct times t = { .soon = LONGEST_NS, .good = true };
        struct here here = { &b, { 0, 0 } };
        pthread_t thread;

        fill(kind == READ ? &b : &a);
        do {
            untouch(kind == READ ? &a : &b);
            for (unsigned i = 0; kind == MESSAGE && i < o.count; i++)
                must_rc(post_recv(&b.large[i], &b.area, offset(&b, &o, i), o.length, i), DAT_SUCCESS,
                        "dat_ep_post_recv");
            must(pthread_create(&thread, NULL, answer_here, &here) == 0, "no thread");
            exchange(&a, &o, all, &t);
            pthread_join(thread, NULL);
            for (unsigned i = 0; kind == MESSAGE && i < o.count; i++)
                t.good &= wait_dto(b.large[i].recv, i, DAT_DTO_SUCCESS, NULL);
            t.good &= check(kind == READ ? &a : &b, o.count * o.length);
        } while (!note(&t, here.report));
        judge(&t, &o, "within a process");
    }
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "echo", echo }, { NULL, NULL } };

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("devices do their copying themselves");
    if (env_valgrind())
        skip_all("times mean nothing under valgrind");
    between("between processes", total());
    setenv("DAT_SHM_VM", "0", 1);
    between("by the ring", total() / 8);
    unsetenv("DAT_SHM_VM");
    within();
    return done_testing();
}
