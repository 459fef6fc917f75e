/* values.c - dat_ep_modify: invalid values and handles, limits, and calls that fail as a whole. */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include "common/zoo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;
static struct values v;
static DAT_IA_ATTR ia_attr;
static DAT_PROVIDER_ATTR provider_attr;

/* Checks that the call fails with DAT_INVALID_PARAMETER and this subtype, and changes nothing. */
static void refused_as(DAT_EP_HANDLE ep, DAT_UINT32 subtype, DAT_EP_PARAM_MASK mask,
                       const DAT_EP_PARAM *p, const char *what)
{
    DAT_EP_PARAM before = ep_param(ep), copy = *p;

    is_code(dat_ep_modify(ep, mask, p), DAT_INVALID_PARAMETER, subtype,
            "dat_ep_modify: %s: DAT_INVALID_PARAMETER", what);
    is_same(ep, &before, "dat_ep_modify: %s: nothing changes", what);
    ok(memcmp((const void *)p, (const void *)&copy, sizeof copy) == 0,
       "dat_ep_modify: %s: ep_param is only read", what);
}

static void refused(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *p,
                    const char *what)
{
    refused_as(ep, DAT_INVALID_ARG3, mask, p, what);
}

/* ---- attribute values ---- */

#define BAD(member, bit, value, what)                      \
    do {                                                   \
        DAT_EP_PARAM p_;                                   \
                                                           \
        param_rubbish(&p_);                                \
        p_.ep_attr.member = (value);                       \
        refused(s.ep, DAT_EP_FIELD_EP_ATTR_##bit, &p_, what); \
    } while (0)

/* Tests a value above the adapter's limit. Skips the three subtests if the limit is INT_MAX. */
#define ABOVE(member, bit, limit)                                                        \
    do {                                                                                 \
        if ((limit) < INT_MAX)                                                           \
            BAD(member, bit, (limit) + 1, #member " above the adapter's limit");         \
        else                                                                             \
            skip(3, #member " has no limit");                                            \
    } while (0)

static void numbers(void)
{
    static const DAT_COUNT negative[] = { -1, -2, INT_MIN };
    struct side s;

    side_make(&s, fx, NULL);
    for (int i = 0; i < 3; i++) {
        DAT_COUNT n = negative[i];

        BAD(max_recv_dtos, MAX_RECV_DTOS, n, "max_recv_dtos negative");
        BAD(max_request_dtos, MAX_REQUEST_DTOS, n, "max_request_dtos negative");
        BAD(max_recv_iov, MAX_RECV_IOV, n, "max_recv_iov negative");
        BAD(max_request_iov, MAX_REQUEST_IOV, n, "max_request_iov negative");
        BAD(max_rdma_read_in, MAX_RDMA_READ_IN, n, "max_rdma_read_in negative");
        BAD(max_rdma_read_out, MAX_RDMA_READ_OUT, n, "max_rdma_read_out negative");
        BAD(max_rdma_read_iov, MAX_RDMA_READ_IOV, n, "max_rdma_read_iov negative");
        BAD(max_rdma_write_iov, MAX_RDMA_WRITE_IOV, n, "max_rdma_write_iov negative");
    }
    ABOVE(max_recv_dtos, MAX_RECV_DTOS, ia_attr.max_dto_per_ep);
    ABOVE(max_request_dtos, MAX_REQUEST_DTOS, ia_attr.max_dto_per_ep);
    ABOVE(max_recv_iov, MAX_RECV_IOV, ia_attr.max_iov_segments_per_dto);
    ABOVE(max_request_iov, MAX_REQUEST_IOV, ia_attr.max_iov_segments_per_dto);
    ABOVE(max_rdma_read_in, MAX_RDMA_READ_IN, ia_attr.max_rdma_read_per_ep_in);
    ABOVE(max_rdma_read_out, MAX_RDMA_READ_OUT, ia_attr.max_rdma_read_per_ep_out);
    ABOVE(max_rdma_read_iov, MAX_RDMA_READ_IOV, ia_attr.max_iov_segments_per_rdma_read);
    ABOVE(max_rdma_write_iov, MAX_RDMA_WRITE_IOV, ia_attr.max_iov_segments_per_rdma_write);
    if (ia_attr.max_message_size < SEG_LENGTH_MAX)
        BAD(max_message_size, MAX_MESSAGE_SIZE, ia_attr.max_message_size + 1,
            "max_message_size above the limit");
    else
        skip(3, "the adapter's max_message_size has no limit");
    if (ia_attr.max_rdma_size < SEG_LENGTH_MAX)
        BAD(max_rdma_size, MAX_RDMA_SIZE, ia_attr.max_rdma_size + 1, "max_rdma_size above the limit");
    else
        skip(3, "the adapter's max_rdma_size has no limit");
    side_free(&s);
}

static void at_the_limit(void)
{
    struct side s;
    DAT_EP_PARAM p, now;

    side_make(&s, fx, NULL);
#define LIMIT(member, bit, value)                                                             \
    do {                                                                                      \
        param_rubbish(&p);                                                                    \
        p.ep_attr.member = (value);                                                           \
        is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_##bit, &p),                       \
                   "dat_ep_modify: " #member " at the adapter's limit: success");             \
        now = ep_param(s.ep);                                                                 \
        ok(now.ep_attr.member == (value), "dat_ep_query: " #member " at the adapter's limit"); \
    } while (0)
    LIMIT(max_recv_dtos, MAX_RECV_DTOS, ia_attr.max_dto_per_ep);
    LIMIT(max_request_dtos, MAX_REQUEST_DTOS, ia_attr.max_dto_per_ep);
    LIMIT(max_recv_iov, MAX_RECV_IOV, ia_attr.max_iov_segments_per_dto);
    LIMIT(max_request_iov, MAX_REQUEST_IOV, ia_attr.max_iov_segments_per_dto);
    LIMIT(max_rdma_read_in, MAX_RDMA_READ_IN, ia_attr.max_rdma_read_per_ep_in);
    LIMIT(max_rdma_read_out, MAX_RDMA_READ_OUT, ia_attr.max_rdma_read_per_ep_out);
    LIMIT(max_rdma_read_iov, MAX_RDMA_READ_IOV, ia_attr.max_iov_segments_per_rdma_read);
    LIMIT(max_rdma_write_iov, MAX_RDMA_WRITE_IOV, ia_attr.max_iov_segments_per_rdma_write);
    LIMIT(max_message_size, MAX_MESSAGE_SIZE, ia_attr.max_message_size);
    LIMIT(max_rdma_size, MAX_RDMA_SIZE, ia_attr.max_rdma_size);
    LIMIT(max_rdma_read_in, MAX_RDMA_READ_IN, 0);
    LIMIT(max_rdma_read_out, MAX_RDMA_READ_OUT, 0);
#undef LIMIT
    side_free(&s);
}

static void enumerations(void)
{
    struct side s;
    unsigned qos = 1;

    side_make(&s, fx, NULL);
    BAD(service_type, SERVICE_TYPE, (DAT_SERVICE_TYPE)1, "service_type 1");
    BAD(service_type, SERVICE_TYPE, (DAT_SERVICE_TYPE)0x7fffffff, "service_type 0x7fffffff");
    BAD(qos, QOS, (DAT_QOS)0x10, "qos 0x10");
    BAD(qos, QOS, (DAT_QOS)0x40000000, "qos 0x40000000");
    while (qos < 0x10 && (provider_attr.dat_qos_supported & qos) != 0)
        qos <<= 1;
    if (qos < 0x10)
        BAD(qos, QOS, (DAT_QOS)qos, "a quality of service that the provider lacks");
    else
        skip(3, "every quality of service is supported");
    BAD(recv_completion_flags, RECV_COMPLETION_FLAGS, DAT_COMPLETION_SUPPRESS_FLAG,
        "recv_completion_flags SUPPRESS");
    BAD(recv_completion_flags, RECV_COMPLETION_FLAGS, DAT_COMPLETION_BARRIER_FENCE_FLAG,
        "recv_completion_flags BARRIER_FENCE");
    BAD(recv_completion_flags, RECV_COMPLETION_FLAGS,
        (DAT_COMPLETION_FLAGS)(DAT_COMPLETION_EVD_THRESHOLD_FLAG | DAT_COMPLETION_SUPPRESS_FLAG),
        "recv_completion_flags EVD_THRESHOLD and SUPPRESS");
    BAD(recv_completion_flags, RECV_COMPLETION_FLAGS, (DAT_COMPLETION_FLAGS)0x20,
        "recv_completion_flags 0x20");
    BAD(request_completion_flags, REQUEST_COMPLETION_FLAGS, (DAT_COMPLETION_FLAGS)0x20,
        "request_completion_flags 0x20");
    BAD(request_completion_flags, REQUEST_COMPLETION_FLAGS, DAT_COMPLETION_SUPPRESS_FLAG,
        "request_completion_flags SUPPRESS");
    BAD(request_completion_flags, REQUEST_COMPLETION_FLAGS, DAT_COMPLETION_SOLICITED_WAIT_FLAG,
        "request_completion_flags SOLICITED_WAIT");
    BAD(request_completion_flags, REQUEST_COMPLETION_FLAGS, DAT_COMPLETION_BARRIER_FENCE_FLAG,
        "request_completion_flags BARRIER_FENCE");
    side_free(&s);
}

static void good_flags(void)
{
    static const DAT_COMPLETION_FLAGS recv[] = { DAT_COMPLETION_UNSIGNALLED_FLAG,
                                                 DAT_COMPLETION_SOLICITED_WAIT_FLAG,
                                                 DAT_COMPLETION_EVD_THRESHOLD_FLAG };
    static const DAT_COMPLETION_FLAGS request[] = { DAT_COMPLETION_UNSIGNALLED_FLAG,
                                                    DAT_COMPLETION_EVD_THRESHOLD_FLAG };
    struct side s;
    DAT_EP_PARAM p;

    side_make(&s, fx, NULL);
    param_rubbish(&p);
    for (int i = 0; i < 3; i++) {
        p.ep_attr.recv_completion_flags = recv[i];
        is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &p),
                   "dat_ep_modify: recv_completion_flags 0x%x: success", (unsigned)recv[i]);
        is_int(ep_param(s.ep).ep_attr.recv_completion_flags, recv[i],
               "dat_ep_query: recv_completion_flags 0x%x", (unsigned)recv[i]);
    }
    for (int i = 0; i < 2; i++) {
        p.ep_attr.request_completion_flags = request[i];
        is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &p),
                   "dat_ep_modify: request_completion_flags 0x%x: success", (unsigned)request[i]);
        is_int(ep_param(s.ep).ep_attr.request_completion_flags, request[i],
               "dat_ep_query: request_completion_flags 0x%x", (unsigned)request[i]);
    }
    side_free(&s);
}

