/* endpoint.c - dat_ep_create_with_srq: arguments, attributes, a PZ other than the queue's. */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <string.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;
static DAT_IA_ATTR ia_attr;
static DAT_PROVIDER_ATTR provider_attr;

struct call {
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE recv, req, conn;
    DAT_SRQ_HANDLE srq;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep;
};

static void call_fill(struct call *c, DAT_SRQ_HANDLE srq)
{
    memset((void *)c, 0, sizeof *c);
    c->ia = fx->ia;
    c->pz = fx->pz;
    c->recv = zoo.side.recv;
    c->req = zoo.side.req;
    c->conn = zoo.side.conn;
    c->srq = srq;
    attr_default(&c->attr);
    c->attr.max_recv_dtos = DAT_HW_DEFAULT;
    c->ep = UNTOUCHED;
}

static DAT_RETURN create(struct call *c)
{
    return dat_ep_create_with_srq(c->ia, c->pz, c->recv, c->req, c->conn, c->srq, &c->attr, &c->ep);
}

#define HANDLE_CALL(name, field)                                  \
    static DAT_RETURN name(DAT_HANDLE handle, void *arg)          \
    {                                                             \
        struct call c = *(const struct call *)arg;                \
                                                                  \
        c.field = handle;                                         \
        return create(&c);                                        \
    }
HANDLE_CALL(with_ia, ia)
HANDLE_CALL(with_pz, pz)
HANDLE_CALL(with_recv, recv)
HANDLE_CALL(with_req, req)
HANDLE_CALL(with_conn, conn)
HANDLE_CALL(with_srq, srq)

