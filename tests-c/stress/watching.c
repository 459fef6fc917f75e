/*
 * watching.c - two programs that poll their memory see each other's RDMA writes, whatever else they do.
 *
 * Each epoch derives from a seed the number of connections, their traffic (lanes.h) and the behaviour of both
 * processes: how often they dequeue, which requests they signal or fence, and whether they spin or yield. Some
 * processes change their activity periodically: only dequeue, only poll memory, sleep in a wait, compute, or stop and
 * fork. Half of the epochs resemble an MPI library: writes of about 8 KiB, nearly all unsignalled, with credits of 4
 * bytes in the other direction, and frequent dequeues.
 *
 * Then the processes exchange messages of 16 KiB to 1 MiB. A message of 32 KiB or more takes no longer than a message
 * of four times its size.
 *
 * DAT_TEST_SECONDS=N duration of the epochs, default 20 DAT_TEST_SEED=N seed of the first epoch, default 1; each
 * later epoch adds 1 DAT_TEST_TALK=1 prints the parameters of each epoch
 */
#define _POSIX_C_SOURCE 200809L
#include "lanes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MEMORY limits a process's rings and bulk messages. BYTES and MAX_PIECES limit an epoch per direction, roughly. */
enum { MEMORY = 24 << 20, BYTES = 6 << 20, MAX_PIECES = 6000 };