/* Tests lists with unknown attribute names, missing lists, and negative counts. */
static void named_attributes(void)
{
    static DAT_NAMED_ATTR attr[] = { { (char *)"no-such-attribute", (char *)"1" } };
    struct side s;
    DAT_EP_PARAM p, now;

    side_make(&s, fx, NULL);
    param_rubbish(&p);
    p.ep_attr.ep_transport_specific_count = p.ep_attr.ep_provider_specific_count = 1;
    p.ep_attr.ep_transport_specific = p.ep_attr.ep_provider_specific = attr;
    refused(s.ep,
            DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR,
            &p, "unknown transport-specific attribute");
    refused(s.ep,
            DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p,
            "unknown provider-specific attribute");
    p.ep_attr.ep_transport_specific = p.ep_attr.ep_provider_specific = NULL;
    refused(s.ep,
            DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR,
            &p, "one transport-specific attribute and no list");
    refused(s.ep,
            DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p,
            "one provider-specific attribute and no list");
    p.ep_attr.ep_transport_specific_count = p.ep_attr.ep_provider_specific_count = -1;
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, &p, "-1 transport-specific attributes");
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, &p, "-1 provider-specific attributes");
    p.ep_attr.ep_provider_specific = NULL;
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p),
               "dat_ep_modify: no list of provider-specific attributes: success");
    now = ep_param(s.ep);
    ok(now.ep_attr.ep_provider_specific == NULL && now.ep_attr.ep_provider_specific_count == 0,
       "dat_ep_query: no list of provider-specific attributes: none are counted");
    side_free(&s);
}

