/*
 * refused.c - a request without the right or with too many bytes fails, but not the reads before it, even if the peer
 * also refuses a request, or is killed.
 *
 * Without copies between processes, the bytes of reads wait for room while the request fails.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <signal.h>
#include <stdlib.h>

enum { READS = 4, BYTES = 64 << 10, SIZE = READS * BYTES };

struct half {
    struct fx fx;
    struct side s;
    struct region r;
};

static void half_open(struct half *h)
{
    fx_open(&h->fx);
    side_make(&h->s, &h->fx, NULL);
    region_make(&h->fx, &h->r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(post_recv(&h->s, &h->r, 0, 8, 10), DAT_SUCCESS, "dat_ep_post_recv");
}

static void post_reads(struct half *h, DAT_RMR_TRIPLET from)
{
    for (DAT_UINT64 i = 0; i < READS; i++)
        must_rc(post_read(&h->s, &h->r, i * BYTES, BYTES, from, i), DAT_SUCCESS, "dat_ep_post_rdma_read");
}

/* Posts reads and a write without the right. Returns whether only the write can have the error. */
static bool trespass(struct half *h, DAT_RMR_TRIPLET theirs)
{
    DAT_RMR_TRIPLET bad = theirs;
    bool good = true;
    int status;

    bad.rmr_context ^= 0x55555555u;
    bad.segment_length = 8;
    post_reads(h, theirs);
    must_rc(post_write(&h->s, &h->r, 0, 8, bad, READS), DAT_SUCCESS, "dat_ep_post_rdma_write");
    for (DAT_UINT64 i = 0; i < READS; i++) {
        status = wait_status(h->s.req, i);
        good &= status == DAT_DTO_SUCCESS || status == DAT_DTO_ERR_FLUSHED;
    }
    status = wait_status(h->s.req, READS);
    return good && (status == DAT_DTO_ERR_REMOTE_ACCESS || status == DAT_DTO_ERR_FLUSHED);
}

static int trespasser(struct link *up)
{
    struct half h;
    DAT_RMR_TRIPLET theirs;
    bool good;

    half_open(&h);
    side_connect_peer(&h.s, up);
    must(link_send_target(up, target(&h.r, 0, BYTES)) && link_recv_target(up, &theirs), "no target");
    good = trespass(&h, theirs);
    fx_close(&h.fx);
    return !good;
}

static void both_refuse(void)
{
    int good = 0, rounds = env_count(20, 4);

    for (int i = 0; i < rounds; i++) {
        struct half h;
        struct peer p;
        DAT_RMR_TRIPLET theirs;

        half_open(&h);
        peer_start(&p, "trespasser");
        side_accept_peer(&h.s, &p.link);
        must(link_recv_target(&p.link, &theirs) && link_send_target(&p.link, target(&h.r, 0, BYTES)), "no target");
        good += trespass(&h, theirs) && wait_status(h.s.recv, 10) == DAT_DTO_ERR_FLUSHED;
        good -= !peer_ok(&p, "both sides refuse a write after reads: only the write has its status");
        fx_close(&h.fx);
    }
    is_int(good, rounds, "both sides refuse a write after reads: only the write has its status here, too");
}

static int talker(struct link *up)
{
    struct half h;
    DAT_RMR_TRIPLET theirs;

    half_open(&h);
    side_connect_peer(&h.s, up);
    must(link_recv_target(up, &theirs), "no target");
    post_reads(&h, theirs);
    must_rc(post_send(&h.s, &h.r, 0, 9, READS), DAT_SUCCESS, "dat_ep_post_send");
    link_say(up, "posted");
    (void)raise(SIGSTOP);
    return 0;
}

static void peer_is_killed(void)
{
    struct half h;
    struct peer p;

    half_open(&h);
    peer_start(&p, "talker");
    side_accept_peer(&h.s, &p.link);
    must(link_send_target(&p.link, target(&h.r, 0, BYTES)), "the other process is gone");
    must(link_hear(&p.link, "posted"), "the other process is gone");
    (void)quiet(h.s.req);
    peer_kill(&p);
    is_status(wait_status(h.s.recv, 10), DAT_DTO_ERR_LOCAL_LENGTH,
              "a message that is too long, then its sender is killed: LOCAL_LENGTH");
    fx_close(&h.fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "trespasser", trespasser }, { "talker", talker }, { NULL, NULL } };

    must(setenv("DAT_SHM_VM", "0", 1) == 0, "setenv");
    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("needs a setting of shm");
    both_refuse();
    peer_is_killed();
    return done_testing();
}
