/* atomic.c - atomic operations on the memory of a peer: dat_ib_post_fetch_and_add, dat_ib_post_cmp_and_swap. */
#include "v20/extended.h"
#include "v20/windows.h"

#include "common/stage.h"
#include "common/zoo.h"

#include <string.h>

#define ADD "dat_ib_post_fetch_and_add"
#define SWAP "dat_ib_post_cmp_and_swap"

static struct fx fx;
static struct region here, there;

/* Returns whether the next event is the successful completion of the atomic operation c, with 8 bytes. */
static bool ended(struct side *s, DAT_UINT64 c, DAT_IB_DTOS operation)
{
    DAT_EVENT e;

    return wait_extended(s->req, s->ep, c, operation, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.transfered_length == 8;
}

static void add(void)
{
    static const struct {
        DAT_UINT64 before, add, after;
    } cases[] = {
        { 0, 1, 1 },
        { 5, 0, 5 },
        { 0xffffffffu, 1, 0x100000000u },
        { ~(DAT_UINT64)0, 1, 0 },
        { 10, ~(DAT_UINT64)0, 9 },
        { 0x0102030405060708u, 0x1010101010101010u, 0x1112131415161718u },
    };
    struct pair p;

    pair_open(&p, &fx, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(there.mem, 0x33, 64);
        memset(here.mem, 0x44, 64);
        *word(&there, 24) = cases[i].before;
        is_success(post_fetch_add(&p.a, &here, 16, target(&there, 24, 8), cases[i].add, i), ADD ": case %u: success", i);
        ok(ended(&p.a, i, DAT_IB_DTO_FETCH_ADD), ADD ": case %u: ends, with 8 bytes", i);
        ok(*word(&there, 24) == cases[i].after, ADD ": case %u: the sum is there, modulo 2^64", i);
        ok(*word(&here, 16) == cases[i].before, ADD ": case %u: the old value came back", i);
        ok(all_bytes(there.mem, 24, 0x33) && all_bytes(there.mem + 32, 32, 0x33) && all_bytes(here.mem, 16, 0x44) &&
               all_bytes(here.mem + 24, 40, 0x44),
           ADD ": case %u: no other byte has changed", i);
    }
    ok(quiet(p.b.recv) && quiet(p.b.req) && quiet(p.a.req), ADD ": no other event, none at the target");
    ok(sides_talk(&p.a, &p.b), ADD ": messages go on");
    pair_close(&p);
}

static void swap(void)
{
    static const struct {
        DAT_UINT64 before, compare, swap, after;
    } cases[] = {
        { 7, 7, 9, 9 },
        { 7, 8, 9, 7 },
        { ~(DAT_UINT64)0, ~(DAT_UINT64)0, 0, 0 },
        { 0x100000000u, 0, 1, 0x100000000u },
        { 7, 7, 7, 7 },
    };
    struct pair p;

    pair_open(&p, &fx, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(here.mem, 0x44, 64);
        *word(&there, 24) = cases[i].before;
        is_success(post_cmp_swap(&p.a, &here, 16, target(&there, 24, 8), cases[i].compare, cases[i].swap, i),
                   SWAP ": case %u: success", i);
        ok(ended(&p.a, i, DAT_IB_DTO_CMP_SWAP), SWAP ": case %u: ends, with 8 bytes", i);
        ok(*word(&there, 24) == cases[i].after, SWAP ": case %u: stored only where it was equal", i);
        ok(*word(&here, 16) == cases[i].before && all_bytes(here.mem + 24, 40, 0x44),
           SWAP ": case %u: the old value came back", i);
    }
    pair_close(&p);
}

/*
 * Posts more atomic operations and reads than a connection can have outstanding. All complete in order, and each sees
 * the results of those before it.
 */
static void many(void)
{
    enum { N = 30 };
    struct pair p;
    int good = 0;

    pair_open(&p, &fx, NULL);
    *word(&there, 0) = 100;
    for (unsigned i = 0; i < N; i++)
        switch (i % 3) {
        case 0: must_rc(post_fetch_add(&p.a, &here, 8 * i, target(&there, 0, 8), 1, i), DAT_SUCCESS, ADD); break;
        case 1: must_rc(post_read(&p.a, &here, 8 * i, 8, target(&there, 0, 8), i), DAT_SUCCESS, "dat_ep_post_rdma_read"); break;
        default:
            must_rc(post_cmp_swap(&p.a, &here, 8 * i, target(&there, 0, 8), 101 + i / 3, 101 + i / 3, i), DAT_SUCCESS, SWAP);
        }
    for (unsigned i = 0; i < N; i++)
        good += i % 3 == 0 ? ended(&p.a, i, DAT_IB_DTO_FETCH_ADD)
              : i % 3 == 1 ? wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL)
                           : ended(&p.a, i, DAT_IB_DTO_CMP_SWAP);
    is_int(good, N, ADD ": more than the connection holds at once, between others: all end in order");
    good = 0;
    for (unsigned i = 0; i < N; i++)
        good += *word(&here, 8 * i) == 100 + i / 3 + (i % 3 != 0);
    is_int(good, N, ADD ": in order: each has seen those before it");
    ok(*word(&there, 0) == 100 + N / 3, ADD ": in order: the sum of all");

    /* Both sides add to one word concurrently. */
    *word(&there, 0) = 0;
    for (unsigned i = 0; i < N; i++) {
        must_rc(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, i), DAT_SUCCESS, ADD);
        must_rc(post_fetch_add(&p.b, &here, 8, target(&there, 0, 8), 1000, i), DAT_SUCCESS, ADD);
    }
    good = 0;
    for (unsigned i = 0; i < N; i++)
        good += ended(&p.a, i, DAT_IB_DTO_FETCH_ADD) && ended(&p.b, i, DAT_IB_DTO_FETCH_ADD);
    is_int(good, N, ADD ": both ways: all end");
    ok(*word(&there, 0) == 1001 * N, ADD ": both ways: nothing is lost");
    pair_close(&p);
}

