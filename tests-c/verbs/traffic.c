/* traffic.c - see traffic.h. */
#define _POSIX_C_SOURCE 200809L
#include "traffic.h"

#include <stdio.h>
#include <string.h>

/* Prints to standard error, because a second process has no TAP stream. */
#define SAY(...) (fprintf(stderr, "# " __VA_ARGS__), fputc('\n', stderr))

void pool_open(struct pool *p, struct fx *fx, DAT_COUNT buffers)
{
    memset(p, 0, sizeof *p);
    must(buffers <= POOL_MAX, "a pool of %d buffers", (int)buffers);
    srq_open(&p->q, fx, buffers, buffers, FLOW_MESSAGE);
    pool_fill(p);
}

void pool_close(struct pool *p)
{
    srq_close(&p->q);
}

void pool_fill(struct pool *p)
{
    for (DAT_COUNT i = 0; i < p->q.buffers; i++)
        if (!p->posted[i]) {
            must_rc(srq_post(&p->q, i), DAT_SUCCESS, "dat_srq_post_recv");
            p->posted[i] = true;
            p->out++;
        }
}

static bool books_right(void *arg)
{
    const struct pool *p = arg;
    DAT_SRQ_PARAM now = srq_param(p->q.handle);

    return now.available_dto_count == p->out - p->lost &&
           now.outstanding_dto_count == p->out - p->lost;
}

bool pool_whole(struct pool *p)
{
    DAT_SRQ_PARAM now;

    if (wait_until(books_right, p, SOON_MS) && p->faults == 0)
        return true;
    now = srq_param(p->q.handle);
    SAY("%d buffers are posted; the queue says available %d, outstanding %d; %d false completions",
        p->out - p->lost, (int)now.available_dto_count, (int)now.outstanding_dto_count, p->faults);
    /* Report each lost buffer once. */
    if (now.available_dto_count == now.outstanding_dto_count)
        p->lost = p->out - now.available_dto_count;
    p->faults = 0;
    return false;
}

/*
 * Layout of a flow's memory: target of the peer's RDMA, destination of reads, source of writes, outstanding messages. All
 * writes have the same bytes, so the target contains these or zeros.
 */
enum {
    ARRIVAL = FLOW_BULK,
    SOURCE = 2 * FLOW_BULK,
    MESSAGES = 3 * FLOW_BULK,
    MEMORY = MESSAGES + FLOW_DEPTH * FLOW_MESSAGE,
    BULK_SEED = 77
};

