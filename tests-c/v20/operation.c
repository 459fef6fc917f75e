/* operation.c - the field `operation` of completions, including requests that failed or were flushed. */
#include "v20/extended.h"

#include <string.h>

static struct fx fx;
static struct region here, there;

static bool ends(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 c, DAT_DTO_COMPLETION_STATUS status, DAT_DTOS operation)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    memset(&e, 0x5a, sizeof e);
    if (!wait_dto(evd, c, status, &e))
        return false;
    if (d->operation == operation && d->rmr_context == 0 && d->ep_handle == ep)
        return true;
    diag("%s rmr_context 0x%x", operation_text(d->operation), (unsigned)d->rmr_context);
    return false;
}

/* Posts a send, an RDMA write and an RDMA read on p->a. */
static void post_all(struct pair *p)
{
    must_rc(post_send(&p->a, &here, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_write(&p->a, &here, 0, 64, target(&there, 0, 64), 3), DAT_SUCCESS, "dat_ep_post_rdma_write");
    must_rc(post_read(&p->a, &here, 0, 64, target(&there, 0, 64), 4), DAT_SUCCESS, "dat_ep_post_rdma_read");
}

static void requests(struct pair *p, DAT_DTO_COMPLETION_STATUS status, const char *what)
{
    ok(ends(p->a.req, p->a.ep, 2, status, DAT_DTO_SEND), "%s: dat_ep_post_send: operation SEND", what);
    ok(ends(p->a.req, p->a.ep, 3, status, DAT_DTO_RDMA_WRITE), "%s: dat_ep_post_rdma_write: operation RDMA_WRITE", what);
    ok(ends(p->a.req, p->a.ep, 4, status, DAT_DTO_RDMA_READ), "%s: dat_ep_post_rdma_read: operation RDMA_READ", what);
}

static void on_a_pair(bool shared)
{
    const char *what = shared ? "shared receive queue" : "receives of the endpoint";
    DAT_SRQ_ATTR attr = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_LMR_TRIPLET local = segment(&there, 1024, 64);
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    struct pair p;

    side_make(&p.a, &fx, NULL);
    if (shared) {
        must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
        side_make_srq(&p.b, &fx, srq, NULL);
    } else {
        side_make(&p.b, &fx, NULL);
    }
    sides_connect(&p.a, &p.b);
    for (DAT_UINT64 c = 1; c < 3; c++)
        must_rc(shared ? dat_srq_post_recv(srq, 1, &local, cookie(c)) : post_recv(&p.b, &there, 1024, 64, c), DAT_SUCCESS,
                "posting a receive");
    must_rc(post_recv(&p.a, &here, 1024, 64, 9), DAT_SUCCESS, "dat_ep_post_recv");
    post_all(&p);
    ok(ends(p.b.recv, p.b.ep, 1, DAT_DTO_SUCCESS, DAT_DTO_RECEIVE), "%s: success: operation RECEIVE, the endpoint", what);
    requests(&p, DAT_DTO_SUCCESS, "success");

    /*
     * A write with an unknown context breaks the connection, which flushes all other requests. On iWARP, it succeeds.
     */
    if (env_is_iwarp()) {
        DAT_RMR_TRIPLET nowhere = target(&there, 0, 64);

        nowhere.rmr_context ^= 0x55555555u;
        must_rc(post_write(&p.a, &here, 0, 64, nowhere, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        ok(ends(p.a.req, p.a.ep, 1, DAT_DTO_SUCCESS, DAT_DTO_RDMA_WRITE), "%s: a write to nowhere, iWARP: operation RDMA_WRITE",
           what);
        ok(ends(p.a.recv, p.a.ep, 9, DAT_DTO_ERR_FLUSHED, DAT_DTO_RECEIVE), "%s: flushed: operation RECEIVE", what);
        if (!shared)
            ok(ends(p.b.recv, p.b.ep, 2, DAT_DTO_ERR_FLUSHED, DAT_DTO_RECEIVE), "%s: flushed at the peer: operation RECEIVE",
               what);
    } else {
        DAT_RMR_TRIPLET nowhere = target(&there, 0, 64);

        nowhere.rmr_context ^= 0x55555555u;
        must_rc(post_write(&p.a, &here, 0, 64, nowhere, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        post_all(&p);
        ok(ends(p.a.req, p.a.ep, 1, DAT_DTO_ERR_REMOTE_ACCESS, DAT_DTO_RDMA_WRITE), "%s: REMOTE_ACCESS: operation RDMA_WRITE",
           what);
        requests(&p, DAT_DTO_ERR_FLUSHED, "flushed");
        ok(ends(p.a.recv, p.a.ep, 9, DAT_DTO_ERR_FLUSHED, DAT_DTO_RECEIVE), "%s: flushed: operation RECEIVE", what);
        if (!shared)
            ok(ends(p.b.recv, p.b.ep, 2, DAT_DTO_ERR_FLUSHED, DAT_DTO_RECEIVE), "%s: flushed at the peer: operation RECEIVE",
               what);
    }
    side_free(&p.a);
    side_free(&p.b);
    if (shared)
        must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/* Sends a message that is longer than the receive. */
static void too_long(void)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &there, 0, 16, 5), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &here, 0, 64, 6), DAT_SUCCESS, "dat_ep_post_send");
    ok(ends(p.b.recv, p.b.ep, 5, DAT_DTO_ERR_LOCAL_LENGTH, DAT_DTO_RECEIVE), "too long a message: operation RECEIVE");
    {
        DAT_EVENT e;

        ok(wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) &&
               (env_is_iwarp() || e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) &&
               e.event_data.dto_completion_event_data.operation == DAT_DTO_SEND,
           "too long a message: operation SEND at the sender");
    }
    pair_close(&p);
}

/* The extension data of an ordinary completion are zeros. */
static void clean(void)
{
    struct pair p;
    DAT_EVENT e;

    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &here, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    memset(&e, 0x5a, sizeof e);
    ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, &e) && e.event_data.dto_completion_event_data.transfered_length == 64,
       "a message: its length");
    ok(all_bytes(e.event_extension_data, sizeof e.event_extension_data, 0), "a message: no data of an extension");
    pair_close(&p);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    region_make(&fx, &here, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 4096, DAT_MEM_PRIV_ALL_FLAG);
    on_a_pair(false);
    on_a_pair(true);
    too_long();
    clean();
    fx_close(&fx);
    return done_testing();
}
