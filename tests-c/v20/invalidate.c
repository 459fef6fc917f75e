/* invalidate.c - dat_ep_post_send_with_invalidate: messages that unbind a window of the receiver. */
#include "v20/windows.h"

#include <string.h>

#define SEND "dat_ep_post_send_with_invalidate"

static struct fx fx;
static struct region r, m;

static DAT_VADDR address(size_t offset)
{
    return (DAT_VADDR)(uintptr_t)(m.mem + offset);
}

static DAT_RETURN post(struct side *s, size_t off, size_t len, DAT_UINT64 c, DAT_BOOLEAN invalidate,
                       DAT_RMR_CONTEXT context)
{
    DAT_LMR_TRIPLET local = segment(&r, off, len);

    return dat_ep_post_send_with_invalidate(s->ep, len > 0 ? 1 : 0, &local, cookie(c), DAT_COMPLETION_DEFAULT_FLAG,
                                            invalidate, context);
}

/* Returns whether the next receive completion has these values. context is the invalidated context. */
static bool received(struct side *s, DAT_UINT64 c, size_t len, DAT_DTOS operation, DAT_RMR_CONTEXT context)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    if (!wait_number(s->recv, DAT_DTO_COMPLETION_EVENT, &e))
        return false;
    if (d->ep_handle == s->ep && d->user_cookie.as_64 == c && d->status == DAT_DTO_SUCCESS &&
        d->transfered_length == len && d->operation == operation && d->rmr_context == context)
        return true;
    diag("got cookie %llu %s length %u %s context %#x", (unsigned long long)d->user_cookie.as_64,
         status_text(d->status), (unsigned)d->transfered_length, operation_text(d->operation),
         (unsigned)d->rmr_context);
    return false;
}

