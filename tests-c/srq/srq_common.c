#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <stdlib.h>
#include <string.h>

#define COOKIE_BASE 0xc0ffee5a00000000u

/* ---- the queue ---- */

void srq_open(struct srq *q, struct fx *fx, DAT_COUNT max_recv_dtos, DAT_COUNT buffers, size_t slot)
{
    DAT_SRQ_ATTR attr = { max_recv_dtos, 4, DAT_SRQ_LW_DEFAULT };

    memset(q, 0, sizeof *q);
    q->fx = fx;
    q->slot = slot;
    q->buffers = buffers;
    must_rc(dat_srq_create(fx->ia, fx->pz, &attr, &q->handle), DAT_SUCCESS, "dat_srq_create(%d)",
            (int)max_recv_dtos);
    region_make(fx, &q->mem, slot * (size_t)buffers, MEM_LOCAL);
}

void srq_close(struct srq *q)
{
    if (q->handle != DAT_HANDLE_NULL)
        must_rc(dat_srq_free(q->handle), DAT_SUCCESS, "dat_srq_free");
    region_free(&q->mem);
    memset(q, 0, sizeof *q);
}

DAT_UINT64 srq_cookie(DAT_COUNT i)
{
    return COOKIE_BASE + (DAT_UINT64)i;
}

DAT_COUNT srq_buffer(const struct srq *q, DAT_UINT64 c)
{
    if (c < COOKIE_BASE || c - COOKIE_BASE >= (DAT_UINT64)q->buffers)
        return -1;
    return (DAT_COUNT)(c - COOKIE_BASE);
}

DAT_RETURN srq_post(struct srq *q, DAT_COUNT i)
{
    DAT_LMR_TRIPLET t = segment(&q->mem, (size_t)i * q->slot, q->slot);

    return dat_srq_post_recv(q->handle, 1, &t, cookie(srq_cookie(i)));
}

void srq_fill(struct srq *q, DAT_COUNT first, DAT_COUNT n)
{
    for (DAT_COUNT i = first; i < first + n; i++)
        must_rc(srq_post(q, i), DAT_SUCCESS, "dat_srq_post_recv of buffer %d", (int)i);
}

DAT_SRQ_PARAM srq_param(DAT_SRQ_HANDLE srq)
{
    DAT_SRQ_PARAM param;

    memset(&param, 0, sizeof param);
    must_rc(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), DAT_SUCCESS, "dat_srq_query");
    return param;
}

DAT_SRQ_PARAM srq_arrived(DAT_SRQ_HANDLE srq, DAT_COUNT available)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (env_is_iwarp() && srq_param(srq).available_dto_count != available && now_ms() < end)
        breathe();
    return srq_param(srq);
}

bool is_counts(DAT_SRQ_HANDLE srq, DAT_COUNT available, DAT_COUNT outstanding, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    DAT_SRQ_PARAM p = srq_arrived(srq, available);
    bool good = p.available_dto_count == available && p.outstanding_dto_count == outstanding &&
                0 <= available && available <= outstanding && outstanding <= p.max_recv_dtos;

    ok(good, "%s", name);
    if (!good)
        diag("  got available %d, outstanding %d (max_recv_dtos %d), expected %d, %d",
             (int)p.available_dto_count, (int)p.outstanding_dto_count, (int)p.max_recv_dtos,
             (int)available, (int)outstanding);
    return good;
}

bool is_unchanged(DAT_SRQ_HANDLE srq, const DAT_SRQ_PARAM *before, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    DAT_SRQ_PARAM now = srq_param(srq);
    bool good = now.ia_handle == before->ia_handle && now.srq_state == before->srq_state &&
                now.pz_handle == before->pz_handle &&
                now.max_recv_dtos == before->max_recv_dtos &&
                now.max_recv_iov == before->max_recv_iov &&
                now.low_watermark == before->low_watermark &&
                now.available_dto_count == before->available_dto_count &&
                now.outstanding_dto_count == before->outstanding_dto_count;

    ok(good, "%s", name);
    if (!good)
        diag("  max %d, iov %d, watermark %d, available %d, outstanding %d; "
             "before %d, %d, %d, %d, %d",
             (int)now.max_recv_dtos, (int)now.max_recv_iov, (int)now.low_watermark,
             (int)now.available_dto_count, (int)now.outstanding_dto_count,
             (int)before->max_recv_dtos, (int)before->max_recv_iov, (int)before->low_watermark,
             (int)before->available_dto_count, (int)before->outstanding_dto_count);
    return good;
}

