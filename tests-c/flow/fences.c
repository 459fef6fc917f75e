/*
 * fences.c - a request with BARRIER_FENCE uses what earlier RDMA reads and atomic operations bring.
 *
 * The earlier requests cannot execute before the fenced one is posted: the other process is stopped, and a software
 * device does not hear of them. So a transport that takes bytes during the post takes old ones.
 */
#define _POSIX_C_SOURCE 200809L
#if UDAPL == 20
#include "v20/extended.h"
#include "v20/windows.h"
#else
#include "common/fixture.h"
#define ALL_AND_ATOMIC DAT_MEM_PRIV_ALL_FLAG
#endif
#include "verbs/doorbell.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Around the limits of inline data (64, 128), of short records (512) and of records in a ring (8192). */
static const size_t lengths[] = { 0, 1, 8, 64, 65, 128, 129, 512, 513, 4096, 8192, 8193, 65536 };

enum { LENGTHS = sizeof lengths / sizeof *lengths, AREA = 1 << 18, WORD = 8, OLD = 0xee };

/* The requests before the fenced one; READS are several, of which the last brings the bytes. */
enum first { READ, READS, LONG_READ, ADD, SWAP, FIRSTS };
/* The last two send an ordinary message behind a fenced write of 0 bytes, and behind a fenced bind. */
enum fenced { SEND, WRITE, INVALIDATE, IMMEDIATE, BEHIND_WRITE, BEHIND_BIND, FENCED };

static const char *const first_names[FIRSTS] = { "a read", "reads", "a long read", "an addition", "a swap" };
static const char *const fenced_names[FENCED] = { "dat_ep_post_send", "dat_ep_post_rdma_write",
                                                  "dat_ep_post_send_with_invalidate",
                                                  "dat_ib_post_rdma_write_immed",
                                                  "dat_ep_post_rdma_write, then dat_ep_post_send",
                                                  "dat_rmr_bind, then dat_ep_post_send" };

struct round {
    int first, fenced;
    size_t len;
    unsigned seed;
};

/* The place of the fenced request's bytes. */
static size_t place(const struct round *o)
{
    return o->first == LONG_READ ? AREA - o->len : 0;
}

/* Returns whether the next event is a successful completion with this cookie, of a transfer or a bind. */
static bool completes(DAT_EVD_HANDLE evd, DAT_UINT64 c)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    if (!wait_event(evd, &e))
        return false;
    if (e.event_number == DAT_RMR_BIND_COMPLETION_EVENT)
        return e.event_data.rmr_completion_event_data.user_cookie.as_64 == c &&
               e.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS;
    if (d->user_cookie.as_64 == c && d->status == DAT_DTO_SUCCESS)
        return true;
    REMARK("%s: cookie %llu instead of %llu, %s", event_text(e.event_number),
           (unsigned long long)d->user_cookie.as_64, (unsigned long long)c, status_text(d->status));
    return false;
}

/* ---- The other process: its first area is read and changed, its second area receives ---- */

static DAT_RMR_CONTEXT window(struct side *s, const struct region *r, int fenced)
{
    DAT_RMR_CONTEXT context = 0;

#if UDAPL == 20
    static DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;

    if (fenced != INVALIDATE)
        return context;
    if (rmr == DAT_HANDLE_NULL)
        must_rc(dat_rmr_create_for_ep(s->fx->pz, &rmr), DAT_SUCCESS, "dat_rmr_create_for_ep");
    must_bind(s, rmr, r->lmr, segment(r, 0, WORD), READ_WRITE, DAT_VA_TYPE_VA, &context);
#else
    (void)s, (void)r, (void)fenced;
#endif
    return context;
}

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct round o;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 2 * AREA, ALL_AND_ATOMIC);
    side_accept_peer(&s, up);
    must(link_send_target(up, target(&r, 0, 2 * AREA)), "the other process is gone");
    while (LINK_RECV(up, o) && o.first < FIRSTS) {
        DAT_RMR_CONTEXT context = window(&s, &r, o.fenced);
        bool good;

        pattern_fill(r.mem + place(&o), o.len > WORD ? o.len : WORD, o.seed);
        memset(r.mem + AREA, 0, o.len);
        if (o.fenced != WRITE)
            must_rc(post_recv(&s, &r, AREA, o.len, o.seed), DAT_SUCCESS, "dat_ep_post_recv");
        must(LINK_SEND(up, context) && link_hear(up, "look"), "the other process is gone");
        good = (o.fenced == WRITE || completes(s.recv, o.seed)) && written(r.mem + AREA, o.len, o.seed);
        must(LINK_SEND(up, good), "the other process is gone");
    }
    fx_close(&fx);
    return 0;
}

/* ---- This process ---- */

