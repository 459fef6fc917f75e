/*
 * words.c - a thread that polls the last word of a transfer sees the word completely or not at all.
 *
 * The last aligned word of a transfer, up to 8 bytes, becomes visible atomically, after all other bytes. The spinner
 * makes no dat_ call while it polls. Consecutive transfers differ in all bytes. The writer uses sizes of 2 to 64 bytes
 * and some large ones, each alignment of the end, and one to four segments, which divide the word.
 *
 * If the kernel copies the word of an RDMA write byte by byte (libdaplshm(7)), a spinner can see the first bytes of the
 * word before the others. It never sees the last byte before any other byte of the word.
 *
 *   DAT_TEST_SECONDS=N   duration, default 40
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#define AREA (512u << 10)
#define MESSAGE_AT (1u << 20)
#define SIZE (2u << 20)

enum kind { WRITE, MESSAGE, READ, STOP };

static const char *const kind_names[] = { "RDMA write", "message", "RDMA read" };

struct series {
    enum kind kind;
    unsigned len, end, segments, rounds;
};

/* Shared memory of writer and spinner. Only one side writes each word. */
struct board {
    struct series series;
    unsigned number; /* number of the series; written by the writer */
    unsigned ready;  /* the round that the spinner waits for */
    unsigned seen;   /* the last round whose word the spinner has seen */
    unsigned torn, early, bad;
    unsigned in_order; /* 1: the kernel may copy a word byte by byte in ascending order */
    unsigned flood;  /* 1: the writer does not wait for the spinner; 0 ends the flood */
};

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)

static unsigned char code(unsigned round)
{
    return (unsigned char)(round * 101 + 7);
}

static unsigned width(unsigned end, unsigned len)
{
    unsigned w = len >= 8 ? 8 : len >= 4 ? 4 : len >= 2 ? 2 : 1;

    while (end % w != 0)
        w /= 2;
    return w;
}

static uint64_t look(const unsigned char *at, unsigned bytes)
{
    switch (bytes) {
    case 8: return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n(at, __ATOMIC_ACQUIRE);
    }
}

static uint64_t word_of(unsigned char byte, unsigned bytes)
{
    return byte * (0x0101010101010101u >> (64 - 8 * bytes));
}

/*
 * Returns whether the incomplete word v is an error. It is no error if the kernel can have copied only its first
 * bytes.
 */
static bool is_torn(const struct board *b, uint64_t v, unsigned bytes)
{
    const unsigned char *byte = (const unsigned char *)&v, last = byte[bytes - 1];
    unsigned i = 0;

    if (!b->in_order)
        return true;
    /* On little-endian CPUs the first byte of v is the first in memory. */
    while (i < bytes && byte[i] == (unsigned char)(last + code(1) - code(0)))
        i++;
    while (i < bytes && byte[i] == last)
        i++;
    return i != bytes;
}

/*
 * Returns whether the kernel copies the last word of a transfer byte by byte: Linux 6.4 or newer on a CPU with fsrm.
 */
static bool kernel_copies_bytes(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    char line[8192];
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
        found = strstr(line, " fsrm ") != NULL || strstr(line, " fsrm\n") != NULL;
    if (f != NULL)
        fclose(f);
    return found && uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 4));
}

/* Divides [end - len, end) into segments. All boundaries except the first are in the last bytes. */
static int cut(struct region *r, unsigned base, const struct series *s, DAT_LMR_TRIPLET *iov)
{
    unsigned at = s->end - s->len;
    int n = 0;

    for (unsigned i = s->segments; i > 0 && at < s->end; i--) {
        unsigned to = i == 1 || s->end < at + i ? s->end : s->end - 2 * i + 3;

        if (to <= at)
            continue;
        iov[n++] = segment(r, base + at, to - at);
        at = to;
    }
    return n;
}

/* The deadline of a loop. keep_waiting() returns false after it. */
struct patience {
    unsigned looks;
    uint64_t until;
};

static bool keep_waiting(struct patience *p)
{
    if (++p->looks % 4096 != 0)
        return true;
    sched_yield();
    if (p->until == 0)
        p->until = now_ms() + env_ms(SOON_MS);
    return now_ms() < p->until;
}

/* Spins until the word is at least `value`. Returns false at the deadline. */
static bool reaches(const unsigned *word, unsigned value)
{
    struct patience p = { 0, 0 };

    while (LOAD(*word) < value)
        if (!keep_waiting(&p))
            return false;
    return true;
}

