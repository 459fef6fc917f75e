/* mpi_messages.c - open, close and messages of any size. */
#define _POSIX_C_SOURCE 200809L
#include "mpi.h"

#include "common/patience.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_LARGE = SLOT - 8 - sizeof(struct header) + 1 };

/* ---- Open and close ---- */

void mpi_open(struct mpi *m, int me, int ranks, struct address *own)
{
    memset(m, 0, sizeof *m);
    m->me = me;
    m->ranks = ranks;
    m->slots = ranks <= 4 ? 64 : 16;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->cache_lock, NULL);
    fx_open(&m->fx);
    m->dto = fx_evd(&m->fx, ranks * RAILS * (REQUESTS + 4), DAT_EVD_DTO_FLAG);
    m->conn = fx_evd(&m->fx, ranks * RAILS * 4, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG);
    for (int i = 0; i < MAX_RANKS; i++)
        for (int rail = 0; rail < RAILS; rail++) {
            struct vc *v = &m->vcs[i][rail];

            v->peer = i;
            v->rail = rail;
            v->items_end = &v->items;
            v->receives_end = &v->receives;
            v->early_end = &v->early;
        }
    memset(own, 0, sizeof *own);
    own->ip = m->fx.address;
    m->psp = fx_listen_on(&m->fx, m->conn, DAT_PSP_CONSUMER_FLAG, &own->qual);
}

static void forget_waiting(struct vc *v)
{
    while (v->items != NULL) {
        struct item *i = v->items;

        v->items = i->next;
        free(i);
    }
    while (v->early != NULL) {
        struct early *e = v->early;

        v->early = e->next;
        free(e->bytes);
        free(e);
    }
}

/* Returns whether a connection was not established, or has ended once and its receive was flushed once. */
static bool ended_well(const struct vc *v)
{
    return !v->greeted || (v->ends == 1 && v->flushed == 1);
}

