/* devices.c - two open adapters in one process. */
#define _POSIX_C_SOURCE 200809L
#include "adapters.h"

#include <string.h>

enum { SIZE = 100000 };

static struct fx a, b;
static char name[DAT_NAME_MAX_LENGTH];

/* Checks calls with handles of two adapters. */
static void foreign_handles(void)
{
    DAT_REGION_DESCRIPTION where;
    DAT_SRQ_ATTR srq_attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
    DAT_EP_HANDLE ep = UNTOUCHED;
    DAT_EVD_HANDLE evd = UNTOUCHED;
    DAT_LMR_HANDLE lmr = UNTOUCHED;
    DAT_SRQ_HANDLE srq = UNTOUCHED, srq_b = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_RSP_HANDLE rsp = UNTOUCHED;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qual = 0;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_VLEN length;
    DAT_VADDR address;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM param;
    struct side x, y;
    struct region r;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_LMR_TRIPLET piece;
    static unsigned char memory[64];

    side_make(&x, &a, NULL);
    side_make(&y, &b, NULL);
    attr_default(&attr);
    must_rc(dat_srq_create(b.ia, b.pz, &srq_attr, &srq_b), DAT_SUCCESS, "dat_srq_create");
    must_rc(dat_cno_create(b.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");

    is_type(dat_ep_create(a.ia, b.pz, x.recv, x.req, x.conn, &attr, &ep), DAT_INVALID_HANDLE,
            "dat_ep_create: zone of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_ep_create(a.ia, a.pz, y.recv, x.req, x.conn, &attr, &ep), DAT_INVALID_HANDLE,
            "dat_ep_create: receive EVD of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_ep_create(a.ia, a.pz, x.recv, y.req, x.conn, &attr, &ep), DAT_INVALID_HANDLE,
            "dat_ep_create: request EVD of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_ep_create_with_srq(a.ia, a.pz, x.recv, x.req, x.conn, srq_b, &attr, &ep),
            DAT_INVALID_HANDLE, "dat_ep_create_with_srq: queue of another adapter: DAT_INVALID_HANDLE");
    is_ptr(ep, UNTOUCHED, "dat_ep_create: refused: the handle is left alone");
    is_success(dat_ep_create(a.ia, a.pz, x.recv, x.req, y.conn, &attr, &ep),
               "dat_ep_create: connection EVD of another adapter: success");
    is_success(dat_ep_free(ep), "dat_ep_free: with the connection EVD of another adapter: success");
    is_type(dat_srq_create(a.ia, b.pz, &srq_attr, &srq), DAT_INVALID_HANDLE,
            "dat_srq_create: zone of another adapter: DAT_INVALID_HANDLE");
    memset(&where, 0, sizeof where);
    where.for_va = memory;
    is_type(dat_lmr_create(a.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, b.pz, MEM_LOCAL, &lmr,
                           &lmr_context, &rmr_context, &length, &address),
            DAT_INVALID_HANDLE, "dat_lmr_create: zone of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_evd_create(a.ia, 4, cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_INVALID_HANDLE,
            "dat_evd_create: notification object of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_evd_modify_cno(x.recv, cno), DAT_INVALID_HANDLE,
            "dat_evd_modify_cno: notification object of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_psp_create(a.ia, unique_qual(false), b.cr, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INVALID_HANDLE, "dat_psp_create: EVD of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_psp_create_any(a.ia, &qual, b.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_INVALID_HANDLE,
            "dat_psp_create_any: EVD of another adapter: DAT_INVALID_HANDLE");
    is_type(dat_rsp_create(a.ia, unique_qual(false), y.ep, a.cr, &rsp), DAT_INVALID_HANDLE,
            "dat_rsp_create: endpoint of another adapter: DAT_INVALID_HANDLE");
    memset(&param, 0, sizeof param);
    param.pz_handle = b.pz;
    is_type(dat_ep_modify(x.ep, DAT_EP_FIELD_PZ_HANDLE, &param), DAT_INVALID_PARAMETER,
            "dat_ep_modify: zone of another adapter: DAT_INVALID_PARAMETER");
    memset(&param, 0, sizeof param);
    param.recv_evd_handle = y.recv;
    is_type(dat_ep_modify(x.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param), DAT_INVALID_PARAMETER,
            "dat_ep_modify: EVD of another adapter: DAT_INVALID_PARAMETER");

    /* A request of one adapter, and an endpoint of the other. */
    {
        DAT_PSP_HANDLE listener = fx_listen(&a, &qual);
        struct side caller;
        DAT_CR_HANDLE cr;
        DAT_RETURN rc;

        side_make(&caller, &a, NULL);
        must_rc(side_connect(&caller, fx_address(&a), qual), DAT_SUCCESS, "dat_ep_connect");
        cr = next_request(a.cr);
        is_type(dat_cr_accept(cr, y.ep, 0, NULL), DAT_INVALID_HANDLE,
                "dat_cr_accept: endpoint of another adapter: DAT_INVALID_HANDLE");
        is_success(dat_cr_accept(cr, x.ep, 0, NULL), "dat_cr_accept: its own endpoint: success");
        ok(wait_connection(caller.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
               wait_connection(x.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
           "dat_cr_accept: its own endpoint: connected");

        /* Memory of the other adapter. */
        region_make(&b, &r, 64, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG);
        is_either(post_send(&x, &r, 0, 64, 1), DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION,
                  "dat_ep_post_send: memory of another adapter: protection violation");
        if (a.max_rmrs > 0) {
            must_rc(dat_rmr_create(a.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
            piece = segment(&r, 0, 64);
            rc = bind_to_lmr(rmr, r.lmr, &piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, x.ep, cookie(2),
                             DAT_COMPLETION_DEFAULT_FLAG, &rmr_context);
            /* 2.0 identifies the region by its handle, 1.2 by its context, which may exist on both adapters. */
            if (UDAPL == 20)
                is_code(rc, DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR,
                        "dat_rmr_bind: memory of another adapter: DAT_INVALID_HANDLE");
            else
                is_either(rc, DAT_PROTECTION_VIOLATION, DAT_INVALID_PARAMETER,
                          "dat_rmr_bind: memory of another adapter: refused");
            must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
        }
        ok(sides_talk(&x, &caller), "all that was refused: the connection goes on");
        region_free(&r);
        side_free(&caller);
        must_rc(dat_psp_free(listener), DAT_SUCCESS, "dat_psp_free");
    }
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    must_rc(dat_srq_free(srq_b), DAT_SUCCESS, "dat_srq_free");
    side_free(&x);
    side_free(&y);
}

/* Writes and reads the other side's memory by RDMA. Returns whether the bytes are right. */
static bool rdma(struct side *from, struct side *to, unsigned seed)
{
    struct region here, there;
    bool good;

    region_make(from->fx, &here, SIZE, MEM_LOCAL);
    region_make(to->fx, &there, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(here.mem, SIZE, seed);
    good = post_write(from, &here, 0, SIZE, target(&there, 0, SIZE), 1) == DAT_SUCCESS &&
           wait_dto(from->req, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(there.mem, SIZE, seed) < 0;
    pattern_fill(there.mem, SIZE, seed + 1);
    good = good && post_read(from, &here, 0, SIZE, target(&there, 0, SIZE), 2) == DAT_SUCCESS &&
           wait_dto(from->req, 2, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(here.mem, SIZE, seed + 1) < 0;
    region_free(&here);
    region_free(&there);
    return good;
}

static bool gone(struct side *s)
{
    DAT_EVENT e;

    return wait_event(s->conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                                       e.event_number == DAT_CONNECTION_EVENT_BROKEN);
}

/* Connects. Returns false if the network has no route between the adapters. */
static bool reachable(struct side *active, struct side *passive)
{
    DAT_EVD_HANDLE evd = fx_evd(passive->fx, 4, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen_on(passive->fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    DAT_EVENT e;
    bool up = false;

    must_rc(side_connect(active, fx_address(passive->fx), qual), DAT_SUCCESS, "dat_ep_connect");
    if (wait_event(evd, &e)) {
        must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, passive->ep, 0, NULL),
                DAT_SUCCESS, "dat_cr_accept");
        up = wait_connection(active->conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
             wait_connection(passive->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    } else if (dat_evd_dequeue(active->conn, &e) == DAT_SUCCESS) {
        diag("no way from one to the other: %s", event_text(e.event_number));
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    return up;
}

int main(int argc, char **argv)
{
    struct side ab, ba, ab2, ba2;
    struct pair own, second;
    bool way;

    env_init(argc, argv, NULL);
    if (!other_adapter(name))
        skip_all("there is no adapter verbs-* besides %s", env_ia());
    diag("%s and %s", env_ia(), name);
    fx_open(&a);
    fx_open_on(&b, name);
    ok(memcmp(&a.address, &b.address, sizeof a.address) != 0, "two adapters: two addresses");

    foreign_handles();

    pair_open(&own, &a, NULL);
    pair_open(&second, &b, NULL);
    ok(sides_talk(&own.a, &own.b) && rdma(&own.a, &own.b, 1), "a connection within the first");
    ok(sides_talk(&second.a, &second.b) && rdma(&second.a, &second.b, 3),
       "a connection within the second");
    side_make(&ab, &a, NULL);
    side_make(&ba, &b, NULL);
    way = reachable(&ab, &ba);
    if (!way && netdev_of(env_ia()) != NULL && one_cable(netdev_of(env_ia()), netdev_of(name))) {
        fail("the first connects to the second");
    } else if (!way) {
        skip_named("the first connects to the second", "the network has no way between the two");
    } else {
        pass("the first connects to the second");
        ok(sides_talk(&ab, &ba), "between two adapters: messages both ways");
        ok(rdma(&ab, &ba, 5), "between two adapters: RDMA from the first");
        ok(rdma(&ba, &ab, 7), "between two adapters: RDMA from the second");
        side_make(&ab2, &a, NULL);
        side_make(&ba2, &b, NULL);
        sides_connect(&ba2, &ab2);
        ok(sides_talk(&ab2, &ba2) && rdma(&ba2, &ab2, 9), "the second connects to the first");
    }

    fx_close(&b);
    if (way) {
        ok(gone(&ab), "one adapter is closed: its peer on the other sees the end");
        ok(gone(&ab2), "one adapter is closed: so does the one that it called");
        side_free(&ab2);
    }
    ok(sides_talk(&own.a, &own.b) && rdma(&own.b, &own.a, 11),
       "one adapter is closed: the connection of the other goes on");
    fx_open_on(&b, name);
    pair_open(&second, &b, NULL);
    ok(sides_talk(&second.a, &second.b), "opened again: connections as before");
    if (way) {
        is_success(dat_ep_reset(ab.ep), "dat_ep_reset: after the other adapter was closed: success");
        drain(ab.recv);
        drain(ab.req);
        side_make(&ba, &b, NULL);
        ok(reachable(&ab, &ba) && sides_talk(&ab, &ba), "opened again: connected again");
    }
    fx_close(&a);
    ok(sides_talk(&second.a, &second.b), "the first adapter is closed: the second goes on");
    fx_close(&b);
    return done_testing();
}
