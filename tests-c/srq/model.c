/*
 * model.c - random sequences of all calls on SRQs and their endpoints, compared with a model.
 *
 * After each call, dat_srq_query() must return the counters of the model, and the asynchronous EVD
 * must contain exactly the watermark events of the model.
 *
 * The program prints the seed of each sequence. DAT_TEST_SEED=n runs only the sequence with seed n, and
 * DAT_TEST_STEPS=n sets the number of calls per sequence.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4, EVDS = 2, BUFFERS = 96, SLOT = 2048, WINDOW = 8, HISTORY = 24, IDLE = -1 };

/* More than the messages in flight on one connection: up to BUFFERS completed, up to WINDOW without a buffer. */
enum { MAX_IN_FLIGHT = 128 };

/* ---- the model ---- */

enum state { UNCONNECTED, CONNECTED, DISCONNECTED };

struct model_ep {
    enum state state;
    int evd;              /* index of its receive EVD */
    unsigned sent;        /* next message to send */
    unsigned received;    /* next message to dequeue */
    int pending;          /* sent messages without a buffer */
    int arrived;          /* completions, not dequeued */
    bool soft;            /* soft high watermark 0 is armed */
    size_t size[MAX_IN_FLIGHT]; /* of message i, at index i mod MAX_IN_FLIGHT */
};

static struct {
    DAT_COUNT max, available, outstanding, watermark;
    bool armed;
    int low_due; /* low watermark events that are expected and not received */
    int soft_due[PAIRS];
    bool posted[BUFFERS]; /* posted, and not dequeued */
    struct model_ep ep[PAIRS];
} m;

/* ---- the library's objects ---- */

static struct fx fx;
static struct srq q;
static struct side rx[PAIRS], tx[PAIRS];
static struct region out[PAIRS], foreign, readonly;
static DAT_EVD_HANDLE recv_evd[EVDS];
static DAT_PZ_HANDLE other_pz;
static DAT_COUNT limit;

/* ---- random numbers and diagnostics ---- */

static uint64_t chance;

static unsigned draw(unsigned n)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance >> 33) % n;
}

static char history[HISTORY][120];
static unsigned calls;
static bool broken;

TAP_PRINTF(1, 2) static void note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(history[calls++ % HISTORY], sizeof history[0], fmt, ap);
    va_end(ap);
}

/* Checks that the library agrees with the model. Reports only the first difference. */
TAP_PRINTF(2, 3) static bool agree(bool cond, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    if (cond || broken)
        return cond;
    broken = true;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    diag("call %u: %s", calls, text);
    diag("the calls before, the last one last:");
    for (unsigned i = calls > HISTORY ? calls - HISTORY : 0; i < calls; i++)
        diag("  %u: %s", i + 1, history[i % HISTORY]);
    return false;
}

static void expect(DAT_RETURN rc, DAT_UINT32 type)
{
    agree(rc_is(rc, type), "got %s (0x%08x), the type must be 0x%08x", rc_text(rc), (unsigned)rc,
          (unsigned)type);
}

/* ---- transitions of the model ---- */

static int pending_in_all(void)
{
    int n = 0;

    for (int i = 0; i < PAIRS; i++)
        n += m.ep[i].pending;
    return n;
}

static void taken(int i)
{
    m.ep[i].arrived++;
    if (m.ep[i].soft) {
        m.ep[i].soft = false;
        m.soft_due[i]++;
    }
    if (m.armed && m.available < m.watermark) {
        m.armed = false;
        m.low_due++;
    }
}

/* On iWARP, waits until the library counts the message of a completed Send. Updates the model. */
static void arrived(int i)
{
    (void)srq_arrived(q.handle, m.available);
    taken(i);
}

static void check_events(void)
{
    DAT_EVENT event;
    const DAT_ASYNCH_ERROR_EVENT_DATA *d = &event.event_data.asynch_error_event_data;
    int due = m.low_due;

    for (int i = 0; i < PAIRS; i++)
        due += m.soft_due[i];
    for (; due > 0 && !broken; due--) {
        int i = 0;

        if (!agree(wait_watermark(&fx, &event), "a watermark event does not arrive"))
            return;
        if (d->dat_handle == q.handle && d->reason == DAT_SRQ_LOW_WATERMARK_EVENT) {
            agree(m.low_due-- > 0, "a low watermark event that is not due");
            continue;
        }
        while (i < PAIRS && d->dat_handle != rx[i].ep)
            i++;
        agree(i < PAIRS && d->reason == DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT &&
                  m.soft_due[i]-- > 0,
              "event %s, reason %d, is not due", event_text(event.event_number), (int)d->reason);
    }
    agree(broken || no_event(fx.async), "an asynchronous event that is not due");
}