bool mpi_close(struct mpi *m)
{
    struct patience patience = { 0, 0, { 0, 0 }, { 0, 0 } };
    bool good;

    m->closing = true;
    for (int i = 0; i < m->ranks * RAILS; i++) {
        struct vc *v = &m->vcs[i / RAILS][i % RAILS];

        if (v->greeted)
            must_rc(dat_ep_disconnect(v->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        else if (v->ep != DAT_HANDLE_NULL)
            dat_ep_disconnect(v->ep, DAT_CLOSE_ABRUPT_FLAG);
    }
    do {
        mpi_events(m);
        good = true;
        for (int i = 0; i < m->ranks * RAILS; i++)
            good = good && ended_well(&m->vcs[i / RAILS][i % RAILS]);
        sched_yield();
    } while (!good && patience_lasts(&patience, 0, SOON_MS));
    for (int i = 0; i < m->ranks * RAILS; i++) {
        struct vc *v = &m->vcs[i / RAILS][i % RAILS];

        if (!ended_well(v))
            fprintf(stderr, "# rank %d: the connection to rank %d has ended %u times, its receive came back %u times\n",
                    m->me, v->peer, v->ends, v->flushed);
        if (v->greeted) {
            must_rc(dat_ep_free(v->ep), DAT_SUCCESS, "dat_ep_free");
            region_free(&v->memory);
        }
        forget_waiting(v);
    }
    if (m->broken == 0)
        mpi_cache_end(m);
    fx_close(&m->fx);
    return good;
}

/* ---- Messages ---- */

static void start_bulk(struct vc *v, struct request *r, uint64_t there, uint32_t context, uint64_t theirs)
{
    r->there = there;
    r->there_context = context;
    r->theirs = theirs;
    r->posted = 0;
    r->next = v->bulk;
    v->bulk = r;
}

/* Completes or starts the transfer of a matched message. */
static void deliver(struct mpi *m, struct vc *v, struct request *r, const struct header *h, const unsigned char *bytes)
{
    struct header answer;

    if (h->size != r->size) {
        mpi_break(m, "a message with tag %u of rank %d has %u bytes, not %zu", h->tag, v->peer, h->size, r->size);
        return;
    }
    if (h->what == SMALL) {
        if (h->size != 0)
            memcpy(r->mem, bytes, h->size);
        r->done = true;
        return;
    }
    r->cached = mpi_register(m, r->mem, r->size);
    r->by_read = h->by_read;
    if (r->by_read) {
        start_bulk(v, r, h->address, h->context, h->ours);
        return;
    }
    memset(&answer, 0, sizeof answer);
    answer.what = WRITE_HERE;
    answer.address = (uint64_t)(uintptr_t)r->mem;
    answer.context = r->cached->remote;
    answer.theirs = h->ours;
    answer.ours = (uint64_t)(uintptr_t)r;
    mpi_queue(v, &answer, NULL);
}

static void keep_early(struct vc *v, const struct header *h, const unsigned char *bytes)
{
    struct early *e = calloc(1, sizeof *e);

    must(e != NULL, "out of memory");
    e->header = *h;
    if (h->what == SMALL && h->size != 0) {
        e->bytes = malloc(h->size);
        must(e->bytes != NULL, "out of memory");
        memcpy(e->bytes, bytes, h->size);
    }
    *v->early_end = e;
    v->early_end = &e->next;
}

void mpi_arrived(struct mpi *m, struct vc *v, const struct header *h, const unsigned char *bytes)
{
    struct request *r = (struct request *)(uintptr_t)h->theirs;

    switch (h->what) {
    case SMALL:
    case ANNOUNCED:
        for (struct request **at = &v->receives; *at != NULL; at = &(*at)->next)
            if ((*at)->tag == h->tag) {
                r = *at;
                *at = r->next;
                if (*at == NULL)
                    v->receives_end = at;
                deliver(m, v, r, h, bytes);
                return;
            }
        keep_early(v, h, bytes);
        return;
    case WRITE_HERE:
        start_bulk(v, r, h->address, h->context, h->ours);
        return;
    case FINISHED:
        mpi_unregister(m, r->cached);
        r->done = true;
        return;
    default:
        mpi_break(m, "a header of rank %d says %u", v->peer, h->what);
    }
}

static void queue_finished(struct vc *v, const struct request *r)
{
    struct header h;

    memset(&h, 0, sizeof h);
    h.what = FINISHED;
    h.theirs = r->theirs;
    mpi_queue(v, &h, NULL);
}

bool mpi_bulk(struct mpi *m, struct vc *v)
{
    bool moved = false;

    for (struct request **at = &v->bulk; *at != NULL;) {
        struct request *r = *at;

        while (r->posted < r->size) {
            size_t left = r->size - r->posted, take = left < CHUNK ? left : CHUNK;
            uint32_t number = mpi_post(m, v, r->by_read, r->cached->local, r->mem + r->posted, take, r->there_context,
                                       r->there + r->posted, take == left);

            if (number == 0)
                return moved;
            moved = true;
            r->posted += take;
            r->last = number;
            /* Queue the slot FINISHED now: the receiver sees it after the writes that precede it. */
            if (r->posted == r->size && !r->by_read)
                queue_finished(v, r);
        }
        if (!mpi_has_retired(v, r->last)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (r->by_read)
            queue_finished(v, r);
        mpi_unregister(m, r->cached);
        r->done = true;
        moved = true;
    }
    return moved;
}

/* ---- Sends and receives ---- */

static void request_begin(struct mpi *m, struct request *r, void *mem, size_t size, int peer, int rail, uint32_t tag)
{
    memset(r, 0, sizeof *r);
    r->mem = mem;
    r->size = size;
    r->tag = tag;
    r->vc = &m->vcs[peer][rail];
}

void mpi_isend(struct mpi *m, struct request *r, void *mem, size_t size, int to, int rail, uint32_t tag)
{
    struct header h;

    request_begin(m, r, mem, size, to, rail, tag);
    memset(&h, 0, sizeof h);
    h.what = size < SMALLEST_LARGE ? SMALL : ANNOUNCED;
    h.tag = tag;
    h.size = (uint32_t)size;
    if (h.what == ANNOUNCED) {
        r->cached = mpi_register(m, mem, size);
        h.address = (uint64_t)(uintptr_t)mem;
        h.context = r->cached->remote;
        h.by_read = tag % 2;
        h.ours = (uint64_t)(uintptr_t)r;
    }
    mpi_queue(r->vc, &h, h.what == SMALL ? r : NULL);
}

void mpi_irecv(struct mpi *m, struct request *r, void *mem, size_t size, int from, int rail, uint32_t tag)
{
    struct vc *v = &m->vcs[from][rail];

    request_begin(m, r, mem, size, from, rail, tag);
    for (struct early **at = &v->early; *at != NULL; at = &(*at)->next) {
        struct early *e = *at;

        if (e->header.tag != tag)
            continue;
        *at = e->next;
        if (*at == NULL)
            v->early_end = at;
        deliver(m, v, r, &e->header, e->bytes);
        free(e->bytes);
        free(e);
        return;
    }
    *v->receives_end = r;
    v->receives_end = &r->next;
}
