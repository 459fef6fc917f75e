/* zero_based.c - zero-based addresses: registered memory and windows with DAT_VA_TYPE_ZB. */
#include "v20/extended.h"

#include <stdio.h>
#include <string.h>

#define SIZE 8192

static struct fx fx;
static unsigned char memory[SIZE];

/* One registration of the memory. */
struct view {
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_VADDR first; /* address of the first byte */
};

static DAT_RETURN view_try(struct view *v, DAT_VA_TYPE type, unsigned privileges)
{
    DAT_REGION_DESCRIPTION where;
    DAT_VLEN size = 0;

    where.for_va = memory;
    memset(v, 0, sizeof *v);
    return (dat_lmr_create)(fx.ia, DAT_MEM_TYPE_VIRTUAL, where, SIZE, fx.pz, (DAT_MEM_PRIV_FLAGS)privileges, type,
                            &v->lmr, &v->lmr_context, &v->rmr_context, &size, &v->first);
}

static void view_make(struct view *v, DAT_VA_TYPE type)
{
    must_rc(view_try(v, type, ALL_AND_ATOMIC), DAT_SUCCESS, "dat_lmr_create");
}

static DAT_LMR_TRIPLET local(const struct view *v, DAT_VADDR offset, DAT_SEG_LENGTH length)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.lmr_context = v->lmr_context;
    t.virtual_address = v->first + offset;
    t.segment_length = length;
    return t;
}

static DAT_RMR_TRIPLET remote(const struct view *v, DAT_VADDR offset, DAT_SEG_LENGTH length)
{
    DAT_RMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.rmr_context = v->rmr_context;
    t.virtual_address = v->first + offset;
    t.segment_length = length;
    return t;
}

static void creation(void)
{
    struct view v, va, all[3];
    DAT_LMR_PARAM p;

    is_success(view_try(&v, DAT_VA_TYPE_ZB, ALL_AND_ATOMIC), "dat_lmr_create: zero-based: success");
    ok(v.first == 0, "dat_lmr_create: zero-based: the registered address is 0");
    memset(&p, 0x5a, sizeof p);
    is_success(dat_lmr_query(v.lmr, DAT_LMR_FIELD_ALL, &p), "dat_lmr_query: zero-based: success");
    is_int(p.va_type, DAT_VA_TYPE_ZB, "dat_lmr_query: zero-based: va_type");
    ok(p.registered_address == 0 && p.registered_size == SIZE, "dat_lmr_query: zero-based: address 0, the whole length");
    ok(p.region_desc.for_va == memory && p.length == SIZE, "dat_lmr_query: zero-based: where the memory is");
    view_make(&va, DAT_VA_TYPE_VA);
    must_rc(dat_lmr_query(va.lmr, DAT_LMR_FIELD_ALL, &p), DAT_SUCCESS, "dat_lmr_query");
    is_int(p.va_type, DAT_VA_TYPE_VA, "dat_lmr_query: by address: va_type");
    ok(va.first == (DAT_VADDR)(uintptr_t)memory, "dat_lmr_create: by address: the registered address");

    /* The call determines the type, not the underlying region. */
    for (int type = DAT_VA_TYPE_VA; type <= DAT_VA_TYPE_ZB; type++) {
        DAT_REGION_DESCRIPTION where;

        memset(&all[type], 0, sizeof all[type]);
        where.for_lmr_handle = v.lmr;
        is_success((dat_lmr_create)(fx.ia, DAT_MEM_TYPE_LMR, where, SIZE, fx.pz, DAT_MEM_PRIV_ALL_FLAG, (DAT_VA_TYPE)type,
                                    &all[type].lmr, &all[type].lmr_context, &all[type].rmr_context, NULL,
                                    &all[type].first),
                   "dat_lmr_create: over a zero-based region, type %d: success", type);
        ok(all[type].first == (type == DAT_VA_TYPE_ZB ? 0 : (DAT_VADDR)(uintptr_t)memory),
           "dat_lmr_create: over a zero-based region, type %d: the registered address", type);
        must_rc(dat_lmr_free(all[type].lmr), DAT_SUCCESS, "dat_lmr_free");
    }
    must_rc(dat_lmr_free(v.lmr), DAT_SUCCESS, "dat_lmr_free");
    must_rc(dat_lmr_free(va.lmr), DAT_SUCCESS, "dat_lmr_free");
    is_code(view_try(&v, (DAT_VA_TYPE)2, DAT_MEM_PRIV_ALL_FLAG), DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
            "dat_lmr_create: unknown type of addresses: DAT_INVALID_PARAMETER");
    is_code(view_try(&v, (DAT_VA_TYPE)-1, DAT_MEM_PRIV_ALL_FLAG), DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
            "dat_lmr_create: negative type of addresses: DAT_INVALID_PARAMETER");
}