static struct fx fx;
static struct side s;
static struct region near;
static struct peer other;
static DAT_RMR_TRIPLET there;
static DAT_RMR_HANDLE rmr;

static DAT_RMR_TRIPLET part(size_t at, size_t len)
{
    DAT_RMR_TRIPLET t = there;

    t.target_address += at;
    t.segment_length = len;
    return t;
}

static void hold(void)
{
    if (env_has_device())
        doorbell_hold();
    else
        must(kill(other.pid, SIGSTOP) == 0 && waitpid(other.pid, NULL, WUNTRACED) == other.pid,
             "the other process cannot be stopped");
}

static void release(void)
{
    if (env_has_device())
        doorbell_ring();
    else
        kill(other.pid, SIGCONT);
}

/* Posts the requests that bring the bytes, with cookies from 1. Returns their number. */
static DAT_UINT64 post_first(const struct round *o)
{
    DAT_UINT64 c = 0;
    size_t len = o->len > 0 ? o->len : WORD;

    if (o->first == READS)
        for (size_t i = 1; i <= 2; i++)
            must_rc(post_read(&s, &near, AREA, i * 100, part(AREA, i * 100), ++c), DAT_SUCCESS, "dat_ep_post_rdma_read");
#if UDAPL == 20
    if (o->first == ADD || o->first == SWAP) {
        must_rc(o->first == ADD ? post_fetch_add(&s, &near, 0, part(0, WORD), 1, ++c)
                                : post_cmp_swap(&s, &near, 0, part(0, WORD), 1, 2, ++c),
                DAT_SUCCESS, "an atomic operation");
        return c;
    }
#endif
    if (o->first == LONG_READ)
        len = AREA;
    must_rc(post_read(&s, &near, 0, len, part(0, len), ++c), DAT_SUCCESS, "dat_ep_post_rdma_read");
    return c;
}

