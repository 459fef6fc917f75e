/* ep.c - endpoints: creation, query, status, free, references. ep_states.c tests states. */
#include "common/zoo.h"

#include <string.h>

/* All arguments of dat_ep_create(). Each test changes one of them. */
struct call {
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE recv, req, conn;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep;
};

static struct side evds; /* only the EVDs of the tested endpoints; has no endpoint */

static struct call good(struct fx *fx)
{
    struct call c;

    memset(&c, 0, sizeof c);
    c.ia = fx->ia;
    c.pz = fx->pz;
    c.recv = evds.recv;
    c.req = evds.req;
    c.conn = evds.conn;
    attr_default(&c.attr);
    c.ep = UNTOUCHED;
    return c;
}

static DAT_RETURN make(struct call *c)
{
    return dat_ep_create(c->ia, c->pz, c->recv, c->req, c->conn, &c->attr, &c->ep);
}

/* Calls dat_ep_create(), which should fail, and frees an endpoint that it creates anyway. */
static DAT_RETURN try_make(struct call *c)
{
    DAT_RETURN rc = make(c);

    if (rc == DAT_SUCCESS)
        dat_ep_free(c->ep);
    else if (c->ep != UNTOUCHED)
        diag("dat_ep_create failed and wrote its output");
    return rc;
}

#define WITH(field)                                        \
    static DAT_RETURN with_##field(DAT_HANDLE h, void *fx) \
    {                                                      \
        struct call c = good(fx);                          \
        c.field = h;                                       \
        return try_make(&c);                               \
    }
WITH(ia)
WITH(pz)
WITH(recv)
WITH(req)
WITH(conn)

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_EP_PARAM p;

    (void)arg;
    return dat_ep_query(h, DAT_EP_FIELD_ALL, &p);
}

static DAT_RETURN do_status(DAT_HANDLE h, void *arg)
{
    DAT_EP_STATE state = (DAT_EP_STATE)77;
    DAT_BOOLEAN recv = (DAT_BOOLEAN)77, req = (DAT_BOOLEAN)77;
    DAT_RETURN rc = dat_ep_get_status(h, &state, &recv, &req);

    (void)arg;
    if (rc != DAT_SUCCESS && ((int)state != 77 || (int)recv != 77 || (int)req != 77))
        diag("dat_ep_get_status failed and wrote an output");
    return rc;
}

static DAT_RETURN do_modify(DAT_HANDLE h, void *arg)
{
    DAT_EP_PARAM p;

    (void)arg;
    memset(&p, 0, sizeof p);
    return dat_ep_modify(h, 0, &p);
}