/* Returns the offset of the area of a kind in the spinner's memory. */
static unsigned base_of(enum kind kind)
{
    return kind == WRITE ? 0 : kind == MESSAGE ? AREA : MESSAGE_AT;
}

static bool spin_round(struct board *b, const struct series *s, const unsigned char *mem, unsigned round)
{
    unsigned w = width(s->end, s->len);
    const unsigned char *at = mem + s->end - w;
    uint64_t was = word_of(code(round - 1), w), is = word_of(code(round), w);

    for (;;) {
        struct patience p = { 0, 0 };
        uint64_t v;

        while ((v = look(at, w)) == was)
            if (!keep_waiting(&p))
                return false;
        if (v == is)
            break;
        b->torn += is_torn(b, v, w);
        was = v;
    }
    for (unsigned i = s->end - s->len; i < s->end; i += s->len > 64 ? 61 : 1)
        if (mem[i] != code(round)) {
            b->early++;
            break;
        }
    return true;
}

/* Polls a word that the writer changes without waiting. */
static void spin_flood(struct board *b, const struct series *s, const unsigned char *mem)
{
    unsigned w = width(s->end, s->len);
    const unsigned char *at = mem + s->end - w;

    while (LOAD(b->flood)) {
        uint64_t v = look(at, w);

        if (v != word_of((unsigned char)v, w))
            b->torn += is_torn(b, v, w);
    }
}

/* Polls the words of all series after the series `number`, up to a series STOP. Returns the number of that series. */
static unsigned spin(struct board *b, struct side *s, struct region *r, unsigned number)
{
    for (;;) {
        struct series series;
        const unsigned char *mem;
        bool good = true;

        must(reaches(&b->number, number + 1), "no orders");
        number = LOAD(b->number);
        series = b->series;
        if (series.kind == STOP)
            return number;
        mem = r->mem + base_of(series.kind);
        memset(r->mem + base_of(series.kind) + series.end - series.len, code(0), series.len);
        if (LOAD(b->flood)) {
            STORE(b->ready, number);
            spin_flood(b, &series, mem);
            STORE(b->seen, number);
            continue;
        }
        for (unsigned k = 1; good && k <= series.rounds; k++) {
            if (series.kind == MESSAGE) {
                DAT_LMR_TRIPLET iov[4];
                int n = cut(r, base_of(MESSAGE), &series, iov);

                must_rc(dat_ep_post_recv(s->ep, n, iov, cookie(k), DAT_COMPLETION_DEFAULT_FLAG),
                        DAT_SUCCESS, "dat_ep_post_recv");
            }
            STORE(b->ready, k);
            good = spin_round(b, &series, mem, k);
            if (!good)
                b->bad++;
            if (series.kind == MESSAGE) {
                DAT_EVENT e;

                must(poll_event(s->recv, &e), "no completion of a message");
            }
            STORE(b->seen, k);
        }
    }
}

/* Polls an EVD while the spinner makes no call, so that messages do not depend on the progress thread. */
struct helper {
    DAT_EVD_HANDLE evd;
    volatile int stop;
    pthread_t thread;
};

static void *help(void *arg)
{
    struct helper *h = arg;
    DAT_EVENT e;

    while (!h->stop) {
        dat_evd_dequeue(h->evd, &e);
        sched_yield();
    }
    return NULL;
}

static struct board *board_open(const char *path)
{
    int fd = path == NULL ? memfd_create("words", 0) : open(path, O_RDWR);
    struct board *b;

    must(fd >= 0 && (path != NULL || ftruncate(fd, 4096) == 0), "no shared memory");
    b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(b != MAP_FAILED, "no shared memory");
    if (path == NULL) {
        /* The other process opens the descriptor through /proc. */
        b->ready = (unsigned)fd;
        return b;
    }
    close(fd);
    return b;
}

static DAT_EP_ATTR *attributes(void)
{
    static DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = AREA;
    return &attr;
}

static int spinner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct board *b;
    DAT_RMR_TRIPLET all;
    struct helper h = { NULL, 0, 0 };
    unsigned number = 0;
    char path[64];

    must(LINK_RECV(up, path), "no orders");
    b = board_open(path);
    fx_open(&fx);
    side_make(&s, &fx, attributes());
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    side_accept_peer(&s, up);
    all = target(&r, 0, r.size);
    must(LINK_SEND(up, all), "the other process is gone");
    h.evd = s.conn;
    for (int messages = 0; messages < 2; messages++) {
        if (messages)
            must(pthread_create(&h.thread, NULL, help, &h) == 0, "no thread");
        number = spin(b, &s, &r, number);
        link_say(up, "done");
    }
    h.stop = 1;
    pthread_join(h.thread, NULL);
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

