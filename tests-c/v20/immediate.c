/* immediate.c - RDMA writes with immediate data: dat_ib_post_rdma_write_immed. */
#include "v20/extended.h"

#include "common/stage.h"
#include "common/zoo.h"

#include <string.h>

#define NAME "dat_ib_post_rdma_write_immed"

static struct fx fx;
static struct region here, there;

/* Returns whether the next receive event is a write with immediate data, with this receive, value and length. */
static bool arrived(struct side *s, DAT_UINT64 receive, DAT_UINT32 value, size_t length)
{
    DAT_EVENT e;

    if (!wait_extended(s->recv, s->ep, receive, DAT_IB_DTO_RECV_IMMED, DAT_DTO_SUCCESS, &e))
        return false;
    if (extension(&e)->val.immed.data == value &&
        e.event_data.dto_completion_event_data.transfered_length == length)
        return true;
    diag("value 0x%x length %u", (unsigned)extension(&e)->val.immed.data,
         (unsigned)e.event_data.dto_completion_event_data.transfered_length);
    return false;
}

static bool completed(struct side *s, DAT_UINT64 c, size_t length)
{
    DAT_EVENT e;

    return wait_extended(s->req, s->ep, c, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.transfered_length == length;
}

static void one_write(void)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    pattern_fill(here.mem, 3000, 5);
    memset(there.mem, 0, 8192);
    memset(there.mem + 4096, 0xee, 64);
    must_rc(post_recv(&p.b, &there, 4096, 64, 41), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post_immediate(&p.a, &here, 0, 3000, target(&there, 100, 3000), 0x12345678u, 42),
               NAME ": 3000 bytes: success");
    ok(arrived(&p.b, 41, 0x12345678u, 3000), NAME ": the receive ends with the value and the length of the write");
    ok(pattern_check(there.mem + 100, 3000, 5) < 0 && all_bytes(there.mem, 100, 0) &&
           all_bytes(there.mem + 3100, 900, 0),
       NAME ": the bytes are where the write names");
    ok(all_bytes(there.mem + 4096, 64, 0xee), NAME ": the buffer of the receive is untouched");
    ok(completed(&p.a, 42, 3000), NAME ": the request ends");
    ok(quiet(p.a.req) && quiet(p.b.recv) && quiet(p.b.req), NAME ": no other event");
    ok(sides_talk(&p.a, &p.b), NAME ": messages go on");
    pair_close(&p);
}

/* Sends several values. The receives are smaller than the writes, or have no segment. */
static void values(void)
{
    static const DAT_UINT32 all[] = { 0, 1, 0x80000000u, 0xffffffffu, 0x01020304u };
    struct pair p;
    int good = 0;

    pair_open(&p, &fx, NULL);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        must_rc(post_recv(&p.b, &there, 4096, i, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_immediate(&p.a, &here, 0, 500 * i, target(&there, 0, 500 * i), all[i], 100 + i),
                DAT_SUCCESS, NAME);
        good += arrived(&p.b, i, all[i], 500 * i) && completed(&p.a, 100 + i, 500 * i);
    }
    is_int(good, (int)(sizeof all / sizeof *all), NAME ": any value arrives, whatever the receive holds");
    pair_close(&p);
}

