/* lanes_requests.c - memory, requests and connections of lanes: see lanes.h. */
#define _POSIX_C_SOURCE 200809L
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory: the same layout in both processes ---- */

enum { BULK_ROOM = 64 };

static size_t stride(const struct plan *p)
{
    return (p->slot + 16u + 63u) / 64u * 64u;
}

static size_t sources(const struct plan *p)
{
    return (p->requests + 1u) * 4u / 64u * 64u + 64u;
}

static size_t bulk_size(const struct plan *p)
{
    return p->by_write + p->by_read == 0 ? 0 : (p->max_size + BULK_ROOM + 63u) / 64u * 64u;
}

static size_t part_size(const struct plan *p)
{
    return WORDS + sources(p) + 2 * (p->slots * stride(p) + bulk_size(p));
}

size_t slot_end(const struct lanes *l, const struct connection *c, unsigned sender, uint32_t piece)
{
    const struct plan *p = &l->plan;

    return c->base + WORDS + sources(p) + (sender * p->slots + piece % p->slots + 1) * stride(p) - 8 + p->skew;
}

size_t bulk_end(const struct lanes *l, const struct connection *c, unsigned sender, unsigned size)
{
    const struct plan *p = &l->plan;

    return c->base + WORDS + sources(p) + 2 * p->slots * stride(p) + sender * bulk_size(p) + size / 8 * 8 + 8 + p->skew;
}

uint32_t word_at(const struct lanes *l, const struct connection *c, unsigned which)
{
    return __atomic_load_n((const uint32_t *)(const void *)(l->memory.mem + c->base + which), __ATOMIC_ACQUIRE);
}

/* ---- Requests ---- */

bool post(struct lanes *l, struct connection *c, bool read, size_t at, size_t len, size_t to,
                 uint32_t *awaited)
{
    const struct habits *h = &l->plan.habits[l->me];
    unsigned places = l->plan.requests - (c->posted - c->retired), cuts = 1 + draw(&l->chance, h->segments);
    bool signalled = awaited != NULL || places == 1 || c->posted + 1 - c->signalled >= h->signal_every;
    DAT_RMR_TRIPLET there = l->there;
    DAT_LMR_TRIPLET iov[4];
    unsigned flags = 0;
    DAT_COUNT n = 0;
    DAT_RETURN rc;

    if (places == 0) {
        l->lacks_place = true;
        return false;
    }
    if (!signalled)
        flags |= DAT_COMPLETION_SUPPRESS_FLAG;
    if (l->plan.unsignalled && draw(&l->chance, 2) == 0)
        flags |= DAT_COMPLETION_UNSIGNALLED_FLAG;
    if (draw(&l->chance, 100) < h->fenced)
        flags |= DAT_COMPLETION_BARRIER_FENCE_FLAG;
    for (size_t done = 0; done < len; n++) {
        size_t take = cuts-- > 1 ? 1 + draw(&l->chance, (unsigned)(len - done)) : len - done;

        iov[n] = segment(&l->memory, at + done, take);
        done += take;
    }
    there.target_address += to;
    there.segment_length = len;
    c->posted++;
    rc = read ? dat_ep_post_rdma_read(c->side.ep, n, iov,
                                      cookie((DAT_UINT64)(c - l->connections) << 32 | c->posted), &there,
                                      (DAT_COMPLETION_FLAGS)flags)
              : dat_ep_post_rdma_write(c->side.ep, n, iov,
                                       cookie((DAT_UINT64)(c - l->connections) << 32 | c->posted), &there,
                                       (DAT_COMPLETION_FLAGS)flags);
    if (rc != DAT_SUCCESS) {
        TROUBLE(l, "a request of %zu bytes with flags %u and %u places: %s", len, flags, places, rc_text(rc));
        return false;
    }
    c->will_come[c->posted % (l->plan.requests + 1)] = signalled;
    if (signalled)
        c->signalled = c->posted;
    if (awaited != NULL) {
        *awaited = c->posted;
        l->awaited++;
    }
    return true;
}

bool write_word(struct lanes *l, struct connection *c, unsigned which, uint32_t value, uint32_t *awaited)
{
    size_t at = c->base + WORDS + (c->posted + 1) % (l->plan.requests + 1) * 4;

    memcpy(l->memory.mem + at, &value, 4);
    return post(l, c, false, at, 4, c->base + which, awaited);
}

