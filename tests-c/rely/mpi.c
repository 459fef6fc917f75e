/*
 * mpi.c - ranks of a message-passing library (mpi.h) exchange messages of all sizes, also from two
 * threads, and use collective operations. In some runs one rank is killed. All other ranks must
 * detect this, and end properly.
 */
#define _DEFAULT_SOURCE
#include "mpi.h"

#include "common/chance.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POOL = LARGEST + (64 << 10),
    NOBODY = -1,
    BURST = 24,          /* messages that are sent before the first receive */
    LONG_MS = 100000     /* deadline of collective operations */
};

/* The work of a rank. */
struct job {
    int me, ranks, victim;
    unsigned rounds, largest, seed;
    bool threads;
};

/* The results of a rank. */
struct report {
    bool good;
    unsigned messages, hits, misses, crossings;
    uint64_t bytes;
    char why[160];
};

/* The state of a thread of a rank. */
struct work {
    struct mpi *m;
    const struct job *job;
    unsigned char *out, *in;
    unsigned messages;
    uint64_t bytes;
    int rail;
    bool good;
};

static struct mpi m;

static unsigned seed_of(const struct work *w, unsigned round, int from, int to)
{
    return w->job->seed + round * 1009u + (unsigned)from * 37u + (unsigned)to * 5u + (unsigned)w->rail;
}

static bool right(struct work *w, const unsigned char *mem, size_t size, unsigned seed, int from)
{
    long at = pattern_check(mem, size, seed);

    w->messages++;
    w->bytes += size;
    if (at >= 0)
        mpi_break(w->m, "byte %ld of %zu of rank %d is wrong", at, size, from);
    return at < 0;
}

/* Exchanges messages between all ranks. All ranks draw the same sizes and offsets. */
static bool exchange(struct work *w, unsigned rounds, int rail, int wait_for)
{
    const struct job *j = w->job;
    struct chance c;

    chance_begin(&c, j->seed + (unsigned)w->rail);
    for (unsigned round = 0; round < rounds; round++)
        for (int d = 1; d < j->ranks; d++) {
            unsigned size = draw(&c, 20) == 0 ? 0 : draw_size(&c, 1, j->largest), at = draw(&c, 64 << 10);
            int to = (j->me + d) % j->ranks, from = (j->me - d + j->ranks) % j->ranks, by = draw(&c, RAILS);
            uint32_t tag = 2 * round + draw(&c, 2);
            struct request r[2];

            by = rail == ALL_RAILS ? by : rail;
            pattern_fill(w->out + at, size, seed_of(w, round, j->me, to));
            mpi_isend(w->m, &r[0], w->out + at, size, to, by, tag);
            if (j->victim == j->me && round == rounds / 2)
                raise(SIGKILL);
            mpi_irecv(w->m, &r[1], w->in + at, size, from, by, tag);
            if (!mpi_wait(w->m, r, 2, wait_for) || !right(w, w->in + at, size, seed_of(w, round, from, j->me), from))
                return false;
        }
    return true;
}

/* Sends many messages to the next rank, which receives the last one first. */
static bool burst(struct work *w)
{
    const struct job *j = w->job;
    int to = (j->me + 1) % j->ranks, from = (j->me + j->ranks - 1) % j->ranks;
    struct request r[2 * BURST];
    size_t room = POOL / BURST;

    for (unsigned i = 0; i < BURST; i++) {
        size_t size = 1 + i * i * 17;

        pattern_fill(w->out + i * room, size, seed_of(w, i, j->me, to));
        mpi_isend(w->m, &r[i], w->out + i * room, size, to, 0, 5000 + i);
    }
    for (unsigned i = BURST; i-- > 0;)
        mpi_irecv(w->m, &r[BURST + i], w->in + i * room, 1 + i * i * 17, from, 0, 5000 + i);
    if (!mpi_wait(w->m, r, 2 * BURST, ALL_RAILS))
        return false;
    for (unsigned i = 0; i < BURST; i++)
        if (!right(w, w->in + i * room, 1 + i * i * 17, seed_of(w, i, from, j->me), from))
            return false;
    return true;
}

static bool collectives(struct work *w, unsigned rounds)
{
    static const size_t blocks[] = { 8, 1000, 3000, 20000 };
    const struct job *j = w->job;
    uint64_t ranks = (uint64_t)j->ranks;

    for (unsigned i = 0; i < rounds; i++) {
        uint64_t sum = (uint64_t)j->me * (i + 1);
        size_t block = blocks[i % 4];

        if (!mpi_barrier(w->m) || !mpi_sum(w->m, &sum))
            return false;
        if (sum != ranks * (ranks - 1) / 2 * (i + 1)) {
            mpi_break(w->m, "the sum is %llu", (unsigned long long)sum);
            return false;
        }
        for (int to = 0; to < j->ranks; to++)
            pattern_fill(w->out + (size_t)to * block, block, seed_of(w, i, j->me, to));
        if (!mpi_all_to_all(w->m, w->out, w->in, block))
            return false;
        for (int from = 0; from < j->ranks; from++)
            if (!right(w, w->in + (size_t)from * block, block, seed_of(w, i, from, j->me), from))
                return false;
    }
    return true;
}

static void work_make(struct work *w, const struct job *j, int rail)
{
    memset(w, 0, sizeof *w);
    w->m = &m;
    w->job = j;
    w->rail = rail;
    w->out = calloc(1, POOL);
    w->in = calloc(1, POOL); /* cleared, because valgrind does not see the writes of other processes */
    must(w->out != NULL && w->in != NULL, "out of memory");
}

static void *on_a_rail(void *arg)
{
    struct work *w = arg;

    w->good = exchange(w, w->job->rounds / 2 + 1, w->rail, w->rail) && mpi_post_all(w->m, w->rail);
    return NULL;
}

