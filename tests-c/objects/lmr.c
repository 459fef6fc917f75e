/* lmr.c - registered memory: dat_lmr_create, _query, _free, _sync_rdma_read, _sync_rdma_write. */
#define _DEFAULT_SOURCE
#include "common/zoo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char memory[3 * 4096];

/* All arguments of dat_lmr_create(). Each test changes one of them. */
struct call {
    DAT_IA_HANDLE ia;
    DAT_MEM_TYPE type;
    DAT_REGION_DESCRIPTION region;
    DAT_VLEN length;
    DAT_PZ_HANDLE pz;
    unsigned privileges;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_VLEN size;
    DAT_VADDR address;
};

static struct call good(struct fx *fx)
{
    struct call c;

    memset(&c, 0, sizeof c);
    c.ia = fx->ia;
    c.type = DAT_MEM_TYPE_VIRTUAL;
    c.region.for_va = memory;
    c.length = sizeof memory;
    c.pz = fx->pz;
    c.privileges = DAT_MEM_PRIV_ALL_FLAG;
    c.lmr = UNTOUCHED;
    c.lmr_context = 0x5a5a5a5a;
    c.rmr_context = 0x5a5a5a5a;
    c.size = 0x5a5a5a5a;
    c.address = 0x5a5a5a5a;
    return c;
}

static DAT_RETURN make(struct call *c)
{
    return dat_lmr_create(c->ia, c->type, c->region, c->length, c->pz,
                          (DAT_MEM_PRIV_FLAGS)c->privileges, &c->lmr, &c->lmr_context,
                          &c->rmr_context, &c->size, &c->address);
}

static bool untouched(const struct call *c)
{
    return c->lmr == UNTOUCHED && c->lmr_context == 0x5a5a5a5a && c->rmr_context == 0x5a5a5a5a &&
           c->size == 0x5a5a5a5a && c->address == 0x5a5a5a5a;
}

static DAT_RETURN with_ia(DAT_HANDLE ia, void *arg)
{
    struct call c = good(arg);

    c.ia = ia;
    return make(&c);
}

static DAT_RETURN with_pz(DAT_HANDLE pz, void *arg)
{
    struct call c = good(arg);

    c.pz = pz;
    return make(&c);
}

static DAT_RETURN with_source(DAT_HANDLE lmr, void *arg)
{
    struct call c = good(arg);

    c.type = DAT_MEM_TYPE_LMR;
    c.region.for_lmr_handle = lmr;
    return make(&c);
}

static DAT_RETURN query(DAT_HANDLE lmr, void *arg)
{
    DAT_LMR_PARAM p;

    (void)arg;
    return dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &p);
}

static DAT_RETURN release(DAT_HANDLE lmr, void *arg)
{
    (void)arg;
    return dat_lmr_free(lmr);
}

static DAT_RETURN sync_read(DAT_HANDLE ia, void *arg)
{
    DAT_LMR_TRIPLET t = segment(arg, 0, 1);

    return dat_lmr_sync_rdma_read(ia, &t, 1);
}

static DAT_RETURN sync_write(DAT_HANDLE ia, void *arg)
{
    DAT_LMR_TRIPLET t = segment(arg, 0, 1);

    return dat_lmr_sync_rdma_write(ia, &t, 1);
}