struct writer {
    struct side *s;
    struct region *r;
    struct board *b;
    DAT_RMR_TRIPLET all;
    unsigned series;
    unsigned long rounds;
};

static void start(struct writer *w, const struct series *s, unsigned flood)
{
    w->b->series = *s;
    STORE(w->b->ready, 0u);
    STORE(w->b->seen, 0u);
    STORE(w->b->flood, flood);
    STORE(w->b->number, ++w->series);
}

static bool transfer(struct writer *w, const struct series *s, unsigned k)
{
    DAT_LMR_TRIPLET iov[4];
    DAT_RMR_TRIPLET t = w->all;
    DAT_EVENT e;
    int n = cut(w->r, 0, s, iov);

    memset(w->r->mem + s->end - s->len, code(k), s->len);
    t.target_address += base_of(s->kind) + s->end - s->len;
    t.segment_length = s->len;
    if (s->kind == WRITE)
        must_rc(dat_ep_post_rdma_write(w->s->ep, n, iov, cookie(k), &t, DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_rdma_write");
    else if (s->kind == MESSAGE)
        must_rc(dat_ep_post_send(w->s->ep, n, iov, cookie(k), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_send");
    else {
        /* Only within() uses READ, because both areas are in this process. The source is the area of writes. */
        struct region *r = w->r;

        t = w->all;
        t.target_address += s->end - s->len;
        t.segment_length = s->len;
        memset((void *)(uintptr_t)t.target_address, code(k), s->len);
        n = cut(r, MESSAGE_AT, s, iov);
        must_rc(dat_ep_post_rdma_read(w->s->ep, n, iov, cookie(k), &t, DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_rdma_read");
    }
    return poll_event(w->s->req, &e) &&
           e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
}

static bool run_series(struct writer *w, const struct series *s)
{
    start(w, s, 0);
    for (unsigned k = 1; k <= s->rounds; k++) {
        if (!reaches(&w->b->ready, k) || !transfer(w, s, k) ||
            !reaches(&w->b->seen, k))
            return false;
        w->rounds++;
    }
    return true;
}

/*
 * Transfers all lengths, ends and numbers of segments of a kind, repeatedly for at least `ms`. On a busy machine each
 * round costs several time slices, so the first pass has one round per shape. Quick runs skip most lengths over 16.
 */
static void shapes(struct writer *w, enum kind kind, const char *where, unsigned ms)
{
    static const unsigned large[] = { 8185, 8190, 8192, 8195, 8200, 65537, 262140, 262144, 262151 };
    uint64_t until = now_ms() + ms;
    unsigned long before = w->rounds;
    unsigned torn = w->b->torn, early = w->b->early, step = (unsigned)env_count(1, 8);
    bool good = true;
    int passes = 0;

    do {
        for (unsigned end = 0; good && end < 16; end++)
            for (unsigned segments = 1; good && segments <= 4; segments++) {
                unsigned rounds = passes == 0 ? 1 : 5, few = passes == 0 ? 1 : 2;

                for (unsigned len = 2; good && len <= 64; len += len < 16 ? 1 : step)
                    good = run_series(w, &(struct series){ kind, len, 128 + end, segments, rounds });
                for (unsigned i = 0; good && i < sizeof large / sizeof large[0]; i++)
                    good = run_series(w, &(struct series){ kind, large[i], 300 * 1024 + end, segments, few });
            }
        passes++;
    } while (good && now_ms() < until);
    ok(good, "%s: %s: each word is seen (%lu words, %d passes)", where, kind_names[kind],
       w->rounds - before, passes);
    is_int(w->b->torn - torn, 0, "%s: %s: words that were seen in parts", where, kind_names[kind]);
    is_int(w->b->early - early, 0, "%s: %s: words that were there before other bytes", where,
           kind_names[kind]);
}

static void floods(struct writer *w, const char *where, unsigned ms)
{
    static const struct series floods[] = {
        { WRITE, 64, 128, 1, 0 }, { WRITE, 64, 128, 4, 0 }, { WRITE, 12, 132, 3, 0 },
        { WRITE, 4, 132, 1, 0 },  { WRITE, 2, 130, 2, 0 },  { WRITE, 9000, 16392, 4, 0 },
        { WRITE, 9000, 16388, 4, 0 }, { WRITE, 9002, 16386, 1, 0 },
    };
    unsigned torn = w->b->torn;
    unsigned long writes = 0;
    bool good = true;

    for (unsigned i = 0; good && i < sizeof floods / sizeof floods[0]; i++) {
        uint64_t until = now_ms() + ms / 8;

        start(w, &floods[i], 1);
        good = reaches(&w->b->ready, w->series);
        for (unsigned k = 1; good && (k % 64 != 0 || now_ms() < until); k++, writes++)
            good = transfer(w, &floods[i], k);
        STORE(w->b->flood, 0u);
        good = good && reaches(&w->b->seen, w->series);
    }
    ok(good, "%s: writes without a pause (%lu)", where, writes);
    is_int(w->b->torn - torn, 0, "%s: writes without a pause: words that were seen in parts", where);
}

static void stop(struct writer *w)
{
    start(w, &(struct series){ STOP, 0, 0, 0, 0 }, 0);
}

static void between(const char *where, unsigned ms, bool by_kernel)
{
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;
    struct writer w;
    char path[64] = "";

    memset(&w, 0, sizeof w);
    w.b = board_open(NULL);
    w.b->in_order = by_kernel && kernel_copies_bytes();
    if (w.b->in_order)
        diag("%s: the kernel copies words byte by byte here: their last byte comes last", where);
    snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)getpid(), w.b->ready);
    fx_open(&fx);
    side_make(&s, &fx, attributes());
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    peer_start(&p, "spinner");
    must(LINK_SEND(&p.link, path), "the other process is gone");
    side_connect_peer(&s, &p.link);
    must(LINK_RECV(&p.link, w.all), "no memory at the other end");
    w.s = &s;
    w.r = &r;
    shapes(&w, WRITE, where, ms / 2);
    floods(&w, where, ms / 4);
    stop(&w);
    must(link_hear(&p.link, "done"), "the other process does not answer");
    w.b->in_order = false;
    shapes(&w, MESSAGE, where, ms / 4);
    stop(&w);
    must(link_hear(&p.link, "done"), "the other process does not answer");
    is_int(w.b->bad, 0, "%s: words that never came", where);
    link_say(&p.link, "bye");
    peer_ok(&p, "%s: the other process ends well", where);
    fx_close(&fx);
}

/* The spinner as a thread of this process. */
struct local {
    struct board *b;
    struct side *s;
    struct region *r;
};

static void *spin_local(void *arg)
{
    struct local *l = arg;

    spin(l->b, l->s, l->r, 0);
    return NULL;
}

static void within(unsigned ms)
{
    struct fx fx;
    struct pair p;
    struct region r, far;
    struct writer w;
    struct local l;
    pthread_t thread;

    memset(&w, 0, sizeof w);
    w.b = board_open(NULL);
    fx_open(&fx);
    pair_open(&p, &fx, attributes());
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &far, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    w.s = &p.a;
    l = (struct local){ w.b, &p.b, &far };
    w.r = &r;
    w.all = target(&far, 0, far.size);
    must(pthread_create(&thread, NULL, spin_local, &l) == 0, "no thread");
    shapes(&w, WRITE, "within a process", ms / 4);
    floods(&w, "within a process", ms / 4);
    shapes(&w, MESSAGE, "within a process", ms / 4);
    /* Now the spinner polls the memory that reads write to. */

    stop(&w);
    pthread_join(thread, NULL);
    l.r = &r;
    w.b->number = w.series = 0;
    must(pthread_create(&thread, NULL, spin_local, &l) == 0, "no thread");
    shapes(&w, READ, "within a process", ms / 4);
    stop(&w);
    pthread_join(thread, NULL);
    is_int(w.b->bad, 0, "within a process: words that never came");
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "spinner", spinner }, { NULL, NULL } };
    const char *set = getenv("DAT_TEST_SECONDS");
    unsigned ms = 1000u * (set != NULL ? (unsigned)atoi(set) : (unsigned)env_count(40, 3));

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("what a thread sees that spins is the device's matter");
    if (env_valgrind())
        skip_all("valgrind runs one thread at a time");
    between("between processes", ms / 2, true);
    setenv("DAT_SHM_VM", "0", 1);
    between("between processes, by the ring", ms / 4, false);
    unsetenv("DAT_SHM_VM");
    within(ms / 4);
    return done_testing();
}
