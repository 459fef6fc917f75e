/* read_to_rmr.c - dat_ep_post_rdma_read_to_rmr: RDMA reads into local memory that an RMR context names. */
#include "v20/windows.h"

#include <string.h>

#define READ "dat_ep_post_rdma_read_to_rmr"

static struct fx fx;
static struct pair p;
static struct region sink, source, closed; /* closed has no remote privileges */

static DAT_VADDR at(const struct region *r, size_t offset)
{
    return (DAT_VADDR)(uintptr_t)(r->mem + offset);
}

static DAT_RETURN post(DAT_RMR_TRIPLET into, size_t from, size_t len, DAT_UINT64 c)
{
    DAT_RMR_TRIPLET remote = target(&source, from, len);

    return dat_ep_post_rdma_read_to_rmr(p.a.ep, &into, cookie(c), &remote, DAT_COMPLETION_DEFAULT_FLAG);
}

/* Checks that a read into `into`, which is at `offset` of the sink, succeeds and changes no other byte. */
static void works(DAT_RMR_TRIPLET into, size_t offset, const char *what)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
    size_t len = into.segment_length;

    memset(sink.mem, 0, sink.size);
    is_success(post(into, 500, len, 9), READ ": %s: success", what);
    ok(wait_dto(p.a.req, 9, DAT_DTO_SUCCESS, &e) && d->operation == DAT_DTO_RDMA_READ && d->transfered_length == len,
       READ ": %s: ends as a read, with its length", what);
    ok(memcmp(sink.mem + offset, source.mem + 500, len) == 0 && all_bytes(sink.mem, offset, 0) &&
           all_bytes(sink.mem + offset + len, sink.size - offset - len, 0),
       READ ": %s: the bytes, and no others", what);
}

static void regions(void)
{
    works(remote_bytes(sink.rmr_context, at(&sink, 100), 64), 100, "the context of a region");
    is_code(post(remote_bytes(sink.rmr_context, at(&sink, sink.size - 10), 11), 0, 11, 1), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, READ ": past the end of a region");
    is_type(post(remote_bytes(0x7edcba98, at(&sink, 0), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION,
            READ ": a context that never was");
    is_type(post(remote_bytes(sink.lmr_context, at(&sink, 0), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION,
            READ ": a context for local segments");
    is_type(post(remote_bytes(sink.rmr_context, at(&sink, 0), 4), 0, 8, 1), DAT_LENGTH_ERROR,
            READ ": a sink that is too short");
}

static void windows(void)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context, old;
    DAT_LMR_TRIPLET none;
    DAT_RETURN rc = dat_rmr_create(fx.pz, &rmr);

    if (rc_not_implemented(rc)) {
        skip_named(READ ": windows", "the device has none");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_rmr_create");
    must_bind(&p.a, rmr, sink.lmr, segment(&sink, 1000, 500), READ_WRITE, DAT_VA_TYPE_VA, &context);
    works(remote_bytes(context, at(&sink, 1000), 500), 1000, "all of a window");
    works(remote_bytes(context, at(&sink, 1499), 1), 1499, "its last byte");
    is_code(post(remote_bytes(context, at(&sink, 1499), 2), 0, 2, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            READ ": past the end of a window");
    is_code(post(remote_bytes(context, at(&sink, 999), 2), 0, 2, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            READ ": before the start of a window");
    old = context;
    must_bind(&p.a, rmr, sink.lmr, segment(&sink, 0, 4096), DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA, &context);
    is_type(post(remote_bytes(context, at(&sink, 0), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION,
            READ ": a window that must not be written");
    is_type(post(remote_bytes(old, at(&sink, 1000), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION,
            READ ": the context of an earlier binding");
    memset(&none, 0, sizeof none);
    must_bind(&p.a, rmr, DAT_HANDLE_NULL, none, 0, DAT_VA_TYPE_VA, &old);
    is_type(post(remote_bytes(context, at(&sink, 0), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION, READ ": unbound");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
}

/* An endpoint cannot read into a window that is bound for another endpoint. */
static void of_another(void)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    struct pair q;

    if (dat_rmr_create_for_ep(fx.pz, &rmr) != DAT_SUCCESS)
        return;
    pair_open(&q, &fx, NULL);
    must_bind(&q.a, rmr, sink.lmr, segment(&sink, 0, 4096), READ_WRITE, DAT_VA_TYPE_VA, &context);
    is_type(post(remote_bytes(context, at(&sink, 0), 8), 0, 8, 1), DAT_PROTECTION_VIOLATION,
            READ ": a window for another endpoint");
    pair_close(&q);
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
}

static void zero_based(void)
{
    struct region zb;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;

    if (register_again(&fx, &sink, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &zb) != DAT_SUCCESS)
        return;
    works(remote_bytes(zb.rmr_context, 100, 64), 100, "a zero-based region");
    must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    must_bind(&p.a, rmr, zb.lmr, local_bytes(zb.lmr_context, 1000, 500), READ_WRITE, DAT_VA_TYPE_VA, &context);
    works(remote_bytes(context, 1000, 64), 1000, "a window by the offsets of a zero-based region");
    must_bind(&p.a, rmr, sink.lmr, segment(&sink, 1000, 500), READ_WRITE, DAT_VA_TYPE_ZB, &context);
    works(remote_bytes(context, 10, 64), 1010, "a zero-based window");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    must_rc(dat_lmr_free(zb.lmr), DAT_SUCCESS, "dat_lmr_free");
}

static void calls(void)
{
    DAT_RMR_TRIPLET good = remote_bytes(sink.rmr_context, at(&sink, 0), 8), from = target(&source, 0, 8);
    DAT_RMR_TRIPLET unknown = remote_bytes(0x7edcba98, at(&sink, 0), 8);
    struct side idle;

    is_code(dat_ep_post_rdma_read_to_rmr(p.a.ep, NULL, cookie(1), &from, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, READ ": no sink");
    is_code(dat_ep_post_rdma_read_to_rmr(p.a.ep, &good, cookie(1), NULL, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG4, READ ": no source");
    is_code(dat_ep_post_rdma_read_to_rmr(p.a.ep, &good, cookie(1), &from, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5, READ ": a flag of messages");
    is_code(dat_ep_post_rdma_read_to_rmr(p.a.ep, &unknown, cookie(1), &from, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5, READ ": a flag of messages, and a context that never was");
    is_code(dat_ep_post_rdma_read_to_rmr(fx.pz, &good, cookie(1), &from, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP, READ ": not an endpoint");
    side_make(&idle, &fx, NULL);
    is_code(dat_ep_post_rdma_read_to_rmr(idle.ep, &good, cookie(1), &from, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED, READ ": not connected");
    is_code(dat_ep_post_rdma_read_to_rmr(idle.ep, &unknown, cookie(1), &from, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED, READ ": not connected, and a context that never was");
    side_free(&idle);
    ok(quiet(p.a.req), READ ": what is refused has no event");
    ok(sides_talk(&p.a, &p.b), READ ": messages go on");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    region_make(&fx, &sink, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &source, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &closed, 4096, MEM_LOCAL);
    pattern_fill(source.mem, 4096, 11);
    pair_open(&p, &fx, NULL);
    regions();
    is_type(post(remote_bytes(closed.rmr_context, at(&closed, 0), 8), 0, 8, 1), DAT_PRIVILEGES_VIOLATION,
            READ ": a region without rights of peers");
    windows();
    of_another();
    zero_based();
    calls();
    pair_close(&p);
    region_free(&closed);
    region_free(&source);
    region_free(&sink);
    fx_close(&fx);
    return done_testing();
}