/* ---- handles inside the structure ---- */

static void bad_handle(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK bit, DAT_HANDLE h, const char *what)
{
    DAT_EP_PARAM p;

    param_rubbish(&p);
    p.pz_handle = p.recv_evd_handle = p.request_evd_handle = p.connect_evd_handle = h;
    refused(ep, bit, &p, what);
}

static void handles_inside(void)
{
    static const struct {
        DAT_EP_PARAM_MASK bit;
        const char *name;
    } kinds[] = {
        { DAT_EP_FIELD_PZ_HANDLE, "pz_handle" },
        { DAT_EP_FIELD_RECV_EVD_HANDLE, "recv_evd_handle" },
        { DAT_EP_FIELD_REQUEST_EVD_HANDLE, "request_evd_handle" },
        { DAT_EP_FIELD_CONNECT_EVD_HANDLE, "connect_evd_handle" },
    };
    static DAT_UINT64 zeros[32];
    DAT_PZ_HANDLE freed_pz = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE freed_evd = fx_evd(fx, 8, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    DAT_EVD_HANDLE no_dto = fx_evd(fx, 8, DAT_EVD_CONNECTION_FLAG);
    DAT_EVD_HANDLE no_connection = fx_evd(fx, 8, DAT_EVD_DTO_FLAG);
    struct side s;
    struct fx other;
    char what[96];

    must_rc(dat_pz_create(fx->ia, &freed_pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(freed_pz), DAT_SUCCESS, "dat_pz_free");
    must_rc(dat_evd_free(freed_evd), DAT_SUCCESS, "dat_evd_free");
    fx_open(&other);
    side_make(&s, fx, NULL);
    for (int i = 0; i < 4; i++) {
        DAT_HANDLE_TYPE right = i == 0 ? DAT_HANDLE_TYPE_PZ : DAT_HANDLE_TYPE_EVD;

        for (int k = 0; k < ZOO_KINDS; k++) {
            if (k == (int)right || zoo.of[k] == DAT_HANDLE_NULL)
                continue;
            snprintf(what, sizeof what, "%s: handle of a live %s", kinds[i].name,
                     kind_text((DAT_HANDLE_TYPE)k));
            bad_handle(s.ep, kinds[i].bit, zoo.of[k], what);
        }
        snprintf(what, sizeof what, "%s: freed handle", kinds[i].name);
        bad_handle(s.ep, kinds[i].bit, i == 0 ? freed_pz : freed_evd, what);
        snprintf(what, sizeof what, "%s: misaligned handle", kinds[i].name);
        bad_handle(s.ep, kinds[i].bit, (char *)zoo.of[right] + 1, what);
        snprintf(what, sizeof what, "%s: memory that is no object", kinds[i].name);
        bad_handle(s.ep, kinds[i].bit, zeros, what);
    }
    bad_handle(s.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, no_dto, "recv_evd_handle without the DTO flag");
    bad_handle(s.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE, no_dto,
               "request_evd_handle without the DTO flag");
    bad_handle(s.ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, no_connection,
               "connect_evd_handle without the connection flag");
    bad_handle(s.ep, DAT_EP_FIELD_PZ_HANDLE, other.pz, "pz_handle of another open of the adapter");
    bad_handle(s.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE, fx_evd(&other, 8, DAT_EVD_DTO_FLAG),
               "request_evd_handle of another open of the adapter");
    fx_close(&other);
    side_free(&s);
    must_rc(dat_evd_free(no_dto), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(no_connection), DAT_SUCCESS, "dat_evd_free");
    zoo_intact(&zoo, "dat_ep_modify");
}

/* The PZ and the EVDs can be NULL. A queue length of 0 cannot become larger without an EVD. */
static void null_handles(void)
{
    struct side s;
    DAT_EP_PARAM p, now;

    side_make(&s, fx, NULL);
    param_rubbish(&p);
    p.pz_handle = p.connect_evd_handle = DAT_HANDLE_NULL;
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE, &p),
               "dat_ep_modify: no zone and no connect EVD: success");
    now = ep_param(s.ep);
    ok(now.pz_handle == DAT_HANDLE_NULL && now.connect_evd_handle == DAT_HANDLE_NULL,
       "dat_ep_query: no zone and no connect EVD");
    p.recv_evd_handle = p.request_evd_handle = DAT_HANDLE_NULL;
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE, &p),
               "dat_ep_modify: no receive and no request EVD: success");
    now = ep_param(s.ep);
    ok(now.recv_evd_handle == DAT_HANDLE_NULL && now.request_evd_handle == DAT_HANDLE_NULL,
       "dat_ep_query: no receive and no request EVD");
    p.ep_attr.max_recv_dtos = p.ep_attr.max_request_dtos = 0;
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                             &p),
               "dat_ep_modify: no receive EVD and max_recv_dtos 0: success");
    is_success(dat_ep_modify(
                   s.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &p),
               "dat_ep_modify: no request EVD and max_request_dtos 0: success");
    now = ep_param(s.ep);
    ok(now.recv_evd_handle == DAT_HANDLE_NULL && now.request_evd_handle == DAT_HANDLE_NULL &&
           now.ep_attr.max_recv_dtos == 0 && now.ep_attr.max_request_dtos == 0,
       "dat_ep_query: no EVDs for work, and no work");
    /* The EVD in the structure does not count, because its bit is not set. */
    p.recv_evd_handle = s.recv;
    p.request_evd_handle = s.req;
    p.ep_attr.max_recv_dtos = p.ep_attr.max_request_dtos = 4;
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p, "max_recv_dtos 4, no receive EVD");
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &p, "max_request_dtos 4, no request EVD");
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                                       DAT_EP_FIELD_REQUEST_EVD_HANDLE |
                                       DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                             &p),
               "dat_ep_modify: the EVDs and 4 of each: success");
    side_free(&s);
}