static void flags(void)
{
    struct pair p;
    DAT_LMR_TRIPLET local = segment(&here, 0, 64); /* longer than the 8 bytes that are returned */
    DAT_RMR_TRIPLET to = target(&there, 0, 64);

    pair_open(&p, &fx, NULL);
    *word(&there, 0) = 1;
    memset(here.mem, 0x44, 64);
    is_success(dat_ib_post_fetch_and_add(p.a.ep, 2, &local, cookie(1), &to, DAT_COMPLETION_SUPPRESS_FLAG),
               ADD ": SUPPRESS, segments longer than 8 bytes: success");
    is_success(dat_ib_post_cmp_and_swap(p.a.ep, 3, 4, &local, cookie(2), &to, DAT_COMPLETION_BARRIER_FENCE_FLAG),
               SWAP ": BARRIER_FENCE: success");
    ok(ended(&p.a, 2, DAT_IB_DTO_CMP_SWAP) && quiet(p.a.req), ADD ": SUPPRESS: no completion");
    ok(*word(&there, 0) == 4 && *word(&here, 0) == 3, ADD ": SUPPRESS: was carried out");
    ok(all_bytes(here.mem + 8, 56, 0x44), ADD ": longer segments: 8 bytes are used");
    pair_close(&p);
}

/* ---- accesses that the target rejects ---- */

static void refused(DAT_RMR_TRIPLET to, const char *what)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    memset(here.mem, 0x44, 8);
    must_rc(post_recv(&p.b, &here, 1024, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
    if (is_success(post_fetch_add(&p.a, &here, 0, to, 1, 5), ADD ": %s: the call succeeds", what)) {
        ok(wait_extended(p.a.req, p.a.ep, 5, DAT_IB_DTO_FETCH_ADD, DAT_DTO_ERR_REMOTE_ACCESS, NULL),
           ADD ": %s: REMOTE_ACCESS", what);
        ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_BROKEN), ADD ": %s: BROKEN", what);
        ok(wait_dto(p.b.recv, 4, DAT_DTO_ERR_FLUSHED, NULL), ADD ": %s: receives of the target are flushed", what);
        ok(all_bytes(here.mem, 8, 0x44), ADD ": %s: nothing comes back", what);
    }
    pair_close(&p);
}

