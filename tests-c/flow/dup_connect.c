/* dup_connect.c - dat_ep_dup_connect: connects to the peer of another endpoint. */
#include "common/fixture.h"

#include <string.h>

static DAT_RETURN dup(struct side *s, struct side *of, DAT_TIMEOUT timeout, DAT_COUNT size,
                      const void *data)
{
    return dat_ep_dup_connect(s->ep, of->ep, timeout, size, (DAT_PVOID)data, DAT_QOS_BEST_EFFORT);
}

int main(int argc, char **argv)
{
    static const char data[40] = "private data of the duplicate";
    static char big[4096];
    struct fx fx;
    struct side a, b, second, taker;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp;
    DAT_CR_HANDLE cr;
    DAT_CR_PARAM p;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    psp = fx_listen(&fx, &qual);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    side_make(&second, &fx, NULL);
    side_make(&taker, &fx, NULL);
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx.cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
             wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
         "no connection");

    rc = dup(&second, &a, 0, 0, NULL);
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_ep_dup_connect: not implemented");
    }
    is_type(rc, DAT_INVALID_PARAMETER, "dat_ep_dup_connect: timeout 0: DAT_INVALID_PARAMETER");
    is_type(dup(&second, &a, 1000000, -1, data), DAT_INVALID_PARAMETER,
            "dat_ep_dup_connect: negative private data size: DAT_INVALID_PARAMETER");
    if (fx.max_private_data < (DAT_COUNT)sizeof big)
        is_type(dup(&second, &a, 1000000, fx.max_private_data + 1, big), DAT_INVALID_PARAMETER,
                "dat_ep_dup_connect: private data above the maximum: DAT_INVALID_PARAMETER");
    is_type(dup(&second, &a, 1000000, 4, NULL), DAT_INVALID_PARAMETER,
            "dat_ep_dup_connect: private data NULL with a size: DAT_INVALID_PARAMETER");
    is_either(dat_ep_dup_connect(second.ep, a.ep, 1000000, 0, NULL, (DAT_QOS)0x40),
              DAT_MODEL_NOT_SUPPORTED, DAT_INVALID_PARAMETER,
              "dat_ep_dup_connect: unknown QoS: refused");
    is_code(dup(&second, &taker, 1000000, 0, NULL), DAT_INVALID_STATE,
            DAT_INVALID_STATE_EP_UNCONNECTED,
            "dat_ep_dup_connect: of an UNCONNECTED endpoint: DAT_INVALID_STATE");
    is_code(dup(&b, &a, 1000000, 0, NULL), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED,
            "dat_ep_dup_connect: with a CONNECTED endpoint: DAT_INVALID_STATE");
    is_state(ep_state(second.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_ep_dup_connect: refused: the endpoint is UNCONNECTED");

    is_success(dup(&second, &a, env_us(SOON_MS), sizeof data, data), "dat_ep_dup_connect: success");
    is_state(ep_state(second.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "dat_ep_dup_connect: the endpoint is ACTIVE_CONNECTION_PENDING");
    is_state(ep_state(a.ep), DAT_EP_STATE_CONNECTED, "dat_ep_dup_connect: the model is unchanged");
    cr = next_request(fx.cr);
    pass("dat_ep_dup_connect: a request arrives at the original service point");
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
    ok(p.private_data_size >= (DAT_COUNT)sizeof data &&
           memcmp(p.private_data, data, sizeof data) == 0,
       "dat_ep_dup_connect: its own private data");
    must_rc(dat_cr_accept(cr, taker.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_connection(second.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(taker.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "dat_ep_dup_connect: both ends ESTABLISHED");
    ok(sides_talk(&second, &taker) && sides_talk(&a, &b),
       "dat_ep_dup_connect: messages on both connections");
    side_free(&second);
    side_free(&taker);

    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_make(&second, &fx, NULL);
    is_success(dup(&second, &a, env_us(SOON_MS), 0, NULL),
               "dat_ep_dup_connect: service point freed: success");
    ok(wait_connection(second.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_ep_dup_connect: service point freed: NON_PEER_REJECTED");
    must_rc(dat_ep_reset(second.ep), DAT_SUCCESS, "dat_ep_reset");

    /* A passive endpoint knows the port of its peer, where no service point listens. */
    is_success(dup(&second, &b, env_us(SOON_MS), 0, NULL),
               "dat_ep_dup_connect: of a passive endpoint: success");
    ok(wait_connection(second.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_ep_dup_connect: of a passive endpoint: NON_PEER_REJECTED");
    side_free(&second);
    side_free(&a);
    side_free(&b);
    fx_close(&fx);
    return done_testing();
}