void flow_make(struct flow *f, struct pool *pool)
{
    memset(f, 0, sizeof *f);
    f->pool = pool;
    side_make_srq(&f->s, pool->q.fx, pool->q.handle, NULL);
    region_make(pool->q.fx, &f->r, MEMORY, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(f->r.mem + SOURCE, FLOW_BULK, BULK_SEED);
}

/* Checks the data of a read or of the peer's writes: each byte is right or still zero. */
static void check_bulk(struct flow *f, size_t at)
{
    const unsigned char *right = f->r.mem + SOURCE, *got = f->r.mem + at;

    if (memcmp(got, right, FLOW_BULK) == 0)
        return;
    for (size_t i = 0; i < FLOW_BULK; i++)
        if (got[i] != right[i] && got[i] != 0) {
            SAY("byte %lu of a transfer is wrong", (unsigned long)i);
            f->faults++;
            return;
        }
}

void flow_free(struct flow *f)
{
    check_bulk(f, 0);
    side_free(&f->s);
    region_free(&f->r);
}

static unsigned kind_of(const struct flow *f, uint64_t request)
{
    return f->theirs.segment_length > 0 ? (unsigned)(request % 3) : 0;
}

/* A message starts with the seed of its other bytes. */
static void compose(unsigned char *message, uint32_t seed)
{
    memcpy(message, &seed, sizeof seed);
    pattern_fill(message + sizeof seed, FLOW_MESSAGE - sizeof seed, seed);
}

static void check_message(struct flow *f, const unsigned char *message)
{
    uint32_t seed;
    long wrong;

    memcpy(&seed, message, sizeof seed);
    wrong = pattern_check(message + sizeof seed, FLOW_MESSAGE - sizeof seed, seed);
    if (wrong >= 0) {
        SAY("a message, number %lu: byte %ld is wrong", (unsigned long)seed, wrong);
        f->faults++;
    }
}

static void post_one(struct flow *f)
{
    DAT_RMR_TRIPLET to = f->theirs;
    unsigned kind = kind_of(f, f->posted);
    size_t at = MESSAGES + f->posted % FLOW_DEPTH * FLOW_MESSAGE;
    DAT_RETURN rc;

    to.segment_length = FLOW_BULK;
    if (kind == 0)
        compose(f->r.mem + at, (uint32_t)f->posted);
    rc = kind == 0   ? post_send(&f->s, &f->r, at, FLOW_MESSAGE, f->posted)
         : kind == 1 ? post_write(&f->s, &f->r, SOURCE, FLOW_BULK, to, f->posted)
                     : post_read(&f->s, &f->r, ARRIVAL, FLOW_BULK, to, f->posted);
    if (rc == DAT_SUCCESS) {
        f->posted++;
        return;
    }
    f->refused = true;
    if (!rc_is(rc, DAT_INVALID_STATE)) {
        SAY("a post is refused: %s", rc_text(rc));
        f->faults++;
    }
}

static void requests(struct flow *f)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    while (dat_evd_dequeue(f->s.req, &e) == DAT_SUCCESS) {
        if (e.event_number != DAT_DTO_COMPLETION_EVENT || d->user_cookie.as_64 != f->completed ||
            f->completed >= f->posted) {
            SAY("%s of request %llu: expected %llu of %llu", event_text(e.event_number),
                (unsigned long long)d->user_cookie.as_64, (unsigned long long)f->completed,
                (unsigned long long)f->posted);
            f->faults++;
        }
        f->completed++;
        if (d->status == DAT_DTO_SUCCESS && kind_of(f, f->completed - 1) == 2)
            check_bulk(f, ARRIVAL);
        if (d->status == DAT_DTO_SUCCESS && f->good + 1 == f->completed)
            f->good++;
        else if (d->status == DAT_DTO_SUCCESS) {
            SAY("request %llu succeeds after one that failed",
                (unsigned long long)d->user_cookie.as_64);
            f->faults++;
        }
    }
}

static void receives(struct flow *f)
{
    struct pool *p = f->pool;
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    while (dat_evd_dequeue(f->s.recv, &e) == DAT_SUCCESS) {
        DAT_COUNT i = srq_buffer(&p->q, d->user_cookie.as_64);

        if (e.event_number != DAT_DTO_COMPLETION_EVENT || i < 0 || !p->posted[i]) {
            SAY("%s of buffer %d, which is not posted", event_text(e.event_number), (int)i);
            p->faults++;
            continue;
        }
        p->posted[i] = false;
        p->out--;
        if (d->status != DAT_DTO_SUCCESS)
            continue;
        f->heard++;
        /* The stranger of strange.c sends other lengths. */
        if (d->transfered_length == FLOW_MESSAGE)
            check_message(f, p->q.mem.mem + (size_t)i * FLOW_MESSAGE);
    }
}

static void connection(struct flow *f)
{
    DAT_EVENT e;

    while (dat_evd_dequeue(f->s.conn, &e) == DAT_SUCCESS) {
        if (e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED && !f->up && f->ends == 0) {
            f->up = true;
            continue;
        }
        if (e.event_number <= DAT_CONNECTION_EVENT_ESTABLISHED ||
            e.event_number > DAT_CONNECTION_EVENT_UNREACHABLE || f->ends > 0) {
            SAY("%s %s", event_text(e.event_number),
                f->ends > 0 ? "after the end of the connection" : "cannot be");
            f->faults++;
        }
        if (f->ends++ == 0)
            f->end = e.event_number;
    }
}

void flow_step(struct flow *f, bool post)
{
    while (post && f->up && f->ends == 0 && !f->refused && f->posted - f->completed < FLOW_DEPTH)
        post_one(f);
    requests(f);
    receives(f);
    connection(f);
}