/* A window allows atomic operations only with DAT_IB_MEM_PRIV_REMOTE_ATOMIC, as a region does. */
static void windows(void)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    DAT_RMR_PARAM param;
    DAT_LMR_TRIPLET all = local_bytes(there.lmr_context, (DAT_VADDR)(uintptr_t)there.mem, 64);
    DAT_RMR_TRIPLET to;
    struct region readable;
    struct pair p;

    pair_open(&p, &fx, NULL);
    must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    must_bind(&p.b, rmr, there.lmr, all, DAT_IB_MEM_PRIV_REMOTE_ATOMIC | DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_VA_TYPE_VA,
              &context);
    must_rc(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
    is_int((int)param.mem_priv, DAT_IB_MEM_PRIV_REMOTE_ATOMIC,
           "dat_rmr_query: a window for atomic operations: the remote privileges alone");
    to = target(&there, 0, 8);
    to.rmr_context = context;
    must_rc(post_fetch_add(&p.a, &here, 0, to, 1, 1), DAT_SUCCESS, ADD);
    ok(ended(&p.a, 1, DAT_IB_DTO_FETCH_ADD), ADD ": a window for atomic operations: success");

    must_bind(&p.b, rmr, there.lmr, all, READ_WRITE, DAT_VA_TYPE_VA, &context);
    to.rmr_context = context;
    refused(to, "a window for reading and writing");

    region_make(&fx, &readable, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    all = local_bytes(readable.lmr_context, (DAT_VADDR)(uintptr_t)readable.mem, 64);
    is_code(bind_as(&p.b, rmr, readable.lmr, all, DAT_IB_MEM_PRIV_REMOTE_ATOMIC, DAT_VA_TYPE_VA, &context),
            DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_WRITE,
            "dat_rmr_bind: atomic operations on memory without local write: DAT_PRIVILEGES_VIOLATION");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    region_free(&readable);
    pair_close(&p);
}

static void violations(void)
{
    struct region plain, elsewhere;
    DAT_PZ_HANDLE pz;
    DAT_RMR_TRIPLET to;

    must_rc(dat_pz_create(fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    region_make(&fx, &plain, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make_in(&fx, pz, &elsewhere, 4096, ALL_AND_ATOMIC);
    refused(target(&plain, 0, 8), "all rights but that of atomic operations");
    refused(target(&elsewhere, 0, 8), "a region of another zone");
    refused(target(&there, there.size, 8), "a word beyond the region");
    to = target(&there, 0, 8);
    to.rmr_context ^= 0x55555555u;
    refused(to, "an unknown context");
    ok(all_bytes(plain.mem, 4096, 0) && all_bytes(elsewhere.mem, 4096, 0), ADD ": refused: no byte has changed");
    region_free(&plain);
    region_free(&elsewhere);
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
}

/* Role: adds to a word of the first process, then writes without the right, or sends more than the receive holds. */
static int trespasser(struct link *up)
{
    struct fx own;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET to;
    bool writes;

    fx_open(&own);
    side_make(&s, &own, NULL);
    region_make(&own, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    must(LINK_RECV(up, to) && LINK_RECV(up, writes), "no target");
    must_rc(post_fetch_add(&s, &r, 0, to, 1, 5), DAT_SUCCESS, ADD);
    to.rmr_context ^= 0x55555555u;
    if (writes)
        must_rc(post_write(&s, &r, 0, 8, to, 6), DAT_SUCCESS, "dat_ep_post_rdma_write");
    else
        must_rc(post_send(&s, &r, 0, 9, 6), DAT_SUCCESS, "dat_ep_post_send");
    must(ended(&s, 5, DAT_IB_DTO_FETCH_ADD), "the addition fails");
    fx_close(&own);
    return 0;
}

/* An atomic operation that the target has executed succeeds, even if the target refuses the next request. */
static void executed_first(bool writes)
{
    DAT_RMR_TRIPLET to = target(&there, 0, 8);
    struct peer p;
    struct side s;

    peer_start(&p, "trespasser");
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, &p.link);
    must_rc(post_recv(&s, &here, 0, 8, 4), DAT_SUCCESS, "dat_ep_post_recv");
    LINK_SEND(&p.link, to);
    LINK_SEND(&p.link, writes);
    peer_ok(&p, ADD ": before %s: success", writes ? "a write without the right" : "a message that is too long");
    ok(wait_dto(s.recv, 4, writes ? DAT_DTO_ERR_FLUSHED : DAT_DTO_ERR_LOCAL_LENGTH, NULL),
       ADD ": before %s: the receive ends", writes ? "a write without the right" : "a message that is too long");
    side_free(&s);
}

static void flushed(void)
{
    struct pair p;

    /* The write with immediate data waits for a receive. The requests after it wait for this write. */
    pair_open(&p, &fx, NULL);
    must_rc(post_immediate(&p.a, &here, 0, 0, target(&there, 0, 0), 6, 5), DAT_SUCCESS, "dat_ib_post_rdma_write_immed");
    must_rc(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 6), DAT_SUCCESS, ADD);
    must_rc(post_cmp_swap(&p.a, &here, 0, target(&there, 0, 8), 1, 2, 7), DAT_SUCCESS, SWAP);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_extended(p.a.req, p.a.ep, 5, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_ERR_FLUSHED, NULL) &&
           wait_extended(p.a.req, p.a.ep, 6, DAT_IB_DTO_FETCH_ADD, DAT_DTO_ERR_FLUSHED, NULL) &&
           wait_extended(p.a.req, p.a.ep, 7, DAT_IB_DTO_CMP_SWAP, DAT_DTO_ERR_FLUSHED, NULL),
       ADD ": waits, disconnected: FLUSHED, in order, each with its operation and type");
    pair_close(&p);
}

/* ---- requests that the call rejects ---- */

static void states(void)
{
    for (int i = 0; i < STAGE_STATES; i++) {
        DAT_EP_STATE state = stage_states[i];
        struct stage g;
        const char *why;
        struct side s;

        if (state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED ||
            state == DAT_EP_STATE_DISCONNECT_PENDING)
            continue;
        if (!stage_open(&g, state, &why)) {
            skip_named(stage_name(state), why);
            continue;
        }
        s = g.side;
        s.ep = g.ep;
        is_code(post_fetch_add(&s, &g.region, 0, target(&g.region, 1024, 8), 1, 1), DAT_INVALID_STATE,
                stage_subtype(state), "dat_extension_op: " ADD ", %s: DAT_INVALID_STATE", stage_name(state));
        is_code(post_cmp_swap(&s, &g.region, 0, target(&g.region, 1024, 8), 1, 1, 1), DAT_INVALID_STATE,
                stage_subtype(state), "dat_extension_op: " SWAP ", %s: DAT_INVALID_STATE", stage_name(state));
        stage_close(&g);
    }
}

static DAT_RETURN add_with_ep(DAT_HANDLE ep, void *arg)
{
    struct region *r = arg;
    DAT_LMR_TRIPLET local = segment(r, 0, 8);
    DAT_RMR_TRIPLET to = target(r, 64, 8);

    return dat_ib_post_fetch_and_add(ep, 1, &local, cookie(1), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN swap_with_ep(DAT_HANDLE ep, void *arg)
{
    struct region *r = arg;
    DAT_LMR_TRIPLET local = segment(r, 0, 8);
    DAT_RMR_TRIPLET to = target(r, 64, 8);

    return dat_ib_post_cmp_and_swap(ep, 1, 2, &local, cookie(1), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

static void parameters(void)
{
    struct zoo z;
    struct pair p;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET to;
    struct region readable;

    zoo_open(&z);
    zoo_sweep(&z, "dat_extension_op, " ADD, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, add_with_ep, &z.region);
    zoo_sweep(&z, "dat_extension_op, " SWAP, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, swap_with_ep, &z.region);
    zoo_intact(&z, ADD);
    zoo_close(&z);

    region_make(&fx, &readable, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    pair_open(&p, &fx, NULL);
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind == 0 ? "dat_extension_op: " ADD : "dat_extension_op: " SWAP;
        DAT_UINT32 iov = kind == 0 ? DAT_INVALID_ARG4 : DAT_INVALID_ARG5;
        DAT_UINT32 remote = kind == 0 ? DAT_INVALID_ARG6 : DAT_INVALID_ARG7;
        DAT_UINT32 flag = kind == 0 ? DAT_INVALID_ARG7 : DAT_INVALID_ARG8;

#define POST(iov, to, flags) \
    (kind == 0 ? dat_ib_post_fetch_and_add(p.a.ep, 1, iov, cookie(1), to, (DAT_COMPLETION_FLAGS)(flags)) \
               : dat_ib_post_cmp_and_swap(p.a.ep, 1, 2, iov, cookie(1), to, (DAT_COMPLETION_FLAGS)(flags)))
        local = segment(&here, 0, 8);
        to = target(&there, 0, 8);
        is_code(POST(NULL, &to, 0), DAT_INVALID_PARAMETER, iov, "%s, no local segment: DAT_INVALID_PARAMETER", name);
        is_code(POST(&local, NULL, 0), DAT_INVALID_PARAMETER, remote, "%s, no remote segment: DAT_INVALID_PARAMETER", name);
        is_code(POST(&local, &to, 0x100), DAT_INVALID_PARAMETER, flag, "%s, unknown flag: DAT_INVALID_PARAMETER", name);
        for (unsigned off = 1; off < 8; off += 3) {
            to = target(&there, off, 8);
            is_code(POST(&local, &to, 0), DAT_INVALID_PARAMETER, remote,
                    "%s, remote address %u behind a word: DAT_INVALID_PARAMETER", name, off);
        }
        to = target(&there, 0, 7);
        is_type(POST(&local, &to, 0), DAT_LENGTH_ERROR, "%s, remote segment of 7 bytes: DAT_LENGTH_ERROR", name);
        to = target(&there, 0, 8);
        local = segment(&here, 0, 7);
        is_type(POST(&local, &to, 0), DAT_LENGTH_ERROR, "%s, local segment of 7 bytes: DAT_LENGTH_ERROR", name);
        local = segment(&here, 0, 8);
        local.lmr_context ^= 0x40000000u;
        is_type(POST(&local, &to, 0), DAT_PRIVILEGES_VIOLATION, "%s, unknown LMR context: DAT_PRIVILEGES_VIOLATION", name);
        local = segment(&here, here.size - 7, 8);
        is_type(POST(&local, &to, 0), DAT_INVALID_PARAMETER, "%s, segment beyond its LMR: DAT_INVALID_PARAMETER", name);
        local = segment(&readable, 0, 8);
        is_type(POST(&local, &to, 0), DAT_PRIVILEGES_VIOLATION, "%s, no local write: DAT_PRIVILEGES_VIOLATION", name);
#undef POST
    }
    ok(quiet(p.a.req), ADD ": refused: no completion comes");
    is_state(ep_state(p.a.ep), DAT_EP_STATE_CONNECTED, ADD ": refused: still CONNECTED");
    pair_close(&p);
    region_free(&readable);
}

/* ---- several processes at one word ---- */

static int rounds(void)
{
    return env_count(2000, 100);
}

/* Role: adds to a word of the first process, and increments another word with swaps. */
static int adder(struct link *up)
{
    struct fx own;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET sum, count;
    DAT_UINT64 seen = 0;

    fx_open(&own);
    side_make(&s, &own, NULL);
    region_make(&own, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    must(LINK_RECV(up, sum) && LINK_RECV(up, count), "no target");
    for (int i = 0; i < rounds(); i++) {
        must_rc(post_fetch_add(&s, &r, 0, sum, 3, 1), DAT_SUCCESS, ADD);
        must(ended(&s, 1, DAT_IB_DTO_FETCH_ADD), "an addition does not end");
        must(*word(&r, 0) >= seen, "the sum went back");
        seen = *word(&r, 0);
    }
    for (int i = 0; i < rounds() / 10; i++) {
        DAT_UINT64 old = 0;

        do {
            DAT_UINT64 expected = old;

            must_rc(post_cmp_swap(&s, &r, 0, count, expected, expected + 1, 2), DAT_SUCCESS, SWAP);
            must(ended(&s, 2, DAT_IB_DTO_CMP_SWAP), "a swap does not end");
            old = *word(&r, 0);
            if (old == expected)
                break;
        } while (true);
    }
    must(link_hear(up, "bye"), "no word");
    fx_close(&own);
    return 0;
}

/* Three processes add to one word. On shm, this process also adds to the word, with CPU instructions. */
static void together(void)
{
    /* OWN is what this process adds: more than all additions of the peers together. */
    enum { PEERS = 3, OWN = 1000000000 };
    struct peer p[PEERS];
    struct side s[PEERS];
    DAT_UINT64 own = 0, want, last = 0, end = now_ms() + env_ms(3 * SOON_MS);

    memset(there.mem, 0, 64);
    for (int i = 0; i < PEERS; i++) {
        DAT_RMR_TRIPLET sum = target(&there, 0, 8), count = target(&there, 8, 8);

        peer_start(&p[i], "adder");
        side_make(&s[i], &fx, NULL);
        side_accept_peer(&s[i], &p[i].link);
        LINK_SEND(&p[i].link, sum);
        LINK_SEND(&p[i].link, count);
    }
    want = (DAT_UINT64)(PEERS * (rounds() / 10));
    /* Poll the memory with plain loads, as programs do. */
    while (*(volatile DAT_UINT64 *)word(&there, 8) < want && now_ms() < end) {
        DAT_UINT64 progress = *(volatile DAT_UINT64 *)word(&there, 0) % OWN + *(volatile DAT_UINT64 *)word(&there, 8);

        /* The deadline is for each step of the peers: on a busy machine each operation waits for a CPU. */
        if (progress != last)
            end = now_ms() + env_ms(3 * SOON_MS);
        last = progress;
        if (env_is_shm() && own < (DAT_UINT64)rounds()) {
            __atomic_fetch_add(word(&there, 0), OWN, __ATOMIC_SEQ_CST);
            own++;
        }
        breathe();
    }
    ok(*word(&there, 8) == want, SWAP ": three processes count: nothing is lost");
    ok(*word(&there, 0) == own * OWN + (DAT_UINT64)(PEERS * rounds()) * 3,
       ADD ": three processes, and this one itself: nothing is lost");
    for (int i = 0; i < PEERS; i++) {
        link_say(&p[i].link, "bye");
        peer_ok(&p[i], ADD ": the other process ends well");
        side_free(&s[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "adder", adder }, { "trespasser", trespasser }, STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &here, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 4096, ALL_AND_ATOMIC);
    if (!announces(&fx, DAT_IB_ATTR_FETCH_AND_ADD)) {
        struct pair p;

        pair_open(&p, &fx, NULL);
        ok(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 1) == NOT_IMPLEMENTED,
                "dat_ib_post_fetch_and_add: not announced: DAT_NOT_IMPLEMENTED");
        ok(post_cmp_swap(&p.a, &here, 0, target(&there, 0, 8), 1, 2, 1) == NOT_IMPLEMENTED,
                "dat_ib_post_cmp_and_swap: not announced: DAT_NOT_IMPLEMENTED");
        ok(quiet(p.a.req) && sides_talk(&p.a, &p.b), "atomic operations: not announced: messages go on");
        pair_close(&p);
        fx_close(&fx);
        return done_testing();
    }
    add();
    swap();
    many();
    flags();
    violations();
    executed_first(true);
    executed_first(false);
    if (env_is_shm())
        windows();
    else
        skip_named("windows for atomic operations", "not every device has them");
    flushed();
    states();
    parameters();
    together();
    fx_close(&fx);
    return done_testing();
}