static void check_counters(void)
{
    DAT_SRQ_PARAM p = srq_param(q.handle);

    agree(p.available_dto_count >= 0 && p.available_dto_count <= p.outstanding_dto_count &&
              p.outstanding_dto_count <= p.max_recv_dtos,
          "the invariant: available %d, outstanding %d, max %d", (int)p.available_dto_count,
          (int)p.outstanding_dto_count, (int)p.max_recv_dtos);
    agree(p.available_dto_count == m.available && p.outstanding_dto_count == m.outstanding &&
              p.max_recv_dtos == m.max && p.low_watermark == m.watermark,
          "available %d, outstanding %d, max %d, watermark %d; must be %d, %d, %d, %d",
          (int)p.available_dto_count, (int)p.outstanding_dto_count, (int)p.max_recv_dtos,
          (int)p.low_watermark, (int)m.available, (int)m.outstanding, (int)m.max,
          (int)m.watermark);
}

/* ---- results of calls ---- */

/* Waits for the completion of a Send on any endpoint. Returns the endpoint, or IDLE after SOON_MS. */
static int a_send_completes(void)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    DAT_EVENT event;

    do {
        for (int i = 0; i < PAIRS; i++)
            if (dat_evd_dequeue(tx[i].req, &event) == DAT_SUCCESS) {
                agree(event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS,
                      "a Send completes with %s",
                      status_text(event.event_data.dto_completion_event_data.status));
                return i;
            }
        breathe();
    } while (now_ms() < end);
    agree(false, "no Send completes");
    return IDLE;
}

/* Checks that a completion is the next of its endpoint, and marks its buffer as not posted. */
static void check_completion(const DAT_EVENT *event, int evd)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event->event_data.dto_completion_event_data;
    DAT_COUNT b = srq_buffer(&q, d->user_cookie.as_64);
    struct model_ep *e;
    size_t size;
    int i = 0;

    while (i < PAIRS && rx[i].ep != d->ep_handle)
        i++;
    if (!agree(event->event_number == DAT_DTO_COMPLETION_EVENT && i < PAIRS && b >= 0 &&
                   m.posted[b] && d->status == DAT_DTO_SUCCESS && m.ep[i].evd == evd &&
                   m.ep[i].arrived > 0,
               "an unexpected completion: endpoint %d, buffer %d, %s", i,
               (int)b, status_text(d->status)))
        return;
    e = &m.ep[i];
    size = e->size[e->received % MAX_IN_FLIGHT];
    agree(d->transfered_length == size &&
              message_right(q.mem.mem + (size_t)b * SLOT, size, (unsigned)i, e->received),
          "endpoint %d: message %u has a wrong length or wrong bytes", i, e->received);
    m.posted[b] = false;
    m.outstanding--;
    e->arrived--;
    e->received++;
}

/*
 * Empties both receive EVDs after endpoint `gone`, whose handle was `handle`, was reset or freed. The library
 * may drop the endpoint's completions. The program cannot know the buffers of dropped completions, so these
 * buffers stay marked as posted.
 */
static void empty(int gone, DAT_EP_HANDLE handle)
{
    DAT_EVENT event;

    for (int v = 0; v < EVDS; v++)
        while (!broken && dat_evd_dequeue(recv_evd[v], &event) == DAT_SUCCESS) {
            const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
            DAT_COUNT b = srq_buffer(&q, d->user_cookie.as_64);

            if (d->ep_handle != handle) {
                check_completion(&event, v);
            } else if (agree(b >= 0 && m.posted[b] && m.ep[gone].arrived-- > 0,
                             "endpoint %d is gone, and has a completion too many", gone)) {
                m.posted[b] = false;
                m.outstanding--;
            }
        }
    m.outstanding -= m.ep[gone].arrived;
    m.ep[gone].arrived = 0;
    for (int i = 0; i < PAIRS; i++)
        agree(m.ep[i].arrived == 0, "endpoint %d: %d completions are missing", i,
              m.ep[i].arrived);
}

