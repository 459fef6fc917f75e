/* fixture.c - adapter, memory and endpoints. Connections are in connect.c. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The memory of a region, in a list of all regions. */
struct block {
    struct block *next;
    unsigned long id;
    DAT_IA_HANDLE ia;
    void *mem;
};

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static unsigned long last_id;

/* The most segments of an RDMA read over the adapter that was opened last. */
static DAT_COUNT read_iov = 4;

static unsigned long block_add(DAT_IA_HANDLE ia, void *mem)
{
    struct block *b = calloc(1, sizeof *b);
    unsigned long id;

    must(b != NULL, "out of memory");
    b->ia = ia;
    b->mem = mem;
    pthread_mutex_lock(&blocks_lock);
    id = b->id = ++last_id;
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&blocks_lock);
    return id;
}

/* Frees the block with this id. If id is 0, frees all blocks of the adapter. */
static void blocks_free(unsigned long id, DAT_IA_HANDLE ia)
{
    pthread_mutex_lock(&blocks_lock);
    for (struct block **at = &blocks; *at != NULL;) {
        struct block *b = *at;

        if (id != 0 ? b->id == id : b->ia == ia) {
            *at = b->next;
            free(b->mem);
            free(b);
        } else {
            at = &b->next;
        }
    }
    pthread_mutex_unlock(&blocks_lock);
}

/* More than the library keeps back of freed handles. */
#define CHURNED 6000

/* With $DAT_TEST_CHURN, makes and frees thousands of objects, as a long-lived process has done. */
static void churn(void)
{
    const char *wanted = getenv("DAT_TEST_CHURN");
    static bool done;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz;

    if (done || wanted == NULL || strcmp(wanted, "0") == 0)
        return;
    done = true;
    must_rc(dat_ia_open(env_ia(), 64, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    for (int i = 0; i < CHURNED; i++) {
        must_rc(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create");
        must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    }
    must_rc(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
}

void fx_open(struct fx *fx)
{
    DAT_IA_ATTR *ia = calloc(1, sizeof *ia);
    DAT_PROVIDER_ATTR *provider = calloc(1, sizeof *provider);

    churn();
    must(ia != NULL && provider != NULL, "out of memory");
    memset(fx, 0, sizeof *fx);
    must_rc(dat_ia_open(env_ia(), 64, &fx->async, &fx->ia), DAT_SUCCESS, "dat_ia_open(\"%s\")",
            env_ia());
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, ia, DAT_PROVIDER_FIELD_ALL, provider),
            DAT_SUCCESS, "dat_ia_query");
    must(ia->ia_address_ptr != NULL, "dat_ia_query gives no address");
    memcpy(&fx->address, ia->ia_address_ptr,
           ia->ia_address_ptr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                     : sizeof(struct sockaddr_in));
    fx->max_private_data = provider->max_private_data_size;
    fx->max_rmrs = ia->max_rmrs;
    read_iov = ia->max_iov_segments_per_rdma_read;
    must_rc(dat_pz_create(fx->ia, &fx->pz), DAT_SUCCESS, "dat_pz_create");
    fx->cr = fx_evd(fx, 64, DAT_EVD_CR_FLAG);
    free(ia);
    free(provider);
}

void fx_close(struct fx *fx)
{
    DAT_RETURN rc = dat_ia_close(fx->ia, DAT_CLOSE_ABRUPT_FLAG);

    if (rc == DAT_SUCCESS) {
        blocks_free(0, fx->ia);
        fx->ia = DAT_HANDLE_NULL;
        return;
    }
    if (peer_is_one())
        must_rc(rc, DAT_SUCCESS, "dat_ia_close");
    else
        is_success(rc, "dat_ia_close: abrupt, at the end of a test: success");
}

DAT_IA_ADDRESS_PTR fx_address(struct fx *fx)
{
    return (DAT_IA_ADDRESS_PTR)&fx->address;
}

DAT_EVD_HANDLE fx_evd(struct fx *fx, DAT_COUNT qlen, unsigned flags)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

    must_rc(dat_evd_create(fx->ia, qlen, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd), DAT_SUCCESS,
            "dat_evd_create(%d, 0x%x)", (int)qlen, flags);
    return evd;
}

void region_make_in(struct fx *fx, DAT_PZ_HANDLE pz, struct region *r, size_t size,
                    unsigned privileges)
{
    DAT_REGION_DESCRIPTION where;
    void *mem = NULL;

    memset(r, 0, sizeof *r);
    must(posix_memalign(&mem, 4096, size != 0 ? size : 1) == 0, "no %zu bytes of memory", size);
    memset(mem, 0, size);
    r->mem = mem;
    r->size = size;
    r->id = block_add(fx->ia, mem);
    memset(&where, 0, sizeof where);
    where.for_va = mem;
    must_rc(dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, where, size, pz,
                           (DAT_MEM_PRIV_FLAGS)privileges, &r->lmr, &r->lmr_context,
                           &r->rmr_context, NULL, NULL),
            DAT_SUCCESS, "dat_lmr_create(%zu bytes)", size);
}

