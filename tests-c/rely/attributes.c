/* attributes.c - properties of endpoint attributes that programs need. */
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of successful transfers with one and with two segments. */
static int everything(struct fx *fx, struct side *a, struct side *b, size_t size, bool one_evd)
{
    struct region r, t;
    DAT_LMR_TRIPLET iov[2];
    DAT_RMR_TRIPLET remote;
    int good = 0;

    region_make(fx, &r, 2 * size, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &t, 2 * size, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(r.mem, size, 1);
    for (int n = 1; n <= 2; n++) {
        iov[0] = segment(&r, 0, n == 1 ? size : size / 2);
        iov[1] = segment(&r, size / 2, size - size / 2);
        memset(t.mem, 0, size);
        must_rc(post_recv(b, &t, 0, size, 1), DAT_SUCCESS, "dat_ep_post_recv");
        good += dat_ep_post_send(a->ep, n, iov, cookie(2), DAT_COMPLETION_DEFAULT_FLAG) ==
                    DAT_SUCCESS &&
                wait_dto(b->recv, 1, DAT_DTO_SUCCESS, NULL) &&
                wait_dto(one_evd ? a->recv : a->req, 2, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(t.mem, size, 1) < 0;
        memset(t.mem, 0, size);
        remote = target(&t, 0, size);
        good += dat_ep_post_rdma_write(a->ep, n, iov, cookie(3), &remote,
                                       DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS &&
                wait_dto(one_evd ? a->recv : a->req, 3, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(t.mem, size, 1) < 0;
        pattern_fill(t.mem, size, 2);
        if (n > read_iov_at_most(n)) {
            /* On iWARP a read cannot have two segments, so the call must fail. */
            good += rc_is(dat_ep_post_rdma_read(a->ep, n, iov, cookie(4), &remote, DAT_COMPLETION_DEFAULT_FLAG),
                          DAT_INVALID_PARAMETER);
            continue;
        }
        good += dat_ep_post_rdma_read(a->ep, n, iov, cookie(4), &remote,
                                      DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS &&
                wait_dto(one_evd ? a->recv : a->req, 4, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem, size, 2) < 0;
        pattern_fill(r.mem, size, 1);
    }
    region_free(&r);
    region_free(&t);
    return good;
}

static void zeros(struct fx *fx)
{
    struct pair p;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_rdma_read_iov = 0;
    attr.max_rdma_write_iov = 0;
    attr.srq_soft_hw = 0;
    attr.max_rdma_size = 0;
    pair_open(&p, fx, &attr);
    pass("9: 0 in max_rdma_read_iov, max_rdma_write_iov, srq_soft_hw, max_rdma_size: success");
    is_int(everything(fx, &p.a, &p.b, 10000, false), 6,
           "9: 0 means default: RDMA with one and with two segments works");
    ok(quiet(fx->async), "9: srq_soft_hw 0: no asynchronous event");
    pair_close(&p);
}

/* srq_soft_hw 0 means no watermark, also on an SRQ. */
static void no_watermark(struct fx *fx)
{
    DAT_SRQ_ATTR sizes;
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_LMR_TRIPLET t;
    struct side a, b;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_RETURN rc;

    memset(&sizes, 0, sizeof sizes);
    sizes.max_recv_dtos = 8;
    sizes.max_recv_iov = 1;
    sizes.low_watermark = DAT_SRQ_LW_DEFAULT;
    rc = dat_srq_create(fx->ia, fx->pz, &sizes, &srq);
    if (rc_not_implemented(rc)) {
        skip_named("9: srq_soft_hw 0 on a shared receive queue", "not implemented");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_srq_create");
    attr_default(&attr);
    attr.srq_soft_hw = 0;
    side_make(&a, fx, NULL);
    side_make_srq(&b, fx, srq, &attr);
    region_make(fx, &r, 128, MEM_LOCAL);
    for (unsigned i = 0; i < 3; i++) {
        t = segment(&r, 0, 64);
        must_rc(dat_srq_post_recv(srq, 1, &t, cookie(i)), DAT_SUCCESS, "dat_srq_post_recv");
    }
    sides_connect(&a, &b);
    for (unsigned i = 0; i < 3; i++)
        must(post_send(&a, &r, 64, 64, i) == DAT_SUCCESS &&
                 wait_dto(a.req, i, DAT_DTO_SUCCESS, NULL),
             "a message does not arrive");
    ok(quiet(fx->async), "9: srq_soft_hw 0, shared receive queue: three messages, no "
                         "asynchronous event");
    is_int(drain_dtos(b.recv, 3), 3, "9: srq_soft_hw 0, shared receive queue: they arrive");
    side_free(&a);
    side_free(&b);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
    region_free(&r);
}

static void maxima(struct fx *fx)
{
    DAT_IA_ATTR ia;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL, again = DAT_HANDLE_NULL;
    DAT_EP_PARAM p;
    struct side s;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    attr_default(&attr);
    attr.max_message_size = ia.max_message_size;
    attr.max_rdma_size = ia.max_rdma_size;
    attr.max_recv_dtos = ia.max_dto_per_ep;
    attr.max_request_dtos = ia.max_dto_per_ep;
    attr.max_recv_iov = ia.max_iov_segments_per_dto;
    attr.max_request_iov = ia.max_iov_segments_per_dto;
    attr.max_rdma_read_in = ia.max_rdma_read_per_ep_in;
    attr.max_rdma_read_out = ia.max_rdma_read_per_ep_out;
    attr.max_rdma_read_iov = ia.max_iov_segments_per_rdma_read;
    attr.max_rdma_write_iov = ia.max_iov_segments_per_rdma_write;
    side_make(&s, fx, NULL);
    if (is_success(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, &attr, &ep),
                   "10: an endpoint with the maxima of dat_ia_query: success")) {
        must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
        is_success(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, &p.ep_attr, &again),
                   "10: an endpoint with the attributes that dat_ep_query gave: success");
        if (again != DAT_HANDLE_NULL)
            must_rc(dat_ep_free(again), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    }
    side_free(&s);
    is_success(dat_evd_create(fx->ia, ia.max_evd_qlen, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
               "10: an EVD of max_evd_qlen: success");
    if (evd != DAT_HANDLE_NULL)
        must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void deep(struct fx *fx)
{
    enum { MIB8 = 8 << 20 };
    int n = env_count(50000, 3000), sent = 0, received = 0, large = env_count(8, 1);
    struct side a, b;
    struct region out, in;
    DAT_EP_ATTR attr;
    DAT_EVENT e;
    DAT_COUNT posted = 0;
    DAT_IA_ATTR ia;

    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    /* Soft-iWARP permits fewer outstanding operations. */
    if (env_is_iwarp() && n > ia.max_dto_per_ep)
        n = ia.max_dto_per_ep;
    attr_default(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = env_is_iwarp() && ia.max_dto_per_ep < 50000 ? ia.max_dto_per_ep : 50000;
    attr.max_message_size = MIB8;
    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(dat_ep_free(a.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_free(b.ep), DAT_SUCCESS, "dat_ep_free");
    a.ep = b.ep = DAT_HANDLE_NULL;
    is_success(dat_evd_resize(a.req, 50000), "10: an EVD for 50,000 completions: success");
    is_success(dat_evd_resize(b.recv, 50000), "10: another one: success");
    if (!is_success(dat_ep_create(fx->ia, fx->pz, a.recv, a.req, a.conn, &attr, &a.ep),
                    "10: 50,000 receives and requests, messages of 8 MiB: success") ||
        dat_ep_create(fx->ia, fx->pz, b.recv, b.req, b.conn, &attr, &b.ep) != DAT_SUCCESS) {
        side_free(&a);
        side_free(&b);
        return;
    }
    region_make(fx, &out, MIB8, MEM_LOCAL);
    region_make(fx, &in, MIB8, MEM_LOCAL);
    sides_connect(&a, &b);
    for (int i = 0; i < n; i++)
        posted += post_recv(&b, &in, 0, MIB8, (DAT_UINT64)i) == DAT_SUCCESS;
    is_int(posted, n, "10: %d receives of 8 MiB can be posted", n);
    pattern_fill(out.mem, MIB8, 3);
    posted = 0;
    for (int i = 0; i < n; i++)
        posted += post_send(&a, &out, 0, i < large ? MIB8 : 8, (DAT_UINT64)i) == DAT_SUCCESS;
    is_int(posted, n, "10: %d sends can be posted before any of them is fetched", n);
    for (int i = 0; i < n; i++) {
        if (!wait_dto(b.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, &e) ||
            e.event_data.dto_completion_event_data.transfered_length !=
                (DAT_VLEN)(i < large ? MIB8 : 8))
            break;
        received++;
    }
    is_int(received, n, "10: %d messages arrive, in order", n);
    for (int i = 0; i < n && wait_dto(a.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL); i++)
        sent++;
    is_int(sent, n, "10: %d sends complete, in order", n);
    ok(pattern_check(in.mem, MIB8, 3) < 0, "10: the bytes are right");
    side_free(&a);
    side_free(&b);
    region_free(&out);
    region_free(&in);
}

static void null_attributes(struct fx *fx)
{
    struct pair p;
    struct side *s[2] = { &p.a, &p.b };

    for (int i = 0; i < 2; i++) {
        side_make(s[i], fx, NULL);
        must_rc(dat_ep_free(s[i]->ep), DAT_SUCCESS, "dat_ep_free");
        s[i]->ep = DAT_HANDLE_NULL;
        is_success(dat_ep_create(fx->ia, fx->pz, s[i]->recv, s[i]->recv, s[i]->conn, NULL,
                                 &s[i]->ep),
                   "11: attributes NULL, receive and request EVD the same: success");
    }
    if (p.a.ep != DAT_HANDLE_NULL && p.b.ep != DAT_HANDLE_NULL) {
        DAT_EP_PARAM q;
        int posted = 0;
        struct region r;

        sides_connect(&p.a, &p.b);
        is_int(everything(fx, &p.a, &p.b, 10000, true), 6,
               "11: attributes NULL: messages, writes and reads with one and two segments");
        must_rc(dat_ep_query(p.a.ep, DAT_EP_FIELD_ALL, &q), DAT_SUCCESS, "dat_ep_query");
        ok(q.ep_attr.max_recv_dtos >= 16 && q.ep_attr.max_request_dtos >= 16,
           "11: attributes NULL: sensible depths");
        region_make(fx, &r, 64, MEM_LOCAL);
        for (int i = 0; i < 16; i++)
            posted += post_recv(&p.a, &r, 0, 64, 1) == DAT_SUCCESS;
        is_int(posted, 16, "11: attributes NULL: sixteen receives can be posted");
        must_rc(dat_ep_free(p.a.ep), DAT_SUCCESS, "dat_ep_free");
        p.a.ep = DAT_HANDLE_NULL;
        region_free(&r);
    }
    pair_close(&p);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    zeros(&fx);
    no_watermark(&fx);
    maxima(&fx);
    deep(&fx);
    null_attributes(&fx);
    fx_close(&fx);
    return done_testing();
}
