/* late.c - messages without a posted receive wait, or on iWARP end the connection. */
#include "common/fixture.h"

#include <string.h>

static void one(struct fx *fx, size_t size)
{
    struct pair p;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_EVENT e;

    attr_default(&attr);
    attr.max_message_size = size > attr.max_message_size ? size : attr.max_message_size;
    region_make(fx, &r, 2 * size + 64, MEM_LOCAL);
    pair_open(&p, fx, &attr);
    pattern_fill(r.mem, size, 1);
    must_rc(post_send(&p.a, &r, 0, size, 1), DAT_SUCCESS, "dat_ep_post_send");
    ok(quiet(p.a.req) && quiet(p.b.recv),
       "%zu bytes, no receive: neither end has a completion", size);
    ok(ep_state(p.a.ep) == DAT_EP_STATE_CONNECTED && ep_state(p.b.ep) == DAT_EP_STATE_CONNECTED &&
           quiet(p.a.conn) && quiet(p.b.conn),
       "%zu bytes, no receive: the connection stands", size);
    must_rc(post_recv(&p.b, &r, size, size, 2), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_dto(p.b.recv, 2, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.transfered_length == size &&
           pattern_check(r.mem + size, size, 1) < 0,
       "%zu bytes, receive posted later: they arrive", size);
    ok(wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL), "%zu bytes, receive posted later: the send completes",
       size);
    pair_close(&p);
    region_free(&r);
}

static void many(struct fx *fx)
{
    enum { N = 200 };
    struct pair p;
    struct region r;
    DAT_EP_ATTR attr;
    int good = 1;

    attr_default(&attr);
    attr.max_request_dtos = attr.max_recv_dtos = N;
    side_make(&p.a, fx, NULL);
    side_make(&p.b, fx, NULL);
    must_rc(dat_ep_free(p.a.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_resize(p.a.req, N), DAT_SUCCESS, "dat_evd_resize");
    must_rc(dat_evd_resize(p.b.recv, N), DAT_SUCCESS, "dat_evd_resize");
    must_rc(dat_ep_create(fx->ia, fx->pz, p.a.recv, p.a.req, p.a.conn, &attr, &p.a.ep), DAT_SUCCESS,
            "dat_ep_create");
    must_rc(dat_ep_create(fx->ia, fx->pz, p.b.recv, p.b.req, p.b.conn, &attr, &p.b.ep), DAT_SUCCESS,
            "dat_ep_create");
    sides_connect(&p.a, &p.b);
    region_make(fx, &r, 2 * N * 512, MEM_LOCAL);
    for (unsigned i = 0; i < N; i++) {
        pattern_fill(r.mem + i * 512, 1 + i, i);
        must_rc(post_send(&p.a, &r, i * 512, 1 + i, i), DAT_SUCCESS, "dat_ep_post_send");
    }
    ok(quiet(p.b.recv) && ep_state(p.b.ep) == DAT_EP_STATE_CONNECTED,
       "two hundred messages, no receive: the connection stands");
    for (unsigned i = 0; i < N; i++) {
        DAT_EVENT e;

        must_rc(post_recv(&p.b, &r, (N + i) * 512, 512, i), DAT_SUCCESS, "dat_ep_post_recv");
        if (i % 7 == 6) /* wait after every seventh receive */
            for (unsigned k = i - 6; k <= i; k++)
                good &= wait_dto(p.b.recv, k, DAT_DTO_SUCCESS, &e) &&
                        e.event_data.dto_completion_event_data.transfered_length == 1 + k &&
                        pattern_check(r.mem + (N + k) * 512, 1 + k, k) < 0;
    }
    for (unsigned k = N / 7 * 7; k < N; k++)
        good &= wait_dto(p.b.recv, k, DAT_DTO_SUCCESS, NULL);
    ok(good, "two hundred messages, receives posted later: each in its place, in order");
    good = 1;
    for (unsigned i = 0; i < N; i++)
        good &= wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL);
    ok(good, "two hundred messages, receives posted later: the sends complete in order");
    pair_close(&p);
    region_free(&r);
}

static void others_continue(struct fx *fx)
{
    struct pair stuck, free_way;
    struct region r;
    int rounds = 0;

    region_make(fx, &r, 8192, MEM_LOCAL);
    pair_open(&stuck, fx, NULL);
    pair_open(&free_way, fx, NULL);
    for (unsigned i = 0; i < 20; i++)
        must_rc(post_send(&stuck.a, &r, 0, 1024, i), DAT_SUCCESS, "dat_ep_post_send");
    for (int i = 0; i < 50; i++)
        rounds += sides_talk(&free_way.a, &free_way.b);
    is_int(rounds, 50, "a connection without receives: another one is not held up");
    ok(quiet(stuck.a.conn), "a connection without receives: stands all that time");
    pair_close(&stuck);
    pair_close(&free_way);
    region_free(&r);
}