/* A write without bytes ignores the remote segment. */
static void nothing(void)
{
    struct pair p;
    DAT_RMR_TRIPLET rubbish;

    pair_open(&p, &fx, NULL);
    memset(&rubbish, 0xa5, sizeof rubbish);
    must_rc(post_recv(&p.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post_immediate(&p.a, &here, 0, 0, rubbish, 77, 2), NAME ": no segment: success");
    ok(arrived(&p.b, 1, 77, 0), NAME ": no segment: the value arrives");
    ok(completed(&p.a, 2, 0), NAME ": no segment: the request ends");
    pair_close(&p);
}

static void waits_for_a_receive(void)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    pattern_fill(here.mem, 64, 9);
    must_rc(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), 5, 1), DAT_SUCCESS, NAME);
    must_rc(post_send(&p.a, &here, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(quiet(p.b.recv), NAME ": no receive: nothing ends at the target");
    ok(quiet(p.a.req), NAME ": no receive: the request and what follows wait");
    must_rc(post_recv(&p.b, &there, 4096, 64, 3), DAT_SUCCESS, "dat_ep_post_recv");
    ok(arrived(&p.b, 3, 5, 64), NAME ": a receive is posted: the value arrives");
    ok(completed(&p.a, 1, 64), NAME ": a receive is posted: the request ends");
    must_rc(post_recv(&p.b, &there, 4096, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_dto(p.b.recv, 4, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(there.mem + 4096, 64, 9) < 0,
       NAME ": the message behind it arrives in the next receive");
    pair_close(&p);
}

/* Writes with immediate data and messages in turn complete in order. Every fourth request has no completion. */
static void order(void)
{
    enum { N = 60 };
    struct pair p;
    DAT_EVENT e;
    int good = 0, ends = 0;

    pair_open(&p, &fx, NULL);
    for (int i = 0; i < N; i++) {
        DAT_LMR_TRIPLET local = segment(&here, 0, 128);
        DAT_RMR_TRIPLET to = target(&there, 0, 128);
        DAT_UINT64 c = (DAT_UINT64)i;

        must_rc(post_recv(&p.b, &there, 4096, 128, c), DAT_SUCCESS, "dat_ep_post_recv");
        if (i % 2 == 0)
            must_rc(dat_ib_post_rdma_write_immed(p.a.ep, 1, &local, cookie(c), &to, (DAT_UINT32)i * 3u,
                                                 i % 4 == 0 ? DAT_COMPLETION_SUPPRESS_FLAG
                                                            : DAT_COMPLETION_BARRIER_FENCE_FLAG),
                    DAT_SUCCESS, NAME);
        else
            must_rc(post_send(&p.a, &here, 0, 128, c), DAT_SUCCESS, "dat_ep_post_send");
        good += i % 2 == 0 ? arrived(&p.b, c, (DAT_UINT32)i * 3u, 128)
                           : wait_dto(p.b.recv, c, DAT_DTO_SUCCESS, NULL);
        if (i % 4 != 0)
            ends += i % 2 == 0 ? completed(&p.a, c, 128) : wait_dto(p.a.req, c, DAT_DTO_SUCCESS, &e);
    }
    is_int(good, N, NAME ": between messages: each takes one receive, in order");
    is_int(ends, N - N / 4, NAME ": between messages: ends come in order, none where SUPPRESS asks for none");
    ok(quiet(p.a.req), NAME ": SUPPRESS: no completion");
    pair_close(&p);
}

/* Both sides write concurrently. Each side has one EVD for requests and receives. */
static void both_ways(void)
{
    enum { N = 8 };
    struct pair p;
    DAT_EP_ATTR attr;
    int writes = 0, receives = 0;

    attr_default(&attr);
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 2; i++) {
        struct side *s = i == 0 ? &p.a : &p.b;

        s->fx = &fx;
        s->recv = s->req = fx_evd(&fx, 4 * N, DAT_EVD_DTO_FLAG);
        s->conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
        must_rc(dat_ep_create(fx.ia, fx.pz, s->recv, s->req, s->conn, &attr, &s->ep), DAT_SUCCESS, "dat_ep_create");
    }
    sides_connect(&p.a, &p.b);
    for (unsigned i = 0; i < N; i++) {
        must_rc(post_recv(&p.a, &there, 4096, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_recv(&p.b, &there, 4096, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    }
    for (unsigned i = 0; i < N; i++) {
        must_rc(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), i, 100 + i), DAT_SUCCESS, NAME);
        must_rc(post_immediate(&p.b, &here, 0, 64, target(&there, 64, 64), i, 100 + i), DAT_SUCCESS, NAME);
    }
    for (unsigned i = 0; i < 4 * N; i++) {
        struct side *s = i % 2 == 0 ? &p.a : &p.b;
        DAT_EVENT e;
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

        if (!wait_number(s->recv, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &e))
            break;
        if ((int)d->operation == DAT_IB_DTO_RECV_IMMED)
            receives += d->status == DAT_DTO_SUCCESS && extension(&e)->val.immed.data == d->user_cookie.as_64;
        else
            writes += d->status == DAT_DTO_SUCCESS && (int)d->operation == DAT_IB_DTO_RDMA_WRITE_IMMED;
    }
    is_int(receives, 2 * N, NAME ": both ways, one EVD: each value arrives with its receive");
    is_int(writes, 2 * N, NAME ": both ways, one EVD: each request ends");
    must_rc(dat_ep_free(p.a.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
}

static void through_an_srq(void)
{
    DAT_SRQ_ATTR attr = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq;
    DAT_LMR_TRIPLET local = segment(&there, 4096, 64);
    struct pair p;

    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    side_make(&p.a, &fx, NULL);
    side_make_srq(&p.b, &fx, srq, NULL);
    sides_connect(&p.a, &p.b);
    must_rc(dat_srq_post_recv(srq, 1, &local, cookie(71)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(dat_srq_post_recv(srq, 1, &local, cookie(72)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), 0xfeedu, 1), DAT_SUCCESS, NAME);
    ok(arrived(&p.b, 71, 0xfeedu, 64), NAME ": through a shared receive queue: value, length, the endpoint");
    ok(completed(&p.a, 1, 64), NAME ": through a shared receive queue: the request ends");
    must_rc(post_send(&p.a, &here, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(p.b.recv, 72, DAT_DTO_SUCCESS, NULL), NAME ": through a shared receive queue: a message behind it");
    side_free(&p.a);
    side_free(&p.b);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/* The target has no remote write privilege: the request fails, and the receive is flushed as an ordinary receive. */
static void refused_by_the_target(void)
{
    struct region readable;
    struct pair p;

    region_make(&fx, &readable, 4096, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &there, 0, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_immediate(&p.a, &here, 0, 64, target(&readable, 0, 64), 6, 5), DAT_SUCCESS, NAME);
    ok(wait_extended(p.a.req, p.a.ep, 5, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_ERR_REMOTE_ACCESS, NULL),
       NAME ": the target may not be written: the request ends as REMOTE_ACCESS");
    ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_BROKEN), NAME ": the target may not be written: BROKEN");
    ok(wait_dto(p.b.recv, 4, DAT_DTO_ERR_FLUSHED, NULL),
       NAME ": the target may not be written: the receive ends as an ordinary one, FLUSHED");
    ok(all_bytes(readable.mem, 64, 0), NAME ": the target may not be written: nothing was");
    pair_close(&p);
    region_free(&readable);
}

static void flushed(void)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    must_rc(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), 6, 5), DAT_SUCCESS, NAME);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_extended(p.a.req, p.a.ep, 5, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_ERR_FLUSHED, NULL),
       NAME ": waits for a receive, disconnected: FLUSHED, with its operation and type");
    must_rc(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), 6, 7), DAT_SUCCESS, NAME);
    ok(wait_extended(p.a.req, p.a.ep, 7, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_ERR_FLUSHED, NULL),
       NAME ": DISCONNECTED: FLUSHED, with its operation and type");
    pair_close(&p);
}