bool flow_done(const struct flow *f)
{
    return f->ends > 0 && f->completed == f->posted;
}

void flow_accept(struct flow *f, struct pool *pool, const DAT_EVENT *request)
{
    DAT_CR_HANDLE cr = request->event_data.cr_arrival_event_data.cr_handle;
    DAT_CR_PARAM param;

    flow_make(f, pool);
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
    if (param.private_data_size >= (DAT_COUNT)sizeof f->theirs)
        memcpy(&f->theirs, param.private_data, sizeof f->theirs);
    must_rc(dat_cr_accept(cr, f->s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
}

/* ---- service ---- */

void service_open(struct service *s, DAT_COUNT buffers, bool posts)
{
    memset(s, 0, sizeof *s);
    fx_open(&s->fx);
    pool_open(&s->pool, &s->fx, buffers);
    s->posts = posts;
}

void service_close(struct service *s)
{
    pool_close(&s->pool);
    is_success(dat_evd_free(s->fx.cr), "dat_evd_free: success");
    is_success(dat_pz_free(s->fx.pz), "dat_pz_free: nothing is left in the zone: success");
    is_success(dat_ia_close(s->fx.ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: nothing is left: success");
}

struct flow *service_place(struct service *s)
{
    for (int i = 0; i < SERVICE_FLOWS; i++)
        if (!s->used[i]) {
            s->used[i] = true;
            return &s->flow[i];
        }
    return NULL;
}

int service_busy(const struct service *s)
{
    int n = 0;

    for (int i = 0; i < SERVICE_FLOWS; i++)
        n += s->used[i];
    return n;
}

static void over(struct service *s, int i)
{
    struct flow *f = &s->flow[i];

    /* Completions that arrived after the last poll. */
    requests(f);
    receives(f);
    s->connections++;
    s->up += f->up;
    if (f->end >= DAT_CONNECTION_EVENT_ESTABLISHED && f->end <= DAT_CONNECTION_EVENT_UNREACHABLE)
        s->ends[f->end - DAT_CONNECTION_EVENT_ESTABLISHED]++;
    flow_free(f);
    s->faults += f->faults;
    s->used[i] = false;
}

void service_step(struct service *s)
{
    DAT_EVENT e;

    if (service_busy(s) < SERVICE_FLOWS && dat_evd_dequeue(s->fx.cr, &e) == DAT_SUCCESS)
        flow_accept(service_place(s), &s->pool, &e);
    for (int i = 0; i < SERVICE_FLOWS; i++) {
        if (!s->used[i])
            continue;
        flow_step(&s->flow[i], s->posts);
        if (flow_done(&s->flow[i]))
            over(s, i);
    }
    pool_fill(&s->pool);
}

bool service_settle(struct service *s, const char *what)
{
    uint64_t end = now_ms() + env_ms(SETTLE_MS);
    bool good = true;

    while (service_busy(s) > 0 && now_ms() < end)
        service_step(s);
    for (int i = 0; i < SERVICE_FLOWS; i++) {
        struct flow *f = &s->flow[i];

        if (!s->used[i])
            continue;
        SAY("%s: no end: %s, %s, %d events, %llu of %llu requests", what,
            state_text(ep_state(f->s.ep)), f->up ? "was up" : "never up", f->ends,
            (unsigned long long)f->completed, (unsigned long long)f->posted);
        over(s, i);
        good = false;
    }
    return pool_whole(&s->pool) && good;
}

int service_ends(const struct service *s, DAT_EVENT_NUMBER event)
{
    return s->ends[event - DAT_CONNECTION_EVENT_ESTABLISHED];
}

void service_say(const struct service *s)
{
    diag("  %d connections, %d were up", s->connections, s->up);
    for (int i = 0; i < CONNECTION_EVENTS; i++)
        if (s->ends[i] > 0)
            diag("  %d %s", s->ends[i],
                 event_text((DAT_EVENT_NUMBER)(DAT_CONNECTION_EVENT_ESTABLISHED + i)));
}