/* The other process: posts its receive after the message was sent. */
static int latecomer(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_accept_peer(&s, up);
    must(link_hear(up, "sent"), "the other process has exited");
    must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must(wait_dto(s.recv, 1, DAT_DTO_SUCCESS, NULL), "no message");
    must(pattern_check(r.mem, 64, 5) < 0, "the message is damaged");
    link_say(up, "got it");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void between_processes(struct fx *fx)
{
    struct peer p;
    struct side s;
    struct region r;

    peer_start(&p, "latecomer");
    side_make(&s, fx, NULL);
    region_make(fx, &r, 4096, MEM_LOCAL);
    side_connect_peer(&s, &p.link);
    pattern_fill(r.mem, 64, 5);
    must_rc(post_send(&s, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(quiet(s.req), "two processes: no receive: the send is not complete");
    link_say(&p.link, "sent");
    ok(link_hear(&p.link, "got it"), "two processes: receive posted later: the message arrives");
    ok(wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL), "two processes: receive posted later: completes");
    link_say(&p.link, "bye");
    peer_ok(&p, "two processes: the latecomer ends well");
    side_free(&s);
    region_free(&r);
}

/*
 * A message waits while many others go the opposite way: over shm more than 32767, which would
 * overflow a signed 16-bit difference of positions. On a device fewer, because Soft-RoCE on a busy
 * machine ends the connection of a message that waits for seconds: see docs/dev/kernels.md.
 */
static void long_wait(struct fx *fx)
{
    const unsigned count = env_is_shm() ? 40000 : 100;
    struct pair p;
    struct region r;
    unsigned sent = 0;

    region_make(fx, &r, 4096, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    pattern_fill(r.mem, 32, 1);
    must_rc(post_send(&p.a, &r, 0, 32, 1), DAT_SUCCESS, "dat_ep_post_send");
    for (bool good = true; good && sent < count; sent += good) {
        must_rc(post_recv(&p.a, &r, 1024, 32, 2), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.b, &r, 2048, 32, 3), DAT_SUCCESS, "dat_ep_post_send");
        good = wait_dto(p.a.recv, 2, DAT_DTO_SUCCESS, NULL) && wait_dto(p.b.req, 3, DAT_DTO_SUCCESS, NULL);
    }
    ok(sent == count, "%u messages pass one that waits", count);
    must_rc(post_recv(&p.b, &r, 512, 32, 4), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_dto(p.b.recv, 4, DAT_DTO_SUCCESS, NULL) && pattern_check(r.mem + 512, 32, 1) < 0 &&
           wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL),
       "then it arrives");
    must_rc(post_recv(&p.a, &r, 1024, 32, 5), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.b, &r, 2048, 32, 6), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(p.a.recv, 5, DAT_DTO_SUCCESS, NULL) && wait_dto(p.b.req, 6, DAT_DTO_SUCCESS, NULL) &&
           quiet(p.a.conn) && quiet(p.b.conn),
       "and the connection goes on");
    pair_close(&p);
    region_free(&r);
}

/*
 * A long message and a longer write cross in opposite directions. In the shm ring, the message stays at
 * the head all the time.
 */
static void both_ways(struct fx *fx)
{
    const size_t message = 2 << 20, write = 6 << 20;
    struct pair p;
    struct region from, to;
    DAT_EP_ATTR attr;
    bool good = true;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = write;
    region_make(fx, &from, message + write, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &to, message + write, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, fx, &attr);
    pattern_fill(from.mem, message, 1);
    pattern_fill(from.mem + message, write, 2);
    for (int round = 0; good && round < 3; round++) {
        memset(to.mem, 0, message + write);
        must_rc(post_recv(&p.b, &to, 0, message, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &from, 0, message, 2), DAT_SUCCESS, "dat_ep_post_send");
        must_rc(post_write(&p.b, &from, message, write, target(&to, message, write), 3), DAT_SUCCESS,
                "dat_ep_post_rdma_write");
        good = wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(p.b.req, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(to.mem, message, 1) < 0 &&
               pattern_check(to.mem + message, write, 2) < 0;
    }
    ok(good && quiet(p.a.conn) && quiet(p.b.conn), "a long message and a longer write pass each other");
    pair_close(&p);
    region_free(&from);
    region_free(&to);
}

/* On iWARP, a message without a receive ends the connection at both ends, and all work is flushed. */
static void lost(struct fx *fx)
{
    struct pair p;
    struct region r;
    DAT_EVENT e;

    region_make(fx, &r, 4096, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.a, &r, 64, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_event(p.b.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                    e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
       "no receive: the connection ends for the receiver");
    ok(wait_event(p.a.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                    e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
       "no receive: the connection ends for the sender");
    is_int(drain_dtos(p.a.req, 1), 1, "no receive: the send completes");
    ok(wait_dto(p.a.recv, 1, DAT_DTO_ERR_FLUSHED, NULL), "no receive: the sender's own receive is flushed");
    must_rc(post_recv(&p.b, &r, 0, 64, 3), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_dto(p.b.recv, 3, DAT_DTO_ERR_FLUSHED, NULL), "no receive: one that comes later is flushed");
    pair_close(&p);
    region_free(&r);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "latecomer", latecomer }, { NULL, NULL } };
    static const size_t sizes[] = { 1, 64, 5000, 70000, 3 << 20 };
    struct fx fx;

    env_init(argc, argv, roles);
    fx_open(&fx);
    if (env_is_iwarp()) {
        lost(&fx);
        both_ways(&fx);
        fx_close(&fx);
        return done_testing();
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        one(&fx, sizes[i]);
    many(&fx);
    long_wait(&fx);
    both_ways(&fx);
    others_continue(&fx);
    between_processes(&fx);
    fx_close(&fx);
    return done_testing();
}
