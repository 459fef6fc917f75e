/* window.c - the accesses that a bound RMR allows. */
#include "common/fixture.h"

#include <string.h>

static DAT_RETURN bind_to(struct side *s, DAT_RMR_HANDLE rmr, const struct region *r, DAT_LMR_TRIPLET t,
                          unsigned privileges, DAT_RMR_CONTEXT *context)
{
    DAT_RMR_COOKIE k;

    memset(&k, 0, sizeof k);
    k.as_64 = 0xb1;
    return bind_to_lmr(rmr, r->lmr, &t, (DAT_MEM_PRIV_FLAGS)privileges, s->ep, k,
                       DAT_COMPLETION_DEFAULT_FLAG, context);
}

static void complete(struct side *s)
{
    DAT_EVENT e;

    must(wait_number(s->req, DAT_RMR_BIND_COMPLETION_EVENT, &e) &&
             e.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS,
         "dat_rmr_bind does not complete");
}

static DAT_RMR_TRIPLET through(const struct region *r, DAT_RMR_CONTEXT context, size_t offset,
                               size_t length)
{
    DAT_RMR_TRIPLET t = target(r, offset, length);

    t.rmr_context = context;
    return t;
}

/* Checks one access to the window of b. If it fails, reconnects the pair. */
static void access_is(struct fx *fx, struct pair *p, struct region *r, DAT_RMR_TRIPLET t, bool write,
                      bool allowed, const char *what)
{
    DAT_RETURN rc = write ? post_write(&p->a, r, 0, t.segment_length, t, 1)
                          : post_read(&p->a, r, 0, t.segment_length, t, 1);

    must_rc(rc, DAT_SUCCESS, "RDMA");
    ok(wait_dto(p->a.req, 1, allowed ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS, NULL),
       "RMR: %s: %s", what, allowed ? "success" : "REMOTE_ACCESS");
    if (!allowed) {
        ok(wait_connection(p->a.conn, DAT_CONNECTION_EVENT_BROKEN), "RMR: %s: BROKEN", what);
        pair_close(p);
        pair_open(p, fx, NULL);
    }
}

/* Returns whether bind_to() has completed successfully. */
static bool bound(struct side *s, DAT_RMR_HANDLE rmr)
{
    DAT_EVENT e;
    const DAT_RMR_BIND_COMPLETION_EVENT_DATA *d = &e.event_data.rmr_completion_event_data;

    return wait_number(s->req, DAT_RMR_BIND_COMPLETION_EVENT, &e) && d->rmr_handle == rmr &&
           d->user_cookie.as_64 == 0xb1 && d->status == DAT_RMR_BIND_SUCCESS;
}

