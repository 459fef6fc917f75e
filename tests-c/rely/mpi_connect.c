/* mpi_connect.c - connects on demand, ends of connections, and all events. */
#define _POSIX_C_SOURCE 200809L
#include "mpi.h"

#include <sched.h>
#include <stdarg.h>
#include <string.h>

/* Private data of a connection request. */
struct card {
    uint32_t rank, rail;
};

/* The first message in each direction: the memory of its sender. */
struct greeting {
    uint64_t address;
    uint32_t context, rank;
};

enum { HELLO_NUMBER = 0 }; /* work requests are counted from 1 */

void mpi_break(struct mpi *m, const char *fmt, ...)
{
    va_list ap;

    if (__atomic_exchange_n(&m->broken, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    va_start(ap, fmt);
    vsnprintf(m->why, sizeof m->why, fmt, ap);
    va_end(ap);
}

static DAT_UINT64 number_of(const struct vc *v, bool receive)
{
    return (DAT_UINT64)receive << 48 | (DAT_UINT64)(unsigned)(v->peer * RAILS + v->rail) << 32 | HELLO_NUMBER;
}

static void post_hello(struct mpi *m, struct vc *v)
{
    DAT_LMR_TRIPLET t = segment(&v->memory, HELLO_IN, sizeof(struct greeting));

    (void)m;
    must_rc(dat_ep_post_recv(v->ep, 1, &t, cookie(number_of(v, true)), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
}

static void endpoint_make(struct mpi *m, struct vc *v)
{
    DAT_EP_ATTR attr;

    if (v->ep != DAT_HANDLE_NULL)
        return;
    attr_default(&attr);
    attr.max_message_size = 4096;
    attr.max_rdma_size = LARGEST;
    attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    attr.max_recv_dtos = 4;
    attr.max_request_dtos = REQUESTS + 1; /* one for the greeting */
    must_rc(dat_ep_create(m->fx.ia, m->fx.pz, m->dto, m->dto, m->conn, &attr, &v->ep), DAT_SUCCESS, "dat_ep_create");
    region_make(&m->fx, &v->memory, RING_AT + 2 * m->slots * SLOT, DAT_MEM_PRIV_ALL_FLAG);
}

/* Creates an endpoint and connects it. The caller holds m->lock. */
static void call(struct mpi *m, struct vc *v)
{
    struct card card = { (uint32_t)m->me, (uint32_t)v->rail };

    endpoint_make(m, v);
    SET_PHASE(v, CALLING);
    must_rc(dat_ep_connect(v->ep, (DAT_IA_ADDRESS_PTR)&m->table[v->peer].ip, m->table[v->peer].qual, DAT_TIMEOUT_INFINITE,
                           sizeof card, &card, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
}

void mpi_connect(struct mpi *m, struct vc *v)
{
    pthread_mutex_lock(&m->lock);
    if (PHASE(v) == UNUSED && !m->closing)
        call(m, v);
    pthread_mutex_unlock(&m->lock);
}

static void answer(struct mpi *m, struct vc *v, DAT_CR_HANDLE cr)
{
    endpoint_make(m, v);
    SET_PHASE(v, CALLED);
    must_rc(dat_cr_accept(cr, v->ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
}

/* Handles a connection request. If both ranks connect, the connect of the lower rank wins. */
static void called(struct mpi *m, DAT_CR_HANDLE cr)
{
    struct card card;
    struct vc *v;
    DAT_CR_PARAM p;

    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
    must(p.private_data_size >= (DAT_COUNT)sizeof card, "a connection request has %d bytes of private data",
         (int)p.private_data_size);
    memcpy(&card, p.private_data, sizeof card);
    must(card.rank < (uint32_t)m->ranks && card.rail < RAILS, "a connection request of rank %u", card.rank);
    v = &m->vcs[card.rank][card.rail];
    switch (m->closing ? ENDED : PHASE(v)) {
    case UNUSED:
        answer(m, v, cr);
        return;
    case REFUSED:
        answer(m, v, cr);
        return;
    case CALLING:
        m->crossings++;
        if (m->me > v->peer) {
            v->crossed = cr;
            return;
        }
        break;
    default:
        break;
    }
    must_rc(dat_cr_reject(cr), DAT_SUCCESS, "dat_cr_reject");
}

/*
 * Handles a failed connect. In the lower rank, or during the close, this is an error. The higher rank
 * accepts the request of the lower rank: immediately if it has arrived, else when it arrives.
 */
static void refused(struct mpi *m, struct vc *v, DAT_EVENT_NUMBER why)
{
    DAT_CR_HANDLE cr = v->crossed;

    if (m->closing || m->me < v->peer) {
        SET_PHASE(v, ENDED);
        mpi_break(m, "rank %d cannot be reached: %s", v->peer, event_text(why));
        return;
    }
    must_rc(dat_ep_reset(v->ep), DAT_SUCCESS, "dat_ep_reset");
    v->crossed = DAT_HANDLE_NULL;
    SET_PHASE(v, REFUSED);
    if (cr != DAT_HANDLE_NULL)
        answer(m, v, cr);
}

/*
 * Sends the location of the ring, and posts a receive for the peer's location, which may already
 * have arrived.
 */
static void greet(struct mpi *m, struct vc *v)
{
    struct greeting g = { (uint64_t)(uintptr_t)v->memory.mem, v->memory.rmr_context, (uint32_t)m->me };
    DAT_LMR_TRIPLET t = segment(&v->memory, HELLO_OUT, sizeof g);

    SET_PHASE(v, GREETING);
    memcpy(v->memory.mem + HELLO_OUT, &g, sizeof g);
    must_rc(dat_ep_post_send(v->ep, 1, &t, cookie(number_of(v, false)), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_send");
    post_hello(m, v);
}

static void greeted(struct mpi *m, struct vc *v)
{
    struct greeting g;

    memcpy(&g, v->memory.mem + HELLO_IN, sizeof g);
    must(g.rank == (uint32_t)v->peer && !v->greeted, "rank %d greets as %u", v->peer, g.rank);
    v->greeted = true;
    v->there.target_address = g.address;
    v->there.rmr_context = g.context;
    post_hello(m, v); /* no message arrives there: the end of the connection flushes the receive */
    SET_PHASE(v, UP);
}

static struct vc *vc_of(struct mpi *m, DAT_EP_HANDLE ep)
{
    for (int i = 0; i < m->ranks; i++)
        for (int rail = 0; rail < RAILS; rail++)
            if (m->vcs[i][rail].ep == ep)
                return &m->vcs[i][rail];
    must(false, "an event of an unknown endpoint");
    return NULL;
}

static void connection_event(struct mpi *m, const DAT_EVENT *e)
{
    struct vc *v;

    if (e->event_number == DAT_CONNECTION_REQUEST_EVENT) {
        called(m, e->event_data.cr_arrival_event_data.cr_handle);
        return;
    }
    v = vc_of(m, e->event_data.connect_event_data.ep_handle);
    switch (e->event_number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED:
        if (!m->closing)
            greet(m, v);
        return;
    case DAT_CONNECTION_EVENT_DISCONNECTED:
    case DAT_CONNECTION_EVENT_BROKEN:
        v->ends++;
        SET_PHASE(v, ENDED);
        if (!m->closing)
            mpi_break(m, "the connection to rank %d ends: %s", v->peer, event_text(e->event_number));
        return;
    default:
        if (PHASE(v) == CALLING)
            refused(m, v, e->event_number);
        else
            mpi_break(m, "rank %d: %s", v->peer, event_text(e->event_number));
        return;
    }
}

static void completion(struct mpi *m, const DAT_EVENT *e)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e->event_data.dto_completion_event_data;
    unsigned which = (unsigned)(d->user_cookie.as_64 >> 32) & 0xffffu;
    bool receive = d->user_cookie.as_64 >> 48 != 0;
    uint32_t number = (uint32_t)d->user_cookie.as_64;
    struct vc *v = &m->vcs[which / RAILS][which % RAILS];

    must(e->event_number == DAT_DTO_COMPLETION_EVENT && which < MAX_RANKS * RAILS, "%s instead of a completion",
         event_text(e->event_number));
    if (d->status != DAT_DTO_SUCCESS) {
        v->flushed += receive;
        if (!m->closing)
            mpi_break(m, "a request to rank %d completes with %s", v->peer, status_text(d->status));
    } else if (receive) {
        must(d->ep_handle == v->ep, "a receive completes on another endpoint");
        greeted(m, v);
    } else if (number != HELLO_NUMBER) {
        __atomic_store_n(&v->retired, number, __ATOMIC_RELEASE);
    }
}

bool mpi_events(struct mpi *m)
{
    bool any = false;
    DAT_EVENT e;

    if (pthread_mutex_trylock(&m->lock) != 0)
        return false;
    while (dat_evd_dequeue(m->dto, &e) == DAT_SUCCESS) {
        completion(m, &e);
        any = true;
    }
    while (dat_evd_dequeue(m->conn, &e) == DAT_SUCCESS) {
        connection_event(m, &e);
        any = true;
    }
    pthread_mutex_unlock(&m->lock);
    return any;
}