/* ---- messages ---- */

void message_fill(void *mem, size_t size, unsigned from, unsigned seq)
{
    pattern_fill(mem, size, from * 1000003u + seq);
}

bool message_right(const void *mem, size_t size, unsigned from, unsigned seq)
{
    return pattern_check(mem, size, from * 1000003u + seq) < 0;
}

DAT_COUNT srq_take(struct srq *q, DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, size_t size, unsigned from,
                   unsigned seq)
{
    DAT_EVENT event;
    DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
    DAT_COUNT i;

    if (!poll_event(evd, &event))
        return -1;
    if (event.event_number != DAT_DTO_COMPLETION_EVENT) {
        diag("got %s, expected a completion", event_text(event.event_number));
        return -1;
    }
    i = srq_buffer(q, d->user_cookie.as_64);
    if (event.evd_handle != evd || d->ep_handle != ep || d->status != DAT_DTO_SUCCESS || i < 0 ||
        d->transfered_length != size) {
        diag("completion: %s endpoint, %s EVD, cookie 0x%llx, %s, %llu bytes (expected %zu)",
             d->ep_handle == ep ? "right" : "wrong", event.evd_handle == evd ? "right" : "wrong",
             (unsigned long long)d->user_cookie.as_64, status_text(d->status),
             (unsigned long long)d->transfered_length, size);
        return -1;
    }
    if (!message_right(q->mem.mem + (size_t)i * q->slot, size, from, seq)) {
        diag("buffer %d does not hold message %u of %u", (int)i, seq, from);
        return -1;
    }
    return i;
}

int srq_drain(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    int n = 0;

    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
        if (event.event_number != DAT_DTO_COMPLETION_EVENT) {
            diag("got %s, expected a completion", event_text(event.event_number));
            return -1;
        }
        n++;
    }
    return n;
}

int srq_settle(DAT_SRQ_HANDLE srq, DAT_EVD_HANDLE evd)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    int n = 0;

    for (;;) {
        DAT_SRQ_PARAM p;
        int more = srq_drain(evd);

        if (more < 0)
            return -1;
        n += more;
        p = srq_param(srq);
        if (p.available_dto_count == p.outstanding_dto_count)
            return n;
        if (now_ms() > end)
            return -1;
        breathe();
    }
}

/* ---- connections in this process ---- */