/* Posts a send without a receive, and a bind, which must wait for the send. */
static void held_up(struct pair *p, struct region *r, DAT_RMR_HANDLE rmr, const struct region *to,
                    DAT_LMR_TRIPLET t, DAT_RMR_CONTEXT *context)
{
    must_rc(post_send(&p->b, r, 0, 64, 8), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(bind_to(&p->b, rmr, to, t,
                    DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG, context),
            DAT_SUCCESS, "dat_rmr_bind");
    ok(quiet(p->b.req), "dat_rmr_bind: behind a send that waits: waits as well");
}

/* Posts the receive for which the send of held_up() waits. Then the send and the bind complete. */
static void released(struct pair *p, struct region *r, DAT_RMR_HANDLE rmr, const char *what)
{
    must_rc(post_recv(&p->a, r, 64, 64, 9), DAT_SUCCESS, "dat_ep_post_recv");
    if (!ok(wait_dto(p->a.recv, 9, DAT_DTO_SUCCESS, NULL), "%s: the message arrives", what))
        bail("the connection stands still");
    ok(wait_dto(p->b.req, 8, DAT_DTO_SUCCESS, NULL) && bound(&p->b, rmr),
       "%s: send and bind complete, in order", what);
    ok(sides_talk(&p->a, &p->b), "%s: the connection goes on", what);
    ok(quiet(p->a.conn) && quiet(p->b.conn), "%s: it is not broken", what);
}

/* The RMR or an LMR is freed while a bind waits. */
static void behind(struct fx *fx, struct region *r)
{
    struct region before, now;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT old = 0, context = 0;
    DAT_LMR_TRIPLET none;
    struct pair p;
    DAT_RETURN rc;

    region_make(fx, &before, 4096, MEM_LOCAL);
    region_make(fx, &now, 4096, MEM_LOCAL);
    memset(&none, 0, sizeof none);
    pair_open(&p, fx, NULL);

    for (int again = 0; again < 2; again++) {
        const char *what = again ? "dat_rmr_free: bound, the next bind has not run"
                                 : "dat_rmr_free: its first bind has not run";

        must_rc(dat_rmr_create(fx->pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
        if (again) {
            must_rc(bind_to(&p.b, rmr, &before, segment(&before, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG,
                            &old),
                    DAT_SUCCESS, "dat_rmr_bind");
            complete(&p.b);
        }
        held_up(&p, r, rmr, &now, segment(&now, 0, 64), &context);
        is_success(dat_rmr_free(rmr), "%s: success", what);
        released(&p, r, rmr, what);
        access_is(fx, &p, r, through(&now, context, 0, 64), false, false, what);
        if (again)
            access_is(fx, &p, r, through(&before, old, 0, 64), false, false,
                      "dat_rmr_free: what it was bound to before");
    }

    /* dat_lmr_free may fail, because the RMR is bound to the old LMR until the library executes the waiting bind. */
    for (int unbind = 0; unbind < 2; unbind++) {
        const char *what = unbind ? "dat_lmr_free: its RMR is unbound later"
                                  : "dat_lmr_free: its RMR is bound elsewhere later";

        if (before.lmr == DAT_HANDLE_NULL)
            region_make(fx, &before, 4096, MEM_LOCAL);
        must_rc(dat_rmr_create(fx->pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
        must_rc(bind_to(&p.b, rmr, &before, segment(&before, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, &old),
                DAT_SUCCESS, "dat_rmr_bind");
        complete(&p.b);
        held_up(&p, r, rmr, &now, unbind ? none : segment(&now, 0, 64), &context);
        rc = dat_lmr_free(before.lmr);
        ok(rc == DAT_SUCCESS || rc_is(rc, DAT_INVALID_STATE),
           "%s: success or DAT_INVALID_STATE", what);
        released(&p, r, rmr, what);
        if (rc != DAT_SUCCESS)
            is_success(dat_lmr_free(before.lmr), "%s, and is so now: success", what);
        before.lmr = DAT_HANDLE_NULL;
        region_free(&before);
        if (!unbind) {
            pattern_fill(r->mem, 64, 5);
            access_is(fx, &p, r, through(&now, context, 0, 64), true, true, what);
            is_int(pattern_check(now.mem, 64, 5), -1, "%s: a write there: the bytes are there",
                   what);
        }
        access_is(fx, &p, r, through(&now, old, 0, 64), false, false, what);
        is_success(dat_rmr_free(rmr), "%s: dat_rmr_free: success", what);
    }
    pair_close(&p);
    region_free(&before);
    region_free(&now);
}

int main(int argc, char **argv)
{
    const unsigned both = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    struct fx fx;
    struct pair p, q;
    struct region r, m;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context = 0, old, ignored;
    DAT_LMR_TRIPLET none;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    rc = dat_rmr_create(fx.pz, &rmr);
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_rmr_create: not implemented");
    }
    must_rc(rc, DAT_SUCCESS, "dat_rmr_create");
    region_make(&fx, &r, 4096, MEM_LOCAL);
    region_make(&fx, &m, 8192, MEM_LOCAL); /* without remote privileges */
    pair_open(&p, &fx, NULL);
    rc = bind_to(&p.b, rmr, &m, segment(&m, 1000, 500), both, &context);
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_rmr_bind: not implemented");
    }
    is_success(rc, "dat_rmr_bind: LMR without remote privileges: success");
    complete(&p.b);
    pattern_fill(r.mem, 4096, 1);
    access_is(&fx, &p, &r, through(&m, context, 1000, 500), true, true, "a write of all of it");
    is_int(pattern_check(m.mem + 1000, 500, 1), -1, "RMR: a write of all of it: the bytes are there");
    memset(r.mem, 0, 4096);
    access_is(&fx, &p, &r, through(&m, context, 1000, 500), false, true, "a read of all of it");
    is_int(pattern_check(r.mem, 500, 1), -1, "RMR: a read of all of it: the bytes are there");
    access_is(&fx, &p, &r, through(&m, context, 1499, 1), true, true, "a write of its last byte");
    access_is(&fx, &p, &r, through(&m, context, 1499, 2), true, false, "a write past its end");
    access_is(&fx, &p, &r, through(&m, context, 999, 2), false, false, "a read before its start");

    access_is(&fx, &p, &r, through(&m, context, 1200, 10), true, true,
              "bound through an endpoint that is freed");
    pair_open(&q, &fx, NULL);
    access_is(&fx, &q, &r, through(&m, context, 1200, 10), true, true, "another endpoint of the zone");
    pair_close(&q);

    old = context;
    must_rc(bind_to(&p.b, rmr, &m, segment(&m, 4096, 100), DAT_MEM_PRIV_REMOTE_READ_FLAG, &context),
            DAT_SUCCESS, "dat_rmr_bind");
    complete(&p.b);
    access_is(&fx, &p, &r, through(&m, context, 4096, 100), false, true, "bound again, a read");
    access_is(&fx, &p, &r, through(&m, context, 4096, 100), true, false,
              "bound again for reading only, a write");
    access_is(&fx, &p, &r, through(&m, old, 1000, 10), false, false,
              "the context of an earlier binding");

    memset(&none, 0, sizeof none);
    must_rc(bind_to(&p.b, rmr, &m, none, 0, &ignored), DAT_SUCCESS, "dat_rmr_bind");
    complete(&p.b);
    access_is(&fx, &p, &r, through(&m, context, 4096, 10), false, false, "unbound");

    must_rc(bind_to(&p.b, rmr, &m, segment(&m, 0, 100), both, &context), DAT_SUCCESS, "dat_rmr_bind");
    complete(&p.b);
    access_is(&fx, &p, &r, through(&m, context, 0, 10), false, true, "bound after unbinding");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    access_is(&fx, &p, &r, through(&m, context, 0, 10), false, false, "freed");

    /* Post a bind and a message with the new context, without a wait in between. */
    {
        struct region mail;
        int good = 0;

        region_make(&fx, &mail, 4096, MEM_LOCAL);
        must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
        for (int i = 0; i < 50; i++) {
            DAT_RMR_CONTEXT got;
            DAT_EVENT e;

            must_rc(post_recv(&p.a, &mail, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_recv");
            must_rc(bind_to(&p.b, rmr, &m, segment(&m, (size_t)i, 64), both, &context), DAT_SUCCESS,
                    "dat_rmr_bind");
            memcpy(mail.mem, &context, sizeof context);
            must_rc(post_send(&p.b, &mail, 0, 64, 3), DAT_SUCCESS, "dat_ep_post_send");
            must(wait_dto(p.a.recv, 2, DAT_DTO_SUCCESS, NULL), "no message");
            memcpy(&got, mail.mem + 64, sizeof got);
            must_rc(post_write(&p.a, &r, 0, 64, through(&m, got, (size_t)i, 64), 4), DAT_SUCCESS,
                    "dat_ep_post_rdma_write");
            good += wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL);
            must(wait_number(p.b.req, DAT_RMR_BIND_COMPLETION_EVENT, &e) &&
                     wait_dto(p.b.req, 3, DAT_DTO_SUCCESS, NULL),
                 "bind and send do not complete in order");
        }
        is_int(good, 50, "dat_rmr_bind: the context sent right after it: usable on arrival");
        region_free(&mail);
    }
    pair_close(&p);
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    behind(&fx, &r);
    region_free(&r);
    region_free(&m);
    fx_close(&fx);
    return done_testing();
}