static void handles(void)
{
    struct call c;
    struct srq q;
    struct fx other;
    DAT_EVD_HANDLE no_dto = fx_evd(fx, 8, DAT_EVD_CONNECTION_FLAG);
    DAT_EVD_HANDLE no_conn = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    DAT_SRQ_HANDLE freed, foreign;

    srq_open(&q, fx, 10, 10, 64);
    freed = q.handle;
    srq_close(&q);
    srq_open(&q, fx, 10, 10, 64);
    call_fill(&c, q.handle);
    zoo_sweep(&zoo, "dat_ep_create_with_srq", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA,
              DAT_HANDLE_NULL, 0, with_ia, &c);
    zoo_sweep(&zoo, "dat_ep_create_with_srq (zone)", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ,
              DAT_HANDLE_NULL, ZOO_NULL_OK, with_pz, &c);
    zoo_sweep(&zoo, "dat_ep_create_with_srq (receive EVD)", DAT_HANDLE_TYPE_EVD,
              DAT_INVALID_HANDLE_EVD_RECV, DAT_HANDLE_NULL, ZOO_NULL_OK, with_recv, &c);
    zoo_sweep(&zoo, "dat_ep_create_with_srq (request EVD)", DAT_HANDLE_TYPE_EVD,
              DAT_INVALID_HANDLE_EVD_REQUEST, DAT_HANDLE_NULL, ZOO_NULL_OK, with_req, &c);
    zoo_sweep(&zoo, "dat_ep_create_with_srq (connect EVD)", DAT_HANDLE_TYPE_EVD,
              DAT_INVALID_HANDLE_EVD_CONN, DAT_HANDLE_NULL, ZOO_NULL_OK, with_conn, &c);
    zoo_sweep(&zoo, "dat_ep_create_with_srq (queue)", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ,
              freed, 0, with_srq, &c);
    is_code(with_recv(no_dto, &c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV,
            "dat_ep_create_with_srq: receive EVD without the DTO flag: DAT_INVALID_HANDLE");
    is_code(with_req(no_dto, &c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST,
            "dat_ep_create_with_srq: request EVD without the DTO flag: DAT_INVALID_HANDLE");
    is_code(with_conn(no_conn, &c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN,
            "dat_ep_create_with_srq: connect EVD without its flag: DAT_INVALID_HANDLE");

    fx_open(&other);
    foreign = DAT_HANDLE_NULL;
    {
        DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };

        must_rc(dat_srq_create(other.ia, other.pz, &attr, &foreign), DAT_SUCCESS, "dat_srq_create");
    }
    is_code(with_srq(foreign, &c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_ep_create_with_srq: queue of another open of the adapter: DAT_INVALID_HANDLE");
    fx_close(&other);
    is_ptr(c.ep, UNTOUCHED, "dat_ep_create_with_srq: wrong handles: the result is not written");
    is_success(dat_srq_free(q.handle), "dat_srq_free: failed creations left nothing attached");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);
    must_rc(dat_evd_free(no_dto), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(no_conn), DAT_SUCCESS, "dat_evd_free");
    zoo_intact(&zoo, "dat_ep_create_with_srq");
}

static void defaults(const struct call *c)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL, plain;
    DAT_EP_PARAM p, q;

    memset((void *)&p, 0, sizeof p);
    memset((void *)&q, 0, sizeof q);
    is_code(dat_ep_create_with_srq(c->ia, c->pz, c->recv, c->req, c->conn, c->srq, NULL, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_ep_create_with_srq: neither attributes nor ep_handle: DAT_INVALID_PARAMETER");
    if (!is_success(dat_ep_create_with_srq(c->ia, c->pz, c->recv, c->req, c->conn, c->srq, NULL, &ep),
                    "dat_ep_create_with_srq: attributes NULL: success"))
        return;
    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    ok(p.srq_handle == c->srq && p.ep_attr.max_recv_dtos == DAT_HW_DEFAULT &&
           p.ep_attr.srq_soft_hw == DAT_HW_DEFAULT,
       "dat_ep_query: attributes NULL: attached to the queue, no watermark");
    must_rc(dat_ep_create(c->ia, c->pz, c->recv, c->req, c->conn, NULL, &plain), DAT_SUCCESS, "dat_ep_create");
    must_rc(dat_ep_query(plain, DAT_EP_FIELD_ALL, &q), DAT_SUCCESS, "dat_ep_query");
    ok(p.ep_attr.max_request_dtos == q.ep_attr.max_request_dtos && p.ep_attr.max_request_iov == q.ep_attr.max_request_iov &&
           p.ep_attr.max_message_size == q.ep_attr.max_message_size && p.ep_attr.max_rdma_size == q.ep_attr.max_rdma_size &&
           p.ep_attr.max_rdma_read_in == q.ep_attr.max_rdma_read_in &&
           p.ep_attr.max_rdma_read_out == q.ep_attr.max_rdma_read_out &&
           p.ep_attr.recv_completion_flags == q.ep_attr.recv_completion_flags &&
           p.ep_attr.request_completion_flags == q.ep_attr.request_completion_flags,
       "dat_ep_query: attributes NULL: the defaults of dat_ep_create");
    must_rc(dat_ep_free(plain), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
}

static void parameters(void)
{
    struct call good, c;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    call_fill(&good, q.handle);
    if (UDAPL == 12)
        is_code(dat_ep_create_with_srq(good.ia, good.pz, good.recv, good.req, good.conn, q.handle, NULL,
                                       &good.ep),
                DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
                "dat_ep_create_with_srq: attributes NULL: DAT_INVALID_PARAMETER");
    else
        defaults(&good);
    is_code(dat_ep_create_with_srq(good.ia, good.pz, good.recv, good.req, good.conn, q.handle,
                                   &good.attr, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_ep_create_with_srq: ep_handle NULL: DAT_INVALID_PARAMETER");

#define REFUSED(field, value)                                                              \
    do {                                                                                   \
        c = good;                                                                          \
        c.attr.field = (value);                                                            \
        is_code(create(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,                       \
                "dat_ep_create_with_srq: " #field " " #value ": DAT_INVALID_PARAMETER");   \
        is_ptr(c.ep, UNTOUCHED, "dat_ep_create_with_srq: " #field ": nothing is written"); \
    } while (0)
    REFUSED(service_type, (DAT_SERVICE_TYPE)7);
    REFUSED(max_request_dtos, -1);
    REFUSED(max_request_iov, -1);
    REFUSED(max_recv_dtos, -5);
    REFUSED(srq_soft_hw, -5);
    REFUSED(recv_completion_flags, DAT_COMPLETION_SUPPRESS_FLAG);
    REFUSED(recv_completion_flags, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    REFUSED(max_request_dtos, ia_attr.max_dto_per_ep + 1);
    REFUSED(max_request_iov, ia_attr.max_iov_segments_per_dto + 1);
    REFUSED(max_rdma_read_in, ia_attr.max_rdma_read_per_ep_in + 1);
    REFUSED(max_rdma_read_out, ia_attr.max_rdma_read_per_ep_out + 1);
#undef REFUSED
    is_success(dat_srq_free(q.handle), "dat_srq_free: failed creations left nothing attached");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);
}

static void attributes(void)
{
    struct call c;
    struct srq q;
    DAT_EP_PARAM p;

    srq_open(&q, fx, 10, 10, 64);
    call_fill(&c, q.handle);
    c.attr.max_message_size = 12345;
    c.attr.max_rdma_size = 54321;
    c.attr.max_recv_dtos = 77;  /* the hard high watermark */
    c.attr.srq_soft_hw = 55;    /* the soft high watermark */
    c.attr.max_recv_iov = 0;    /* ignored */
    c.attr.max_request_dtos = 19;
    c.attr.max_request_iov = 3;
    c.attr.max_rdma_read_in = 2;
    c.attr.max_rdma_read_out = 3;
    if (!is_success(create(&c), "dat_ep_create_with_srq: success"))
        return;
    memset((void *)&p, 0, sizeof p);
    must_rc(dat_ep_query(c.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    is_state(p.ep_state, DAT_EP_STATE_UNCONNECTED, "dat_ep_query: new endpoint: unconnected");
    ok(p.ia_handle == c.ia && p.pz_handle == c.pz && p.recv_evd_handle == c.recv &&
           p.request_evd_handle == c.req && p.connect_evd_handle == c.conn && p.srq_handle == c.srq,
       "dat_ep_query: new endpoint: all handles as given");
    ok(p.ep_attr.max_message_size == 12345 && p.ep_attr.max_rdma_size == 54321 &&
           p.ep_attr.max_recv_dtos == 77 && p.ep_attr.srq_soft_hw == 55 &&
           p.ep_attr.max_rdma_read_in == 2 && p.ep_attr.max_rdma_read_out == 3,
       "dat_ep_query: new endpoint: sizes, read limits and watermarks exactly as asked");
    ok(p.ep_attr.max_request_dtos >= 19 && p.ep_attr.max_request_iov >= 3,
       "dat_ep_query: new endpoint: requests at least as asked");
    is_success(dat_ep_free(c.ep), "dat_ep_free: success");
    srq_close(&q);
}

static void own_receive(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    is_type(dat_ep_post_recv(p.rx.ep, 0, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_STATE, "dat_ep_post_recv: endpoint on a shared queue: DAT_INVALID_STATE");
    is_counts(q.handle, 0, 0, "dat_ep_post_recv: refused: the queue is not touched");
    srq_fill(&q, 0, 1);
    ok(srq_send(&p, 10, 1) && srq_take(&q, p.rx.recv, p.rx.ep, 10, 0, 1) == 0,
       "dat_ep_post_recv: refused: the connection works");
    srq_pair_close(&p);
    srq_close(&q);
}

/* An endpoint that the adapter cannot serve is refused when it is created, or when its zone is set. */
static void only_zone(void)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    struct srq q;
    struct call c;
    DAT_EP_PARAM p;

    srq_open(&q, fx, 10, 10, 256);
    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    call_fill(&c, q.handle);
    c.pz = pz;
    is_code(create(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_create_with_srq: a zone that is not the queue's: DAT_INVALID_PARAMETER");
    is_ptr(c.ep, UNTOUCHED, "dat_ep_create_with_srq: a zone that is not the queue's: nothing is written");
    is_success(dat_pz_free(pz), "dat_ep_create_with_srq: a zone that is not the queue's: the zone is unused");
    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    c.pz = DAT_HANDLE_NULL;
    must_rc(create(&c), DAT_SUCCESS, "dat_ep_create_with_srq");
    memset((void *)&p, 0, sizeof p);
    p.pz_handle = pz;
    is_code(dat_ep_modify(c.ep, DAT_EP_FIELD_PZ_HANDLE, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_modify: a zone that is not the queue's: DAT_INVALID_PARAMETER");
    is_success(dat_pz_free(pz), "dat_ep_modify: a zone that is not the queue's: the zone is unused");
    p.pz_handle = fx->pz;
    is_success(dat_ep_modify(c.ep, DAT_EP_FIELD_PZ_HANDLE, &p), "dat_ep_modify: the zone of the queue: success");
    must_rc(dat_ep_free(c.ep), DAT_SUCCESS, "dat_ep_free");
    srq_close(&q);
}

/* Endpoints of different zones take turns on one queue, also after the first of them is freed. */
static void several_zones(void)
{
    enum { ZONES = 3 };
    DAT_PZ_HANDLE pz[ZONES];
    struct side rx[ZONES], tx[ZONES];
    struct region out;
    struct srq q;

    srq_open(&q, fx, 10, 10, 256);
    region_make(fx, &out, 256, MEM_LOCAL);
    for (int i = 0; i < ZONES; i++) {
        struct call c;

        must_rc(dat_pz_create(fx->ia, &pz[i]), DAT_SUCCESS, "dat_pz_create");
        side_make_srq(&rx[i], fx, q.handle, NULL);
        must_rc(dat_ep_free(rx[i].ep), DAT_SUCCESS, "dat_ep_free");
        call_fill(&c, q.handle);
        c.recv = rx[i].recv;
        c.req = rx[i].req;
        c.conn = rx[i].conn;
        c.pz = pz[i];
        must_rc(create(&c), DAT_SUCCESS, "dat_ep_create_with_srq");
        rx[i].ep = c.ep;
        side_make(&tx[i], fx, NULL);
        sides_connect(&tx[i], &rx[i]);
    }
    srq_fill(&q, 0, 2 * ZONES);
    for (int i = 0; i < 2 * ZONES - 1; i++) {
        int at = i < ZONES ? i : i - ZONES + 1;

        message_fill(out.mem, 100, 0, (unsigned)i);
        ok(post_send(&tx[at], &out, 0, 100, 1) == DAT_SUCCESS &&
               srq_take(&q, rx[at].recv, rx[at].ep, 100, 0, (unsigned)i) >= 0 &&
               wait_dto(tx[at].req, 1, DAT_DTO_SUCCESS, NULL),
           "endpoints of %d zones on one queue: message %d arrives", ZONES, i);
        if (i == ZONES - 1) {
            side_free(&tx[0]);
            side_free(&rx[0]);
        }
    }
    for (int i = 0; i < ZONES; i++) {
        if (i > 0) {
            side_free(&tx[i]);
            side_free(&rx[i]);
        }
        must_rc(dat_pz_free(pz[i]), DAT_SUCCESS, "dat_pz_free");
    }
    region_free(&out);
    srq_close(&q);
}

/* Receives use the PZ of the queue, all other operations the PZ of the endpoint. */
static void another_zone(void)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    struct srq q;
    struct call c;
    struct side rx, tx;
    struct region theirs, out;
    DAT_LMR_TRIPLET t;
    DAT_RETURN rc;
    DAT_EVENT event;

    srq_open(&q, fx, 10, 10, 256);
    side_make_srq(&rx, fx, q.handle, NULL);
    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    region_make_in(fx, pz, &theirs, 256, DAT_MEM_PRIV_ALL_FLAG);
    call_fill(&c, q.handle);
    c.recv = rx.recv;
    c.req = rx.req;
    c.conn = rx.conn;
    c.pz = pz;
    must_rc(dat_ep_free(rx.ep), DAT_SUCCESS, "dat_ep_free");
    rx.ep = DAT_HANDLE_NULL;
    if (!is_success(create(&c), "dat_ep_create_with_srq: a zone that is not the queue's: success"))
        return;
    rx.ep = c.ep;
    side_make(&tx, fx, NULL);
    region_make(fx, &out, 256, DAT_MEM_PRIV_ALL_FLAG);
    sides_connect(&tx, &rx);

    t = segment(&theirs, 0, 256);
    is_type(dat_srq_post_recv(q.handle, 1, &t, cookie(1)), DAT_PROTECTION_VIOLATION,
            "dat_srq_post_recv: memory of the endpoint's zone: DAT_PROTECTION_VIOLATION");
    is_success(srq_post(&q, 0), "dat_srq_post_recv: memory of the queue's zone: success");
    message_fill(out.mem, 100, 0, 3);
    ok(post_send(&tx, &out, 0, 100, 1) == DAT_SUCCESS &&
           srq_take(&q, rx.recv, rx.ep, 100, 0, 3) == 0 &&
           wait_dto(tx.req, 1, DAT_DTO_SUCCESS, NULL),
       "endpoint of another zone: receives into the queue's memory");

    is_success(post_recv(&tx, &out, 128, 64, 2), "dat_ep_post_recv: success");
    pattern_fill(theirs.mem, 64, 5);
    ok(post_send(&rx, &theirs, 0, 64, 3) == DAT_SUCCESS &&
           wait_dto(tx.recv, 2, DAT_DTO_SUCCESS, NULL) && wait_dto(rx.req, 3, DAT_DTO_SUCCESS, NULL),
       "endpoint of another zone: sends from memory of its own zone");
    is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: the endpoint is in the zone: DAT_INVALID_STATE");
    rc = post_send(&rx, &q.mem, 0, 64, 4);
    if (rc == DAT_SUCCESS)
        ok(wait_number(rx.req, DAT_DTO_COMPLETION_EVENT, &event) &&
               event.event_data.dto_completion_event_data.status == DAT_DTO_ERR_LOCAL_PROTECTION,
           "endpoint of another zone: Send from the queue's zone: DAT_DTO_ERR_LOCAL_PROTECTION");
    else
        is_type(rc, DAT_PROTECTION_VIOLATION,
                "endpoint of another zone: Send from the queue's zone: DAT_PROTECTION_VIOLATION");
    side_free(&tx);
    side_free(&rx);
    region_free(&out);
    region_free(&theirs);
    is_success(dat_pz_free(pz), "dat_pz_free: the endpoint is freed: success");
    srq_close(&q);
}

static void threshold(struct srq *q, struct side *rx, struct side *tx, struct region *out)
{
    DAT_EVENT event;
    DAT_COUNT more = 0;

    is_type(dat_evd_wait(rx->recv, 0, 2, &event, &more), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: receive flag UNSIGNALLED of an endpoint on a queue, threshold 2: DAT_TIMEOUT_EXPIRED");
    srq_fill(q, 1, 2);
    for (DAT_UINT64 i = 0; i < 2; i++)
        must_rc(post_send(tx, out, 0, 100, 2 + i), DAT_SUCCESS, "dat_ep_post_send");
    is_success(dat_evd_wait(rx->recv, (DAT_TIMEOUT)env_ms(SOON_MS) * 1000, 2, &event, &more),
               "dat_evd_wait: receive flag UNSIGNALLED of an endpoint on a queue, threshold 2: success");
    is_int(more, 1, "dat_evd_wait: receive flag UNSIGNALLED of an endpoint on a queue, threshold 2: one more");
}

/* Tests that receive completions of an endpoint with an SRQ wake waiters despite the receive flag UNSIGNALLED. */
static void completion_flag(void)
{
    struct call c;
    struct srq q;
    struct side rx, tx;
    struct region out;

    srq_open(&q, fx, 10, 10, 256);
    side_make_srq(&rx, fx, q.handle, NULL);
    must_rc(dat_ep_free(rx.ep), DAT_SUCCESS, "dat_ep_free");
    call_fill(&c, q.handle);
    c.recv = rx.recv;
    c.req = rx.req;
    c.conn = rx.conn;
    c.attr.recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    rx.ep = DAT_HANDLE_NULL;
    if (!is_success(create(&c), "dat_ep_create_with_srq: receive flag UNSIGNALLED: success"))
        return;
    rx.ep = c.ep;
    side_make(&tx, fx, NULL);
    sides_connect(&tx, &rx);
    region_make(fx, &out, 256, MEM_LOCAL);
    message_fill(out.mem, 100, 0, 3);
    srq_fill(&q, 0, 1);
    is_success(post_send(&tx, &out, 0, 100, 1), "dat_ep_post_send: success");
    ok(wait_dto(rx.recv, srq_cookie(0), DAT_DTO_SUCCESS, NULL),
       "receive flag UNSIGNALLED: a waiter has the completion");
    threshold(&q, &rx, &tx, &out);
    side_free(&tx);
    side_free(&rx);
    region_free(&out);
    srq_close(&q);
}

static void reset(void)
{
    struct srq q;
    struct srq_pair p;
    DAT_EP_PARAM param;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 4);
    must(srq_send(&p, 10, 0) && drain_dtos(p.rx.recv, 1) == 1, "no arrival");
    must_rc(dat_ep_disconnect(p.tx.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
             wait_connection(p.tx.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
         "no DISCONNECTED");
    is_success(dat_ep_reset(p.rx.ep), "dat_ep_reset: disconnected: success");
    must_rc(dat_ep_reset(p.tx.ep), DAT_SUCCESS, "dat_ep_reset");
    memset((void *)&param, 0, sizeof param);
    must_rc(dat_ep_query(p.rx.ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    ok(param.srq_handle == q.handle && param.ep_state == DAT_EP_STATE_UNCONNECTED,
       "dat_ep_reset: unconnected, and still on its queue");
    is_counts(q.handle, 3, 3, "dat_ep_reset: the three that were not taken: 3, 3");
    sides_connect(&p.rx, &p.tx); /* in the opposite direction */
    ok(srq_send(&p, 20, 1) && srq_take(&q, p.rx.recv, p.rx.ep, 20, 0, 1) >= 0,
       "dat_ep_reset: connected again: a message arrives");
    is_counts(q.handle, 2, 2, "dat_ep_reset: connected again: 2, 2");
    srq_pair_close(&p);
    srq_close(&q);
}

/* Frees the memory of a posted buffer, and sends it a message of `size` bytes. */
static void freed_memory(size_t size)
{
    struct srq q;
    struct srq_pair p;
    struct region gone;
    DAT_LMR_TRIPLET t;
    DAT_EVENT event;
    const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event.event_data.dto_completion_event_data;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    region_make(fx, &gone, 8192, MEM_LOCAL);
    t = segment(&gone, 0, 8192);
    must_rc(dat_srq_post_recv(q.handle, 1, &t, cookie(900)), DAT_SUCCESS, "dat_srq_post_recv");
    srq_fill(&q, 0, 2);
    region_free(&gone);
    must_rc(srq_send_start(&p, size, 7), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_number(p.rx.recv, DAT_DTO_COMPLETION_EVENT, &event) && dto->user_cookie.as_64 == 900 &&
           (env_has_device() ? dto->status != DAT_DTO_SUCCESS : dto->status == DAT_DTO_ERR_LOCAL_PROTECTION),
       "%zu bytes for a buffer without memory: completes as LOCAL_PROTECTION, or with the error of the device", size);
    /* On iWARP, a send completes once the device has sent it. */
    ok(wait_number(p.tx.req, DAT_DTO_COMPLETION_EVENT, &event) && (env_is_iwarp() || dto->status != DAT_DTO_SUCCESS),
       "%zu bytes for a buffer without memory: the send fails", size);
    ok(wait_broken(p.rx.conn) && broken_or_disconnected(p.tx.conn),
       "%zu bytes for a buffer without memory: the connection ends", size);
    is_counts(q.handle, 2, 2, "%zu bytes for a buffer without memory: the other buffers: 2, 2", size);
    srq_pair_close(&p);
    srq_close(&q);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    zoo_open(&zoo);
    srq_attributes(fx, &ia_attr, &provider_attr);
    handles();
    parameters();
    attributes();
    own_receive();
    if (provider_attr.srq_ep_pz_difference_supported) {
        another_zone();
        several_zones();
    } else {
        only_zone();
    }
    completion_flag();
    reset();
    freed_memory(8);
    freed_memory(4096);
    zoo_close(&zoo);
    return done_testing();
}