/* Posts a fenced request with cookie c. */
static DAT_RETURN post_fenced(const struct round *o, DAT_RMR_CONTEXT context, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET from = segment(&near, place(o), o->len), shown = segment(&near, 0, WORD);
    DAT_RMR_TRIPLET to = part(AREA, o->len), none = part(AREA, 0);
    DAT_COUNT n = o->len > 0;
    DAT_RMR_CONTEXT own;

    switch (o->fenced) {
    case SEND: return dat_ep_post_send(s.ep, n, &from, cookie(c), DAT_COMPLETION_BARRIER_FENCE_FLAG);
#if UDAPL == 20
    case INVALIDATE:
        return dat_ep_post_send_with_invalidate(s.ep, n, &from, cookie(c), DAT_COMPLETION_BARRIER_FENCE_FLAG, DAT_TRUE,
                                                context);
    case IMMEDIATE:
        return dat_ib_post_rdma_write_immed(s.ep, n, &from, cookie(c), &to, 7, DAT_COMPLETION_BARRIER_FENCE_FLAG);
#endif
    case BEHIND_WRITE:
        return dat_ep_post_rdma_write(s.ep, 0, &from, cookie(c), &none, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    case BEHIND_BIND:
        return bind_to_lmr(rmr, near.lmr, &shown, DAT_MEM_PRIV_REMOTE_READ_FLAG, s.ep, cookie(c),
                           DAT_COMPLETION_BARRIER_FENCE_FLAG, &own);
    default:
        (void)context;
        return dat_ep_post_rdma_write(s.ep, n, &from, cookie(c), &to, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    }
}

/* Returns whether a fenced request, or one behind it, carries the bytes that the requests before it bring. */
static bool carries(const struct round *o)
{
    DAT_RMR_CONTEXT context = 0;
    DAT_UINT64 last;
    bool good = true;

    memset(near.mem, OLD, AREA);
    if (o->first == ADD || o->first == SWAP) {
        pattern_fill(near.mem, o->len, o->seed);
        memset(near.mem, OLD, WORD);
    }
    must(LINK_SEND(&other.link, *o) && LINK_RECV(&other.link, context), "the other process is gone");
    hold();
    last = post_first(o) + 1;
    must_rc(post_fenced(o, context, last), DAT_SUCCESS, "%s", fenced_names[o->fenced]);
    if (o->fenced == BEHIND_WRITE || o->fenced == BEHIND_BIND)
        must_rc(post_send(&s, &near, place(o), o->len, ++last), DAT_SUCCESS, "dat_ep_post_send");
    release();
    for (DAT_UINT64 c = 1; c <= last; c++)
        must(completes(s.req, c), "a request does not complete in order");
    must(link_say(&other.link, "look") && LINK_RECV(&other.link, good), "the other process is gone");
    if (!good)
        diag("%zu bytes: old bytes", o->len);
    return good;
}

static bool supported(int first, int fenced)
{
#if UDAPL == 20
    if ((first == ADD || first == SWAP) && !announces(&fx, DAT_IB_ATTR_FETCH_AND_ADD))
        return false;
    if (fenced == IMMEDIATE && !announces(&fx, DAT_IB_ATTR_IMMED_DATA))
        return false;
#else
    if (first == ADD || first == SWAP || fenced == INVALIDATE || fenced == IMMEDIATE)
        return false;
#endif
    return (fenced != INVALIDATE && fenced != BEHIND_BIND) || fx.max_rmrs > 0;
}

static void between_processes(void)
{
    static struct round o; /* static, so that its padding, which is sent, has a value */
    int rounds = env_count(3, 1);

    peer_start(&other, "partner");
    side_make(&s, &fx, NULL);
    region_make(&fx, &near, 2 * AREA, ALL_AND_ATOMIC);
    if (fx.max_rmrs > 0)
        must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    side_connect_peer(&s, &other.link);
    must(link_recv_target(&other.link, &there), "the other process is gone");
    for (o.first = 0; o.first < FIRSTS; o.first++)
        for (o.fenced = 0; o.fenced < FENCED; o.fenced++) {
            int good = 0;

            if (!supported(o.first, o.fenced))
                continue;
            for (int i = 0; i < rounds * LENGTHS; i++) {
                o.len = lengths[i % LENGTHS];
                o.seed++;
                good += carries(&o);
            }
            is_int(good, rounds * LENGTHS, "%s: BARRIER_FENCE: after %s, 0 to 65536 bytes: the new bytes",
                   fenced_names[o.fenced], first_names[o.first]);
        }
    must(LINK_SEND(&other.link, o), "the other process is gone");
    peer_ok(&other, "BARRIER_FENCE: the other process ends well");
    side_free(&s);
}

/* A fenced read, and for 2.0 a fenced addition, whose source is the destination of a read. */
static void within_process(void)
{
    struct pair p;
    struct region far, end;
    int rounds = env_count(3, 1), reads = 0;

    pair_open(&p, &fx, NULL);
    region_make(&fx, &far, AREA, ALL_AND_ATOMIC);
    region_make(&fx, &end, AREA, ALL_AND_ATOMIC);
    for (int i = 0; i < rounds * LENGTHS; i++) {
        size_t len = lengths[i % LENGTHS] > 0 ? lengths[i % LENGTHS] : AREA;
        DAT_LMR_TRIPLET to = segment(&end, 0, len);
        DAT_RMR_TRIPLET from = target(&near, 0, len);

        pattern_fill(far.mem, len, (unsigned)i);
        memset(near.mem, OLD, len);
        doorbell_hold();
        must_rc(post_read(&p.a, &near, 0, len, target(&far, 0, len), 1), DAT_SUCCESS, "dat_ep_post_rdma_read");
        must_rc(dat_ep_post_rdma_read(p.a.ep, 1, &to, cookie(2), &from, DAT_COMPLETION_BARRIER_FENCE_FLAG), DAT_SUCCESS,
                "dat_ep_post_rdma_read");
        doorbell_ring();
        must(completes(p.a.req, 1) && completes(p.a.req, 2), "a read does not complete in order");
        reads += pattern_check(end.mem, len, (unsigned)i) < 0;
    }
    is_int(reads, rounds * LENGTHS,
           "dat_ep_post_rdma_read: BARRIER_FENCE: of the bytes of a read, 1 to 262144 bytes: the new bytes");
#if UDAPL == 20
    if (supported(ADD, SEND)) {
        int sums = 0;

        for (int i = 0; i < rounds; i++) {
            DAT_LMR_TRIPLET to = segment(&end, 0, WORD);
            DAT_RMR_TRIPLET at = target(&near, 0, WORD);

            *word(&far, 0) = 100 + (DAT_UINT64)i;
            *word(&near, 0) = 0;
            doorbell_hold();
            must_rc(post_read(&p.a, &near, 0, WORD, target(&far, 0, WORD), 1), DAT_SUCCESS, "dat_ep_post_rdma_read");
            must_rc(dat_ib_post_fetch_and_add(p.a.ep, 1, &to, cookie(2), &at, DAT_COMPLETION_BARRIER_FENCE_FLAG),
                    DAT_SUCCESS, "dat_ib_post_fetch_and_add");
            doorbell_ring();
            must(completes(p.a.req, 1) && completes(p.a.req, 2), "a request does not complete in order");
            sums += *word(&near, 0) == 101 + (DAT_UINT64)i && *word(&end, 0) == 100 + (DAT_UINT64)i;
        }
        is_int(sums, rounds, "dat_ib_post_fetch_and_add: BARRIER_FENCE: to the word of a read: the sum");
    }
#endif
    pair_close(&p);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    between_processes();
    within_process();
    fx_close(&fx);
    return done_testing();
}
