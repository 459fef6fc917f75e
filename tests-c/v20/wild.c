/*
 * wild.c - dat_extension_op with arbitrary operations, handles and arguments: the calls fail, and change no object.
 * Unused bits of valid arguments are ignored.
 */
#include "v20/extended.h"

#include "common/zoo.h"

#include <string.h>

#define HIGH_HALF 0x5a5a5a5a00000000u

/* Memory to which the pointer arguments point. It contains no context of a region. */
static DAT_LMR_TRIPLET iov[4];
static DAT_RMR_TRIPLET remote;

/* Values for numeric arguments. */
static const DAT_UINT64 numbers[] = { 0,          1,          2,          33,         0x7f,       0xff,
                                      0x7fffffff, 0x80000000, 0xffffffff, 0xffff0000, 0x55555555, 0xaaaaaaaa };
#define NUMBERS (sizeof numbers / sizeof *numbers)

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

/* Returns whether the call fails with an expected code. Pointer arguments are NULL if null is true, otherwise valid. */
static bool refused(DAT_HANDLE h, unsigned op, DAT_UINT64 a, DAT_UINT64 b, bool null)
{
    void *list = null ? NULL : iov, *to = null ? NULL : &remote;
    DAT_RETURN rc;

    switch (op) {
    case DAT_IB_RDMA_WRITE_IMMED_OP:
        rc = dat_extension_op(h, (DAT_EXTENDED_OP)op, a, list, b, to, a, b);
        break;
    case DAT_IB_FETCH_AND_ADD_OP:
        rc = dat_extension_op(h, (DAT_EXTENDED_OP)op, a, list, b, to, a);
        break;
    case DAT_IB_CMP_AND_SWAP_OP:
        rc = dat_extension_op(h, (DAT_EXTENDED_OP)op, a, b, list, b, to, a);
        break;
    case DAT_IB_QUERY_COUNTERS_OP:
    case DAT_IB_PRINT_COUNTERS_OP:
    case DAT_IB_START_COUNTERS_OP:
    case DAT_IB_STOP_COUNTERS_OP:
        /* The bit 0x1000 makes the number invalid for counters and for groups of counters. */
        rc = dat_extension_op(h, (DAT_EXTENDED_OP)op, a | 0x1000, list, b);
        break;
    default:
        /* Operations that open an adapter get NULL as its name. The other operations read no pointer. */
        rc = dat_extension_op(h, (DAT_EXTENDED_OP)op, NULL, NULL, a, NULL, b, NULL, a, b);
    }
    if (rc_is(rc, DAT_INVALID_HANDLE) || rc_is(rc, DAT_INVALID_PARAMETER) || rc_is(rc, DAT_INVALID_STATE) ||
        rc_is(rc, DAT_PRIVILEGES_VIOLATION) || rc_is(rc, DAT_LENGTH_ERROR) || rc_is(rc, DAT_MODEL_NOT_SUPPORTED) || rc == NOT_IMPLEMENTED)
        return true;
    diag("operation %#x on %p with %#llx, %#llx: got %#x", op, h, (unsigned long long)a, (unsigned long long)b,
         (unsigned)rc);
    return false;
}

/* Calls the operations 0 to 39 on an object of each kind, and on values that are no handles. */
static void every_operation(struct zoo *z)
{
    static DAT_UINT64 zeros[32], ones[32], forged[32];
    DAT_HANDLE of[ZOO_KINDS + 7];
    int handles = 0, bad = 0;

    memset(ones, 0xff, sizeof ones);
    memcpy(forged, z->of[DAT_HANDLE_TYPE_PZ], sizeof(void *));
    for (int k = 0; k < ZOO_KINDS; k++)
        of[handles++] = z->of[k];
    of[handles++] = DAT_HANDLE_NULL;
    of[handles++] = zeros;
    of[handles++] = ones;
    of[handles++] = forged;
    of[handles++] = (char *)z->of[DAT_HANDLE_TYPE_EP] + 8;
    of[handles++] = (DAT_HANDLE)(uintptr_t)1;
    if (!env_valgrind())
        of[handles++] = (DAT_HANDLE)(uintptr_t)0x12345678;
    for (int h = 0; h < handles; h++)
        for (unsigned op = 0; op < 40; op++)
            for (size_t i = 0; i < NUMBERS; i++)
                for (int null = 0; null < 2; null++)
                    bad += !refused(of[h], op, numbers[i], numbers[NUMBERS - 1 - i], null);
    is_int(bad, 0, "dat_extension_op: every operation on every kind of object, and on none: refused");
    zoo_intact(z, "dat_extension_op, every operation");
}

/* Calls random operations with random arguments on live objects. */
static void any_operation(struct zoo *z)
{
    enum { CALLS = 100000 };
    unsigned seed = 20;
    int bad = 0;

    for (int i = 0; i < CALLS; i++) {
        unsigned shift = next_random(&seed) % 24;
        unsigned op = (next_random(&seed) << 8 ^ next_random(&seed)) >> shift;
        DAT_HANDLE h = z->of[next_random(&seed) % ZOO_KINDS];
        DAT_UINT64 a = (DAT_UINT64)next_random(&seed) << 40 ^ next_random(&seed);
        DAT_UINT64 b = (DAT_UINT64)next_random(&seed) << 40 ^ next_random(&seed);

        bad += !refused(h, op, a, b, next_random(&seed) % 2);
    }
    is_int(bad, 0, "dat_extension_op: %d operations and arguments at random: refused", CALLS);
    zoo_intact(z, "dat_extension_op, at random");
}

/* A variable argument of 32 bits occupies 64 bits. The call must ignore the upper half. */
static void halves_of_words(struct zoo *z)
{
    struct pair p;
    struct region r;
    DAT_LMR_TRIPLET from;
    DAT_RMR_TRIPLET to;
    DAT_EVENT e;
    DAT_RETURN rc;

    if (!announces(&z->fx, DAT_IB_ATTR_IMMED_DATA)) {
        skip_named("dat_extension_op: bits beside those of 32-bit arguments", "the adapter has no such operation");
        return;
    }
    region_make(&z->fx, &r, 128, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, &z->fx, NULL);
    from = segment(&r, 0, 8);
    to = target(&r, 64, 8);
    must_rc(post_recv(&p.b, &r, 96, 8, 7), DAT_SUCCESS, "dat_ep_post_recv");
    *word(&r, 0) = 0x1234;
    rc = dat_extension_op(p.a.ep, DAT_IB_RDMA_WRITE_IMMED_OP, HIGH_HALF + 1, &from, (DAT_UINT64)5, &to, HIGH_HALF + 77,
                          HIGH_HALF + DAT_COMPLETION_DEFAULT_FLAG);
    is_success(rc, "dat_extension_op: bits beside those of 32-bit arguments: success");
    ok(wait_extended(p.b.recv, p.b.ep, 7, DAT_IB_DTO_RECV_IMMED, DAT_DTO_SUCCESS, &e) &&
           extension(&e)->val.immed.data == 77 && *word(&r, 64) == 0x1234,
       "dat_extension_op: bits beside those of 32-bit arguments: what was meant arrives");
    pair_close(&p);
    region_free(&r);
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    every_operation(&z);
    any_operation(&z);
    halves_of_words(&z);
    zoo_close(&z);
    return done_testing();
}
