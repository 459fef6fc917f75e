/* rdma.c - RDMA write and read, which the target's registrations allow or forbid. */
#include "common/fixture.h"

#include <string.h>

enum { WRITE, READ };

/* Memory of the target, registered in different ways. */
struct memory {
    struct region open;
    struct region read_only;  /* remote read privilege only */
    struct region write_only; /* remote write privilege only */
    struct region local;      /* no remote privilege */
    struct region elsewhere;  /* all privileges, in another PZ */
    DAT_PZ_HANDLE pz;
    DAT_RMR_CONTEXT freed;
};

#define SIZE 8192

static void memory_make(struct fx *fx, struct memory *m)
{
    struct region gone;

    memset(m, 0, sizeof *m);
    must_rc(dat_pz_create(fx->ia, &m->pz), DAT_SUCCESS, "dat_pz_create");
    region_make(fx, &m->open, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &m->read_only, SIZE, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    region_make(fx, &m->write_only, SIZE, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    region_make(fx, &m->local, SIZE, MEM_LOCAL);
    region_make_in(fx, m->pz, &m->elsewhere, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &gone, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    m->freed = gone.rmr_context;
    region_free(&gone);
}

static struct region *part(struct memory *m, int i)
{
    struct region *const all[5] = { &m->open, &m->read_only, &m->write_only, &m->local,
                                    &m->elsewhere };

    return all[i];
}

static void paint(struct memory *m)
{
    for (int i = 0; i < 5; i++)
        pattern_fill(part(m, i)->mem, SIZE, 60 + (unsigned)i);
}

static bool unharmed(struct memory *m)
{
    for (int i = 0; i < 5; i++)
        if (pattern_check(part(m, i)->mem, SIZE, 60 + (unsigned)i) >= 0)
            return false;
    return true;
}

/* Invalid accesses, in the order of cases[]. */
enum { PAST_END, BEFORE, BEYOND, WRAP, NO_RIGHT, NO_RIGHTS, ZONE, FREED, UNKNOWN, ZERO, CASES };

static const char *const cases[CASES] = {
    "range one byte past the region", "range one byte before the region",
    "address far beyond the region",  "range that wraps around the address space",
    "remote privilege missing",       "no remote privilege at all",
    "region of another zone",         "context of a freed region",
    "unknown context",                "context 0",
};

static DAT_RMR_TRIPLET wrong(struct memory *m, int which, int op)
{
    DAT_RMR_TRIPLET t = target(&m->open, 0, 64);

    switch (which) {
    case PAST_END: t = target(&m->open, SIZE - 63, 64); break;
    case BEFORE: t.target_address -= 1; break;
    case BEYOND: t.target_address += (DAT_VADDR)1 << 40; break;
    case WRAP: t.target_address = ~(DAT_VADDR)0 - 31; break;
    case NO_RIGHT: t = target(op == WRITE ? &m->read_only : &m->write_only, 0, 64); break;
    case NO_RIGHTS:
        t = target(&m->local, 0, 64);
        if (t.rmr_context == 0)
            t.rmr_context = m->local.lmr_context; /* a context that a malicious peer could guess */
        break;
    case ZONE: t = target(&m->elsewhere, 0, 64); break;
    case FREED: t.rmr_context = m->freed; break;
    case UNKNOWN: t.rmr_context ^= 0x55555555u; break;
    default: t.rmr_context = 0; break;
    }
    return t;
}

static DAT_RETURN go(struct side *s, struct region *r, DAT_RMR_TRIPLET t, int op, DAT_UINT64 c)
{
    return op == WRITE ? post_write(s, r, 0, 64, t, c) : post_read(s, r, 0, 64, t, c);
}

/* Waits for a completion with this status. On iWARP, it may have any status for a write, and any error for a read. */
static bool fails(struct side *s, int op, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status)
{
    DAT_DTO_COMPLETION_EVENT_DATA *d;
    DAT_EVENT e;

    if (!env_is_iwarp())
        return wait_dto(s->req, cookie, status, NULL);
    d = &e.event_data.dto_completion_event_data;
    return wait_number(s->req, DAT_DTO_COMPLETION_EVENT, &e) && d->user_cookie.as_64 == cookie &&
           (op == WRITE || d->status != DAT_DTO_SUCCESS);
}

/* Returns whether the device permits this access: soft-iWARP lets peers read all registered memory. */
static bool permits(int which, int op)
{
    return env_is_iwarp() && op == READ && (which == NO_RIGHT || which == NO_RIGHTS);
}

/* Checks that an invalid access fails and ends the connection at the initiator. */
static void initiator(struct side *s, struct region *r, DAT_RMR_TRIPLET t, int op,
                      const char *where, const char *what)
{
    const char *name = op == WRITE ? "dat_ep_post_rdma_write" : "dat_ep_post_rdma_read";

    memset(r->mem, 0xee, 64);
    must_rc(post_recv(s, r, 1024, 64, 8), DAT_SUCCESS, "dat_ep_post_recv");
    if (!is_success(go(s, r, t, op, 9), "%s: %s, %s: the call succeeds", name, where, what))
        return;
    go(s, r, t, op, 10); /* any later request is flushed */
    ok(fails(s, op, 9, DAT_DTO_ERR_REMOTE_ACCESS), "%s: %s, %s: REMOTE_ACCESS", name, where, what);
    ok(fails(s, op, 10, DAT_DTO_ERR_FLUSHED), "%s: %s, %s: the next one is flushed", name, where, what);
    ok(wait_broken(s->conn), "%s: %s, %s: BROKEN", name, where, what);
    is_state(ep_state(s->ep), DAT_EP_STATE_DISCONNECTED, "%s: %s, %s: DISCONNECTED", name, where,
             what);
    ok(wait_dto(s->recv, 8, DAT_DTO_ERR_FLUSHED, NULL), "%s: %s, %s: receives are flushed", name,
       where, what);
    if (op == READ)
        ok(all_bytes(r->mem, 64, 0xee), "%s: %s, %s: nothing was read", name, where, what);
}

static void violations(struct fx *fx, struct region *r)
{
    struct memory m;

    memory_make(fx, &m);
    paint(&m);
    for (int op = WRITE; op <= READ; op++)
        for (int i = 0; i < CASES; i++) {
            struct pair p;

            if (permits(i, op)) {
                skip_named(cases[i], "soft-iWARP lets peers read all registered memory");
                continue;
            }
            pair_open(&p, fx, NULL);
            initiator(&p.a, r, wrong(&m, i, op), op, "one process", cases[i]);
            ok(broken_or_disconnected(p.b.conn), "target: %s: BROKEN or DISCONNECTED", cases[i]);
            ok(unharmed(&m), "target: %s: its memory is unharmed", cases[i]);
            pair_close(&p);
        }
}

static void allowed(struct fx *fx, struct region *r)
{
    struct memory m;
    struct pair p;
    DAT_RMR_TRIPLET t;

    memory_make(fx, &m);
    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.b, r, 2048, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    pattern_fill(r->mem, 64, 1);

    t = target(&m.write_only, SIZE - 64, 64);
    is_success(go(&p.a, r, t, WRITE, 2), "dat_ep_post_rdma_write: last bytes of a region: success");
    ok(wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
           written(m.write_only.mem + SIZE - 64, 64, 1),
       "dat_ep_post_rdma_write: remote write privilege alone: written");
    t = target(&m.write_only, 0, 64);
    is_success(go(&p.a, r, t, WRITE, 3), "dat_ep_post_rdma_write: first bytes of a region: success");
    ok(wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_write: first bytes: completes");
    ok(quiet(p.b.recv) && quiet(p.b.req) && quiet(p.b.conn),
       "dat_ep_post_rdma_write: no event at the target");
    pattern_fill(m.read_only.mem, SIZE, 2);
    t = target(&m.read_only, SIZE - 64, 64);
    is_success(go(&p.a, r, t, READ, 4), "dat_ep_post_rdma_read: last bytes of a region: success");
    ok(wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL) &&
           memcmp(r->mem, m.read_only.mem + SIZE - 64, 64) == 0,
       "dat_ep_post_rdma_read: remote read privilege alone: read");

    {
        int good = 0;

        for (unsigned i = 0; i < 100; i++) {
            pattern_fill(r->mem, 64, i + 100);
            memset(m.open.mem, 0, 64);
            t = target(&m.open, 0, 64);
            if (i > 0)
                must_rc(post_recv(&p.b, r, 2048, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
            must_rc(go(&p.a, r, t, WRITE, 5), DAT_SUCCESS, "dat_ep_post_rdma_write");
            must_rc(post_send(&p.a, r, 0, 8, 6), DAT_SUCCESS, "dat_ep_post_send");
            good += wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL) &&
                    pattern_check(m.open.mem, 64, i + 100) < 0;
            drain_dtos(p.a.req, 2);
        }
        is_int(good, 100, "dat_ep_post_rdma_write: a later message has come: the data is there");
    }

    /* An empty transfer succeeds with any target. */
    memset(&t, 0xff, sizeof t);
    t.segment_length = 0;
    is_success(dat_ep_post_rdma_write(p.a.ep, 0, NULL, cookie(7), &t, DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_rdma_write: no segment: success");
    ok(wait_dto(p.a.req, 7, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_write: no segment: completes");
    is_success(dat_ep_post_rdma_read(p.a.ep, 0, NULL, cookie(8), &t, DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_rdma_read: no segment: success");
    ok(wait_dto(p.a.req, 8, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_read: no segment: completes");

    t = target(&m.open, 0, 64);
    must_rc(go(&p.b, r, t, WRITE, 9), DAT_SUCCESS, "dat_ep_post_rdma_write");
    ok(wait_dto(p.b.req, 9, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_write: passive side: completes");
    pair_close(&p);
}

/* Reads 0 bytes while a device may repeat a read because its timer for the earlier requests ends. */
static void repeated(struct fx *fx, struct region *r)
{
    int rounds = env_has_device() && !env_is_iwarp() ? 10 : 1;
    bool good = true;
    struct pair p;

    pair_open(&p, fx, NULL);
    for (int i = 0; i < rounds && good; i++) {
        uint64_t end = now_ms() + 300;
        DAT_RMR_TRIPLET t = target(r, 0, 64);

        must_rc(go(&p.a, r, t, WRITE, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        must_rc(go(&p.a, r, t, WRITE, 2), DAT_SUCCESS, "dat_ep_post_rdma_write");
        drain_dtos(p.a.req, 2);
        memset(&t, 0xff, sizeof t);
        t.segment_length = 0;
        do {
            must_rc(dat_ep_post_rdma_read(p.a.ep, 0, NULL, cookie(3), &t, DAT_COMPLETION_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_post_rdma_read");
            good = wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL);
        } while (good && rounds > 1 && now_ms() < end);
    }
    ok(good, "dat_ep_post_rdma_read: no segment, even if the device repeats it: completes");
    ok(quiet(p.a.conn) && quiet(p.b.conn), "dat_ep_post_rdma_read: no segment: stays connected");
    pair_close(&p);
}

static void revoked(struct fx *fx, struct region *r)
{
    for (int op = WRITE; op <= READ; op++) {
        const char *name = op == WRITE ? "dat_ep_post_rdma_write" : "dat_ep_post_rdma_read";
        struct region t;
        struct pair p;
        DAT_RMR_TRIPLET to;

        region_make(fx, &t, SIZE, DAT_MEM_PRIV_ALL_FLAG);
        to = target(&t, 0, 64);
        pair_open(&p, fx, NULL);
        must_rc(go(&p.a, r, to, op, 1), DAT_SUCCESS, "RDMA");
        ok(wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL), "%s: before dat_lmr_free: success", name);
        must_rc(dat_lmr_free(t.lmr), DAT_SUCCESS, "dat_lmr_free");
        t.lmr = DAT_HANDLE_NULL;
        must_rc(go(&p.a, r, to, op, 2), DAT_SUCCESS, "RDMA");
        ok(fails(&p.a, op, 2, DAT_DTO_ERR_REMOTE_ACCESS), "%s: after dat_lmr_free at the target: REMOTE_ACCESS", name);
        ok(wait_broken(p.a.conn), "%s: after dat_lmr_free at the target: BROKEN", name);
        pair_close(&p);
        region_free(&t);
    }
}

/* The other process: offers its memory and accepts a connection for each violation. */
static int victim(struct link *up)
{
    struct fx fx;
    struct memory m;

    fx_open(&fx);
    memory_make(&fx, &m);
    paint(&m);
    for (int op = WRITE; op <= READ; op++)
        for (int i = 0; i < CASES; i++)
            must(link_send_target(up, wrong(&m, i, op)), "the other process has exited");
    for (int n = 0; n < 2 * CASES; n++) {
        struct side s;
        int verdict;

        if (permits(n % CASES, n / CASES))
            continue;
        side_make(&s, &fx, NULL);
        side_accept_peer(&s, up);
        link_say(up, "connected");
        verdict = broken_or_disconnected(s.conn) ? 1 : 0;
        verdict += unharmed(&m) ? 2 : 0;
        must(LINK_SEND(up, verdict), "the other process has exited");
        side_free(&s);
    }
    fx_close(&fx);
    return 0;
}

static void between_processes(struct fx *fx, struct region *r)
{
    struct peer p;
    DAT_RMR_TRIPLET offered[2][CASES];

    peer_start(&p, "victim");
    for (int op = WRITE; op <= READ; op++)
        for (int i = 0; i < CASES; i++)
            must(link_recv_target(&p.link, &offered[op][i]), "no offer");
    for (int op = WRITE; op <= READ; op++)
        for (int i = 0; i < CASES; i++) {
            struct side s;
            int verdict = 0;

            if (permits(i, op))
                continue;
            side_make(&s, fx, NULL);
            side_connect_peer(&s, &p.link);
            must(link_hear(&p.link, "connected"), "the target has exited");
            initiator(&s, r, offered[op][i], op, "two processes", cases[i]);
            must(LINK_RECV(&p.link, verdict), "no verdict");
            ok(verdict & 1, "target in another process: %s: BROKEN or DISCONNECTED", cases[i]);
            ok(verdict & 2, "target in another process: %s: its memory is unharmed", cases[i]);
            side_free(&s);
        }
    peer_ok(&p, "two processes: the target ends well");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "victim", victim }, { NULL, NULL } };
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    allowed(&fx, &r);
    repeated(&fx, &r);
    violations(&fx, &r);
    revoked(&fx, &r);
    between_processes(&fx, &r);
    fx_close(&fx);
    return done_testing();
}
