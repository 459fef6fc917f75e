/*
 * unchanged.c - dat_ep_modify accepts the values that dat_ep_query returned, for each field and mask in each state in
 * which the field can change, and changes nothing.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* Returns whether dat_ep_modify has the result of this letter for this mask. Prints the mask if not. */
static bool has_result(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *p, char letter)
{
    DAT_RETURN rc = dat_ep_modify(ep, mask, p);
    bool right = letter == 'A' ? rc == DAT_SUCCESS
                               : rc_is(rc, letter == 'S' ? DAT_INVALID_STATE : DAT_INVALID_PARAMETER);

    if (!right)
        diag("  mask 0x%llx: %s", (unsigned long long)mask, rc_text(rc));
    return right;
}

/* Queries the endpoint in state stage_states[s], and hands back what the query returned. */
static void hand_back(DAT_EP_HANDLE ep, int s, const char *who)
{
    const DAT_EP_PARAM now = ep_param(ep);
    const DAT_EP_PARAM_MASK all = fields_unchanged(s, 'A');
    bool each = true, some = true;

    for (int i = 0; i < field_count; i++)
        each = has_result(ep, fields[i].bit, &now, letter_unchanged(&fields[i], s)) && each;
    ok(each, "dat_ep_modify: %s: each field alone, unchanged: success where it can change", who);
    /* All fields without one, and the first fields. */
    for (DAT_EP_PARAM_MASK first = 0, bit = 1; bit <= all; bit <<= 1) {
        first |= bit & all;
        some = has_result(ep, all & ~bit, &now, 'A') && has_result(ep, first, &now, 'A') && some;
    }
    ok(some, "dat_ep_modify: %s: several fields, unchanged: success", who);
    ok(has_result(ep, all, &now, 'A'), "dat_ep_modify: %s: all fields that can change, unchanged: success", who);
    if (stage_states[s] == DAT_EP_STATE_UNCONNECTED)
        is_success(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_ALL, &now),
                   "dat_ep_modify: %s: DAT_EP_FIELD_EP_ATTR_ALL, unchanged: success", who);
    else
        is_code(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_ALL, &now), DAT_INVALID_STATE,
                stage_subtype(stage_states[s]),
                "dat_ep_modify: %s: DAT_EP_FIELD_EP_ATTR_ALL, unchanged: DAT_INVALID_STATE", who);
    is_code(dat_ep_modify(ep, DAT_EP_FIELD_ALL, &now), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_modify: %s: DAT_EP_FIELD_ALL, unchanged: DAT_INVALID_PARAMETER", who);
    is_same(ep, &now, "dat_ep_modify: %s: unchanged values: nothing changes", who);
}

static void in_state(int s, bool shared)
{
    DAT_EP_STATE state = stage_states[s];
    const char *why = "";
    struct stage g;
    char who[64];

    snprintf(who, sizeof who, "%s%s", stage_name(state), shared ? ", shared queue" : "");
    if (!(shared ? stage_open_srq : stage_open)(&g, state, &why)) {
        skip_named(who, why);
        return;
    }
    hand_back(g.ep, s, who);
    stage_close(&g);
}

/* ---- unusual endpoints, unconnected ---- */

static struct fx fx;

static void with_attributes(const DAT_EP_ATTR *attr, const char *who)
{
    DAT_EVD_HANDLE dto = fx_evd(&fx, 64, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    DAT_EVD_HANDLE conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;

    if (is_success(dat_ep_create(fx.ia, fx.pz, dto, dto, conn, attr, &ep), "dat_ep_create: %s: success", who)) {
        hand_back(ep, 0, who);
        must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    }
    must_rc(dat_evd_free(dto), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(conn), DAT_SUCCESS, "dat_evd_free");
}

/* dat_ep_modify does not accept all of these values as new ones. */
static void attributes(void)
{
    DAT_IA_ATTR ia;
    DAT_EP_ATTR attr;

    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_NONE, NULL), DAT_SUCCESS,
            "dat_ia_query");
    with_attributes(NULL, "attributes NULL");
    attr_default(&attr);
    attr.request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;
    with_attributes(&attr, "request_completion_flags SUPPRESS");
    attr_default(&attr);
    attr.recv_completion_flags = attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_message_size = attr.max_rdma_size = 0;
    attr.max_rdma_read_in = attr.max_rdma_read_out = 0;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 0;
    attr.srq_soft_hw = 0;
    with_attributes(&attr, "zeros");
    attr_default(&attr);
    attr.max_message_size = ia.max_message_size;
    attr.max_rdma_size = ia.max_rdma_size;
    attr.max_recv_iov = attr.max_request_iov = ia.max_iov_segments_per_dto;
    attr.max_rdma_read_in = ia.max_rdma_read_per_ep_in;
    attr.max_rdma_read_out = ia.max_rdma_read_per_ep_out;
    attr.max_rdma_read_iov = ia.max_iov_segments_per_rdma_read;
    attr.max_rdma_write_iov = ia.max_iov_segments_per_rdma_write;
    attr.srq_soft_hw = 1000;
    with_attributes(&attr, "the limits of the adapter");
}

/* Without a receive or a request EVD, a new endpoint has no work, and can have no segments. */
static void without_objects(void)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    struct side s;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;

    attr_default(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = attr.max_recv_iov = attr.max_request_iov = 0;
    must_rc(dat_ep_create(fx.ia, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, &attr, &ep),
            DAT_SUCCESS, "dat_ep_create");
    hand_back(ep, 0, "no zone and no EVDs");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");

    side_make(&s, &fx, NULL);
    p.recv_evd_handle = p.request_evd_handle = DAT_HANDLE_NULL;
    must_rc(dat_ep_modify(s.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE, &p), DAT_SUCCESS,
            "dat_ep_modify");
    hand_back(s.ep, 0, "EVDs removed");
    side_free(&s);
}