static unsigned at_most(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static struct habits any_habits(struct chance *c, const struct plan *p)
{
    static const unsigned dequeue[] = { 0, 1, 1, 2, 7, 100, 5000 }, yield[] = { 1, 1, 20, 500, 20000 };
    static const unsigned signal[] = { 1, 2, 16, 1u << 30 };
    struct habits h;

    h.dequeue_every = dequeue[draw(c, 7)];
    h.yield_every = yield[draw(c, 5)];
    h.signal_every = at_most(signal[draw(c, 4)], p->requests - p->requests / 12 - 1);
    h.fenced = draw(c, 3) == 0 ? 1 + draw(c, 30) : 0;
    h.segments = draw(c, 3) == 0 ? 1 + draw(c, 4) : 1;
    h.spell = draw(c, 2) == 0 ? 16u << draw(c, 12) : 0;
    return h;
}

/* Sets the parameters that are known to matter as an MPI library does, and draws the other parameters. */
static void like_mpi(struct chance *c, struct plan *p)
{
    static const unsigned yield[] = { 20, 20, 100, 1000, 20000 };

    p->connections = draw(c, 4) == 0 ? 1 + draw(c, 8) : 1;
    p->requests = 432;
    p->unsignalled = true;
    p->dispatchers = ONE_EACH;
    p->slot = 8384;
    p->skew = draw(c, 2) * 4;
    p->slots = 8u << draw(c, 5);
    p->credit_every = draw(c, 2) == 0 ? p->slots / 2 : 1 + draw(c, p->slots / 2);
    p->turn = draw(c, 4) == 0 ? 0 : 1 + draw(c, 2) * draw(c, 8);
    p->min_size = 1u << (10 + draw(c, 7));
    p->max_size = 160u << 10;
    for (int i = 0; i < 2; i++)
        p->habits[i] = (struct habits){ 1, 400, 0, yield[draw(c, 5)], 1, draw(c, 3) == 0 ? 64u << draw(c, 10) : 0 };
}

static void any_way(struct chance *c, struct plan *p)
{
    static const unsigned slot[] = { 8192, 8193, 8384, 64, 1 };
    unsigned kind = draw(c, 8);

    p->connections = kind < 3 ? 1 : kind < 6 ? 2 + draw(c, 3) : draw_size(c, 5, MAX_CONNECTIONS);
    p->requests = draw(c, 2) == 0 ? 432 : 4 + draw(c, 1000);
    p->requests = at_most(p->requests, 4096 / p->connections);
    p->unsignalled = draw(c, 2) == 0;
    p->dispatchers = (enum dispatchers)draw(c, 3);
    p->slot = draw(c, 2) == 0 ? slot[draw(c, 5)] : draw_size(c, 1, 256u << 10);
    p->slot = at_most(p->slot, MEMORY / 16 / p->connections);
    p->skew = draw(c, 2) == 0 ? 0 : draw(c, 8);
    p->slots = at_most(2u << draw(c, 7), MEMORY / 4 / p->connections / (p->slot + 80));
    p->credit_every = 1 + draw(c, p->slots / 2);
    p->turn = draw(c, 3) == 0 ? 0 : draw_size(c, 1, 16);
    p->min_size = draw_size(c, 1, 64u << 10);
    p->max_size = at_most(1u << 20, MEMORY / 8 / p->connections);
    if (draw(c, 2) == 0) {
        p->by_write = draw(c, 60);
        p->by_read = draw(c, 40);
    }
    p->cut = draw(c, 2) == 0 ? 8192 : draw_size(c, 1024, 1u << 20);
    for (int i = 0; i < 2; i++) {
        p->habits[i] = any_habits(c, p);
        /* Soft-RoCE loses a request that is fenced after a read. */
        if (p->by_read > 0 && !env_is_shm())
            p->habits[i].fenced = 0;
    }
}

/* Draws the plan of an epoch. `less` divides the work. */
static struct plan draw_plan(uint64_t seed, unsigned less)
{
    struct chance c;
    struct plan p;
    unsigned pieces;

    memset(&p, 0, sizeof p);
    p.seed = seed;
    chance_begin(&c, seed);
    if (draw(&c, 2) == 0)
        like_mpi(&c, &p);
    else
        any_way(&c, &p);
    /* A message has at most 64 pieces. */
    p.max_size = at_most(p.max_size, p.slot * 64);
    p.min_size = at_most(p.min_size, p.max_size);
    pieces = MAX_PIECES / (1 + p.max_size / 2 / p.slot);
    for (int i = 0; i < 2; i++)
        p.messages[i] = 2 + at_most(at_most(BYTES / (p.max_size / 2 + 1), pieces), 400) / less / p.connections;
    if (p.turn != 0) {
        /* Complete turns, so that no side waits for a message that is not sent. */
        p.messages[0] = p.messages[1] = (p.messages[0] / p.turn + 1) * p.turn;
    } else if (draw(&c, 4) == 0) {
        p.messages[draw(&c, 2)] = 0;
    }
    return p;
}

enum way { ANY, PIECEWISE, WRITTEN, READ, WAYS };

static struct plan timed_plan(enum way way)
{
    struct plan p;

    memset(&p, 0, sizeof p);
    p.seed = (uint64_t)way;
    p.connections = 1;
    p.requests = 432;
    p.unsignalled = true;
    p.dispatchers = ONE_EACH;
    p.slots = 64;
    p.slot = p.cut = 8384;
    p.credit_every = 16;
    p.turn = 1;
    p.messages[0] = p.messages[1] = 20 * TIMED_SIZES;
    p.min_size = p.max_size = 16384u << (TIMED_SIZES - 1);
    p.by_write = way == WRITTEN ? 100 : 0;
    p.by_read = way == READ ? 100 : 0;
    /*
     * The processes do not yield. Beside other load, a process that yields waits for a time slice, and the two
     * processes hardly ever run at the same time.
     */
    p.habits[0] = p.habits[1] = (struct habits){ 1, 400, 0, 1u << 30, 1, 0 };
    p.timed = true;
    return p;
}

/* ---- Both processes ---- */

struct order {
    uint64_t seed;
    unsigned less;
    enum way way;
    bool go_on;
};

static struct plan plan_of(const struct order *o)
{
    return o->way == ANY ? draw_plan(o->seed, o->less) : timed_plan(o->way);
}

static int other(struct link *up)
{
    static struct lanes l;
    struct order o;
    struct fx fx;

    fx_open(&fx);
    while (LINK_RECV(up, o) && o.go_on) {
        struct plan p = plan_of(&o);

        lanes_open(&l, &fx, &p, 1, up);
        if (!lanes_run(&l, getppid())) {
            fprintf(stderr, "# the other side: %s\n", l.trouble);
            lanes_print(&l);
            return 1;
        }
        link_say(up, "done");
        must(link_hear(up, "close"), "the other process is gone");
        lanes_close(&l);
    }
    fx_close(&fx);
    return 0;
}

static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };

static unsigned long number_from(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? strtoul(text, NULL, 0) : otherwise;
}

static void describe(const struct plan *p)
{
    diag("epoch %llu: %u connections, %u requests, %u slots of %u + %u, credit every %u, turn %u, messages %u and %u of %u to %u, "
         "%u by write, %u by read, cut %u",
         (unsigned long long)p->seed, p->connections, p->requests, p->slots, p->slot, p->skew, p->credit_every, p->turn,
         p->messages[0], p->messages[1], p->min_size, p->max_size, p->by_write, p->by_read, p->cut);
    for (int i = 0; i < 2; i++)
        diag("  side %d: dequeues every %u, signals every %u, fences %u, yields every %u, segments %u, spells of %u", i,
             p->habits[i].dequeue_every, p->habits[i].signal_every, p->habits[i].fenced, p->habits[i].yield_every,
             p->habits[i].segments, p->habits[i].spell);
}