/* If the job uses threads, exchanges messages in one thread per rail. */
static bool in_threads(struct work *w)
{
    pthread_t thread[RAILS];
    bool good = true;

    if (!w->job->threads)
        return true;
    for (int i = 0; i < RAILS; i++)
        must(pthread_create(&thread[i], NULL, on_a_rail, &w[i]) == 0, "no thread");
    for (int i = 0; i < RAILS; i++) {
        pthread_join(thread[i], NULL);
        good = good && w[i].good;
    }
    return good;
}

static int rank(struct link *up)
{
    struct work w[RAILS];
    struct report report;
    struct address own;
    struct job j;
    bool ended;

    must(LINK_RECV(up, j), "no job");
    mpi_open(&m, j.me, j.ranks, &own);
    must(LINK_SEND(up, own) && link_recv(up, m.table, sizeof m.table, LONG_MS), "no table of ranks");
    for (int i = 0; i < RAILS; i++)
        work_make(&w[i], &j, i);
    memset(&report, 0, sizeof report);
    report.good = exchange(&w[0], j.rounds, ALL_RAILS, ALL_RAILS) && burst(&w[0]) && collectives(&w[0], j.rounds / 4 + 2) &&
                  in_threads(w) && mpi_barrier(&m) && mpi_flush(&m);
    report.hits = m.hits;
    report.misses = m.misses;
    report.crossings = m.crossings;
    for (int i = 0; i < RAILS; i++) {
        report.messages += w[i].messages;
        report.bytes += w[i].bytes;
    }
    memcpy(report.why, m.why, sizeof report.why);
    must(LINK_SEND(up, report), "the first process has exited");
    must(link_recv(up, &ended, sizeof ended, LONG_MS), "no order to end");
    ended = mpi_close(&m);
    for (int i = 0; i < RAILS; i++) {
        free(w[i].out);
        free(w[i].in);
    }
    return ended ? 0 : 1;
}

static const struct peer_role roles[] = { { "rank", rank }, { NULL, NULL } };

/* Starts the ranks and checks their results. The rank `victim`, unless negative, is killed during its work. */
static void run(int ranks, unsigned rounds, unsigned largest, bool threads, int victim)
{
    static struct peer p[MAX_RANKS];
    struct address table[MAX_RANKS];
    struct report r, all;
    uint64_t began = now_ms();
    bool over = true;
    int good = 0, ended = 0, alive = victim == NOBODY ? ranks : ranks - 1;

    memset(&all, 0, sizeof all);
    memset(table, 0, sizeof table);
    for (int i = 0; i < ranks; i++) {
        struct job j;

        memset(&j, 0, sizeof j);
        j = (struct job){ i, ranks, victim, rounds, largest, (unsigned)ranks * 7919u, threads };
        peer_start(&p[i], "rank");
        must(LINK_SEND(&p[i].link, j), "a rank has exited");
    }
    for (int i = 0; i < ranks; i++)
        must(link_recv(&p[i].link, &table[i], sizeof table[i], LONG_MS), "a rank has no address");
    for (int i = 0; i < ranks; i++)
        must(LINK_SEND(&p[i].link, table), "a rank has exited");
    for (int i = 0; i < ranks; i++) {
        if (i == victim || !link_recv(&p[i].link, &r, sizeof r, LONG_MS))
            continue;
        good += r.good == (victim == NOBODY);
        if (r.good != (victim == NOBODY))
            diag("rank %d: %s", i, r.good ? "has not detected the end of another rank" : r.why);
        all.messages += r.messages;
        all.bytes += r.bytes;
        all.hits += r.hits;
        all.misses += r.misses;
        all.crossings += r.crossings;
    }
    if (victim == NOBODY)
        is_int(good, alive, "%d ranks: all messages come, each byte of them", ranks);
    else
        is_int(good, alive, "%d ranks, one is killed: all others see it", ranks);
    for (int i = 0; i < ranks; i++)
        if (i != victim)
            LINK_SEND(&p[i].link, over);
    for (int i = 0; i < ranks; i++)
        if (i != victim) {
            int status = peer_join(&p[i], SOON_MS * 3);

            ended += status == 0;
            if (status != 0)
                diag("rank %d: status %d", i, status);
            peer_kill(&p[i]);
        }
    is_int(ended, alive, "%d ranks%s: the connections end as they should, and all ranks well", ranks,
           victim == NOBODY ? "" : ", one is killed");
    if (victim != NOBODY)
        is_int(peer_join(&p[victim], SOON_MS), 128 + SIGKILL, "%d ranks, one is killed: nothing else ended it", ranks);
    diag("%u messages, %llu KiB, registrations found %u times and made %u times, %u calls crossed, %u ms", all.messages,
         (unsigned long long)(all.bytes >> 10), all.hits, all.misses, all.crossings, (unsigned)(now_ms() - began));
}

int main(int argc, char **argv)
{
    env_init(argc, argv, roles);
    if (env_is_iwarp())
        skip_all("a message can arrive before its receive, which ends an iWARP connection");
    run(2, (unsigned)env_count(1500, 16), LARGEST, true, NOBODY);
    run(2, (unsigned)env_count(200, 8), LARGEST, false, 1);
    run(4, (unsigned)env_count(300, 4), 200000, true, NOBODY);
    run(4, (unsigned)env_count(100, 4), 200000, true, 2);
    if (env_count(1, 0)) {
        run(8, 30, 100000, true, NOBODY);
        run(8, 12, 100000, false, 0);
        run(32, 3, 20000, false, NOBODY);
        run(32, 3, 20000, false, 5);
    }
    return done_testing();
}
