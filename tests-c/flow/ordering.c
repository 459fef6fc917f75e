/* ordering.c - the order of messages, completions and failures. */
#include "common/fixture.h"

#include <string.h>

/*
 * Number of receives that the receiver keeps posted, and the size of each. On iWARP the receiver reports
 * each receive that it posts, because there a completed send does not prove that its message had a receive.
 */
#define WINDOW 16
#define MAX_LENGTH 40000

static size_t length_of(unsigned i)
{
    static const size_t mixed[] = { 1, 64, 0, 4096, 17, MAX_LENGTH, 300, 8192, 2, 12000 };

    return mixed[i % (sizeof mixed / sizeof mixed[0])];
}

static int receiver(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    int messages, wrong = 0;

    must(LINK_RECV(up, messages), "no orders");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, WINDOW * MAX_LENGTH, MEM_LOCAL);
    for (int i = 0; i < WINDOW && i < messages; i++)
        must_rc(post_recv(&s, &r, (size_t)i * MAX_LENGTH, MAX_LENGTH, (DAT_UINT64)i), DAT_SUCCESS,
                "dat_ep_post_recv");
    side_accept_peer(&s, up);
    for (int i = 0; i < messages; i++) {
        size_t at = (size_t)(i % WINDOW) * MAX_LENGTH;
        DAT_EVENT e;

        if (!wait_dto(s.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, &e) ||
            e.event_data.dto_completion_event_data.transfered_length != length_of((unsigned)i) ||
            pattern_check(r.mem + at, length_of((unsigned)i), (unsigned)i) >= 0)
            wrong++;
        if (i + WINDOW < messages) {
            must_rc(post_recv(&s, &r, at, MAX_LENGTH, (DAT_UINT64)(i + WINDOW)), DAT_SUCCESS,
                    "dat_ep_post_recv");
            if (env_is_iwarp())
                link_say(up, "posted");
        }
        if (wrong > 3)
            break;
    }
    must(LINK_SEND(up, wrong), "the other process has exited");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void messages(struct fx *fx)
{
    int n = env_count(5000, 300), wrong = -1, out_of_order = 0;
    struct peer p;
    struct side s;
    struct region r;
    int posted = 0, completed = 0;

    peer_start(&p, "receiver");
    must(LINK_SEND(&p.link, n), "the other process has exited");
    side_make(&s, fx, NULL);
    region_make(fx, &r, WINDOW * MAX_LENGTH, MEM_LOCAL);
    side_connect_peer(&s, &p.link);
    while (completed < n) {
        while (posted < n && posted - completed < WINDOW) {
            size_t at = (size_t)(posted % WINDOW) * MAX_LENGTH;

            if (env_is_iwarp() && posted >= WINDOW)
                must(link_hear(&p.link, "posted"), "the other process does not answer");
            pattern_fill(r.mem + at, length_of((unsigned)posted), (unsigned)posted);
            must_rc(post_send(&s, &r, at, length_of((unsigned)posted), (DAT_UINT64)posted),
                    DAT_SUCCESS, "dat_ep_post_send");
            posted++;
        }
        if (!wait_dto(s.req, (DAT_UINT64)completed, DAT_DTO_SUCCESS, NULL) && ++out_of_order > 3)
            break;
        completed++;
    }
    is_int(out_of_order, 0, "dat_ep_post_send: %d of mixed sizes: complete in posting order", n);
    must(LINK_RECV(&p.link, wrong), "the other process does not answer");
    is_int(wrong, 0, "dat_ep_post_recv: %d of mixed sizes: all bytes, in order", n);
    link_say(&p.link, "bye");
    peer_ok(&p, "two processes: the receiver ends well");
    side_free(&s);
    region_free(&r);
}

