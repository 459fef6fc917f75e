/*
 * fences.c - fenced requests continue after the RDMA reads before them, even if the device loses the wakeup.
 *
 * If a request starts to wait just when the last read completes, Soft-RoCE does not resume it. The test provokes this
 * state: it drops the doorbells of posts. flow/fences tests what fenced requests carry.
 */
#include "common/fixture.h"
#include "verbs/doorbell.h"

enum { FLOWS = 4, PIECE = 256, READ = 1, WAITS = 2 };

struct flow {
    struct pair p;
    struct region here, there;
};

static struct fx fx;
static struct flow flows[FLOWS];
static int dropped;

static bool read_piece(struct flow *f, int round)
{
    pattern_fill(f->there.mem, PIECE, (unsigned)round);
    return post_read(&f->p.a, &f->here, 0, PIECE, target(&f->there, 0, PIECE), READ) == DAT_SUCCESS;
}

/* Posts a fenced write or message with the data that the read fetches. */
static bool post_behind(struct flow *f, bool message)
{
    DAT_LMR_TRIPLET brought = segment(&f->here, 0, PIECE);
    DAT_RMR_TRIPLET to = target(&f->there, PIECE, PIECE);

    if (!message)
        return dat_ep_post_rdma_write(f->p.a.ep, 1, &brought, cookie(WAITS), &to,
                                      DAT_COMPLETION_BARRIER_FENCE_FLAG) == DAT_SUCCESS;
    return post_recv(&f->p.b, &f->there, PIECE, PIECE, WAITS) == DAT_SUCCESS &&
           dat_ep_post_send(f->p.a.ep, 1, &brought, cookie(WAITS), DAT_COMPLETION_BARRIER_FENCE_FLAG) == DAT_SUCCESS;
}

/* Waits for the next completion, asleep or polling. Returns whether it is successful and has the expected cookie. */
static bool next(DAT_EVD_HANDLE evd, DAT_UINT64 expected, bool asleep)
{
    DAT_EVENT e;

    return (asleep ? wait_event(evd, &e) : poll_event(evd, &e)) && e.event_number == DAT_DTO_COMPLETION_EVENT &&
           e.event_data.dto_completion_event_data.user_cookie.as_64 == expected &&
           e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
}

/* Runs one round on all endpoints. Returns the number of endpoints with correct data. */
static int go_round(int round, bool message, bool asleep, bool forget)
{
    int good = 0;

    for (int i = 0; i < FLOWS; i++) {
        must(read_piece(&flows[i], round), "a read is refused");
        must(!forget || next(flows[i].p.a.req, READ, asleep), "a read does not come back");
        if (forget)
            doorbell_hold();
        must(post_behind(&flows[i], message), "a post is refused");
        if (forget)
            dropped += doorbell_drop();
    }
    for (int i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];

        /* The receiver waits first, so this thread does not poll the request EVD. */
        if (message && !next(f->p.b.recv, WAITS, asleep))
            return good;
        if ((!forget && !next(f->p.a.req, READ, asleep)) || !next(f->p.a.req, WAITS, asleep))
            return good;
        good += pattern_check(f->there.mem + PIECE, PIECE, (unsigned)round) < 0;
    }
    return good;
}

int main(int argc, char **argv)
{
    int rounds, done = 0;

    env_init(argc, argv, NULL);
    if (env_is_iwarp())
        skip_all("soft-iWARP forgets no request");
    fx_open(&fx);
    for (int i = 0; i < FLOWS; i++) {
        pair_open(&flows[i].p, &fx, NULL);
        region_make(&fx, &flows[i].here, PIECE, DAT_MEM_PRIV_ALL_FLAG);
        region_make(&fx, &flows[i].there, 2 * PIECE, DAT_MEM_PRIV_ALL_FLAG);
    }
    rounds = env_count(100, 25);
    while (done < rounds && go_round(done, done % 2 != 0, done % 4 >= 2, false) == FLOWS)
        done++;
    is_int(done, rounds, "BARRIER_FENCE: behind reads, on %d endpoints: all goes on", FLOWS);
    for (int kind = 0; kind < 4; kind++)
        is_int(go_round(kind, kind % 2 != 0, kind >= 2, true), FLOWS,
               "BARRIER_FENCE: %s that the device has forgotten, %s: all go on", kind % 2 != 0 ? "messages" : "writes",
               kind >= 2 ? "asleep" : "polled");
    diag("%d requests were kept from the device", dropped);
    fx_close(&fx);
    return done_testing();
}