static bool completed(struct lanes *l, const DAT_EVENT *e)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e->event_data.dto_completion_event_data;
    unsigned which = (unsigned)(d->user_cookie.as_64 >> 32);
    uint32_t number = (uint32_t)d->user_cookie.as_64;
    struct connection *c = &l->connections[which];

    if (e->event_number != DAT_DTO_COMPLETION_EVENT || which >= l->plan.connections) {
        TROUBLE(l, "%s with cookie %#llx", event_text(e->event_number),
                e->event_number == DAT_DTO_COMPLETION_EVENT ? (unsigned long long)d->user_cookie.as_64 : 0);
        return false;
    }
    if (d->status != DAT_DTO_SUCCESS || number - c->retired - 1 >= c->posted - c->retired ||
        !c->will_come[number % (l->plan.requests + 1)]) {
        TROUBLE(l, "connection %u: a completion with %s of request %u, posted %u, retired %u", which,
                status_text(d->status), number, c->posted, c->retired);
        return false;
    }
    c->retired = number;
    l->lacks_place = false;
    return true;
}

bool reap(struct lanes *l)
{
    bool moved = false;
    DAT_EVENT e;

    for (unsigned i = 0; i < l->evd_count; i++)
        while (l->trouble[0] == '\0' && dat_evd_dequeue(l->evds[i], &e) == DAT_SUCCESS)
            moved = completed(l, &e);
    return moved;
}

bool reap_waiting(struct lanes *l)
{
    DAT_COUNT more;
    DAT_EVENT e;

    if (dat_evd_wait(l->evds[0], 300, 1, &e, &more) == DAT_SUCCESS)
        return completed(l, &e) && reap(l);
    return reap(l);
}


bool arrived(struct lanes *l, const struct connection *c, uint32_t *awaited)
{
    if (*awaited == 0 || (int32_t)(c->retired - *awaited) < 0)
        return false;
    *awaited = 0;
    l->awaited--;
    return true;
}

/* ---- Connections ---- */

static void endpoint_make(struct lanes *l, struct connection *c)
{
    const struct plan *p = &l->plan;
    DAT_COUNT qlen = (DAT_COUNT)(p->requests + 8);
    struct side *s = &c->side;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_request_dtos = (DAT_COUNT)p->requests;
    if (p->unsignalled)
        attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    s->fx = l->fx;
    if (p->dispatchers == ONE_FOR_ALL && l->evd_count > 0)
        s->req = l->evds[0];
    else if (p->dispatchers == ONE_FOR_ALL)
        s->req = fx_evd(l->fx, qlen * (DAT_COUNT)p->connections, DAT_EVD_DTO_FLAG);
    else
        s->req = fx_evd(l->fx, qlen, DAT_EVD_DTO_FLAG);
    if (l->evd_count == 0 || p->dispatchers != ONE_FOR_ALL)
        l->evds[l->evd_count++] = s->req;
    s->recv = s->req;
    if (p->dispatchers == TWO_EACH)
        s->recv = l->evds[l->evd_count++] = fx_evd(l->fx, 8, DAT_EVD_DTO_FLAG);
    s->conn = fx_evd(l->fx, 8, DAT_EVD_CONNECTION_FLAG);
    must_rc(dat_ep_create(l->fx->ia, l->fx->pz, s->recv, s->req, s->conn, &attr, &s->ep), DAT_SUCCESS, "dat_ep_create");
    c->will_come = calloc(p->requests + 1, 1);
    must(c->will_come != NULL, "out of memory");
}

void lanes_open(struct lanes *l, struct fx *fx, const struct plan *plan, unsigned me, struct link *link)
{
    memset(l, 0, sizeof *l);
    l->plan = *plan;
    l->me = me;
    l->fx = fx;
    chance_begin(&l->chance, plan->seed + 1000003u * (me + 1));
    region_make(fx, &l->memory, part_size(plan) * plan->connections, DAT_MEM_PRIV_ALL_FLAG);
    for (unsigned i = 0; i < plan->connections; i++) {
        struct connection *c = &l->connections[i];

        c->base = i * part_size(plan);
        chance_begin(&c->out.chance, plan->seed * 97u + 2 * i + me);
        chance_begin(&c->in.chance, plan->seed * 97u + 2 * i + 1 - me);
        endpoint_make(l, c);
        if (me == 0)
            side_connect_peer(&c->side, link);
        else
            side_accept_peer(&c->side, link);
    }
    must(link_send_target(link, target(&l->memory, 0, l->memory.size)) && link_recv_target(link, &l->there),
         "the other process is gone");
}

void lanes_close(struct lanes *l)
{
    for (unsigned i = 0; i < l->plan.connections; i++) {
        struct side *s = &l->connections[i].side;

        must_rc(dat_ep_disconnect(s->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(s->conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
        s->recv = s->req = DAT_HANDLE_NULL;
        side_free(s);
        free(l->connections[i].will_come);
    }
    for (unsigned i = 0; i < l->evd_count; i++)
        must_rc(dat_evd_free(l->evds[i]), DAT_SUCCESS, "dat_evd_free");
    region_free(&l->memory);
}
