/*
 * limits.c - makes as many objects as the adapter says it can have, and one more.
 */
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

/* More than this many objects of a kind would take too long. */
#define ENOUGH 70000

struct maker {
    struct fx *fx;
    struct side side;  /* lends its EVDs */
    DAT_SRQ_HANDLE srq;
    DAT_EP_ATTR attr;
};

typedef DAT_RETURN (*make)(struct maker *m, DAT_HANDLE *made);
typedef DAT_RETURN (*unmake)(DAT_HANDLE made);

static DAT_RETURN make_ep(struct maker *m, DAT_HANDLE *made)
{
    return dat_ep_create(m->fx->ia, m->fx->pz, m->side.recv, m->side.req, m->side.conn, &m->attr,
                         made);
}

static DAT_RETURN make_shared_ep(struct maker *m, DAT_HANDLE *made)
{
    return dat_ep_create_with_srq(m->fx->ia, m->fx->pz, m->side.recv, m->side.req, m->side.conn,
                                  m->srq, &m->attr, made);
}

static DAT_RETURN make_srq(struct maker *m, DAT_HANDLE *made)
{
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    return dat_srq_create(m->fx->ia, m->fx->pz, &attr, made);
}

static void one_more(struct maker *m, DAT_COUNT limit, const char *call, make make, unmake unmake)
{
    DAT_RETURN rc = DAT_SUCCESS;
    DAT_HANDLE *made;
    char name[128];
    DAT_COUNT n = 0;

    snprintf(name, sizeof name, "%s: one more than the limit: DAT_INSUFFICIENT_RESOURCES", call);
    if (limit > ENOUGH) {
        skip_named(name, "the adapter can have too many of them");
        return;
    }
    made = malloc((size_t)(limit + 1) * sizeof *made);
    must(made != NULL, "no memory");
    while (n <= limit && (rc = make(m, &made[n])) == DAT_SUCCESS)
        n++;
    is_type(rc, DAT_INSUFFICIENT_RESOURCES, "%s", name);
    while (n-- > 0)
        must_rc(unmake(made[n]), DAT_SUCCESS, call);
    rc = make(m, &made[0]);
    is_success(rc, "%s: when others are gone: success", call);
    if (rc == DAT_SUCCESS)
        must_rc(unmake(made[0]), DAT_SUCCESS, call);
    free(made);
}

static void too_long(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = UNTOUCHED;

    is_code(dat_ia_open(env_ia(), 0x7fffffff, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_TEVD, "dat_ia_open: the longest EVD: DAT_INSUFFICIENT_RESOURCES");
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct maker m;
    DAT_IA_ATTR a;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    memset(&m, 0, sizeof m);
    m.fx = &fx;
    side_make(&m.side, &fx, NULL);
    must_rc(make_srq(&m, &m.srq), DAT_SUCCESS, "dat_srq_create");
    attr_default(&m.attr);
    m.attr.max_recv_dtos = m.attr.max_request_dtos = 1;
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &a, 0, NULL), DAT_SUCCESS, "dat_ia_query");

    one_more(&m, a.max_eps, "dat_ep_create", make_ep, dat_ep_free);
    one_more(&m, a.max_ep_per_srq < a.max_eps ? a.max_ep_per_srq : a.max_eps,
             "dat_ep_create_with_srq", make_shared_ep, dat_ep_free);
    one_more(&m, a.max_srqs, "dat_srq_create", make_srq, dat_srq_free);
    too_long();
    fx_close(&fx);
    return done_testing();
}
