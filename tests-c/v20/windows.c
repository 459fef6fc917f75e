/* windows.c - see windows.h. */
#include "v20/windows.h"

#include <string.h>

/* The cookie of every bind. */
#define BIND 0xb1

DAT_LMR_TRIPLET local_bytes(DAT_LMR_CONTEXT context, DAT_VADDR first, size_t length)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.lmr_context = context;
    t.virtual_address = first;
    t.segment_length = (DAT_SEG_LENGTH)length;
    return t;
}

DAT_RMR_TRIPLET remote_bytes(DAT_RMR_CONTEXT context, DAT_VADDR first, size_t length)
{
    DAT_RMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.rmr_context = context;
    t.virtual_address = first;
    t.segment_length = (DAT_SEG_LENGTH)length;
    return t;
}

DAT_RETURN register_again(struct fx *fx, const struct region *r, unsigned privileges, DAT_VA_TYPE type,
                          struct region *made)
{
    DAT_REGION_DESCRIPTION d;

    memset(&d, 0, sizeof d);
    d.for_va = r->mem;
    *made = *r;
    return (dat_lmr_create)(fx->ia, DAT_MEM_TYPE_VIRTUAL, d, r->size, fx->pz, (DAT_MEM_PRIV_FLAGS)privileges, type,
                            &made->lmr, &made->lmr_context, &made->rmr_context, NULL, NULL);
}

DAT_RETURN bind_as(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
                   DAT_VA_TYPE type, DAT_RMR_CONTEXT *context)
{
    DAT_RMR_COOKIE k;

    memset(&k, 0, sizeof k);
    k.as_64 = BIND;
    return dat_rmr_bind(rmr, lmr, &t, (DAT_MEM_PRIV_FLAGS)privileges, type, s->ep, k, DAT_COMPLETION_DEFAULT_FLAG,
                        context);
}

bool bind_ends(struct side *s, DAT_RMR_HANDLE rmr)
{
    DAT_EVENT e;
    const DAT_RMR_BIND_COMPLETION_EVENT_DATA *d = &e.event_data.rmr_completion_event_data;

    return wait_number(s->req, DAT_RMR_BIND_COMPLETION_EVENT, &e) && d->rmr_handle == rmr &&
           d->user_cookie.as_64 == BIND && d->status == DAT_RMR_BIND_SUCCESS;
}

void must_bind(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
               DAT_VA_TYPE type, DAT_RMR_CONTEXT *context)
{
    must_rc(bind_as(s, rmr, lmr, t, privileges, type, context), DAT_SUCCESS, "dat_rmr_bind");
    must(bind_ends(s, rmr), "dat_rmr_bind does not complete");
}

size_t window_length(DAT_RMR_HANDLE rmr)
{
    DAT_RMR_PARAM param;

    must_rc(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
    return param.lmr_triplet.segment_length;
}

void access_is(struct fx *fx, struct pair *p, struct region *r, DAT_RMR_TRIPLET t, bool write, bool allowed,
               const char *what)
{
    DAT_RETURN rc = write ? post_write(&p->a, r, 0, t.segment_length, t, 1)
                          : post_read(&p->a, r, 0, t.segment_length, t, 1);

    must_rc(rc, DAT_SUCCESS, "RDMA");
    ok(wait_dto(p->a.req, 1, allowed ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS, NULL), "%s: %s", what,
       allowed ? "success" : "REMOTE_ACCESS");
    if (!allowed) {
        ok(wait_connection(p->a.conn, DAT_CONNECTION_EVENT_BROKEN), "%s: BROKEN", what);
        pair_close(p);
        pair_open(p, fx, NULL);
    }
}