/*
 * Dequeues the connection events and the failed Sends of endpoint i, whose connection has ended. The
 * receiving end has an event only if rx_has_event.
 */
static void ended(int i, bool rx_has_event)
{
    DAT_EVENT event;

    if (rx_has_event)
        agree(wait_connection(rx[i].conn, DAT_CONNECTION_EVENT_DISCONNECTED),
              "endpoint %d: no DISCONNECTED", i);
    agree(wait_connection(tx[i].conn, DAT_CONNECTION_EVENT_DISCONNECTED),
          "endpoint %d: no DISCONNECTED at the sending end", i);
    for (; m.ep[i].pending > 0 && !broken; m.ep[i].pending--)
        agree(poll_event(tx[i].req, &event) &&
                  event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS,
              "endpoint %d: a Send that found no buffer does not fail with its connection", i);
    m.ep[i].state = DISCONNECTED;
}

/* ---- calls ---- */

static void do_post(void)
{
    int b = (int)draw(BUFFERS), tried = 0;

    while (m.posted[b] && tried++ < BUFFERS)
        b = (b + 1) % BUFFERS;
    if (m.posted[b])
        return;
    note("dat_srq_post_recv of buffer %d", b);
    if (m.outstanding == m.max) {
        expect(srq_post(&q, b), DAT_INSUFFICIENT_RESOURCES);
        return;
    }
    expect(srq_post(&q, b), DAT_SUCCESS);
    m.posted[b] = true;
    m.outstanding++;
    if (pending_in_all() > 0) {
        int i = a_send_completes();

        if (i != IDLE && agree(m.ep[i].pending-- > 0, "a Send completes that did not wait"))
            taken(i);
    } else {
        m.available++;
    }
}

static void do_bad_post(void)
{
    DAT_LMR_TRIPLET t[8];
    unsigned what = draw(6);
    DAT_COUNT n = 1;
    DAT_UINT32 type = DAT_INVALID_PARAMETER;

    if (m.outstanding == m.max)
        return; /* unspecified: whether a full queue or a wrong buffer is reported */
    for (int i = 0; i < 8; i++)
        t[i] = segment(&q.mem, (size_t)i, 1);
    note("dat_srq_post_recv of a wrong buffer, %u", what);
    if (what == 0) {
        t[0] = segment(&foreign, 0, 16);
        type = DAT_PROTECTION_VIOLATION;
    } else if (what == 1) {
        t[0] = segment(&readonly, 0, 16);
        type = DAT_PRIVILEGES_VIOLATION;
    } else if (what == 2) {
        t[0].segment_length = q.mem.size + 1;
    } else if (what == 3) {
        t[0].lmr_context = 0xdeadbeefu;
        type = DAT_PRIVILEGES_VIOLATION;
    } else if (what == 4) {
        n = srq_param(q.handle).max_recv_iov + 1;
        if (n > 8)
            return;
    } else {
        n = -1;
    }
    expect(dat_srq_post_recv(q.handle, n, t, cookie(srq_cookie(0))), type);
}

static void do_send(void)
{
    static const size_t sizes[] = { 0, 1, 64, 600, SLOT };
    int i = (int)draw(PAIRS);
    struct model_ep *e = &m.ep[i];
    size_t size = sizes[draw(5)], at = (size_t)(e->sent % WINDOW) * SLOT;

    if (e->state != CONNECTED || e->pending == WINDOW || (m.available == 0 && env_is_iwarp()))
        return;
    note("endpoint %d is sent message %u of %zu bytes", i, e->sent, size);
    message_fill(out[i].mem + at, size, (unsigned)i, e->sent);
    expect(post_send(&tx[i], &out[i], at, size, e->sent), DAT_SUCCESS);
    e->size[e->sent++ % MAX_IN_FLIGHT] = size;
    if (m.available > 0) {
        agree(a_send_completes() == i, "the Send of another endpoint completes");
        m.available--;
        arrived(i);
    } else {
        e->pending++;
    }
}

static void do_dequeue(void)
{
    int v = (int)draw(EVDS), there = 0;
    DAT_EVENT event;

    for (int i = 0; i < PAIRS; i++)
        if (m.ep[i].evd == v)
            there += m.ep[i].arrived;
    note("dequeue from EVD %d, where %d should be", v, there);
    if (there > 0) {
        if (agree(poll_event(recv_evd[v], &event), "no completion"))
            check_completion(&event, v);
    } else {
        agree(no_event(recv_evd[v]), "a completion too many");
    }
}