static void states(void)
{
    for (int i = 0; i < STAGE_STATES; i++) {
        DAT_EP_STATE state = stage_states[i];
        struct stage g;
        const char *why;
        struct side s;

        if (state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED ||
            state == DAT_EP_STATE_DISCONNECT_PENDING)
            continue;
        if (!stage_open(&g, state, &why)) {
            skip_named(stage_name(state), why);
            continue;
        }
        s = g.side;
        s.ep = g.ep;
        is_code(post_immediate(&s, &g.region, 0, 64, target(&g.region, 1024, 64), 1, 1), DAT_INVALID_STATE,
                stage_subtype(state), "dat_extension_op: " NAME ", %s: DAT_INVALID_STATE", stage_name(state));
        stage_close(&g);
    }
}

static DAT_RETURN with_ep(DAT_HANDLE ep, void *arg)
{
    struct region *r = arg;
    DAT_LMR_TRIPLET local = segment(r, 0, 64);
    DAT_RMR_TRIPLET to = target(r, 64, 64);

    return dat_ib_post_rdma_write_immed(ep, 1, &local, cookie(1), &to, 1, DAT_COMPLETION_DEFAULT_FLAG);
}

static void parameters(void)
{
    struct zoo z;
    struct pair p;
    DAT_LMR_TRIPLET local = segment(&here, 0, 64), many[64];
    DAT_RMR_TRIPLET to = target(&there, 0, 64);
    DAT_EP_PARAM param;
    DAT_EP_HANDLE ep;
    DAT_COUNT n;

    zoo_open(&z);
    zoo_sweep(&z, "dat_extension_op, " NAME, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, with_ep, &z.region);
    zoo_intact(&z, NAME);
    zoo_close(&z);

    pair_open(&p, &fx, NULL);
    ep = p.a.ep;
    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    n = param.ep_attr.max_rdma_write_iov;
#define POST(n, iov, to, flags) \
    dat_ib_post_rdma_write_immed(ep, n, iov, cookie(1), to, 9, (DAT_COMPLETION_FLAGS)(flags))
    is_code(POST(-1, &local, &to, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_extension_op: " NAME ", segment count -1: DAT_INVALID_PARAMETER");
    is_code(POST(0x7fffffff, &local, &to, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_extension_op: " NAME ", 2^31 - 1 segments: DAT_INVALID_PARAMETER");
    if (n < 64) {
        for (int i = 0; i < 64; i++)
            many[i] = segment(&here, (size_t)i, 1);
        is_code(POST(n + 1, many, &to, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                "dat_extension_op: " NAME ", one segment more than the endpoint allows: DAT_INVALID_PARAMETER");
    }
    is_code(POST(1, NULL, &to, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_extension_op: " NAME ", list NULL with a count: DAT_INVALID_PARAMETER");
    is_code(POST(1, &local, NULL, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_extension_op: " NAME ", remote segment NULL: DAT_INVALID_PARAMETER");
    is_code(POST(1, &local, &to, 0x100), DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_extension_op: " NAME ", unknown flag: DAT_INVALID_PARAMETER");
    is_code(POST(1, &local, &to, DAT_COMPLETION_UNSIGNALLED_FLAG), DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_extension_op: " NAME ", UNSIGNALLED without such an endpoint: DAT_INVALID_PARAMETER");
    to.segment_length = 63;
    is_type(POST(1, &local, &to, 0), DAT_LENGTH_ERROR,
            "dat_extension_op: " NAME ", the sink is too small: DAT_LENGTH_ERROR");
    to.segment_length = 64;
    local.lmr_context ^= 0x40000000u;
    is_type(POST(1, &local, &to, 0), DAT_PRIVILEGES_VIOLATION,
            "dat_extension_op: " NAME ", unknown LMR context: DAT_PRIVILEGES_VIOLATION");
    local = segment(&here, here.size - 63, 64);
    is_type(POST(1, &local, &to, 0), DAT_INVALID_PARAMETER,
            "dat_extension_op: " NAME ", segment beyond its LMR: DAT_INVALID_PARAMETER");
#undef POST
    ok(quiet(p.a.req), NAME ": refused: no completion comes");
    is_state(ep_state(ep), DAT_EP_STATE_CONNECTED, NAME ": refused: still CONNECTED");
    pair_close(&p);
}

/* ---- between processes ---- */

enum { ROUNDS = 200 };

/* Role: writes with growing lengths. The immediate value is the length. */
static int writer(struct link *up)
{
    struct fx own;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET to;

    fx_open(&own);
    side_make(&s, &own, NULL);
    region_make(&own, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    must(LINK_RECV(up, to), "no target");
    for (unsigned i = 0; i < ROUNDS; i++) {
        DAT_RMR_TRIPLET part = to;

        pattern_fill(r.mem, i * 200, i);
        part.segment_length = i * 200;
        must_rc(post_immediate(&s, &r, 0, i * 200, part, i * 200, i), DAT_SUCCESS, NAME);
        must(wait_extended(s.req, s.ep, i, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_SUCCESS, NULL), "write %u", i);
        must(link_hear(up, "next"), "no word");
    }
    must(link_hear(up, "bye"), "no word");
    fx_close(&own);
    return 0;
}

static void between_processes(void)
{
    struct peer p;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET to;
    int good = 0;

    peer_start(&p, "writer");
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(post_recv(&s, &there, 0, 16, 0), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, &p.link);
    to = target(&r, 0, r.size);
    LINK_SEND(&p.link, to);
    for (unsigned i = 0; i < ROUNDS; i++) {
        bool fine = arrived(&s, i, i * 200, i * 200) && pattern_check(r.mem, i * 200, i) < 0;

        if (!fine)
            diag("write %u", i);
        good += fine;
        must_rc(post_recv(&s, &there, 0, 16, i + 1), DAT_SUCCESS, "dat_ep_post_recv");
        link_say(&p.link, "next");
    }
    is_int(good, ROUNDS, NAME ": two processes: the bytes are there when the value comes");
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": two processes: the other one ends well");
    side_free(&s);
    region_free(&r);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "writer", writer }, STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &here, 65536, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 65536, DAT_MEM_PRIV_ALL_FLAG);
    if (!announces(&fx, DAT_IB_ATTR_IMMED_DATA)) {
        struct pair p;

        /* For example, iWARP has no RDMA write with immediate data. */
        pair_open(&p, &fx, NULL);
        ok(post_immediate(&p.a, &here, 0, 64, target(&there, 0, 64), 1, 1) == NOT_IMPLEMENTED,
                NAME ": not announced: DAT_NOT_IMPLEMENTED");
        ok(quiet(p.a.req) && sides_talk(&p.a, &p.b), NAME ": not announced: messages go on");
        pair_close(&p);
        fx_close(&fx);
        return done_testing();
    }
    one_write();
    values();
    nothing();
    waits_for_a_receive();
    order();
    both_ways();
    through_an_srq();
    refused_by_the_target();
    flushed();
    states();
    parameters();
    between_processes();
    fx_close(&fx);
    return done_testing();
}
