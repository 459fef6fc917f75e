/* mpi_together.c - waits and collective operations. */
#define _POSIX_C_SOURCE 200809L
#include "mpi.h"

#include "common/patience.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Tags of the library itself. */
enum { BARRIER_TAG = 1 << 20, SUM_TAG, BLOCK_TAG };

/* Progresses one rail or all, and handles events in each fourth round. */
static bool progress(struct mpi *m, int rail, unsigned round)
{
    bool moved = false;

    for (int i = 0; i < m->ranks; i++)
        for (int k = 0; k < RAILS; k++)
            if (i != m->me && (rail == ALL_RAILS || rail == k))
                moved = mpi_progress(m, &m->vcs[i][k]) || moved;
    if (round % 4 == 0)
        moved = mpi_events(m) || moved;
    return moved;
}

/* Prints the state of all connections. */
static void tell(const struct mpi *m)
{
    for (int i = 0; i < m->ranks * RAILS; i++) {
        const struct vc *v = &m->vcs[i / RAILS][i % RAILS];

        if (v->ep != DAT_HANDLE_NULL)
            fprintf(stderr,
                    "# rank %d to %d, rail %d: phase %d; slots sent %u, granted %u, taken %u, told %u; requests posted %u, "
                    "retired %u;%s%s%s\n",
                    m->me, v->peer, v->rail, (int)PHASE(v), v->sent, v->granted, v->taken, v->told, v->posted, v->retired,
                    v->items != NULL ? " waits for a slot" : "", v->receives != NULL ? " waits for a message" : "",
                    v->bulk != NULL ? " is in the middle of a large one" : "");
    }
}

/* Progresses one rail or all until done() returns true. Returns false after an error, or SOON_MS without progress. */
static bool progress_until(struct mpi *m, int rail, bool (*done)(struct mpi *m, void *what), void *what)
{
    struct patience patience = { 0, 0, { 0, 0 }, { 0, 0 } };

    for (unsigned round = 1; !done(m, what); round++) {
        if (__atomic_load_n(&m->broken, __ATOMIC_ACQUIRE) != 0)
            return false;
        if (progress(m, rail, round)) {
            patience_renew(&patience);
            continue;
        }
        if (round % 16 == 0)
            sched_yield();
        if (!patience_lasts(&patience, 0, SOON_MS)) {
            tell(m);
            mpi_break(m, "nothing has moved for %u ms", (unsigned)(now_ms() - patience.since));
        }
    }
    return true;
}

struct some {
    struct request *r;
    int left;
};

static bool all_done(struct mpi *m, void *what)
{
    struct some *s = what;

    (void)m;
    while (s->left > 0 && s->r->done) {
        s->r++;
        s->left--;
    }
    return s->left == 0;
}

bool mpi_wait(struct mpi *m, struct request *r, int n, int rail)
{
    struct some s = { r, n };

    return progress_until(m, rail, all_done, &s);
}

/* Returns whether all pending work of one rail, or of all rails, is posted. */
static bool all_posted(struct mpi *m, void *what)
{
    const int *rail = what;

    for (int i = 0; i < m->ranks * RAILS; i++) {
        struct vc *v = &m->vcs[i / RAILS][i % RAILS];

        if ((*rail == ALL_RAILS || *rail == v->rail) && (v->items != NULL || v->bulk != NULL))
            return false;
    }
    return true;
}

bool mpi_post_all(struct mpi *m, int rail)
{
    return progress_until(m, rail, all_posted, &rail);
}

/* Posts a signalled write on each connection, unless posted before. Returns whether all these writes have completed. */
static bool all_arrived(struct mpi *m, void *what)
{
    uint32_t *last = what;
    bool all = true;

    for (int i = 0; i < m->ranks * RAILS; i++) {
        struct vc *v = &m->vcs[i / RAILS][i % RAILS];

        if (PHASE(v) != UP)
            continue;
        if (last[i] == 0)
            last[i] = mpi_post(m, v, false, v->memory.lmr_context, v->memory.mem + CREDIT_AT + 8, 4, v->there.rmr_context,
                               v->there.target_address + CREDIT_AT + 16, true);
        all = all && last[i] != 0 && mpi_has_retired(v, last[i]);
    }
    return all;
}

bool mpi_flush(struct mpi *m)
{
    uint32_t last[MAX_RANKS * RAILS] = { 0 };

    return mpi_post_all(m, ALL_RAILS) && progress_until(m, ALL_RAILS, all_arrived, last);
}

bool mpi_barrier(struct mpi *m)
{
    struct request r[2];

    for (int step = 1; step < m->ranks; step *= 2) {
        mpi_isend(m, &r[0], NULL, 0, (m->me + step) % m->ranks, 0, BARRIER_TAG);
        mpi_irecv(m, &r[1], NULL, 0, (m->me - step % m->ranks + m->ranks) % m->ranks, 0, BARRIER_TAG);
        if (!mpi_wait(m, r, 2, ALL_RAILS))
            return false;
    }
    return true;
}

bool mpi_sum(struct mpi *m, uint64_t *number)
{
    struct request r[MAX_RANKS];
    uint64_t other;

    if (m->me != 0) {
        mpi_isend(m, &r[0], number, 8, 0, 0, SUM_TAG);
        mpi_irecv(m, &r[1], &other, 8, 0, 0, SUM_TAG);
        if (!mpi_wait(m, r, 2, ALL_RAILS))
            return false;
        *number = other;
        return true;
    }
    for (int i = 1; i < m->ranks; i++) {
        mpi_irecv(m, &r[0], &other, 8, i, 0, SUM_TAG);
        if (!mpi_wait(m, r, 1, ALL_RAILS))
            return false;
        *number += other;
    }
    for (int i = 1; i < m->ranks; i++)
        mpi_isend(m, &r[i - 1], number, 8, i, 0, SUM_TAG);
    return mpi_wait(m, r, m->ranks - 1, ALL_RAILS);
}

bool mpi_all_to_all(struct mpi *m, unsigned char *out, unsigned char *in, size_t block)
{
    struct request r[2 * MAX_RANKS];
    int n = 0;

    memcpy(in + (size_t)m->me * block, out + (size_t)m->me * block, block);
    for (int d = 1; d < m->ranks; d++) {
        int to = (m->me + d) % m->ranks, from = (m->me - d + m->ranks) % m->ranks;

        mpi_irecv(m, &r[n++], in + (size_t)from * block, block, from, d % RAILS, BLOCK_TAG + (uint32_t)d);
        mpi_isend(m, &r[n++], out + (size_t)to * block, block, to, d % RAILS, BLOCK_TAG + (uint32_t)d);
    }
    return mpi_wait(m, r, n, ALL_RAILS);
}
