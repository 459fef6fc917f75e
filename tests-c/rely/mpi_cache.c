/* mpi_cache.c - a cache of registrations. */
#include "mpi.h"

#include <string.h>

enum { PAGE = 4096 };

/*
 * Returns a free entry. If more than MAX_UNUSED registrations have no user, or no entry is free, first frees the
 * least recently used registration without a user.
 */
static struct cached *room(struct mpi *m)
{
    struct cached *empty = NULL, *oldest = NULL;
    int unused = 0;

    for (struct cached *c = m->cache; c < m->cache + MAX_CACHED; c++) {
        if (c->lmr == DAT_HANDLE_NULL) {
            empty = c;
        } else if (c->users == 0) {
            unused++;
            if (oldest == NULL || c->used < oldest->used)
                oldest = c;
        }
    }
    if (unused > MAX_UNUSED || empty == NULL) {
        must(oldest != NULL, "too many registrations are in use");
        must_rc(dat_lmr_free(oldest->lmr), DAT_SUCCESS, "dat_lmr_free");
        empty = oldest;
    }
    memset(empty, 0, sizeof *empty);
    return empty;
}

struct cached *mpi_register(struct mpi *m, const void *mem, size_t size)
{
    uintptr_t from = (uintptr_t)mem / PAGE * PAGE, to = ((uintptr_t)mem + size + PAGE - 1) / PAGE * PAGE;
    DAT_REGION_DESCRIPTION where;
    struct cached *c = NULL;

    pthread_mutex_lock(&m->cache_lock);
    for (int i = 0; i < MAX_CACHED && c == NULL; i++)
        if (m->cache[i].lmr != DAT_HANDLE_NULL && m->cache[i].from <= from && m->cache[i].to >= to)
            c = &m->cache[i];
    if (c != NULL) {
        m->hits++;
    } else {
        c = room(m);
        memset(&where, 0, sizeof where);
        where.for_va = (DAT_PVOID)from;
        must_rc(dat_lmr_create(m->fx.ia, DAT_MEM_TYPE_VIRTUAL, where, to - from, m->fx.pz, DAT_MEM_PRIV_ALL_FLAG, &c->lmr,
                               &c->local, &c->remote, NULL, NULL),
                DAT_SUCCESS, "dat_lmr_create(%zu bytes)", (size_t)(to - from));
        c->from = from;
        c->to = to;
        m->misses++;
    }
    c->users++;
    c->used = ++m->clock;
    pthread_mutex_unlock(&m->cache_lock);
    return c;
}

void mpi_unregister(struct mpi *m, struct cached *c)
{
    pthread_mutex_lock(&m->cache_lock);
    c->users--;
    pthread_mutex_unlock(&m->cache_lock);
}

void mpi_cache_end(struct mpi *m)
{
    for (int i = 0; i < MAX_CACHED; i++)
        if (m->cache[i].lmr != DAT_HANDLE_NULL)
            must_rc(dat_lmr_free(m->cache[i].lmr), DAT_SUCCESS, "dat_lmr_free");
    memset(m->cache, 0, sizeof m->cache);
}