static void do_disconnect(void)
{
    int i = (int)draw(PAIRS);
    bool by_rx = draw(2) == 0, graceful = draw(2) == 0;

    if (m.ep[i].state == UNCONNECTED) {
        note("dat_ep_disconnect of endpoint %d, unconnected", i);
        expect(dat_ep_disconnect(rx[i].ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE);
        return;
    }
    if (m.ep[i].state == DISCONNECTED) {
        note("dat_ep_disconnect of endpoint %d, disconnected", i);
        expect(dat_ep_disconnect(rx[i].ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
        return;
    }
    /* A graceful disconnect would wait for the sender's pending messages, which wait for buffers. */
    if (!by_rx && m.ep[i].pending > 0)
        graceful = false;
    note("dat_ep_disconnect of endpoint %d by the %s, %s", i, by_rx ? "receiver" : "sender",
         graceful ? "gracefully" : "abruptly");
    expect(dat_ep_disconnect(by_rx ? rx[i].ep : tx[i].ep,
                             graceful ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG),
           DAT_SUCCESS);
    ended(i, true);
}

static void renew(int i)
{
    m.ep[i].state = UNCONNECTED;
    m.ep[i].sent = m.ep[i].received = 0;
}

static void do_reset(void)
{
    int i = (int)draw(PAIRS);

    note("dat_ep_reset of endpoint %d", i);
    if (m.ep[i].state == CONNECTED) {
        expect(dat_ep_reset(rx[i].ep), DAT_INVALID_STATE);
    } else if (m.ep[i].state == UNCONNECTED) {
        expect(dat_ep_reset(rx[i].ep), DAT_SUCCESS);
    } else {
        expect(dat_ep_reset(rx[i].ep), DAT_SUCCESS);
        expect(dat_ep_reset(tx[i].ep), DAT_SUCCESS);
        empty(i, rx[i].ep);
        renew(i);
    }
}

static void do_connect(void)
{
    int i = (int)draw(PAIRS);

    if (m.ep[i].state != UNCONNECTED)
        return;
    note("endpoint %d connects", i);
    if (draw(2) == 0)
        sides_connect(&tx[i], &rx[i]);
    else
        sides_connect(&rx[i], &tx[i]);
    m.ep[i].state = CONNECTED;
    /* The counters stay: no message arrives, because messages of other endpoints wait only if the queue is empty. */
}

static void make_rx(int i)
{
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    m.ep[i].evd = (int)draw(EVDS);
    m.ep[i].soft = false;
    must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, recv_evd[m.ep[i].evd], rx[i].req, rx[i].conn,
                                   q.handle, &attr, &rx[i].ep),
            DAT_SUCCESS, "dat_ep_create_with_srq");
}

static void do_free_endpoint(void)
{
    int i = (int)draw(PAIRS);
    DAT_EP_HANDLE gone = rx[i].ep;

    note("dat_ep_free of endpoint %d, and another one in its place", i);
    expect(dat_ep_free(gone), DAT_SUCCESS);
    if (m.ep[i].state == CONNECTED)
        ended(i, false);
    drain(rx[i].conn); /* the event of a freed endpoint is optional */
    if (m.ep[i].state == DISCONNECTED)
        expect(dat_ep_reset(tx[i].ep), DAT_SUCCESS);
    empty(i, gone);
    make_rx(i);
    renew(i);
}

static void do_resize(void)
{
    DAT_COUNT n = draw(8) == 0 ? limit + 1 : (DAT_COUNT)draw(60) - 4;
    DAT_SRQ_PARAM p;

    note("dat_srq_resize to %d", (int)n);
    if (n <= 0 || n > limit) {
        expect(dat_srq_resize(q.handle, n), DAT_INVALID_PARAMETER);
    } else if (n < m.outstanding || n < m.watermark) {
        expect(dat_srq_resize(q.handle, n), DAT_INVALID_STATE);
    } else {
        expect(dat_srq_resize(q.handle, n), DAT_SUCCESS);
        p = srq_param(q.handle);
        agree(n <= m.max ? p.max_recv_dtos == n : p.max_recv_dtos >= n,
              "asked for %d, %d are reported", (int)n, (int)p.max_recv_dtos);
        m.max = p.max_recv_dtos;
    }
}

static void do_set_lw(void)
{
    DAT_COUNT n = draw(3) == 0 ? (DAT_COUNT)draw(70) - 3 : (DAT_COUNT)draw(8);

    note("dat_srq_set_lw to %d", (int)n);
    if (n < 0 || n > m.max) {
        expect(dat_srq_set_lw(q.handle, n), DAT_INVALID_PARAMETER);
        return;
    }
    expect(dat_srq_set_lw(q.handle, n), DAT_SUCCESS);
    m.watermark = n;
    m.armed = m.available >= n;
    m.low_due += !m.armed;
}

static void do_set_watermark(void)
{
    static const DAT_COUNT soft[] = { 0, 0, DAT_WATERMARK_INFINITE, 1000, -2 };
    int i = (int)draw(PAIRS);
    DAT_COUNT n = soft[draw(5)];

    if (n == 0 && m.ep[i].arrived > 0)
        return; /* unspecified: whether completed buffers still count for the endpoint */
    note("dat_ep_set_watermark of endpoint %d, soft %d", i, (int)n);
    if (n == -2) {
        expect(dat_ep_set_watermark(rx[i].ep, n, DAT_WATERMARK_INFINITE), DAT_INVALID_PARAMETER);
        return;
    }
    expect(dat_ep_set_watermark(rx[i].ep, n, DAT_WATERMARK_INFINITE), DAT_SUCCESS);
    m.ep[i].soft = n == 0;
}

static void do_modify(void)
{
    int i = (int)draw(PAIRS), v = (int)draw(EVDS);
    DAT_EP_PARAM p, now;

    memset((void *)&p, 0, sizeof p);
    memset((void *)&now, 0, sizeof now);
    p.recv_evd_handle = recv_evd[v];
    p.srq_handle = q.handle;
    p.ep_attr.max_recv_dtos = 100 + v; /* a hard high watermark above all numbers of buffers */
    note("dat_ep_modify of endpoint %d, receive EVD %d", i, v);
    expect(dat_ep_modify(rx[i].ep, DAT_EP_FIELD_SRQ_HANDLE, &p), DAT_INVALID_PARAMETER);
    if (m.ep[i].state == UNCONNECTED) {
        expect(dat_ep_modify(rx[i].ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_RECV_EVD_HANDLE, &p),
               DAT_SUCCESS);
        expect(dat_ep_query(rx[i].ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &now), DAT_SUCCESS);
        agree(now.ep_attr.max_recv_dtos == 100 + v, "dat_ep_query: max_recv_dtos %d",
              (int)now.ep_attr.max_recv_dtos);
        m.ep[i].evd = v;
    } else {
        expect(dat_ep_modify(rx[i].ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &p), DAT_INVALID_STATE);
    }
}

static void do_endpoint_calls(void)
{
    static const DAT_EP_STATE states[] = { DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_CONNECTED,
                                           DAT_EP_STATE_DISCONNECTED };
    int i = (int)draw(PAIRS);
    DAT_COUNT n = 99, span = 99;
    DAT_EP_PARAM p;

    note("queries of endpoint %d", i);
    memset((void *)&p, 0, sizeof p);
    expect(dat_ep_query(rx[i].ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS);
    agree(p.srq_handle == q.handle && p.recv_evd_handle == recv_evd[m.ep[i].evd] &&
              p.ep_state == states[m.ep[i].state],
          "dat_ep_query: %s, or another queue or EVD", state_text(p.ep_state));
    expect(dat_ep_recv_query(rx[i].ep, &n, &span), DAT_SUCCESS);
    agree(n == 0 && span >= 0, "dat_ep_recv_query: %d, %d", (int)n, (int)span);
    expect(dat_ep_post_recv(rx[i].ep, 0, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
           DAT_INVALID_STATE);
}

static void do_queue_calls(void)
{
    DAT_SRQ_PARAM p;

    note("calls on the queue that must fail");
    expect(dat_srq_free(q.handle), DAT_INVALID_STATE);
    expect(dat_srq_query(q.handle, (DAT_SRQ_PARAM_MASK)0x100, &p), DAT_INVALID_PARAMETER);
    expect(dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, NULL), DAT_INVALID_PARAMETER);
    expect(dat_srq_query(fx.pz, DAT_SRQ_FIELD_ALL, &p), DAT_INVALID_HANDLE);
}

/* ---- sequences ---- */

static void begin(void)
{
    memset(&m, 0, sizeof m);
    srq_open(&q, &fx, 1 + (DAT_COUNT)draw(24), BUFFERS, SLOT);
    m.max = srq_param(q.handle).max_recv_dtos;
    for (int v = 0; v < EVDS; v++)
        recv_evd[v] = fx_evd(&fx, 2 * BUFFERS, DAT_EVD_DTO_FLAG);
    for (int i = 0; i < PAIRS; i++) {
        side_make(&tx[i], &fx, NULL);
        memset(&rx[i], 0, sizeof rx[i]);
        rx[i].fx = &fx;
        rx[i].req = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
        rx[i].conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
        make_rx(i);
        region_make(&fx, &out[i], (size_t)WINDOW * SLOT, MEM_LOCAL);
        if (draw(2) == 0)
            sides_connect(&tx[i], &rx[i]);
        else
            continue;
        m.ep[i].state = CONNECTED;
    }
    note("a queue of %d", (int)m.max);
}

static void end(void)
{
    for (int i = 0; i < PAIRS; i++) {
        side_free(&rx[i]);
        side_free(&tx[i]);
        region_free(&out[i]);
    }
    for (int v = 0; v < EVDS; v++)
        must_rc(dat_evd_free(recv_evd[v]), DAT_SUCCESS, "dat_evd_free");
    srq_close(&q);
    drain(fx.async);
}

/* Returns whether more than a third of the buffers are free, but marked as posted; see empty(). */
static bool worn_out(void)
{
    int n = 0;

    for (int b = 0; b < BUFFERS; b++)
        n += m.posted[b];
    return n - m.outstanding > BUFFERS / 3;
}

static bool sequence(uint64_t seed, unsigned steps)
{
    static const struct {
        void (*call)(void);
        unsigned weight;
    } table[] = {
        { do_post, 30 },       { do_bad_post, 4 },    { do_send, 30 },
        { do_dequeue, 25 },    { do_disconnect, 2 },  { do_reset, 3 },
        { do_connect, 8 },     { do_resize, 5 },      { do_set_lw, 5 },
        { do_modify, 3 },      { do_queue_calls, 1 }, { do_free_endpoint, 1 },
        { do_set_watermark, 4 }, { do_endpoint_calls, 3 },
    };
    unsigned total = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        total += table[i].weight;
    chance = seed * 0x9e3779b97f4a7c15u | 1;
    calls = 0;
    broken = false;
    begin();
    while (calls < steps && !broken) {
        unsigned pick = draw(total);
        size_t i = 0;

        while (pick >= table[i].weight)
            pick -= table[i++].weight;
        table[i].call();
        if (!broken)
            check_events();
        if (!broken)
            check_counters();
        if (!broken && worn_out()) {
            end();
            begin();
        }
    }
    if (broken) {
        /* The state is unknown, so do not clean up. */
        ok(false, "seed %llu: %u calls agree with the model", (unsigned long long)seed, steps);
        return false;
    }
    agree(nothing_comes(&fx, "seed %llu: no event at the end that is not due", (unsigned long long)seed),
          "an event at the end that is not due");
    end();
    return ok(!broken, "seed %llu: %u calls agree with the model", (unsigned long long)seed, steps);
}

int main(int argc, char **argv)
{
    const char *one = getenv("DAT_TEST_SEED"), *length = getenv("DAT_TEST_STEPS");
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;
    uint64_t first;
    unsigned steps;
    int runs;

    env_init(argc, argv, NULL);
    first = one != NULL ? strtoull(one, NULL, 0) : 1;
    runs = one != NULL ? 1 : env_count(20, 3);
    steps = length != NULL ? (unsigned)strtoul(length, NULL, 0) : (unsigned)env_count(4000, 400);
    fx_open(&fx);
    srq_attributes(&fx, &ia, &provider);
    limit = ia.max_recv_per_srq;
    must_rc(dat_pz_create(fx.ia, &other_pz), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&fx, other_pz, &foreign, 64, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &readonly, 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    for (int i = 0; i < runs; i++)
        if (!sequence(first + (uint64_t)i, steps))
            break;
    fx_close(&fx);
    return done_testing();
}