void region_make(struct fx *fx, struct region *r, size_t size, unsigned privileges)
{
    region_make_in(fx, fx->pz, r, size, privileges);
}

void region_free(struct region *r)
{
    if (r->lmr != DAT_HANDLE_NULL)
        must_rc(dat_lmr_free(r->lmr), DAT_SUCCESS, "dat_lmr_free");
    if (r->id != 0)
        blocks_free(r->id, DAT_HANDLE_NULL);
    memset(r, 0, sizeof *r);
}

DAT_LMR_TRIPLET segment(const struct region *r, size_t offset, size_t length)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.lmr_context = r->lmr_context;
    t.virtual_address = (DAT_VADDR)(uintptr_t)r->mem + offset;
    t.segment_length = length;
    return t;
}

DAT_RMR_TRIPLET target(const struct region *r, size_t offset, size_t length)
{
    DAT_RMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.rmr_context = r->rmr_context;
    t.target_address = (DAT_VADDR)(uintptr_t)r->mem + offset;
    t.segment_length = length;
    return t;
}

struct target_in_transit {
    DAT_VADDR address;
    DAT_VLEN length;
    DAT_RMR_CONTEXT context;
};

bool link_send_target(struct link *l, DAT_RMR_TRIPLET t)
{
    struct target_in_transit form;

    memset(&form, 0, sizeof form);
    form.address = t.target_address;
    form.length = t.segment_length;
    form.context = t.rmr_context;
    return LINK_SEND(l, form);
}

bool link_recv_target(struct link *l, DAT_RMR_TRIPLET *t)
{
    struct target_in_transit form;

    if (!LINK_RECV(l, form))
        return false;
    memset(t, 0, sizeof *t);
    t->target_address = form.address;
    t->segment_length = (DAT_SEG_LENGTH)form.length;
    t->rmr_context = form.context;
    return true;
}

DAT_DTO_COOKIE cookie(DAT_UINT64 value)
{
    DAT_DTO_COOKIE c;

    memset(&c, 0, sizeof c);
    c.as_64 = value;
    return c;
}

static unsigned char pattern_at(size_t i, unsigned seed)
{
    /* Bytes at a distance of a power of two differ, so that pattern_check() detects moved blocks. */
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;

    return (unsigned char)(x >> 56);
}

void pattern_fill(void *mem, size_t size, unsigned seed)
{
    unsigned char *p = mem;

    for (size_t i = 0; i < size; i++)
        p[i] = pattern_at(i, seed);
}

long pattern_check(const void *mem, size_t size, unsigned seed)
{
    const unsigned char *p = mem;

    for (size_t i = 0; i < size; i++)
        if (p[i] != pattern_at(i, seed))
            return (long)i;
    return -1;
}