/* Returns whether the next request completes successfully, as an ordinary send. */
static bool sent(struct side *s, DAT_UINT64 c)
{
    DAT_EVENT e;

    return wait_dto(s->req, c, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.operation == DAT_DTO_SEND;
}

static DAT_RMR_HANDLE bound(struct side *s, const struct region *of, DAT_RMR_CONTEXT *context)
{
    DAT_RMR_HANDLE rmr;

    must_rc(dat_rmr_create_for_ep(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create_for_ep");
    must_bind(s, rmr, of->lmr, segment(of, 0, of->size), READ_WRITE, DAT_VA_TYPE_VA, context);
    return rmr;
}

static void without(void)
{
    struct pair p;
    DAT_RMR_CONTEXT context;
    DAT_RMR_HANDLE rmr;

    pair_open(&p, &fx, NULL);
    rmr = bound(&p.b, &m, &context);
    must_rc(post_recv(&p.b, &r, 2048, 100, 5), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post(&p.a, 0, 100, 6, DAT_FALSE, context), SEND ": DAT_FALSE: success");
    ok(sent(&p.a, 6) && received(&p.b, 5, 100, DAT_DTO_RECEIVE, 0), SEND ": DAT_FALSE: a message like any");
    access_is(&fx, &p, &r, remote_bytes(context, address(0), 8), true, true, SEND ": DAT_FALSE: the window stays");
    is_code(post(&p.a, 0, 100, 6, 2, context), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6, SEND ": neither TRUE nor FALSE");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
}

/* Writes through a window, invalidates the window with a message, and binds it again. */
static void with(void)
{
    struct pair p;
    struct region own;
    DAT_RMR_CONTEXT context, old = 0;
    DAT_RMR_HANDLE rmr;

    region_make(&fx, &own, 4096, MEM_LOCAL);
    pair_open(&p, &fx, NULL);
    rmr = bound(&p.b, &own, &context);
    for (int round = 0; round < 3; round++) {
        if (round > 0) {
            must_bind(&p.b, rmr, own.lmr, segment(&own, 0, 4096), READ_WRITE, DAT_VA_TYPE_VA, &context);
            ok(context != old, SEND ": round %d: bound again, with a new context", round);
        }
        pattern_fill(r.mem, 2048, (unsigned)round);
        memset(own.mem, 0, 4096);
        memset(r.mem + 2048, 0, 2048);
        must_rc(post_recv(&p.b, &r, 2048, 300, 5), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_write(&p.a, &r, 0, 2048, remote_bytes(context, (DAT_VADDR)(uintptr_t)own.mem, 2048), 7),
                DAT_SUCCESS, "dat_ep_post_rdma_write");
        is_success(post(&p.a, 0, 300, 6, DAT_TRUE, context), SEND ": round %d: success", round);
        ok(received(&p.b, 5, 300, DAT_DTO_RECEIVE_WITH_INVALIDATE, context),
           SEND ": round %d: the receive tells the context", round);
        is_int((long long)window_length(rmr), 0, SEND ": round %d: the window is not bound any longer", round);
        ok(pattern_check(own.mem, 2048, (unsigned)round) == -1 && pattern_check(r.mem + 2048, 300, (unsigned)round) == -1,
           SEND ": round %d: the bytes of the write before it, and its own", round);
        ok(wait_dto(p.a.req, 7, DAT_DTO_SUCCESS, NULL) && sent(&p.a, 6), SEND ": round %d: write and send end", round);
        old = context;
    }
    ok(quiet(p.b.req), SEND ": no event at the requests of the receiver");
    is_success(dat_lmr_free(own.lmr), SEND ": the region under the window can be freed");
    own.lmr = DAT_HANDLE_NULL;
    access_is(&fx, &p, &r, remote_bytes(context, (DAT_VADDR)(uintptr_t)own.mem, 8), true, false,
              SEND ": a write with the context afterwards");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
    region_free(&own);
}

/* Without a receive, the message and the invalidation wait. */
static void without_receive(void)
{
    struct pair p;
    DAT_RMR_CONTEXT context;
    DAT_RMR_HANDLE rmr;

    pair_open(&p, &fx, NULL);
    rmr = bound(&p.b, &m, &context);
    must_rc(post(&p.a, 0, 0, 6, DAT_TRUE, context), DAT_SUCCESS, SEND);
    ok(quiet(p.b.recv), SEND ": no receive: waits");
    must_rc(post_recv(&p.b, &r, 2048, 300, 5), DAT_SUCCESS, "dat_ep_post_recv");
    ok(received(&p.b, 5, 0, DAT_DTO_RECEIVE_WITH_INVALIDATE, context) && sent(&p.a, 6),
       SEND ": no receive at first: arrives, an empty message");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
}

/* Receives of an SRQ report the invalidated context, too. */
static void shared(void)
{
    DAT_SRQ_ATTR attr = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq;
    DAT_LMR_TRIPLET into = segment(&r, 2048, 300);
    struct pair p;
    DAT_RMR_CONTEXT context;
    DAT_RMR_HANDLE rmr;

    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    must_rc(dat_srq_post_recv(srq, 1, &into, cookie(5)), DAT_SUCCESS, "dat_srq_post_recv");
    side_make(&p.a, &fx, NULL);
    side_make_srq(&p.b, &fx, srq, NULL);
    sides_connect(&p.a, &p.b);
    rmr = bound(&p.b, &m, &context);
    must_rc(post(&p.a, 0, 300, 6, DAT_TRUE, context), DAT_SUCCESS, SEND);
    ok(received(&p.b, 5, 300, DAT_DTO_RECEIVE_WITH_INVALIDATE, context) && sent(&p.a, 6),
       SEND ": a shared receive queue: the receive tells endpoint and context");
    is_int((long long)window_length(rmr), 0, SEND ": a shared receive queue: the window is not bound any longer");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/*
 * Checks that a message with a wrong context breaks the connection of a device. Some devices, such as Soft-RoCE,
 * acknowledge a message before they check its context, so the send may succeed. The status of the receive depends on
 * the device.
 */
static void fails(const char *what, DAT_RMR_CONTEXT context)
{
    struct pair p;
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &r, 2048, 300, 5), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post(&p.a, 0, 300, 6, DAT_TRUE, context), DAT_SUCCESS, SEND);
    ok(wait_number(p.b.recv, DAT_DTO_COMPLETION_EVENT, &e) && d->user_cookie.as_64 == 5 && d->status != DAT_DTO_SUCCESS,
       SEND ": %s: the receive fails", what);
    ok(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_BROKEN), SEND ": %s: BROKEN at the receiver", what);
    ok(wait_event(p.a.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                    e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
       SEND ": %s: the connection of the sender ends", what);
    ok(wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) && d->user_cookie.as_64 == 6,
       SEND ": %s: the request of the sender ends", what);
    pair_close(&p);
}

/* Checks that a message does not arrive if its context is not a window of the receiver for this connection. */
static void refused(const char *what, DAT_RMR_CONTEXT context)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &r, 2048, 300, 5), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post(&p.a, 0, 300, 6, DAT_TRUE, context), DAT_SUCCESS, SEND);
    ok(wait_dto(p.a.req, 6, DAT_DTO_ERR_REMOTE_ACCESS, NULL), SEND ": %s: REMOTE_ACCESS", what);
    ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_BROKEN) && wait_connection(p.b.conn, DAT_CONNECTION_EVENT_BROKEN),
       SEND ": %s: BROKEN at both ends", what);
    ok(wait_dto(p.b.recv, 5, DAT_DTO_ERR_FLUSHED, NULL), SEND ": %s: the receive is flushed", what);
    pair_close(&p);
}

int main(int argc, char **argv)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    DAT_RETURN rc;
    struct pair p;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    region_make(&fx, &m, 4096, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, &fx, NULL);
    rc = post(&p.a, 0, 0, 1, DAT_TRUE, 0x12345678);
    pair_close(&p);
    if (DAT_GET_TYPE(rc) == DAT_MODEL_NOT_SUPPORTED) {
        fx_close(&fx);
        skip_all(SEND ": not offered by this adapter");
    }
    without();
    with();
    without_receive();
    shared();
    /* Other transports may accept a region's context, or a window of another connection. */
    if (!env_is_shm()) {
        fails("a context that never was", 0x7edcba98);
    } else {
        refused("a context that never was", 0x7edcba98);
        refused("the context of a region", m.rmr_context);
        pair_open(&p, &fx, NULL);
        rmr = bound(&p.b, &m, &context);
        refused("a window of another connection", context);
        must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
        refused("a window that is freed", context);
        pair_close(&p);
    }
    region_free(&m);
    region_free(&r);
    fx_close(&fx);
    return done_testing();
}