/* Checks every kind of transfer with each combination of address types. */
static void transfers(void)
{
    for (int here = DAT_VA_TYPE_VA; here <= DAT_VA_TYPE_ZB; here++)
        for (int there = DAT_VA_TYPE_VA; there <= DAT_VA_TYPE_ZB; there++) {
            struct view l, r;
            struct pair p;
            DAT_LMR_TRIPLET from, to;
            DAT_RMR_TRIPLET target;
            char what[64];

            snprintf(what, sizeof what, "local type %d, remote type %d", here, there);
            view_make(&l, (DAT_VA_TYPE)here);
            view_make(&r, (DAT_VA_TYPE)there);
            pair_open(&p, &fx, NULL);
            memset(memory, 0, SIZE);
            pattern_fill(memory, 1000, 7);
            from = local(&l, 0, 1000);
            to = local(&r, 2000, 1000);
            must_rc(dat_ep_post_recv(p.b.ep, 1, &to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                    "dat_ep_post_recv");
            must_rc(dat_ep_post_send(p.a.ep, 1, &from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                    "dat_ep_post_send");
            ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
                   pattern_check(memory + 2000, 1000, 7) < 0,
               "a message, %s: the bytes are where they belong", what);
            target = remote(&r, 4000, 1000);
            must_rc(dat_ep_post_rdma_write(p.a.ep, 1, &from, cookie(3), &target, DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                    "dat_ep_post_rdma_write");
            ok(wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(memory + 4000, 1000, 7) < 0,
               "an RDMA write, %s: the bytes are where they belong", what);
            to = local(&l, 6000, 1000);
            must_rc(dat_ep_post_rdma_read(p.a.ep, 1, &to, cookie(4), &target, DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                    "dat_ep_post_rdma_read");
            ok(wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL) && pattern_check(memory + 6000, 1000, 7) < 0,
               "an RDMA read, %s: the bytes are where they belong", what);
            ok(all_bytes(memory + 1000, 1000, 0) && all_bytes(memory + 3000, 1000, 0) &&
                   all_bytes(memory + 5000, 1000, 0) && all_bytes(memory + 7000, SIZE - 7000, 0),
               "%s: no other byte has changed", what);

            /* An atomic operation on the last word. */
            target = remote(&r, SIZE - 8, 8);
            to = local(&l, 0, 8);
            memset(memory + SIZE - 8, 0, 8);
            must_rc(dat_ib_post_fetch_and_add(p.a.ep, 5, &to, cookie(5), &target, DAT_COMPLETION_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ib_post_fetch_and_add");
            ok(wait_extended(p.a.req, p.a.ep, 5, DAT_IB_DTO_FETCH_ADD, DAT_DTO_SUCCESS, NULL) && memory[SIZE - 8] == 5,
               "an addition to the last word, %s: is there", what);
            pair_close(&p);
            must_rc(dat_lmr_free(l.lmr), DAT_SUCCESS, "dat_lmr_free");
            must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
        }
}

/* Accesses outside the region fail, also with addresses of the process. */
static void bounds(void)
{
    static const struct {
        DAT_VADDR at;
        DAT_SEG_LENGTH length;
        const char *what;
    } wrong[] = {
        { SIZE, 1, "begins at the end" },
        { SIZE - 63, 64, "one byte too far" },
        { ~(DAT_VADDR)0, 64, "begins before the region" },
        { (DAT_VADDR)1 << 40, 64, "far beyond" },
    };
    struct view v;
    struct pair p;
    struct region own;

    view_make(&v, DAT_VA_TYPE_ZB);
    region_make(&fx, &own, 4096, DAT_MEM_PRIV_ALL_FLAG);
    memset(memory, 0x77, SIZE);
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        bool process = i == sizeof wrong / sizeof *wrong;
        DAT_VADDR at = process ? (DAT_VADDR)(uintptr_t)memory : wrong[i].at;
        DAT_SEG_LENGTH length = process ? 64 : wrong[i].length;
        const char *what = process ? "an address of the process" : wrong[i].what;
        DAT_LMR_TRIPLET t = local(&v, at, length);

        pair_open(&p, &fx, NULL);
        is_type(dat_ep_post_send(p.a.ep, 1, &t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_INVALID_PARAMETER,
                "dat_ep_post_send: zero-based, %s: DAT_INVALID_PARAMETER", what);
        must_rc(post_write(&p.a, &own, 0, length, remote(&v, at, length), 2), DAT_SUCCESS, "dat_ep_post_rdma_write");
        ok(wait_dto(p.a.req, 2, DAT_DTO_ERR_REMOTE_ACCESS, NULL), "an RDMA write, zero-based, %s: REMOTE_ACCESS", what);
        pair_close(&p);
    }
    ok(all_bytes(memory, SIZE, 0x77), "refused accesses: no byte has changed");
    region_free(&own);
    must_rc(dat_lmr_free(v.lmr), DAT_SUCCESS, "dat_lmr_free");
}

/* Memory with two contexts: each has its own privileges and addresses. */
static void two_contexts(void)
{
    struct view va, zb;
    struct region own;
    const struct {
        const struct view *context;
        const struct view *numbers;
        bool write;
        bool allowed;
        const char *what;
    } accesses[] = {
        { &zb, &zb, true, true, "a write, by the offset" },
        { &va, &va, false, true, "a read, by the address" },
        { &va, &va, true, false, "a write, where only reads are allowed" },
        { &va, &zb, false, false, "a read, by the offset, with the context for addresses" },
        { &zb, &va, false, false, "a read, by the address, with the context for offsets" },
    };

    must_rc(view_try(&va, DAT_VA_TYPE_VA, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG), DAT_SUCCESS, "dat_lmr_create");
    view_make(&zb, DAT_VA_TYPE_ZB);
    region_make(&fx, &own, 4096, MEM_LOCAL);
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        struct pair p;
        DAT_RMR_TRIPLET t = remote(accesses[i].numbers, 100, 64);

        t.rmr_context = accesses[i].context->rmr_context;
        pair_open(&p, &fx, NULL);
        must_rc(accesses[i].write ? post_write(&p.a, &own, 0, 64, t, 1) : post_read(&p.a, &own, 0, 64, t, 1), DAT_SUCCESS,
                "RDMA");
        ok(wait_dto(p.a.req, 1, accesses[i].allowed ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS, NULL),
           "two contexts of one memory: %s: %s", accesses[i].what, accesses[i].allowed ? "success" : "REMOTE_ACCESS");
        pair_close(&p);
    }
    region_free(&own);
    must_rc(dat_lmr_free(va.lmr), DAT_SUCCESS, "dat_lmr_free");
    must_rc(dat_lmr_free(zb.lmr), DAT_SUCCESS, "dat_lmr_free");
}

/* Checks windows of both address types over regions of both types. */
static void windows(void)
{
    for (int region = DAT_VA_TYPE_VA; region <= DAT_VA_TYPE_ZB; region++)
        for (int window = DAT_VA_TYPE_VA; window <= DAT_VA_TYPE_ZB; window++) {
            struct view v, w;
            struct pair p;
            struct region own;
            DAT_RMR_HANDLE rmr;
            DAT_RMR_PARAM param;
            DAT_LMR_TRIPLET part;
            DAT_RMR_COOKIE k = cookie(9);
            DAT_EVENT e;
            char what[64];

            snprintf(what, sizeof what, "region type %d, window type %d", region, window);
            view_make(&v, (DAT_VA_TYPE)region);
            region_make(&fx, &own, 4096, DAT_MEM_PRIV_ALL_FLAG);
            pair_open(&p, &fx, NULL);
            must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
            must_rc(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
            ok(param.va_type == DAT_VA_TYPE_VA && param.rmr_scope == DAT_RMR_SCOPE_PZ,
               "dat_rmr_query: unbound, %s: by address, of the zone", what);
            part = local(&v, 1000, 500);
            memset(&w, 0, sizeof w);
            is_success(dat_rmr_bind(rmr, v.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                                    (DAT_VA_TYPE)window, p.b.ep, k, DAT_COMPLETION_DEFAULT_FLAG, &w.rmr_context),
                       "dat_rmr_bind: %s: success", what);
            ok(wait_number(p.b.req, DAT_RMR_BIND_COMPLETION_EVENT, &e), "dat_rmr_bind: %s: completes", what);
            must_rc(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
            is_int(param.va_type, window, "dat_rmr_query: %s: va_type", what);
            ok(param.lmr_triplet.virtual_address == part.virtual_address && param.lmr_triplet.segment_length == 500,
               "dat_rmr_query: %s: the segment as it was given", what);

            /* The remote address of the window's first byte. */
            w.first = window == DAT_VA_TYPE_ZB ? 0 : v.first + 1000;
            memset(memory, 0, SIZE);
            pattern_fill(own.mem, 500, 3);
            must_rc(post_write(&p.a, &own, 0, 500, remote(&w, 0, 500), 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
            ok(wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(memory + 1000, 500, 3) < 0 &&
                   all_bytes(memory, 1000, 0) && all_bytes(memory + 1500, SIZE - 1500, 0),
               "an RDMA write through it, %s: exactly the window", what);
            must_rc(post_read(&p.a, &own, 1000, 100, remote(&w, 400, 100), 2), DAT_SUCCESS, "dat_ep_post_rdma_read");
            ok(wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) && memcmp(own.mem + 1000, own.mem + 400, 100) == 0,
               "an RDMA read of its end, %s: its bytes", what);
            must_rc(post_write(&p.a, &own, 0, 2, remote(&w, 499, 2), 3), DAT_SUCCESS, "dat_ep_post_rdma_write");
            ok(wait_dto(p.a.req, 3, DAT_DTO_ERR_REMOTE_ACCESS, NULL), "one byte beyond it, %s: REMOTE_ACCESS", what);
            pair_close(&p);
            must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
            must_rc(dat_lmr_free(v.lmr), DAT_SUCCESS, "dat_lmr_free");
            region_free(&own);
        }
}

static void bind_parameters(void)
{
    struct view v, other;
    struct pair p;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context = 0x5a5a5a5a;
    DAT_LMR_TRIPLET part;

    view_make(&v, DAT_VA_TYPE_ZB);
    view_make(&other, DAT_VA_TYPE_VA);
    pair_open(&p, &fx, NULL);
    must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    part = local(&v, 0, 64);
#define BIND(lmr, type) \
    dat_rmr_bind(rmr, lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, (DAT_VA_TYPE)(type), p.a.ep, cookie(1), \
                 DAT_COMPLETION_DEFAULT_FLAG, &context)
    is_code(BIND(v.lmr, 2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_rmr_bind: unknown type of addresses: DAT_INVALID_PARAMETER");
    is_code(BIND(other.lmr, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_rmr_bind: handle and context of two regions: DAT_INVALID_PARAMETER");
    is_code(BIND(DAT_HANDLE_NULL, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR,
            "dat_rmr_bind: no region: DAT_INVALID_HANDLE");
    is_code(BIND(fx.pz, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR,
            "dat_rmr_bind: a protection zone for the region: DAT_INVALID_HANDLE");
    part.virtual_address = (DAT_VADDR)(uintptr_t)memory;
    is_code(BIND(v.lmr, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_rmr_bind: an address of the process in a zero-based region: DAT_INVALID_PARAMETER");
#undef BIND
    ok(context == 0x5a5a5a5a && quiet(p.a.req), "dat_rmr_bind: error: no context, no event");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
    must_rc(dat_lmr_free(v.lmr), DAT_SUCCESS, "dat_lmr_free");
    must_rc(dat_lmr_free(other.lmr), DAT_SUCCESS, "dat_lmr_free");
}

/* An adapter without zero-based addresses rejects them. */
static void unsupported(void)
{
    struct view v;

    is_type(view_try(&v, DAT_VA_TYPE_ZB, DAT_MEM_PRIV_ALL_FLAG), DAT_MODEL_NOT_SUPPORTED,
            "dat_lmr_create: zero-based, zb_supported is false: DAT_MODEL_NOT_SUPPORTED");
}

int main(int argc, char **argv)
{
    DAT_IA_ATTR ia;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    memset(&ia, 0, sizeof ia);
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    if (ia.zb_supported != DAT_TRUE) {
        unsupported();
    } else {
        creation();
        transfers();
        bounds();
        two_contexts();
        windows();
        bind_parameters();
    }
    fx_close(&fx);
    return done_testing();
}
