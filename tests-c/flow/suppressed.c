/* suppressed.c - an RDMA read after a suppressed send completes, even if the peer makes no calls. */
#include "common/fixture.h"

enum { ROUNDS = 20, POLLS_MS = 5, COMPUTES_MS = 20 };

static int computer(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EVENT e;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(post_recv(&s, &r, 0, 16, 0), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    must(link_send_target(up, target(&r, 64, 64)), "the other process is gone");
    for (DAT_UINT64 i = 0; i < ROUNDS; i++) {
        DAT_UINT64 end = now_ms() + POLLS_MS;

        while (now_ms() < end)
            (void)dat_evd_dequeue(s.req, &e);
        link_say(up, "no calls");
        end = now_ms() + COMPUTES_MS;
        while (now_ms() < end)
            ;
        must(wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL), "no message");
        must_rc(post_recv(&s, &r, 0, 16, i + 1), DAT_SUCCESS, "dat_ep_post_recv");
    }
    must(link_hear(up, "bye"), "the other process is gone");
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "computer", computer }, { NULL, NULL } };
    struct fx fx;
    struct side s;
    struct region r;
    struct peer p;
    DAT_RMR_TRIPLET theirs;
    int good = 0;

    env_init(argc, argv, roles);
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    peer_start(&p, "computer");
    side_connect_peer(&s, &p.link);
    must(link_recv_target(&p.link, &theirs), "no memory is named");
    for (DAT_UINT64 i = 0; i < ROUNDS && good == (int)i; i++) {
        DAT_LMR_TRIPLET local = segment(&r, 0, 16);

        must(link_hear(&p.link, "no calls"), "the other process is gone");
        must_rc(dat_ep_post_send(s.ep, 1, &local, cookie(100), DAT_COMPLETION_SUPPRESS_FLAG), DAT_SUCCESS,
                "dat_ep_post_send");
        must_rc(post_read(&s, &r, 64, 64, theirs, i), DAT_SUCCESS, "dat_ep_post_rdma_read");
        good += wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL);
    }
    is_int(good, ROUNDS, "RDMA reads after a suppressed send, while the peer computes: all complete");
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");
    fx_close(&fx);
    return done_testing();
}