static void used(void)
{
    struct side a, b;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    for (DAT_UINT64 i = 0; i < 2; i++)
        must_rc(post_recv(&b, NULL, 0, 0, i), DAT_SUCCESS, "dat_ep_post_recv");
    hand_back(b.ep, 0, "receives posted");
    sides_connect(&a, &b);
    for (DAT_UINT64 i = 0; i < 2; i++)
        ok(post_send(&a, NULL, 0, 0, i) == DAT_SUCCESS && wait_dto(b.recv, i, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(a.req, i, DAT_DTO_SUCCESS, NULL),
           "dat_ep_modify: receives posted, unchanged values: receive %d takes a message", (int)i);
    must_rc(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    must_rc(dat_ep_reset(b.ep), DAT_SUCCESS, "dat_ep_reset");
    hand_back(b.ep, 0, "after a connection and dat_ep_reset");
    side_free(&a);
    side_free(&b);
}

static void counters(void)
{
    struct side s;
    DAT_EP_PARAM p;

    side_make(&s, &fx, NULL);
    param_rubbish(&p);
    p.ep_attr.ep_provider_specific_count = 0;
    must_rc(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, &p), DAT_SUCCESS, "dat_ep_modify");
    ok(ep_param(s.ep).ep_attr.ep_provider_specific_count == 0, "dat_ep_query: a count of 0: 0");
    hand_back(s.ep, 0, "number of counters hidden");
    p.ep_attr.ep_provider_specific = NULL;
    must_rc(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p), DAT_SUCCESS, "dat_ep_modify");
    hand_back(s.ep, 0, "counters hidden");
    side_free(&s);
}

static void watermarks(void)
{
    static const struct {
        DAT_COUNT soft, hard;
        const char *shared, *plain;
    } marks[] = {
        { 0, 0, "watermarks 0, shared queue", "watermarks 0" },
        { 5, 9, "watermarks 5 and 9, shared queue", "watermarks 5 and 9" },
        { DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE, "infinite watermarks, shared queue", "infinite watermarks" },
    };
    DAT_SRQ_ATTR srq_attr = { 8, 4, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    struct side s;
    DAT_EP_ATTR attr;

    must_rc(dat_srq_create(fx.ia, fx.pz, &srq_attr, &srq), DAT_SUCCESS, "dat_srq_create");
    attr_default(&attr);
    attr.srq_soft_hw = attr.max_recv_dtos = attr.max_recv_iov = 0;
    side_make_srq(&s, &fx, srq, &attr);
    hand_back(s.ep, 0, "zeros, shared queue");
    side_free(&s);
    attr.srq_soft_hw = 55;
    attr.max_recv_dtos = attr.max_recv_iov = 1000000;
    side_make_srq(&s, &fx, srq, &attr);
    hand_back(s.ep, 0, "large numbers, shared queue");
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        must_rc(dat_ep_set_watermark(s.ep, marks[i].soft, marks[i].hard), DAT_SUCCESS, "dat_ep_set_watermark");
        hand_back(s.ep, 0, marks[i].shared);
    }
    side_free(&s);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
    side_make(&s, &fx, NULL);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        must_rc(dat_ep_set_watermark(s.ep, marks[i].soft, marks[i].hard), DAT_SUCCESS, "dat_ep_set_watermark");
        hand_back(s.ep, 0, marks[i].plain);
    }
    side_free(&s);
}

#if UDAPL == 20
static void datagrams(void)
{
    DAT_EVD_HANDLE dto = fx_evd(&fx, 64, DAT_EVD_DTO_FLAG);
    DAT_EVD_HANDLE conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    DAT_RETURN rc;

    attr_default(&attr);
    attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    attr.max_message_size = 256;
    rc = dat_ep_create(fx.ia, fx.pz, dto, dto, conn, &attr, &ep);
    if (rc_is(rc, DAT_MODEL_NOT_SUPPORTED)) {
        skip_named("an endpoint for datagrams", "the adapter has none");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_ep_create");
    hand_back(ep, 0, "an endpoint for datagrams");
    p.ep_attr.service_type = DAT_SERVICE_TYPE_RC;
    is_code(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_modify: an endpoint for datagrams, service_type RC: DAT_INVALID_PARAMETER");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
}

static void communicator(void)
{
    struct side s;
    DAT_EP_PARAM p;

    side_make(&s, &fx, NULL);
    p.comm.domain = AF_INET;
    p.comm.type = SOCK_STREAM;
    p.comm.protocol = IPPROTO_TCP;
    must_rc(dat_ep_modify(s.ep, DAT_EP_FIELD_COMM, &p), DAT_SUCCESS, "dat_ep_modify");
    hand_back(s.ep, 0, "a communicator");
    p.ep_attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    is_code(dat_ep_modify(s.ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_modify: service_type UD: DAT_INVALID_PARAMETER");
    side_free(&s);
}
#endif

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    for (int s = 0; s < STAGE_STATES; s++) {
        in_state(s, false);
        in_state(s, true);
    }
    fx_open(&fx);
    attributes();
    without_objects();
    used();
    counters();
    watermarks();
#if UDAPL == 20
    datagrams();
    communicator();
#endif
    fx_close(&fx);
    return done_testing();
}