static DAT_RETURN do_connect(DAT_HANDLE h, void *arg)
{
    return dat_ep_connect(h, fx_address(arg), 4711, 1000000, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN do_dup_connect(DAT_HANDLE h, void *arg)
{
    return dat_ep_dup_connect(h, arg, 1000000, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static DAT_RETURN do_dup_connect_dup(DAT_HANDLE h, void *arg)
{
    return dat_ep_dup_connect(arg, h, 1000000, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static DAT_RETURN do_disconnect(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG);
}

#define SIMPLE(name)                                   \
    static DAT_RETURN do_##name(DAT_HANDLE h, void *a) \
    {                                                  \
        (void)a;                                       \
        return dat_ep_##name(h);                       \
    }
SIMPLE(reset)
SIMPLE(free)

static void handles(struct zoo *z)
{
    struct fx *fx = &z->fx;
    struct side s;
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_DEFAULT_FLAG);
    DAT_PZ_HANDLE pz;
    DAT_EP_HANDLE freed;
    struct pair p;

    side_make(&s, fx, NULL);
    freed = s.ep;
    side_free(&s);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    pair_open(&p, fx, NULL);

    zoo_sweep(z, "dat_ep_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, with_ia, fx);
    zoo_sweep(z, "dat_ep_create, pz_handle", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, pz,
              ZOO_NULL_OK, with_pz, fx);
    zoo_sweep(z, "dat_ep_create, receive EVD", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_RECV,
              evd, ZOO_NULL_OK, with_recv, fx);
    zoo_sweep(z, "dat_ep_create, request EVD", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_REQUEST,
              evd, ZOO_NULL_OK, with_req, fx);
    zoo_sweep(z, "dat_ep_create, connection EVD", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_CONN,
              evd, ZOO_NULL_OK, with_conn, fx);
#define SWEEP(name, fn, arg)                                                                \
    zoo_sweep(z, name, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, freed, 0, fn, arg)
    SWEEP("dat_ep_query", do_query, NULL);
    SWEEP("dat_ep_get_status", do_status, NULL);
    SWEEP("dat_ep_modify", do_modify, NULL);
    SWEEP("dat_ep_connect", do_connect, fx);
    SWEEP("dat_ep_dup_connect", do_dup_connect, p.a.ep);
    SWEEP("dat_ep_dup_connect, ep_dup_handle", do_dup_connect_dup, z->side.ep);
    SWEEP("dat_ep_disconnect", do_disconnect, NULL);
    SWEEP("dat_ep_reset", do_reset, NULL);
    SWEEP("dat_ep_free", do_free, NULL);
    pair_close(&p);
    zoo_intact(z, "dat_ep_free");
}

static void flags(struct fx *fx)
{
    DAT_EVD_HANDLE dto = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
    DAT_EVD_HANDLE conn = fx_evd(fx, 4, DAT_EVD_CONNECTION_FLAG);
    struct call c = good(fx);

    c.recv = conn;
    is_code(try_make(&c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV,
            "dat_ep_create: receive EVD without the DTO flag: DAT_INVALID_HANDLE");
    c = good(fx);
    c.req = conn;
    is_code(try_make(&c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST,
            "dat_ep_create: request EVD without the DTO flag: DAT_INVALID_HANDLE");
    c = good(fx);
    c.conn = dto;
    is_code(try_make(&c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN,
            "dat_ep_create: connection EVD without the CONNECTION flag: DAT_INVALID_HANDLE");
    c = good(fx);
    c.req = dto;
    is_success(try_make(&c), "dat_ep_create: request EVD without the RMR_BIND flag: success");
    is_success(dat_evd_free(dto), "dat_evd_free: after dat_ep_create failed: success");
    is_success(dat_evd_free(conn), "dat_evd_free: after dat_ep_create failed: success");
}

static void attributes(struct fx *fx)
{
    struct call c;
    DAT_IA_ATTR ia;

    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    c = good(fx);
    is_code(dat_ep_create(c.ia, c.pz, c.recv, c.req, c.conn, &c.attr, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG7, "dat_ep_create: no place for the handle: DAT_INVALID_PARAMETER");

#define BAD(field, value, text)                                              \
    do {                                                                     \
        c = good(fx);                                                        \
        c.attr.field = (value);                                              \
        is_code(try_make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,       \
                "dat_ep_create: " text ": DAT_INVALID_PARAMETER");           \
    } while (0)
    BAD(service_type, (DAT_SERVICE_TYPE)9, "service type not RC");
    BAD(max_recv_dtos, -1, "max_recv_dtos negative");
    BAD(max_request_dtos, -1, "max_request_dtos negative");
    BAD(max_recv_iov, 0, "max_recv_iov 0");
    BAD(max_recv_iov, -1, "max_recv_iov negative");
    BAD(max_request_iov, 0, "max_request_iov 0");
    BAD(max_request_iov, -1, "max_request_iov negative");
    BAD(max_rdma_read_in, -1, "max_rdma_read_in negative");
    BAD(max_rdma_read_out, -1, "max_rdma_read_out negative");
    BAD(max_rdma_read_iov, -1, "max_rdma_read_iov negative");
    BAD(max_rdma_write_iov, -1, "max_rdma_write_iov negative");
    if (ia.max_dto_per_ep < 0x7fffffff) {
        BAD(max_recv_dtos, ia.max_dto_per_ep + 1, "max_recv_dtos above the adapter's");
        BAD(max_request_dtos, ia.max_dto_per_ep + 1, "max_request_dtos above the adapter's");
    }
    if (ia.max_iov_segments_per_dto < 0x7fffffff) {
        BAD(max_recv_iov, ia.max_iov_segments_per_dto + 1, "max_recv_iov above the adapter's");
        BAD(max_request_iov, ia.max_iov_segments_per_dto + 1,
            "max_request_iov above the adapter's");
    }
    if (ia.max_rdma_read_per_ep_in < 0x7fffffff)
        BAD(max_rdma_read_in, ia.max_rdma_read_per_ep_in + 1,
            "max_rdma_read_in above the adapter's");
    if (ia.max_rdma_read_per_ep_out < 0x7fffffff)
        BAD(max_rdma_read_out, ia.max_rdma_read_per_ep_out + 1,
            "max_rdma_read_out above the adapter's");
    if (ia.max_iov_segments_per_rdma_read < 0x7fffffff)
        BAD(max_rdma_read_iov, ia.max_iov_segments_per_rdma_read + 1,
            "max_rdma_read_iov above the adapter's");
    if (ia.max_iov_segments_per_rdma_write < 0x7fffffff)
        BAD(max_rdma_write_iov, ia.max_iov_segments_per_rdma_write + 1,
            "max_rdma_write_iov above the adapter's");
    if (ia.max_message_size < SEG_LENGTH_MAX)
        BAD(max_message_size, ia.max_message_size + 1, "max_message_size above the adapter's");
    if (ia.max_rdma_size < SEG_LENGTH_MAX)
        BAD(max_rdma_size, ia.max_rdma_size + 1, "max_rdma_size above the adapter's");

    c = good(fx);
    c.attr.qos = (DAT_QOS)0x40;
    is_either(try_make(&c), DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED,
              "dat_ep_create: unknown QoS bit: refused");
    c = good(fx);
    c.attr.recv_completion_flags = (DAT_COMPLETION_FLAGS)0x100;
    is_either(try_make(&c), DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED,
              "dat_ep_create: unknown receive completion flag: refused");
    c = good(fx);
    c.attr.request_completion_flags = (DAT_COMPLETION_FLAGS)0x100;
    is_either(try_make(&c), DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED,
              "dat_ep_create: unknown request completion flag: refused");
    c = good(fx);
    c.attr.recv_completion_flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
    is_either(try_make(&c), DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED,
              "dat_ep_create: BARRIER_FENCE for receives: refused");

    c = good(fx);
    c.req = DAT_HANDLE_NULL;
    is_code(try_make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_ep_create: requests without an EVD: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.recv = DAT_HANDLE_NULL;
    is_code(try_make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_ep_create: receives without an EVD: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.attr.max_recv_dtos = 0;
    is_code(try_make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_ep_create: a receive EVD without receives: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.attr.max_request_dtos = 0;
    is_code(try_make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_ep_create: a request EVD without requests: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.recv = c.req = DAT_HANDLE_NULL;
    c.attr.max_recv_dtos = c.attr.max_request_dtos = 0;
    is_success(try_make(&c), "dat_ep_create: neither receives nor requests: success");
    c = good(fx);
    c.pz = c.recv = c.req = c.conn = DAT_HANDLE_NULL;
    c.attr.max_recv_dtos = c.attr.max_request_dtos = 0;
    is_success(try_make(&c), "dat_ep_create: no zone and no EVD: success");
    c = good(fx);
    c.recv = c.req = fx_evd(fx, 8, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    c.conn = c.recv;
    is_success(try_make(&c), "dat_ep_create: one EVD for everything: success");
    is_success(dat_evd_free(c.recv), "dat_evd_free: was one for everything: success");
}

static void query(struct fx *fx)
{
    struct call c = good(fx);
    DAT_EP_PARAM p, before;
    DAT_EP_STATE state = (DAT_EP_STATE)77;
    DAT_BOOLEAN recv_idle = DAT_FALSE, request_idle = DAT_FALSE;
    DAT_COUNT n = 77, span = 77;
    DAT_RETURN rc;

    is_success(make(&c), "dat_ep_create: all attributes: success");
    memset(&p, 0x5a, sizeof p);
    before = p;
#if UDAPL == 12
    is_code(dat_ep_query(c.ep, 0x800, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_query: the hole in the mask: DAT_INVALID_PARAMETER");
#endif
    is_code(dat_ep_query(c.ep, 0x80000000u, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_ep_query: error: the structure is untouched");
    is_code(dat_ep_query(c.ep, DAT_EP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_ep_query(c.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_ep_query: ia_handle: true");
    is_state(p.ep_state, DAT_EP_STATE_UNCONNECTED, "dat_ep_query: ep_state: UNCONNECTED");
    is_ptr(p.pz_handle, fx->pz, "dat_ep_query: pz_handle: true");
    is_ptr(p.recv_evd_handle, c.recv, "dat_ep_query: recv_evd_handle: true");
    is_ptr(p.request_evd_handle, c.req, "dat_ep_query: request_evd_handle: true");
    is_ptr(p.connect_evd_handle, c.conn, "dat_ep_query: connect_evd_handle: true");
    is_ptr(p.srq_handle, DAT_HANDLE_NULL, "dat_ep_query: srq_handle: none");
    is_int(p.ep_attr.service_type, DAT_SERVICE_TYPE_RC, "dat_ep_query: service_type: true");
    is_int((long long)p.ep_attr.max_message_size, (long long)c.attr.max_message_size,
           "dat_ep_query: max_message_size: as asked for");
    is_int((long long)p.ep_attr.max_rdma_size, (long long)c.attr.max_rdma_size,
           "dat_ep_query: max_rdma_size: as asked for");
    is_int(p.ep_attr.qos, c.attr.qos, "dat_ep_query: qos: as asked for");
    is_int(p.ep_attr.recv_completion_flags, c.attr.recv_completion_flags,
           "dat_ep_query: recv_completion_flags: as asked for");
    is_int(p.ep_attr.request_completion_flags, c.attr.request_completion_flags,
           "dat_ep_query: request_completion_flags: as asked for");
#define AT_LEAST(field)                            \
    ok(p.ep_attr.field >= c.attr.field, "dat_ep_query: " #field ": at least as asked for")
    AT_LEAST(max_recv_dtos);
    AT_LEAST(max_request_dtos);
    AT_LEAST(max_recv_iov);
    AT_LEAST(max_request_iov);
    AT_LEAST(max_rdma_read_in);
    AT_LEAST(max_rdma_read_out);
    AT_LEAST(max_rdma_read_iov);
    AT_LEAST(max_rdma_write_iov);

    is_success(dat_ep_get_status(c.ep, &state, &recv_idle, &request_idle),
               "dat_ep_get_status: all outputs: success");
    is_state(state, DAT_EP_STATE_UNCONNECTED, "dat_ep_get_status: new: UNCONNECTED");
    is_int(recv_idle, DAT_TRUE, "dat_ep_get_status: new: receives are idle");
    is_int(request_idle, DAT_TRUE, "dat_ep_get_status: new: requests are idle");
    is_success(dat_ep_get_status(c.ep, NULL, NULL, NULL),
               "dat_ep_get_status: no output wanted: success");

    rc = dat_ep_recv_query(c.ep, &n, &span);
    if (rc_is(rc, DAT_MODEL_NOT_SUPPORTED)) {
        skip_named("dat_ep_recv_query", "not supported by the provider");
    } else if (is_success(rc, "dat_ep_recv_query: new: success")) {
        ok(n == 0 || n == DAT_VALUE_UNKNOWN, "dat_ep_recv_query: new: no buffer, or unknown");
        ok(span == 0 || span == DAT_VALUE_UNKNOWN, "dat_ep_recv_query: new: span 0, or unknown");
        is_success(dat_ep_recv_query(c.ep, NULL, NULL),
                   "dat_ep_recv_query: no output wanted: success");
    }
    is_success(dat_ep_free(c.ep), "dat_ep_free: unconnected: success");
}

static DAT_COUNT at_most(DAT_COUNT limit, DAT_COUNT value)
{
    return value < limit ? value : limit;
}

/* Checks that dat_ep_create() without attributes uses the defaults of dat_ep_create(3). */
static void defaults(struct fx *fx)
{
    DAT_EP_HANDLE ep = UNTOUCHED, again = UNTOUCHED;
    DAT_EP_PARAM p;
    DAT_IA_ATTR ia;

    if (!is_success(dat_ep_create(fx->ia, fx->pz, evds.recv, evds.req, evds.conn, NULL, &ep),
                    "dat_ep_create: attributes NULL: success"))
        return;
    is_success(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: defaults: success");
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    ok(p.ep_attr.max_message_size == ia.max_message_size && p.ep_attr.max_rdma_size == ia.max_rdma_size,
       "dat_ep_query: defaults: sizes of the adapter");
    ok(p.ep_attr.qos == DAT_QOS_BEST_EFFORT && p.ep_attr.recv_completion_flags == DAT_COMPLETION_EVD_THRESHOLD_FLAG
           && p.ep_attr.request_completion_flags == DAT_COMPLETION_EVD_THRESHOLD_FLAG,
       "dat_ep_query: defaults: best effort, completions that notify");
#define DEFAULT(field, limit, value) \
    is_int(p.ep_attr.field, at_most(ia.limit, value), "dat_ep_query: defaults: " #field)
    DEFAULT(max_recv_dtos, max_dto_per_ep, 256);
    DEFAULT(max_request_dtos, max_dto_per_ep, 256);
    DEFAULT(max_recv_iov, max_iov_segments_per_dto, 4);
    DEFAULT(max_request_iov, max_iov_segments_per_dto, 4);
    DEFAULT(max_rdma_read_iov, max_iov_segments_per_rdma_read, 4);
    DEFAULT(max_rdma_write_iov, max_iov_segments_per_rdma_write, 4);
    DEFAULT(max_rdma_read_in, max_rdma_read_per_ep_in, 4);
    DEFAULT(max_rdma_read_out, max_rdma_read_per_ep_out, 4);
    is_success(dat_ep_create(fx->ia, fx->pz, evds.recv, evds.req, evds.conn, &p.ep_attr, &again),
               "dat_ep_create: with the attributes that dat_ep_query gave: success");
    is_success(dat_ep_free(again), "dat_ep_free: success");
    is_success(dat_ep_free(ep), "dat_ep_free: default attributes: success");
}

static void connect_parameters(struct fx *fx)
{
    struct call c = good(fx);
    DAT_IA_ADDRESS_PTR to = fx_address(fx);
    char data[4096] = { 0 };
    DAT_EP_HANDLE bare;
    DAT_CONN_QUAL q = unique_qual(false);

    must_rc(make(&c), DAT_SUCCESS, "dat_ep_create");
#define CONNECT(ep, to, timeout, size, data, qos, flags) \
    dat_ep_connect(ep, to, q, timeout, size, data, (DAT_QOS)(qos), (DAT_CONNECT_FLAGS)(flags))
    is_code(CONNECT(c.ep, NULL, 1000000, 0, NULL, 0, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_connect: address NULL: DAT_INVALID_PARAMETER");
    is_code(CONNECT(c.ep, to, 0, 0, NULL, 0, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_ep_connect: timeout 0: DAT_INVALID_PARAMETER");
    is_code(CONNECT(c.ep, to, 1000000, -1, data, 0, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_ep_connect: negative private data size: DAT_INVALID_PARAMETER");
    if (fx->max_private_data < (DAT_COUNT)sizeof data)
        is_code(CONNECT(c.ep, to, 1000000, fx->max_private_data + 1, data, 0, 0),
                DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
                "dat_ep_connect: private data above the maximum: DAT_INVALID_PARAMETER");
    is_code(CONNECT(c.ep, to, 1000000, 0x7fffffff, data, 0, 0), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG5,
            "dat_ep_connect: private data of 2^31 - 1 bytes: DAT_INVALID_PARAMETER");
    is_code(CONNECT(c.ep, to, 1000000, 8, NULL, 0, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_ep_connect: private data NULL with a size: DAT_INVALID_PARAMETER");
    is_either(CONNECT(c.ep, to, 1000000, 0, NULL, 0x40, 0), DAT_MODEL_NOT_SUPPORTED,
              DAT_INVALID_PARAMETER, "dat_ep_connect: unknown QoS: refused");
    is_either(CONNECT(c.ep, to, 1000000, 0, NULL, 0, 0x40), DAT_MODEL_NOT_SUPPORTED,
              DAT_INVALID_PARAMETER, "dat_ep_connect: unknown connect flag: refused");
    is_state(ep_state(c.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_ep_connect: refused: the endpoint is UNCONNECTED");
    is_code(dat_ep_disconnect(c.ep, (DAT_CLOSE_FLAGS)5), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_disconnect: unknown flag: DAT_INVALID_PARAMETER");
    must_rc(dat_ep_free(c.ep), DAT_SUCCESS, "dat_ep_free");

    c = good(fx);
    c.pz = DAT_HANDLE_NULL;
    must_rc(make(&c), DAT_SUCCESS, "dat_ep_create");
    is_code(CONNECT(c.ep, to, 1000000, 0, NULL, 0, 0), DAT_INVALID_STATE,
            DAT_INVALID_STATE_EP_NOTREADY, "dat_ep_connect: no zone: DAT_INVALID_STATE");
    is_state(ep_state(c.ep), DAT_EP_STATE_UNCONNECTED, "dat_ep_connect: no zone: still UNCONNECTED");
    must_rc(dat_ep_free(c.ep), DAT_SUCCESS, "dat_ep_free");

    c = good(fx);
    c.conn = DAT_HANDLE_NULL;
    must_rc(make(&c), DAT_SUCCESS, "dat_ep_create");
    bare = c.ep;
    is_either(CONNECT(bare, to, 1000000, 0, NULL, 0, 0), DAT_INVALID_HANDLE, DAT_INVALID_STATE,
              "dat_ep_connect: no connection EVD: refused");
    is_state(ep_state(bare), DAT_EP_STATE_UNCONNECTED,
             "dat_ep_connect: no connection EVD: still UNCONNECTED");
    must_rc(dat_ep_free(bare), DAT_SUCCESS, "dat_ep_free");
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    side_make(&evds, &z.fx, NULL);
    must_rc(dat_ep_free(evds.ep), DAT_SUCCESS, "dat_ep_free");
    evds.ep = DAT_HANDLE_NULL;
    handles(&z);
    flags(&z.fx);
    attributes(&z.fx);
    query(&z.fx);
    defaults(&z.fx);
    connect_parameters(&z.fx);
    side_free(&evds); /* no endpoint uses an EVD any longer */
    pass("dat_evd_free: after endpoints were made and freed, and refused: success");
    zoo_close(&z);
    return done_testing();
}