/* Runs one epoch. Returns false after an error, which it prints. */
static bool epoch(struct lanes *l, struct fx *fx, struct peer *p, const struct order *o)
{
    struct plan plan = plan_of(o);

    if (getenv("DAT_TEST_TALK") != NULL)
        describe(&plan);
    must(LINK_SEND(&p->link, *o), "the other process is gone");
    lanes_open(l, fx, &plan, 0, &p->link);
    if (lanes_run(l, p->pid) && link_hear(&p->link, "done")) {
        link_say(&p->link, "close");
        lanes_close(l);
        return true;
    }
    describe(&plan);
    diag("%s", l->trouble);
    lanes_print(l);
    /* The other process detects the error, too, and prints its state. */
    peer_join(p, SOON_MS);
    return false;
}

/* Runs epochs for `seconds`, but at least min_epochs. */
static bool epochs(struct fx *fx, struct peer *p, uint64_t seed, unsigned seconds)
{
    static struct lanes l;
    uint64_t until = now_ms() + seconds * 1000u, pieces = 0, bytes = 0;
    unsigned done = 0, min_epochs = (unsigned)env_count(8, 4);
    bool good = true;

    for (; good && (done < min_epochs || now_ms() < until); done++) {
        struct order o;

        memset(&o, 0, sizeof o);
        o.seed = seed + done;
        o.less = (unsigned)env_count(1, 16);
        o.go_on = true;
        good = epoch(&l, fx, p, &o);
        pieces += l.pieces;
        bytes += l.bytes;
    }
    ok(good, "memory that is watched: each byte comes, from seed %llu on", (unsigned long long)seed);
    diag("%u epochs, %llu pieces and %llu MiB came here", done, (unsigned long long)pieces,
         (unsigned long long)(bytes >> 20));
    return good;
}

/*
 * Checks that a message of 32 KiB or more takes no longer than a message of four times its size. For shorter messages,
 * the rendezvous takes longer than the bytes. Only the shortest times count, and other load only delays them, so a busy
 * machine needs more exchanges.
 */
static bool no_slow_spell(struct fx *fx, struct peer *p, enum way way)
{
    static const char *const names[WAYS] = { "", "in pieces", "by rendezvous, written", "by rendezvous, read" };
    static struct lanes l;
    uint64_t fastest[TIMED_SIZES] = { 0 };
    uint64_t until = now_ms() + env_ms(60000);
    bool even = false;

    while (!even && now_ms() < until) {
        struct order o;

        memset(&o, 0, sizeof o);
        o.way = way;
        o.go_on = true;
        if (!epoch(&l, fx, p, &o))
            return fail("messages %s: each one comes", names[way]);
        even = true;
        for (int i = 0; i < TIMED_SIZES; i++) {
            if (fastest[i] == 0 || l.fastest[i] < fastest[i])
                fastest[i] = l.fastest[i];
            even = even && (i < 3 || fastest[i - 2] <= fastest[i]);
        }
    }
    ok(even, "messages %s: none takes longer than one of four times its size", names[way]);
    diag("16 KiB to 1 MiB, to and fro: %.0f, %.0f, %.0f, %.0f, %.0f, %.0f, %.0f us", (double)fastest[0] / 1e3,
         (double)fastest[1] / 1e3, (double)fastest[2] / 1e3, (double)fastest[3] / 1e3, (double)fastest[4] / 1e3,
         (double)fastest[5] / 1e3, (double)fastest[6] / 1e3);
    return true;
}

int main(int argc, char **argv)
{
    struct order end;
    struct fx fx;
    struct peer p;
    bool usable;

    env_init(argc, argv, roles);
    memset(&end, 0, sizeof end);
    fx_open(&fx);
    peer_start(&p, "other");
    usable = epochs(&fx, &p, number_from("DAT_TEST_SEED", 1),
                    (unsigned)number_from("DAT_TEST_SECONDS", (unsigned)env_count(20, 4)));
    /* The times of devices, and under tools such as valgrind, have other causes. */
    for (int way = PIECEWISE; usable && way < WAYS && env_is_shm() && env_count(1, 0); way++)
        usable = no_slow_spell(&fx, &p, (enum way)way);
    if (!usable)
        bail("the connections are not usable any more");
    LINK_SEND(&p.link, end);
    peer_ok(&p, "the other process ends well");
    fx_close(&fx);
    return done_testing();
}