/* While receives are posted, the receive EVD cannot be NULL, and the limits must cover these receives. */
static void receives_posted(void)
{
    struct side a, b;
    struct region in;
    DAT_LMR_TRIPLET t[3];
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    DAT_BOOLEAN idle = DAT_TRUE;

    attr_default(&attr);
    attr.max_recv_iov = 4;
    side_make(&a, fx, NULL);
    side_make(&b, fx, &attr);
    region_make(fx, &in, 256, MEM_LOCAL);
    for (size_t i = 0; i < 3; i++)
        t[i] = segment(&in, 64 * i, 64);
    must_rc(dat_ep_post_recv(b.ep, 3, t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
    must_rc(dat_ep_post_recv(b.ep, 1, t, cookie(2), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
    param_rubbish(&p);
    p.recv_evd_handle = DAT_HANDLE_NULL;
    refused(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &p, "no receive EVD, receives posted");
    p.ep_attr.max_recv_dtos = 0;
    refused(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p,
            "no receive EVD and max_recv_dtos 0, receives posted");
    p.ep_attr.max_recv_dtos = 1;
    refused(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p, "max_recv_dtos 1, two receives posted");
    for (int i = 1; i <= 2; i++) {
        p.ep_attr.max_recv_iov = i;
        refused(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &p,
                i == 1 ? "max_recv_iov 1, a receive of 3 segments posted"
                       : "max_recv_iov 2, a receive of 3 segments posted");
    }
    p.ep_attr.max_recv_iov = 3;
    p.ep_attr.max_recv_dtos = 2;
    is_success(dat_ep_modify(b.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                             &p),
               "dat_ep_modify: max_recv_iov and max_recv_dtos just as large as what is posted: "
               "success");
    must_rc(dat_ep_get_status(b.ep, NULL, &idle, NULL), DAT_SUCCESS, "dat_ep_get_status");
    ok(idle == DAT_FALSE && quiet(b.recv), "dat_ep_modify: refused: the receives stay posted");
    sides_connect(&a, &b);
    for (DAT_UINT64 i = 1; i <= 2; i++)
        ok(post_send(&a, NULL, 0, 0, i) == DAT_SUCCESS && wait_dto(b.recv, i, DAT_DTO_SUCCESS, NULL),
           "dat_ep_modify: refused: receive %d takes a message, on the EVD it always had", (int)i);
    side_free(&a);
    side_free(&b);
    region_free(&in);
}

/* ---- the call as a whole ---- */

static void all_or_nothing(void)
{
    const DAT_EP_PARAM_MASK good =
        DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
        DAT_EP_FIELD_CONNECT_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |
        DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
        DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS | DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS;
    struct side s;
    DAT_EP_PARAM now, p, bad;

    side_make(&s, fx, NULL);
    now = ep_param(s.ep);
    param_rubbish(&p);
    for (int i = 0; i < field_count; i++)
        fields[i].another(&p, &now, &v);
    bad = p;
    bad.ep_attr.max_rdma_write_iov = -1; /* near the end of the attributes */
    refused(s.ep, good | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, &bad,
            "nine good fields and a bad number");
    bad = p;
    bad.ep_attr.service_type = (DAT_SERVICE_TYPE)9; /* the first attribute */
    refused(s.ep, good | DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &bad,
            "nine good fields and a bad service type");
    bad = p;
    bad.connect_evd_handle = zoo.of[DAT_HANDLE_TYPE_PZ];
    refused(s.ep, good, &bad, "eight good fields and a bad EVD");
    bad = p;
    bad.pz_handle = zoo.of[DAT_HANDLE_TYPE_EVD];
    refused(s.ep, good, &bad, "eight good fields and a bad zone");
    is_success(dat_ep_modify(s.ep, good, &p), "dat_ep_modify: nine good fields: success");
    now = ep_param(s.ep);
    ok(now.pz_handle == p.pz_handle && now.recv_evd_handle == p.recv_evd_handle &&
           now.request_evd_handle == p.request_evd_handle &&
           now.connect_evd_handle == p.connect_evd_handle &&
           now.ep_attr.max_message_size == p.ep_attr.max_message_size &&
           now.ep_attr.max_rdma_size == p.ep_attr.max_rdma_size &&
           now.ep_attr.max_recv_dtos == p.ep_attr.max_recv_dtos &&
           now.ep_attr.max_request_dtos == p.ep_attr.max_request_dtos &&
           now.ep_attr.recv_completion_flags == p.ep_attr.recv_completion_flags,
       "dat_ep_query: nine good fields: the new values");
    side_free(&s);
}

/* In RESERVED, the EVDs can be modified but not the PZ. A call with both changes neither. */
static void state_and_all_or_nothing(void)
{
    struct stage g;
    struct values own;
    DAT_EP_PARAM before, p;
    const char *why = "";

    if (!stage_open(&g, DAT_EP_STATE_RESERVED, &why)) {
        skip_named("RESERVED", why);
        return;
    }
    values_make(&own, &g.fx);
    before = ep_param(g.ep);
    param_rubbish(&p);
    p.pz_handle = own.pz[0];
    p.recv_evd_handle = own.recv[0];
    is_type(dat_ep_modify(g.ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE, &p),
            DAT_INVALID_STATE, "dat_ep_modify: RESERVED: zone and receive EVD: DAT_INVALID_STATE");
    is_same(g.ep, &before, "dat_ep_modify: RESERVED: zone and receive EVD: neither changes");
    stage_close(&g);
}

/* The provider-specific attributes of another endpoint are only valid with their number. */
static void another_endpoints_list(void)
{
    struct side s, other;
    DAT_EP_PARAM p, theirs;

    side_make(&s, fx, NULL);
    side_make(&other, fx, NULL);
    theirs = ep_param(other.ep);
    param_rubbish(&p);
    p.ep_attr.ep_provider_specific = theirs.ep_attr.ep_provider_specific;
    p.ep_attr.ep_provider_specific_count = theirs.ep_attr.ep_provider_specific_count;
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p,
            "provider-specific attributes of another endpoint, the list alone");
    is_success(dat_ep_modify(s.ep,
                             DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p),
               "dat_ep_modify: provider-specific attributes of another endpoint, with their number: success");
    side_free(&other);
    side_free(&s);
}

static DAT_RETURN modify(DAT_HANDLE handle, void *arg)
{
    return dat_ep_modify(handle, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, arg);
}

static void endpoint_handles(void)
{
    struct side s;
    DAT_EP_PARAM p;
    DAT_EP_HANDLE freed;

    side_make(&s, fx, NULL);
    freed = s.ep;
    side_free(&s);
    param_rubbish(&p);
    p.ep_attr.max_message_size = 4096;
    zoo_sweep(&zoo, "dat_ep_modify", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, freed, 0, modify,
              &p);
    is_type(dat_ep_modify(DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE,
            "dat_ep_modify: everything NULL: DAT_INVALID_HANDLE");
    zoo_intact(&zoo, "dat_ep_modify");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    zoo_open(&zoo);
    values_make(&v, fx);
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia_attr, DAT_PROVIDER_FIELD_ALL,
                         &provider_attr),
            DAT_SUCCESS, "dat_ia_query");
    endpoint_handles();
    another_endpoints_list();
    numbers();
    at_the_limit();
    enumerations();
    good_flags();
    named_attributes();
    handles_inside();
    null_handles();
    receives_posted();
    all_or_nothing();
    state_and_all_or_nothing();
    zoo_close(&zoo);
    return done_testing();
}