static void handles(struct zoo *z)
{
    struct region r;
    DAT_LMR_HANDLE freed;
    DAT_PZ_HANDLE pz;
    struct fx other;
    struct call c;

    region_make(&z->fx, &r, 4096, MEM_LOCAL);
    freed = r.lmr;
    region_free(&r);
    must_rc(dat_pz_create(z->fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");

    zoo_sweep(z, "dat_lmr_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, with_ia,
              &z->fx);
    zoo_sweep(z, "dat_lmr_create, pz_handle", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, pz, 0,
              with_pz, &z->fx);
    zoo_sweep(z, "dat_lmr_create, source LMR", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR, freed,
              0, with_source, &z->fx);
    zoo_sweep(z, "dat_lmr_query", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR, freed, 0, query,
              NULL);
    zoo_sweep(z, "dat_lmr_free", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR, freed, 0, release,
              NULL);
    zoo_sweep(z, "dat_lmr_sync_rdma_read", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0,
              sync_read, &z->region);
    zoo_sweep(z, "dat_lmr_sync_rdma_write", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0,
              sync_write, &z->region);
    zoo_intact(z, "dat_lmr_free");

    fx_open(&other);
    c = good(&z->fx);
    c.pz = other.pz;
    is_code(make(&c), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ,
            "dat_lmr_create: zone of another open of the adapter: DAT_INVALID_HANDLE");
    ok(untouched(&c), "dat_lmr_create: error: no output is written");
    fx_close(&other);
}

static void parameters(struct fx *fx)
{
    struct call c;
    DAT_IA_ATTR ia;

    c = good(fx);
    c.length = 0;
    is_code(make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_lmr_create: length 0: DAT_INVALID_PARAMETER");
    ok(untouched(&c), "dat_lmr_create: length 0: no output is written");

    c = good(fx);
    c.type = (DAT_MEM_TYPE)77;
    is_code(make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_lmr_create: unknown memory type: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.privileges = DAT_MEM_PRIV_ALL_FLAG | 0x04;
    is_code(make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_lmr_create: unknown privilege bit: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.region.for_va = NULL;
    is_code(make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_lmr_create: address NULL: DAT_INVALID_PARAMETER");
    c = good(fx);
    c.region.for_va = (void *)(UINTPTR_MAX - 4095);
    c.length = 8192;
    is_either(make(&c), DAT_INVALID_PARAMETER, DAT_INSUFFICIENT_RESOURCES,
              "dat_lmr_create: region beyond the end of the address space: refused");
    c = good(fx);
    c.length = ~(DAT_VLEN)0;
    is_either(make(&c), DAT_INVALID_PARAMETER, DAT_INSUFFICIENT_RESOURCES,
              "dat_lmr_create: length of 2^64 - 1: refused");
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    if (ia.max_lmr_block_size < SEG_LENGTH_MAX) {
        c = good(fx);
        c.length = ia.max_lmr_block_size + 1;
        is_either(make(&c), DAT_INVALID_PARAMETER, DAT_INSUFFICIENT_RESOURCES,
                  "dat_lmr_create: more than max_lmr_block_size: refused");
    } else {
        skip_named("dat_lmr_create: more than max_lmr_block_size", "the adapter has no limit");
    }
    ok(untouched(&c), "dat_lmr_create: error: no output is written");
}

static void create_and_query(struct fx *fx)
{
    struct call c = good(fx);
    DAT_LMR_PARAM p;
    DAT_LMR_PARAM before;

    is_success(make(&c), "dat_lmr_create: virtual memory: success");
    ok(c.address <= (DAT_VADDR)(uintptr_t)memory &&
           c.address + c.size >= (DAT_VADDR)(uintptr_t)memory + sizeof memory,
       "dat_lmr_create: registered address and size cover the request");

    memset(&p, 0x5a, sizeof p);
    is_success(dat_lmr_query(c.lmr, DAT_LMR_FIELD_ALL, &p), "dat_lmr_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_lmr_query: ia_handle: true");
    is_int(p.mem_type, DAT_MEM_TYPE_VIRTUAL, "dat_lmr_query: mem_type: true");
    is_ptr(p.region_desc.for_va, memory, "dat_lmr_query: region_desc: true");
    is_int((long long)p.length, sizeof memory, "dat_lmr_query: length: true");
    is_ptr(p.pz_handle, fx->pz, "dat_lmr_query: pz_handle: true");
    is_int(p.mem_priv, DAT_MEM_PRIV_ALL_FLAG, "dat_lmr_query: mem_priv: true");
    is_int(p.lmr_context, c.lmr_context, "dat_lmr_query: lmr_context: as dat_lmr_create gave it");
    is_int(p.rmr_context, c.rmr_context, "dat_lmr_query: rmr_context: as dat_lmr_create gave it");
    is_int((long long)p.registered_size, (long long)c.size,
           "dat_lmr_query: registered_size: as dat_lmr_create gave it");
    is_int((long long)p.registered_address, (long long)c.address,
           "dat_lmr_query: registered_address: as dat_lmr_create gave it");

    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_lmr_query(c.lmr, (DAT_LMR_PARAM_MASK)(DAT_LMR_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_lmr_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_lmr_query: error: the structure is untouched");
    is_code(dat_lmr_query(c.lmr, DAT_LMR_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_lmr_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_lmr_query(c.lmr, DAT_LMR_FIELD_LENGTH, &p), "dat_lmr_query: one field: success");
    is_int((long long)p.length, sizeof memory, "dat_lmr_query: one field: true");
    is_success(dat_lmr_free(c.lmr), "dat_lmr_free: unused: success");
}

/* Returns whether the kernel has MADV_POPULATE_READ (Linux 5.14). */
static bool has_populate_read(void)
{
    const int populate_read = 22;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *mem = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool tells = mem != MAP_FAILED && madvise(mem, page, populate_read) == 0;

    if (mem != MAP_FAILED)
        munmap(mem, page);
    return tells;
}

/* Tests the registration of memory that is not mapped, or lacks the required access. */
static void unusable(struct fx *fx)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *mem = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                              -1, 0);
    /* Offsets and lengths in pages. Pages 0 and 2 are writable, page 1 is unmapped, page 3 is read-only. */
    const struct {
        size_t from, n;
        unsigned privileges;
        const char *text; /* starts with "read-only" if the access is wrong */
    } bad[] = {
        { 1, 1, DAT_MEM_PRIV_ALL_FLAG, "memory that is not mapped" },
        { 1, 1, DAT_MEM_PRIV_NONE_FLAG, "memory that is not mapped, no privileges" },
        { 0, 2, DAT_MEM_PRIV_ALL_FLAG, "memory with no end" },
        { 1, 2, DAT_MEM_PRIV_ALL_FLAG, "memory with no beginning" },
        { 0, 3, DAT_MEM_PRIV_ALL_FLAG, "memory with a hole" },
        { 3, 1, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, "read-only memory, local write" },
        { 3, 1, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, "read-only memory, remote write" },
        { 3, 1, DAT_MEM_PRIV_ALL_FLAG, "read-only memory, all privileges" },
        { 2, 2, DAT_MEM_PRIV_ALL_FLAG, "read-only at its end, all privileges" },
    };
    bool tells = !env_is_shm() || has_populate_read();
    struct call c;

    must(mem != MAP_FAILED && munmap(mem + page, page) == 0 &&
             mprotect(mem + 3 * page, page, PROT_READ) == 0,
         "no memory with a hole");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!tells && strncmp(bad[i].text, "read-only", 9) == 0) {
            skip(2, "the kernel lacks MADV_POPULATE_READ");
            continue;
        }
        c = good(fx);
        c.region.for_va = mem + bad[i].from * page;
        c.length = bad[i].n * page;
        c.privileges = bad[i].privileges;
        is_code(make(&c), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                "dat_lmr_create: %s: DAT_INVALID_PARAMETER", bad[i].text);
        ok(untouched(&c), "dat_lmr_create: %s: no output is written", bad[i].text);
    }
    c = good(fx);
    c.region.for_va = mem + 3 * page;
    c.length = page;
    c.privileges = DAT_MEM_PRIV_READ_FLAG;
    if (is_success(make(&c), "dat_lmr_create: read-only memory, read privileges: success"))
        is_success(dat_lmr_free(c.lmr), "dat_lmr_free: read-only memory: success");
    ok(all_bytes(mem, page, 0) && all_bytes(mem + 2 * page, 2 * page, 0),
       "dat_lmr_create: whatever it answers: no byte of the memory changes");
    munmap(mem, page);
    munmap(mem + 2 * page, 2 * page);
}

/* Tests transfers with a derived LMR whose source is freed, and with shared and file memory. */
static void in_use(struct fx *fx)
{
    char path[] = "/tmp/dat-test-lmr-XXXXXX";
    struct pair p;
    struct call c, d;
    DAT_LMR_TRIPLET t;
    DAT_RMR_TRIPLET to;
    struct region r;
    unsigned char *shared_mem, *file_mem;
    int fd = mkstemp(path), good_ones = 0;

    must(fd >= 0 && ftruncate(fd, 8192) == 0, "no temporary file");
    unlink(path);
    region_make(fx, &r, 4096, MEM_LOCAL);
    pattern_fill(r.mem, 64, 21);
    pair_open(&p, fx, NULL);
    c = good(fx);
    must_rc(make(&c), DAT_SUCCESS, "dat_lmr_create");
    d = good(fx);
    d.type = DAT_MEM_TYPE_LMR;
    d.region.for_lmr_handle = c.lmr;
    if (is_success(make(&d), "dat_lmr_create: from an LMR, all privileges: success")) {
        must_rc(dat_lmr_free(c.lmr), DAT_SUCCESS, "dat_lmr_free");
        memset(&to, 0, sizeof to);
        to.rmr_context = d.rmr_context;
        to.target_address = (DAT_VADDR)(uintptr_t)memory + 100;
        to.segment_length = 64;
        must_rc(post_write(&p.a, &r, 0, 64, to, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        ok(wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(memory + 100, 64, 21) < 0,
           "derived LMR: RDMA write into it, its source is freed: success");
        memset(&t, 0, sizeof t);
        t.lmr_context = d.lmr_context;
        t.virtual_address = (DAT_VADDR)(uintptr_t)memory + 100;
        t.segment_length = 64;
        must_rc(post_recv(&p.b, &r, 1024, 64, 2), DAT_SUCCESS, "dat_ep_post_recv");
        is_success(dat_ep_post_send(p.a.ep, 1, &t, cookie(3), DAT_COMPLETION_DEFAULT_FLAG),
                   "derived LMR: send from it: success");
        ok(wait_dto(p.b.recv, 2, DAT_DTO_SUCCESS, NULL) && pattern_check(r.mem + 1024, 64, 21) < 0,
           "derived LMR: send from it: arrives");
        drain_dtos(p.a.req, 1);
        must_rc(dat_lmr_free(d.lmr), DAT_SUCCESS, "dat_lmr_free");
    }

    shared_mem = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file_mem = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(shared_mem != MAP_FAILED && file_mem != MAP_FAILED, "no memory to map");
    for (int i = 0; i < 3; i++) {
        unsigned char on_stack[8192];
        unsigned char *mem = i == 0 ? shared_mem : i == 1 ? file_mem : on_stack;

        c = good(fx);
        c.region.for_va = mem;
        c.length = 8192;
        if (make(&c) != DAT_SUCCESS)
            continue;
        memset(&to, 0, sizeof to);
        to.rmr_context = c.rmr_context;
        to.target_address = (DAT_VADDR)(uintptr_t)mem;
        to.segment_length = 64;
        must_rc(post_write(&p.a, &r, 0, 64, to, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        good_ones += wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(mem, 64, 21) < 0;
        must_rc(dat_lmr_free(c.lmr), DAT_SUCCESS, "dat_lmr_free");
    }
    is_int(good_ones, 3, "dat_lmr_create: shared, file-backed and stack memory: usable");
    munmap(shared_mem, 8192);
    munmap(file_mem, 8192);
    close(fd);
    pair_close(&p);
    region_free(&r);
}

static void privileges(struct fx *fx)
{
    static const struct {
        unsigned flags;
        const char *text;
        bool remote;
    } cases[] = {
        { DAT_MEM_PRIV_NONE_FLAG, "none", false },
        { DAT_MEM_PRIV_LOCAL_READ_FLAG, "local read", false },
        { DAT_MEM_PRIV_LOCAL_WRITE_FLAG, "local write", false },
        { MEM_LOCAL, "local read and write", false },
        { DAT_MEM_PRIV_READ_FLAG, "local and remote read", true },
        { DAT_MEM_PRIV_WRITE_FLAG, "local and remote write", true },
        { DAT_MEM_PRIV_ALL_FLAG, "all", true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct call c = good(fx);
        DAT_LMR_PARAM p;

        c.privileges = cases[i].flags;
        if (!is_success(make(&c), "dat_lmr_create: privileges %s: success", cases[i].text))
            continue;
        memset(&p, 0, sizeof p);
        dat_lmr_query(c.lmr, DAT_LMR_FIELD_MEM_PRIV, &p);
        is_int(p.mem_priv, cases[i].flags, "dat_lmr_query: privileges %s: true", cases[i].text);
        if (!cases[i].remote)
            is_int(c.rmr_context, 0, "dat_lmr_create: privileges %s: rmr_context is 0",
                   cases[i].text);
        is_success(dat_lmr_free(c.lmr), "dat_lmr_free: privileges %s: success", cases[i].text);
    }
}

static void optional_outputs(struct fx *fx)
{
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;

    memset(&where, 0, sizeof where);
    where.for_va = memory;
    is_success(dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, where, 64, fx->pz,
                              (DAT_MEM_PRIV_FLAGS)MEM_LOCAL, &lmr, NULL, NULL, NULL, NULL),
               "dat_lmr_create: only the handle is wanted: success");
    is_success(dat_lmr_free(lmr), "dat_lmr_free: only the handle was wanted: success");
}

static void overlap(struct fx *fx)
{
    static const size_t at[][2] = { { 0, 4096 }, { 1, 1 },      { 1, 4097 },
                                    { 4095, 2 }, { 100, 9000 }, { 0, sizeof memory } };
    enum { N = sizeof at / sizeof at[0] };
    DAT_LMR_HANDLE lmr[N];
    DAT_LMR_CONTEXT context[N];
    int made = 0, distinct = 1, freed = 0;

    for (int i = 0; i < N; i++) {
        struct call c = good(fx);

        c.region.for_va = memory + at[i][0];
        c.length = at[i][1];
        if (make(&c) != DAT_SUCCESS)
            break;
        lmr[i] = c.lmr;
        context[i] = c.lmr_context;
        for (int j = 0; j < i; j++)
            distinct &= lmr[i] != lmr[j] && context[i] != context[j];
        made++;
    }
    is_int(made, N, "dat_lmr_create: overlapping and unaligned regions: success");
    ok(distinct, "dat_lmr_create: overlapping regions: handles and contexts differ");
    for (int i = 0; i < made; i++)
        freed += dat_lmr_free(lmr[i]) == DAT_SUCCESS;
    is_int(freed, made, "dat_lmr_free: overlapping regions: success");
}

static void derived(struct fx *fx)
{
    struct call source = good(fx);
    struct call c = good(fx);
    DAT_PZ_HANDLE pz;
    DAT_LMR_PARAM p;

    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(make(&source), DAT_SUCCESS, "dat_lmr_create");
    c.type = DAT_MEM_TYPE_LMR;
    c.region.for_lmr_handle = source.lmr;
    c.length = 0; /* ignored */
    c.pz = pz;
    c.privileges = MEM_LOCAL;
    if (is_success(make(&c), "dat_lmr_create: from an LMR, in another zone: success")) {
        ok(c.lmr != source.lmr && c.lmr_context != source.lmr_context,
           "dat_lmr_create: from an LMR: handle and context of its own");
        ok(c.address <= (DAT_VADDR)(uintptr_t)memory && c.size >= sizeof memory,
           "dat_lmr_create: from an LMR: covers the same memory");
        is_success(dat_lmr_query(c.lmr, DAT_LMR_FIELD_ALL, &p), "dat_lmr_query: derived: success");
        is_int(p.mem_type, DAT_MEM_TYPE_LMR, "dat_lmr_query: derived: mem_type is LMR");
        is_ptr(p.pz_handle, pz, "dat_lmr_query: derived: pz_handle is its own");
        is_int(p.mem_priv, MEM_LOCAL, "dat_lmr_query: derived: mem_priv is its own");
        is_success(dat_lmr_free(source.lmr), "dat_lmr_free: source of a derived LMR: success");
        is_success(dat_lmr_query(c.lmr, DAT_LMR_FIELD_ALL, &p),
                   "dat_lmr_query: derived, after its source is freed: success");
        is_success(dat_lmr_free(c.lmr), "dat_lmr_free: derived: success");
    } else {
        dat_lmr_free(source.lmr);
    }
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
}

static void shared(struct fx *fx)
{
    static char name[DAT_LMR_COOKIE_SIZE] = "a cookie, all 40 bytes of it count";
    struct call one = good(fx), two = good(fx);

    one.type = two.type = DAT_MEM_TYPE_SHARED_VIRTUAL;
    one.region.for_shared_memory.virtual_address = memory;
    one.region.for_shared_memory.shared_memory_id = &name;
    two.region = one.region;
    if (!is_success(make(&one), "dat_lmr_create: shared virtual memory: success"))
        return;
    if (is_success(make(&two), "dat_lmr_create: the same shared memory again: success"))
        is_success(dat_lmr_free(two.lmr), "dat_lmr_free: shared, second: success");
    is_success(dat_lmr_free(one.lmr), "dat_lmr_free: shared, first: success");
}

static void synchronise(struct fx *fx)
{
    struct region r, q;
    DAT_LMR_TRIPLET t[2];
    DAT_PZ_HANDLE pz;
    DAT_RETURN (*const calls[2])(DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN) = {
        dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write
    };
    static const char *const names[2] = { "dat_lmr_sync_rdma_read", "dat_lmr_sync_rdma_write" };

    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    region_make(fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make_in(fx, pz, &q, 4096, DAT_MEM_PRIV_ALL_FLAG);
    for (int i = 0; i < 2; i++) {
        t[0] = segment(&r, 10, 100);
        t[1] = segment(&q, 0, 4096);
        is_success(calls[i](fx->ia, t, 1), "%s: one segment: success", names[i]);
        is_success(calls[i](fx->ia, t, 2), "%s: segments of two zones: success", names[i]);
        is_success(calls[i](fx->ia, NULL, 0), "%s: no segment: success", names[i]);
        is_code(calls[i](fx->ia, NULL, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: list NULL: DAT_INVALID_PARAMETER", names[i]);
        t[1] = segment(&q, 1, 4096);
        is_code(calls[i](fx->ia, t, 2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: segment beyond its LMR: DAT_INVALID_PARAMETER", names[i]);
        t[1] = segment(&q, 0, 16);
        t[1].virtual_address -= 1;
        is_code(calls[i](fx->ia, t, 2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: segment before its LMR: DAT_INVALID_PARAMETER", names[i]);
        t[1] = segment(&q, 0, 16);
        t[1].segment_length = SEG_LENGTH_MAX;
        is_code(calls[i](fx->ia, t, 2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: segment that wraps around: DAT_INVALID_PARAMETER", names[i]);
    }
    t[0] = segment(&q, 0, 16);
    region_free(&q);
    for (int i = 0; i < 2; i++)
        is_code(calls[i](fx->ia, t, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "%s: context of a freed LMR: DAT_INVALID_PARAMETER", names[i]);
    region_free(&r);
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
}

static void reuse(struct fx *fx)
{
    DAT_LMR_CONTEXT seen[64];
    int again = 0;

    for (int i = 0; i < 64; i++) {
        struct call c = good(fx);

        must_rc(make(&c), DAT_SUCCESS, "dat_lmr_create");
        for (int j = 0; j < i; j++)
            again += seen[j] == c.lmr_context;
        seen[i] = c.lmr_context;
        must_rc(dat_lmr_free(c.lmr), DAT_SUCCESS, "dat_lmr_free");
    }
    is_int(again, 0, "dat_lmr_create: after dat_lmr_free: the old context is not used again soon");
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    handles(&z);
    parameters(&z.fx);
    create_and_query(&z.fx);
    privileges(&z.fx);
    optional_outputs(&z.fx);
    overlap(&z.fx);
    unusable(&z.fx);
    derived(&z.fx);
    in_use(&z.fx);
    shared(&z.fx);
    synchronise(&z.fx);
    reuse(&z.fx);
    zoo_close(&z);
    return done_testing();
}