void srq_pair_open_qlen(struct srq_pair *p, struct srq *q, DAT_COUNT qlen)
{
    DAT_EP_ATTR attr;

    memset(p, 0, sizeof *p);
    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    p->rx.fx = q->fx;
    p->rx.recv = fx_evd(q->fx, qlen, DAT_EVD_DTO_FLAG);
    p->rx.req = fx_evd(q->fx, 64, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    p->rx.conn = fx_evd(q->fx, 8, DAT_EVD_CONNECTION_FLAG);
    must_rc(dat_ep_create_with_srq(q->fx->ia, q->fx->pz, p->rx.recv, p->rx.req, p->rx.conn,
                                   q->handle, &attr, &p->rx.ep),
            DAT_SUCCESS, "dat_ep_create_with_srq");
    side_make(&p->tx, q->fx, NULL);
    region_make(q->fx, &p->out, 1u << 20, MEM_LOCAL);
    sides_connect(&p->tx, &p->rx);
}

void srq_pair_open(struct srq_pair *p, struct srq *q)
{
    srq_pair_open_qlen(p, q, 64);
}

/* Frees the receiving end while it is connected, because then its end generates no asynchronous event. */
void srq_pair_close(struct srq_pair *p)
{
    side_free(&p->rx);
    side_free(&p->tx);
    region_free(&p->out);
}

DAT_RETURN srq_send_start(struct srq_pair *p, size_t size, unsigned seq)
{
    message_fill(p->out.mem, size, 0, seq);
    return post_send(&p->tx, &p->out, 0, size, seq);
}

bool srq_send(struct srq_pair *p, size_t size, unsigned seq)
{
    return srq_send_start(p, size, seq) == DAT_SUCCESS &&
           wait_dto(p->tx.req, seq, DAT_DTO_SUCCESS, NULL);
}

bool srq_send_many(struct srq_pair *p, int n, size_t size, unsigned seq)
{
    for (int i = 0; i < n; i++)
        if (!srq_send(p, size, seq + (unsigned)i))
            return false;
    return true;
}

/* ---- events ---- */

/* Returns whether a 2.0 event reports the end of a connection; see ended.c. */
static bool is_end_of_connection(const DAT_EVENT *event)
{
    return UDAPL == 20 && event->event_number == DAT_ASYNC_ERROR_EP_BROKEN;
}

bool no_event(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_RETURN rc;

    do
        rc = dat_evd_dequeue(evd, &event);
    while (rc == DAT_SUCCESS && is_end_of_connection(&event));
    if (rc_is(rc, DAT_QUEUE_EMPTY))
        return true;
    if (rc == DAT_SUCCESS)
        diag("unexpected event %s", event_text(event.event_number));
    else
        diag("dat_evd_dequeue: %s", rc_text(rc));
    return false;
}

bool is_watermark(const DAT_EVENT *event, DAT_HANDLE object, DAT_HANDLE_TYPE type, DAT_COUNT reason)
{
    const DAT_ASYNCH_ERROR_EVENT_DATA *d = &event->event_data.asynch_error_event_data;
    DAT_HANDLE_TYPE got = (DAT_HANDLE_TYPE)99;

    /* All asynchronous events have numbers from 0x08000 to 0x08fff. */
    if (((unsigned)event->event_number & 0xff000u) == 0x08000u && d->dat_handle == object &&
        d->reason == reason && dat_get_handle_type(d->dat_handle, &got) == DAT_SUCCESS &&
        got == type)
        return true;
    diag("got %s, %s handle, reason %d", event_text(event->event_number),
         d->dat_handle == object ? "right" : "wrong", (int)d->reason);
    return false;
}

bool wait_watermark(struct fx *fx, DAT_EVENT *event)
{
    do
        if (!wait_event(fx->async, event))
            return false;
    while (is_end_of_connection(event));
    return true;
}

bool low_watermark_comes(struct fx *fx, DAT_SRQ_HANDLE srq, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    DAT_EVENT event;

    return ok(wait_watermark(fx, &event) && is_watermark(&event, srq, DAT_HANDLE_TYPE_SRQ,
                                                            DAT_SRQ_LOW_WATERMARK_EVENT),
              "%s", name);
}

bool nothing_comes(struct fx *fx, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN rc;

    do
        rc = dat_evd_wait(fx->async, QUIET_MS * 1000u, 1, &event, &more);
    while (rc == DAT_SUCCESS && is_end_of_connection(&event));
    if (rc == DAT_SUCCESS)
        diag("unexpected event %s", event_text(event.event_number));
    return ok(rc_is(rc, DAT_TIMEOUT_EXPIRED), "%s", name);
}

void srq_attributes(struct fx *fx, DAT_IA_ATTR *ia, DAT_PROVIDER_ATTR *provider)
{
    memset(ia, 0, sizeof *ia);
    memset((void *)provider, 0, sizeof *provider);
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, ia, DAT_PROVIDER_FIELD_ALL, provider),
            DAT_SUCCESS, "dat_ia_query");
}

/* ---- a second process that sends ---- */

enum what { SEND, DISCONNECT, END };

struct order {
    uint32_t what;
    uint32_t i;
    uint32_t count;
    uint32_t seq;
    uint64_t size;
};

/*
 * Sends the messages of an order, with at most SENDER_WINDOW outstanding. Stops when a Send fails. Returns
 * how many succeeded.
 */
