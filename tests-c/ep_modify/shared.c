/*
 * shared.c - dat_ep_modify on an endpoint with a shared receive queue: Maximum Recv DTO, which is its hard high
 * watermark, and Maximum Recv IOV.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <limits.h>

static const DAT_EP_PARAM_MASK both = DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV;

static void in_state(int s)
{
    DAT_EP_STATE state = stage_states[s];
    const char *name = stage_name(state), *why = "";
    DAT_EP_PARAM before, p, now;
    struct stage g;

    if (!stage_open_srq(&g, state, &why)) {
        skip_named(name, why);
        return;
    }
    before = ep_param(g.ep);
    param_rubbish(&p);
    p.ep_attr.max_recv_dtos = 8;
    p.ep_attr.max_recv_iov = 2;
    if ((fields_unchanged(s, 'A') & both) == both) {
        is_success(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p),
                   "dat_ep_modify: %s, shared queue: Maximum Recv DTO: success", name);
        is_success(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &p),
                   "dat_ep_modify: %s, shared queue: Maximum Recv IOV: success", name);
        now = ep_param(g.ep);
        is_int(now.ep_attr.max_recv_dtos, 8, "dat_ep_query: %s, shared queue: Maximum Recv DTO: the new value", name);
        is_int(now.ep_attr.max_recv_iov, 2, "dat_ep_query: %s, shared queue: Maximum Recv IOV: the new value", name);
        is_success(dat_ep_modify(g.ep, both, &before),
                   "dat_ep_modify: %s, shared queue: both, the values before: success", name);
    } else {
        is_code(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p), DAT_INVALID_STATE, stage_subtype(state),
                "dat_ep_modify: %s, shared queue: Maximum Recv DTO: DAT_INVALID_STATE", name);
        is_code(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &p), DAT_INVALID_STATE, stage_subtype(state),
                "dat_ep_modify: %s, shared queue: Maximum Recv IOV: DAT_INVALID_STATE", name);
    }
    is_same(g.ep, &before, "dat_ep_query: %s, shared queue: the values before", name);
    stage_close(&g);
}

/* ---- values ---- */

static struct fx fx;
static DAT_SRQ_HANDLE srq;
static DAT_IA_ATTR ia_attr;

static DAT_RETURN set(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_COUNT value)
{
    DAT_EP_PARAM p;

    param_rubbish(&p);
    p.ep_attr.max_recv_dtos = p.ep_attr.max_recv_iov = value;
    return dat_ep_modify(ep, mask, &p);
}