/* Soft-iWARP completes a send or write before an earlier read, but its event follows the data of that read. */
static void mixed(struct fx *fx)
{
    enum { REQUESTS = 25, LONG = 30000 };
    struct pair p;
    struct region r, t, in;
    int good = 1, whole = 1, rounds = env_count(50, 5);

    region_make(fx, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &t, 2 * 65536, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &in, REQUESTS * LONG, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(r.mem, LONG, 7);
    pattern_fill(t.mem, LONG, 7);
    pair_open(&p, fx, NULL);
    for (int round = 0; round < rounds; round++) {
        memset(in.mem, 0, REQUESTS * LONG);
        for (unsigned i = 0; i < 9; i++)
            must_rc(post_recv(&p.b, &t, 65536 + i * 64, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        for (unsigned i = 0; i < REQUESTS; i++) {
            size_t n = i % 2 ? 40 : LONG;
            DAT_RETURN rc = i % 3 == 0   ? post_send(&p.a, &r, 0, 40, i)
                            : i % 3 == 1 ? post_write(&p.a, &r, 0, n, target(&t, 0, n), i)
                                         : post_read(&p.a, &in, i * LONG, n, target(&t, 0, n), i);

            must_rc(rc, DAT_SUCCESS, "posting");
        }
        for (unsigned i = 0; i < REQUESTS; i++) {
            good &= wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL);
            if (i % 3 == 2)
                whole &= pattern_check(in.mem + i * LONG, i % 2 ? 40 : LONG, 7) < 0;
        }
        for (unsigned i = 0; i < 9; i++)
            good &= wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, NULL);
    }
    ok(good, "sends, writes and reads: complete in posting order");
    ok(whole, "sends, writes and reads: each read has its data when it completes");
    pair_close(&p);
    region_free(&r);
    region_free(&t);
    region_free(&in);
}

static void failure(struct fx *fx)
{
    struct pair p;
    struct region r, t;
    DAT_RMR_TRIPLET good_target, bad;
    int successes = 0, flushed = 0;

    if (env_is_iwarp()) {
        skip_named("a failing request", "on iWARP a refused write ends the connection without an answer");
        return;
    }
    region_make(fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &t, 4096, DAT_MEM_PRIV_ALL_FLAG);
    good_target = target(&t, 0, 64);
    bad = target(&t, 4096 - 32, 64);
    pair_open(&p, fx, NULL);
    for (unsigned i = 0; i < 5; i++)
        must_rc(post_recv(&p.a, &r, 1024, 64, 100 + i), DAT_SUCCESS, "dat_ep_post_recv");
    for (unsigned i = 0; i < 20; i++)
        must_rc(post_write(&p.a, &r, 0, 64, i == 7 ? bad : good_target, i), DAT_SUCCESS,
                "dat_ep_post_rdma_write");
    for (unsigned i = 0; i < 7; i++)
        successes += wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL);
    is_int(successes, 7, "a failing request: those before it succeed");
    ok(wait_dto(p.a.req, 7, DAT_DTO_ERR_REMOTE_ACCESS, NULL), "a failing request: its own status");
    for (unsigned i = 8; i < 20; i++)
        flushed += wait_dto(p.a.req, i, DAT_DTO_ERR_FLUSHED, NULL);
    is_int(flushed, 12, "a failing request: those after it are flushed, in order");
    for (unsigned i = 0; i < 5; i++)
        flushed += wait_dto(p.a.recv, 100 + i, DAT_DTO_ERR_FLUSHED, NULL);
    is_int(flushed, 17, "a failing request: receives are flushed, in order");
    ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_BROKEN), "a failing request: BROKEN");
    ok(quiet(p.a.conn) && quiet(p.a.req) && quiet(p.a.recv), "a failing request: nothing else comes");
    pair_close(&p);
    region_free(&r);
    region_free(&t);
}

/* On a common EVD, ESTABLISHED precedes all receive completions. */
static void established_first(struct fx *fx)
{
    enum { ROUNDS = 20 };
    struct region r;
    int right = 0, rounds = env_count(ROUNDS, 5);

    region_make(fx, &r, 4096, MEM_LOCAL);
    for (int i = 0; i < rounds; i++) {
        struct side a, b;
        DAT_EVD_HANDLE all;
        DAT_EP_ATTR attr;
        DAT_EVENT first, second;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);

        attr_default(&attr);
        side_make(&a, fx, NULL);
        side_make(&b, fx, NULL);
        all = fx_evd(fx, 16, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
        must_rc(dat_ep_free(b.ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_ep_create(fx->ia, fx->pz, all, all, all, &attr, &b.ep), DAT_SUCCESS,
                "dat_ep_create");
        must_rc(post_recv(&b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        must_rc(dat_cr_accept(next_request(fx->cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        must(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
        must_rc(post_send(&a, &r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        right += wait_event(all, &first) && wait_event(all, &second) &&
                 first.event_number == DAT_CONNECTION_EVENT_ESTABLISHED &&
                 second.event_number == DAT_DTO_COMPLETION_EVENT;
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
        must_rc(dat_ep_free(b.ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_evd_free(all), DAT_SUCCESS, "dat_evd_free");
        b.ep = DAT_HANDLE_NULL;
        side_free(&b);
        side_free(&a);
    }
    is_int(right, rounds, "ESTABLISHED comes before the first message");
    region_free(&r);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "receiver", receiver }, { NULL, NULL } };
    struct fx fx;

    env_init(argc, argv, roles);
    fx_open(&fx);
    mixed(&fx);
    failure(&fx);
    established_first(&fx);
    messages(&fx);
    fx_close(&fx);
    return done_testing();
}