static uint32_t send_all(struct fx *fx, struct side *tx, const struct order *o, struct link *up)
{
    uint32_t posted = 0, done = 0, arrived = 0;
    uint32_t window = o->count < SENDER_WINDOW ? o->count : SENDER_WINDOW;
    struct region out;
    DAT_EVENT event;

    /* One byte more, because the size can be 0, and a region cannot be empty. */
    region_make(fx, &out, (size_t)window * o->size + 1, MEM_LOCAL);
    while (done < o->count) {
        while (posted < o->count && posted - done < window) {
            size_t at = posted % window * o->size;

            message_fill(out.mem + at, o->size, o->i, o->seq + posted);
            must_rc(post_send(tx, &out, at, o->size, o->seq + posted), DAT_SUCCESS, "dat_ep_post_send");
            if (++posted == o->count)
                must(link_say(up, "posted"), "the other process has exited");
        }
        must(wait_number(tx->req, DAT_DTO_COMPLETION_EVENT, &event), "no completion of a Send");
        done++;
        if (event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS)
            arrived++;
        else
            break;
    }
    /* The connection has ended: the posted messages are flushed. */
    for (; done < posted; done++)
        must(wait_number(tx->req, DAT_DTO_COMPLETION_EVENT, &event), "no completion of a Send");
    if (posted < o->count)
        must(link_say(up, "posted"), "the other process has exited");
    region_free(&out);
    return arrived;
}

int sender_role(struct link *up)
{
    struct fx fx;
    struct side *tx;
    struct order o;
    uint32_t n, arrived;
    DAT_EVENT event;

    fx_open(&fx);
    must(LINK_RECV(up, n), "no number of endpoints");
    tx = calloc(n, sizeof *tx);
    must(tx != NULL, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        side_make(&tx[i], &fx, NULL);
        side_connect_peer(&tx[i], up);
    }
    /* A longer timeout than SOON_MS, because the first process can take long between two orders. */
    while (link_recv(up, &o, sizeof o, 10 * SOON_MS) && o.what != END) {
        must(o.i < n, "no endpoint %u", (unsigned)o.i);
        if (o.what == SEND) {
            arrived = send_all(&fx, &tx[o.i], &o, up);
            must(LINK_SEND(up, arrived), "the other process has exited");
        } else {
            must_rc(dat_ep_disconnect(tx[o.i].ep, (DAT_CLOSE_FLAGS)o.count), DAT_SUCCESS,
                    "dat_ep_disconnect");
            must(wait_number(tx[o.i].conn, DAT_CONNECTION_EVENT_DISCONNECTED, &event),
                 "no DISCONNECTED");
            must(link_say(up, "disconnected"), "the other process has exited");
        }
    }
    fx_close(&fx);
    free(tx);
    return o.what == END ? 0 : 1;
}

void sender_start(struct sender *s, struct side *rx, int n)
{
    uint32_t number = (uint32_t)n;

    memset(s, 0, sizeof *s);
    peer_start(&s->peer, "sender");
    must(LINK_SEND(&s->peer.link, number), "the second process has exited");
    for (int i = 0; i < n; i++)
        side_accept_peer(&rx[i], &s->peer.link);
}

static void order(struct sender *s, enum what what, int i, int count, size_t size, unsigned seq)
{
    struct order o = { what, (uint32_t)i, (uint32_t)count, seq, size };

    must(LINK_SEND(&s->peer.link, o), "the second process has exited");
}

void sender_begin(struct sender *s, int i, int count, size_t size, unsigned seq)
{
    s->posted = false;
    order(s, SEND, i, count, size, seq);
}

void sender_posted(struct sender *s)
{
    must(link_hear(&s->peer.link, "posted"), "the sender has not posted");
    s->posted = true;
}

int sender_arrived(struct sender *s)
{
    uint32_t arrived = 0;

    if (!s->posted)
        sender_posted(s);
    must(LINK_RECV(&s->peer.link, arrived), "the sender has no completion");
    return (int)arrived;
}

void sender_send(struct sender *s, int i, int count, size_t size, unsigned seq)
{
    sender_begin(s, i, count, size, seq);
    must(sender_arrived(s) == count, "not all %d messages arrived", count);
}

void sender_disconnect(struct sender *s, int i, DAT_CLOSE_FLAGS how)
{
    order(s, DISCONNECT, i, (int)how, 0, 0);
    must(link_hear(&s->peer.link, "disconnected"), "the sender is not disconnected");
}

void sender_end(struct sender *s)
{
    int status;

    order(s, END, 0, 0, 0, 0);
    status = peer_join(&s->peer, SOON_MS);
    if (status != 0) {
        fail("the sending process ends in good order");
        diag("  status %d", status);
        peer_kill(&s->peer);
    }
}
