/* post.c - the posting calls: parameters, handles, limits, immediate errors. */
#define _GNU_SOURCE
#include "common/zoo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum kind { SEND, RECV, WRITE, READ, KINDS };

static const char *const names[KINDS] = { "dat_ep_post_send", "dat_ep_post_recv",
                                          "dat_ep_post_rdma_write", "dat_ep_post_rdma_read" };

/* All arguments of the four calls. Each test changes one of them. */
struct call {
    enum kind kind;
    DAT_EP_HANDLE ep;
    DAT_COUNT n;
    DAT_LMR_TRIPLET *iov;
    DAT_RMR_TRIPLET *remote;
    unsigned flags;
    DAT_UINT64 cookie;
};

static DAT_RETURN post(const struct call *c)
{
    DAT_DTO_COOKIE k = cookie(c->cookie);
    DAT_COMPLETION_FLAGS f = (DAT_COMPLETION_FLAGS)c->flags;

    switch (c->kind) {
    case SEND: return dat_ep_post_send(c->ep, c->n, c->iov, k, f);
    case RECV: return dat_ep_post_recv(c->ep, c->n, c->iov, k, f);
    case WRITE: return dat_ep_post_rdma_write(c->ep, c->n, c->iov, k, c->remote, f);
    default: return dat_ep_post_rdma_read(c->ep, c->n, c->iov, k, c->remote, f);
    }
}

static DAT_RETURN with_ep(DAT_HANDLE h, void *arg)
{
    struct call c = *(struct call *)arg;

    c.ep = h;
    return post(&c);
}

static struct pair pair;
static struct region here, there;
static DAT_LMR_TRIPLET seg;
static DAT_RMR_TRIPLET rem;

static struct call good(enum kind kind)
{
    struct call c;

    seg = segment(&here, 0, 64);
    rem = target(&there, 0, 64);
    memset(&c, 0, sizeof c);
    c.kind = kind;
    c.ep = pair.a.ep;
    c.n = 1;
    c.iov = &seg;
    c.remote = &rem;
    c.cookie = 0xbad;
    return c;
}

/*
 * Checks that a memory violation is an error of the call or of the completion. An error of the completion
 * breaks the connection, so then a new pair is created.
 */