static void refused(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_COUNT value, const char *what)
{
    DAT_EP_PARAM before = ep_param(ep);

    is_code(set(ep, mask, value), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_modify: shared queue: %s: DAT_INVALID_PARAMETER", what);
    is_same(ep, &before, "dat_ep_modify: shared queue: %s: nothing changes", what);
}

static void values(void)
{
    const DAT_COUNT marks[] = { 1, 100, ia_attr.max_dto_per_ep < INT_MAX ? ia_attr.max_dto_per_ep + 1 : INT_MAX,
                                DAT_WATERMARK_INFINITE, 0 };
    struct side s;
    DAT_EP_PARAM p;

    side_make_srq(&s, &fx, srq, NULL);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        is_success(set(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, marks[i]),
                   "dat_ep_modify: shared queue: hard high watermark %d: success", (int)marks[i]);
        is_int(ep_param(s.ep).ep_attr.max_recv_dtos, marks[i], "dat_ep_query: shared queue: hard high watermark %d",
               (int)marks[i]);
    }
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, -2, "max_recv_dtos -2");
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, INT_MIN, "max_recv_dtos INT_MIN");
    is_success(set(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, ia_attr.max_iov_segments_per_dto),
               "dat_ep_modify: shared queue: max_recv_iov at the adapter's limit: success");
    is_success(set(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, 0),
               "dat_ep_modify: shared queue: max_recv_iov 0: success");
    refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, -1, "max_recv_iov -1");
    if (ia_attr.max_iov_segments_per_dto < INT_MAX)
        refused(s.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, ia_attr.max_iov_segments_per_dto + 1,
                "max_recv_iov above the adapter's limit");
    refused(s.ep, both, -2, "both, invalid");

    /* Other fields, and the queue, which cannot change. */
    param_rubbish(&p);
    p.recv_evd_handle = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
    p.ep_attr.max_request_dtos = 9;
    p.ep_attr.max_recv_dtos = 6;
    is_success(dat_ep_modify(s.ep,
                             DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                             &p),
               "dat_ep_modify: receive EVD, max_request_dtos and max_recv_dtos on a shared queue: success");
    ok(ep_param(s.ep).recv_evd_handle == p.recv_evd_handle && ep_param(s.ep).ep_attr.max_request_dtos == 9 &&
           ep_param(s.ep).ep_attr.max_recv_dtos == 6,
       "dat_ep_query: receive EVD, max_request_dtos and max_recv_dtos on a shared queue: the new values");
    p.srq_handle = DAT_HANDLE_NULL;
    is_code(dat_ep_modify(s.ep, DAT_EP_FIELD_SRQ_HANDLE, &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_modify: srq_handle NULL on a shared queue: DAT_INVALID_PARAMETER");
    side_free(&s);
    must_rc(dat_evd_free(p.recv_evd_handle), DAT_SUCCESS, "dat_evd_free");
}

/* ---- effect ---- */

/* Connects an endpoint, and sends a message. The message breaks the connection if the hard high watermark is 0. */
static void message(struct side *rx, bool breaks, const char *what)
{
    struct side tx;
    struct region in, out;
    DAT_LMR_TRIPLET t;
    DAT_EVENT event;

    side_make(&tx, &fx, NULL);
    region_make(&fx, &in, 64, MEM_LOCAL);
    region_make(&fx, &out, 64, MEM_LOCAL);
    sides_connect(&tx, rx);
    pattern_fill(out.mem, 64, 7);
    t = segment(&in, 0, 64);
    must_rc(dat_srq_post_recv(srq, 1, &t, cookie(1)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(post_send(&tx, &out, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    if (breaks) {
        ok(wait_connection(rx->conn, DAT_CONNECTION_EVENT_BROKEN), "%s: a message: BROKEN", what);
        must(broken_or_disconnected(tx.conn), "the other end's connection stands");
    } else {
        ok(wait_dto(rx->recv, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(in.mem, 64, 7) < 0 &&
               ep_state(rx->ep) == DAT_EP_STATE_CONNECTED,
           "%s: a message arrives, and the connection stands", what);
        must_rc(dat_ep_disconnect(tx.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(rx->conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    }
    must_rc(dat_ep_reset(rx->ep), DAT_SUCCESS, "dat_ep_reset");
    side_free(&tx);
    /* A message that broke the connection may have left its buffer on the queue. */
    while (dat_evd_dequeue(rx->recv, &event) == DAT_SUCCESS)
        ;
    region_free(&in);
    region_free(&out);
}

static void hard_watermark(void)
{
    struct side rx;
    DAT_EP_PARAM p;

    side_make_srq(&rx, &fx, srq, NULL);
    message(&rx, false, "no hard high watermark");
    must_rc(dat_ep_set_watermark(rx.ep, DAT_WATERMARK_INFINITE, 0), DAT_SUCCESS, "dat_ep_set_watermark");
    p = ep_param(rx.ep);
    is_success(dat_ep_modify(rx.ep, DAT_EP_FIELD_EP_ATTR_ALL, &p),
               "dat_ep_modify: shared queue: hard high watermark 0, handed back: success");
    message(&rx, true, "hard high watermark 0, handed back");
    is_success(set(rx.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, 5),
               "dat_ep_modify: shared queue: hard high watermark from 0 to 5: success");
    message(&rx, false, "hard high watermark from 0 to 5");
    must_rc(dat_ep_set_watermark(rx.ep, DAT_WATERMARK_INFINITE, 0), DAT_SUCCESS, "dat_ep_set_watermark");
    is_success(set(rx.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, DAT_WATERMARK_INFINITE),
               "dat_ep_modify: shared queue: hard high watermark from 0 to infinite: success");
    message(&rx, false, "hard high watermark from 0 to infinite");
    is_success(set(rx.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, 5),
               "dat_ep_modify: shared queue: hard high watermark 5: success");
    is_success(set(rx.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, 0),
               "dat_ep_modify: shared queue: hard high watermark from 5 to 0, the default: success");
    message(&rx, false, "hard high watermark from 5 to the default");
    side_free(&rx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };
    DAT_SRQ_ATTR attr = { 64, 4, DAT_SRQ_LW_DEFAULT };

    env_init(argc, argv, roles);
    for (int s = 0; s < STAGE_STATES; s++)
        in_state(s);
    fx_open(&fx);
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia_attr, DAT_PROVIDER_FIELD_NONE, NULL), DAT_SUCCESS,
            "dat_ia_query");
    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    values();
    hard_watermark();
    fx_close(&fx);
    return done_testing();
}