bool written(const void *mem, size_t size, unsigned seed)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (pattern_check(mem, size, seed) >= 0) {
        if (!env_is_iwarp() || now_ms() > end)
            return false;
        breathe();
    }
    return true;
}

bool all_bytes(const void *mem, size_t size, unsigned char value)
{
    const unsigned char *p = mem;

    for (size_t i = 0; i < size; i++)
        if (p[i] != value)
            return false;
    return true;
}

DAT_COUNT read_iov_at_most(DAT_COUNT n)
{
    return n < read_iov ? n : read_iov;
}

bool wait_accept_failed(DAT_EVD_HANDLE conn)
{
    DAT_EVENT e;

    if (!env_is_iwarp())
        return wait_connection(conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    if (!wait_event(conn, &e))
        return false;
    if (e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
        return broken_or_disconnected(conn);
    return e.event_number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
}

bool broken_or_disconnected(DAT_EVD_HANDLE conn)
{
    DAT_EVENT e;

    return wait_event(conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                    e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
}

bool wait_broken(DAT_EVD_HANDLE conn)
{
    return env_is_iwarp() ? broken_or_disconnected(conn) : wait_connection(conn, DAT_CONNECTION_EVENT_BROKEN);
}

bool none_waits(const char *name)
{
    if (env_is_iwarp())
        skip_named(name, "a message without a receive ends an iWARP connection");
    return env_is_iwarp();
}

void attr_default(DAT_EP_ATTR *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->service_type = DAT_SERVICE_TYPE_RC;
    attr->max_message_size = 1u << 20;
    attr->max_rdma_size = 1u << 20;
    attr->qos = DAT_QOS_BEST_EFFORT;
    attr->recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    attr->request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    attr->max_recv_dtos = 32;
    attr->max_request_dtos = 32;
    attr->max_recv_iov = 4;
    attr->max_request_iov = 4;
    attr->max_rdma_read_in = 4;
    attr->max_rdma_read_out = 4;
    attr->srq_soft_hw = DAT_HW_DEFAULT;
    attr->max_rdma_read_iov = read_iov_at_most(4);
    attr->max_rdma_write_iov = 4;
}

static void side_evds(struct side *s, struct fx *fx)
{
    memset(s, 0, sizeof *s);
    s->fx = fx;
    s->recv = fx_evd(fx, 64, DAT_EVD_DTO_FLAG);
    s->req = fx_evd(fx, 64, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    s->conn = fx_evd(fx, 8, DAT_EVD_CONNECTION_FLAG);
}

void side_make(struct side *s, struct fx *fx, const DAT_EP_ATTR *attr)
{
    DAT_EP_ATTR own;

    attr_default(&own);
    side_evds(s, fx);
    must_rc(dat_ep_create(fx->ia, fx->pz, s->recv, s->req, s->conn, attr != NULL ? attr : &own,
                          &s->ep),
            DAT_SUCCESS, "dat_ep_create");
}

void side_make_srq(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr)
{
    DAT_EP_ATTR own;

    attr_default(&own);
    own.max_recv_dtos = DAT_HW_DEFAULT; /* with an SRQ, this is the hard high watermark */
    side_evds(s, fx);
    must_rc(dat_ep_create_with_srq(fx->ia, fx->pz, s->recv, s->req, s->conn, srq,
                                   attr != NULL ? attr : &own, &s->ep),
            DAT_SUCCESS, "dat_ep_create_with_srq");
}

void side_free(struct side *s)
{
    DAT_EVD_HANDLE evds[3] = { s->recv, s->req, s->conn };

    if (s->ep != DAT_HANDLE_NULL)
        must_rc(dat_ep_free(s->ep), DAT_SUCCESS, "dat_ep_free");
    for (int i = 0; i < 3; i++)
        if (evds[i] != DAT_HANDLE_NULL)
            must_rc(dat_evd_free(evds[i]), DAT_SUCCESS, "dat_evd_free");
    memset(s, 0, sizeof *s);
}