static void violation(struct zoo *z, const struct call *c, DAT_UINT32 type, const char *what)
{
    DAT_RETURN rc = post(c);
    struct side *s = &pair.a;

    if (rc != DAT_SUCCESS) {
        is_type(rc, type, "%s: %s: %s", names[c->kind], what, rc_text(type));
        return;
    }
    if (c->kind == RECV) {
        /* A receive is checked when a message arrives. */
        must_rc(post_send(&pair.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(s->recv, c->cookie, DAT_DTO_ERR_LOCAL_PROTECTION, NULL),
           "%s: %s: completes as LOCAL_PROTECTION", names[c->kind], what);
    } else {
        ok(wait_dto(s->req, c->cookie, DAT_DTO_ERR_LOCAL_PROTECTION, NULL),
           "%s: %s: completes as LOCAL_PROTECTION", names[c->kind], what);
    }
    ok(wait_state(s->ep, DAT_EP_STATE_DISCONNECTED), "%s: %s: the connection ends", names[c->kind],
       what);
    pair_close(&pair);
    pair_open(&pair, &z->fx, NULL);
}

static void parameters(void)
{
    for (int k = 0; k < KINDS; k++) {
        const char *name = names[k];
        DAT_LMR_TRIPLET many[64];
        DAT_EP_PARAM p;
        struct call c;
        DAT_COUNT limit;

        must_rc(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
        limit = k == SEND ? p.ep_attr.max_request_iov
              : k == RECV ? p.ep_attr.max_recv_iov
              : k == WRITE ? p.ep_attr.max_rdma_write_iov
                           : p.ep_attr.max_rdma_read_iov;
        c = good((enum kind)k);
        c.n = -1;
        is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: segment count -1: DAT_INVALID_PARAMETER", name);
        c.n = (DAT_COUNT)0x80000000u;
        is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: the smallest segment count: DAT_INVALID_PARAMETER", name);
        if (limit < 64) {
            for (int i = 0; i < 64; i++)
                many[i] = segment(&here, (size_t)i, 1);
            c.iov = many;
            c.n = limit + 1;
            is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                    "%s: one segment more than the endpoint allows: DAT_INVALID_PARAMETER", name);
        }
        c = good((enum kind)k);
        c.n = 0x7fffffff;
        is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: 2^31 - 1 segments: DAT_INVALID_PARAMETER", name);
        c = good((enum kind)k);
        c.iov = NULL;
        is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                "%s: list NULL with a count: DAT_INVALID_PARAMETER", name);
        if (k == WRITE || k == READ) {
            c = good((enum kind)k);
            c.remote = NULL;
            is_code(post(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
                    "%s: remote segment NULL: DAT_INVALID_PARAMETER", name);
            c = good((enum kind)k);
            if (k == WRITE)
                rem.segment_length = 63;
            else
                rem.segment_length = 65;
            is_type(post(&c), DAT_LENGTH_ERROR, "%s: the sink is too small: DAT_LENGTH_ERROR",
                    name);
        }
        c = good((enum kind)k);
        c.flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
        is_type(post(&c), DAT_INVALID_PARAMETER,
                "%s: UNSIGNALLED without such an endpoint: DAT_INVALID_PARAMETER", name);
        c.flags = 0x100;
        is_type(post(&c), DAT_INVALID_PARAMETER, "%s: unknown flag: DAT_INVALID_PARAMETER", name);
        c.flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
        is_type(post(&c), DAT_INVALID_PARAMETER,
                "%s: EVD_THRESHOLD, which is an attribute only: DAT_INVALID_PARAMETER", name);
        if (k != SEND) {
            c.flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
            is_type(post(&c), DAT_INVALID_PARAMETER, "%s: SOLICITED_WAIT: DAT_INVALID_PARAMETER",
                    name);
        }
        if (k == RECV) {
            c.flags = DAT_COMPLETION_SUPPRESS_FLAG;
            is_type(post(&c), DAT_INVALID_PARAMETER, "%s: SUPPRESS: DAT_INVALID_PARAMETER", name);
            c.flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
            is_type(post(&c), DAT_INVALID_PARAMETER, "%s: BARRIER_FENCE: DAT_INVALID_PARAMETER",
                    name);
        }
    }
    ok(quiet(pair.a.req) && quiet(pair.a.recv), "posting: refused: no completion comes");
    is_state(ep_state(pair.a.ep), DAT_EP_STATE_CONNECTED, "posting: refused: still CONNECTED");
}

static void memory(struct zoo *z)
{
    DAT_PZ_HANDLE pz;
    struct region r;

    must_rc(dat_pz_create(z->fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    for (int k = 0; k < KINDS; k++) {
        struct call c;

        region_make_in(&z->fx, pz, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
        c = good((enum kind)k);
        seg = segment(&r, 0, 64);
        violation(z, &c, DAT_PROTECTION_VIOLATION, "segment of another zone");
        region_free(&r);

        c = good((enum kind)k);
        seg.lmr_context ^= 0x40000000u;
        violation(z, &c, DAT_PRIVILEGES_VIOLATION, "unknown LMR context");

        region_make(&z->fx, &r, 4096, MEM_LOCAL);
        seg = segment(&r, 0, 64);
        {
            DAT_LMR_CONTEXT freed = seg.lmr_context;
            DAT_VADDR va = seg.virtual_address;

            must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
            r.lmr = DAT_HANDLE_NULL;
            c = good((enum kind)k);
            seg.lmr_context = freed;
            seg.virtual_address = va;
            violation(z, &c, DAT_PRIVILEGES_VIOLATION, "context of a freed LMR");
        }
        region_free(&r);

        c = good((enum kind)k);
        seg = segment(&here, here.size - 63, 64);
        violation(z, &c, DAT_INVALID_PARAMETER, "segment beyond its LMR");
        c = good((enum kind)k);
        seg.virtual_address -= 1;
        violation(z, &c, DAT_INVALID_PARAMETER, "segment before its LMR");
        c = good((enum kind)k);
        seg.virtual_address = ~(DAT_VADDR)0 - 10;
        violation(z, &c, DAT_INVALID_PARAMETER, "segment at the end of the address space");

        if (k == RECV || k == READ) {
            region_make(&z->fx, &r, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
            c = good((enum kind)k);
            seg = segment(&r, 0, 64);
            violation(z, &c, DAT_PRIVILEGES_VIOLATION, "no local write privilege");
            region_free(&r);
        }
        if (k == SEND || k == WRITE) {
            /*
             * Test memory without any privilege. Sending memory that only lacks local read succeeds, because existing
             * programs do that.
             */
            region_make(&z->fx, &r, 4096, DAT_MEM_PRIV_NONE_FLAG);
            c = good((enum kind)k);
            seg = segment(&r, 0, 64);
            violation(z, &c, DAT_PRIVILEGES_VIOLATION, "no local privilege at all");
            region_free(&r);
        }

        if (k == RECV) {
            DAT_LMR_TRIPLET two[2];

            c = good(RECV);
            memset(&two[0], 0xff, sizeof two[0]);
            two[0].segment_length = 0;
            two[1] = seg;
            c.iov = two;
            c.n = 2;
            c.cookie = 0x0de;
            is_success(post(&c), "%s: rubbish of length 0 before a good segment: success",
                       names[k]);
            must_rc(post_send(&pair.b, &there, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
            ok(wait_dto(pair.a.recv, 0x0de, DAT_DTO_SUCCESS, NULL),
               "%s: rubbish of length 0 before a good segment: completes", names[k]);
            drain_dtos(pair.b.req, 1);
        }
    }
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
}

/* Checks that the limits on outstanding receives and requests are exact. */
static void depth(struct zoo *z)
{
    struct side s;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    DAT_RETURN rc = DAT_SUCCESS;
    int posted = 0;

    attr_default(&attr);
    attr.max_recv_dtos = 7;
    side_make(&s, &z->fx, &attr);
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    while (posted <= p.ep_attr.max_recv_dtos &&
           (rc = post_recv(&s, &here, 0, 64, (DAT_UINT64)posted)) == DAT_SUCCESS)
        posted++;
    is_code(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            "dat_ep_post_recv: more than max_recv_dtos: DAT_INSUFFICIENT_RESOURCES");
    is_int(posted, p.ep_attr.max_recv_dtos, "dat_ep_post_recv: max_recv_dtos fit");
    side_free(&s);

    if (none_waits("max_request_dtos"))
        return;
    /* Requests cannot complete, because the peer has posted no receive. */
    attr_default(&attr);
    attr.max_request_dtos = 7;
    {
        struct pair q;

        pair_open(&q, &z->fx, &attr);
        must_rc(dat_ep_query(q.a.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
        posted = 0;
        while (posted <= p.ep_attr.max_request_dtos &&
               (rc = post_send(&q.a, &here, 0, 64, (DAT_UINT64)posted)) == DAT_SUCCESS)
            posted++;
        is_code(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                "dat_ep_post_send: more than max_request_dtos: DAT_INSUFFICIENT_RESOURCES");
        is_int(posted, p.ep_attr.max_request_dtos, "dat_ep_post_send: max_request_dtos fit");
        for (int i = 0; i < posted; i++)
            must_rc(post_recv(&q.b, &there, 0, 64, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
        is_int(drain_dtos(q.a.req, posted), posted, "dat_ep_post_send: all that fit complete");
        is_success(post_send(&q.a, &here, 0, 64, 99),
                   "dat_ep_post_send: after completions were fetched: success");
        pair_close(&q);
    }
}

/* The attribute that limits a kind of transfer. */
#define LIMIT(attr, kind) ((kind) == SEND ? (attr).max_message_size : (attr).max_rdma_size)

static const char *const limits[KINDS] = { "max_message_size", NULL, "max_rdma_size", "max_rdma_size" };

static void above_endpoint(struct zoo *z, enum kind kind)
{
    struct region *from = kind == READ ? &there : &here, *to = kind == READ ? &here : &there;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    struct pair q;
    struct call c;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = 100;
    pair_open(&q, &z->fx, &attr);
    must_rc(dat_ep_query(q.a.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    is_int((long long)LIMIT(p.ep_attr, kind), 100, "dat_ep_query: %s: as the endpoint was created", limits[kind]);
    c = good(kind);
    c.ep = q.a.ep;
    seg.segment_length = rem.segment_length = 4096;
    pattern_fill(from->mem, 4096, kind);
    memset(to->mem, 0, 4096);
    if (kind == SEND)
        must_rc(post_recv(&q.b, &there, 0, 4096, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post(&c), "%s: above %s of the endpoint: success", names[kind], limits[kind]);
    ok(wait_dto(q.a.req, c.cookie, DAT_DTO_SUCCESS, NULL) &&
           (kind != SEND || wait_dto(q.b.recv, 1, DAT_DTO_SUCCESS, NULL)) && pattern_check(to->mem, 4096, kind) < 0,
       "%s: above %s of the endpoint: all bytes arrive", names[kind], limits[kind]);
    pair_close(&q);
}

/*
 * Posts a transfer that exceeds the limit of the adapter. It has the maximum number of segments, all of the same
 * memory.
 */
static void above_adapter(struct zoo *z, enum kind kind)
{
    DAT_LMR_TRIPLET many[64];
    DAT_EP_ATTR attr;
    DAT_IA_ATTR ia;
    struct region big;
    struct pair q;
    struct call c;
    DAT_COUNT n;
    DAT_VLEN part;

    must_rc(dat_ia_query(z->fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    n = kind == SEND ? ia.max_iov_segments_per_dto
      : kind == WRITE ? ia.max_iov_segments_per_rdma_write
                      : ia.max_iov_segments_per_rdma_read;
    n = n < 64 ? n : 64;
    part = LIMIT(ia, kind) / (DAT_VLEN)n + 1;
    if (part > (DAT_VLEN)128 << 20) {
        skip_named(limits[kind], "the adapter takes more than can be tried");
        return;
    }
    attr_default(&attr);
    attr.max_request_iov = attr.max_rdma_write_iov = attr.max_rdma_read_iov = n;
    pair_open(&q, &z->fx, &attr);
    region_make(&z->fx, &big, (size_t)part, DAT_MEM_PRIV_ALL_FLAG);
    for (DAT_COUNT i = 0; i < n; i++)
        many[i] = segment(&big, 0, big.size);
    c = good(kind);
    c.ep = q.a.ep;
    c.n = n;
    c.iov = many;
    rem.segment_length = (DAT_VLEN)n * part;
    is_type(post(&c), DAT_LENGTH_ERROR, "%s: above %s of the adapter: DAT_LENGTH_ERROR", names[kind], limits[kind]);
    ok(quiet(q.a.req) && sides_talk(&q.a, &q.b), "%s: above %s of the adapter: the connection stands", names[kind],
       limits[kind]);
    region_free(&big);
    pair_close(&q);
}

/*
 * Posts transfers that exceed the limit of the adapter in one segment, whose memory has no pages. Returns
 * immediately on an RDMA device, which would need the pages.
 */
static void above_adapter_at_once(struct zoo *z)
{
    static const enum kind kinds[] = { SEND, WRITE, READ };
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_HANDLE lmr;
    DAT_IA_ATTR ia;
    struct call c;
    size_t size;
    void *mem;

    if (strncmp(env_ia(), "verbs-", 6) == 0)
        return;
    must_rc(dat_ia_query(z->fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    size = (size_t)(ia.max_message_size > ia.max_rdma_size ? ia.max_message_size : ia.max_rdma_size) + 1;
    mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(mem != MAP_FAILED, "no %zu bytes of address space", size);
    for (int i = 0; i < 3; i++) {
        c = good(kinds[i]);
        memset(&where, 0, sizeof where);
        where.for_va = mem;
        must_rc(dat_lmr_create(z->fx.ia, DAT_MEM_TYPE_VIRTUAL, where, size, z->fx.pz, MEM_LOCAL, &lmr,
                               &seg.lmr_context, NULL, NULL, NULL), DAT_SUCCESS, "dat_lmr_create");
        seg.virtual_address = (DAT_VADDR)(uintptr_t)mem;
        seg.segment_length = rem.segment_length = size;
        is_type(post(&c), DAT_LENGTH_ERROR, "%s: one segment above %s of the adapter: DAT_LENGTH_ERROR",
                names[kinds[i]], limits[kinds[i]]);
        must_rc(dat_lmr_free(lmr), DAT_SUCCESS, "dat_lmr_free");
    }
    munmap(mem, size);
}

int main(int argc, char **argv)
{
    struct zoo z;
    DAT_EP_HANDLE freed;
    struct side s;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    region_make(&z.fx, &here, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&z.fx, &there, 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_make(&s, &z.fx, NULL);
    freed = s.ep;
    side_free(&s);
    pair_open(&pair, &z.fx, NULL);
    for (int k = 0; k < KINDS; k++) {
        struct call c = good((enum kind)k);

        zoo_sweep(&z, names[k], DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, freed, 0, with_ep, &c);
    }
    zoo_intact(&z, "posting");
    parameters();
    memory(&z);
    depth(&z);
    for (int k = 0; k < KINDS; k++) {
        if (k == RECV)
            continue;
        above_endpoint(&z, (enum kind)k);
        above_adapter(&z, (enum kind)k);
    }
    above_adapter_at_once(&z);
    pair_close(&pair);
    zoo_close(&z);
    return done_testing();
}
