/*
 * extensions.c - the macros of dat_ib_extensions.h pass the right operation and arguments to
 * dat_extension_op, and its functions return the names of codes.
 *
 * This program defines dat_extension_op: it checks that each argument encodes its position.
 */
#include "common/dat.h"
#include "common/env.h"
#include "common/tap.h"

#include <stdarg.h>
#include <string.h>

/*
 * Pointer argument at a position, which is counted from 1. Other arguments are the position itself.
 */
static char cell[16];
#define PTR(position) ((void *)&cell[position])

/*
 * The expected call. A character per argument after the operation: i is an int, l a 64-bit number,
 * p a pointer, c a DAT_CONTEXT.
 */
static DAT_EXTENDED_OP want_op;
static const char *want_types;
static DAT_HANDLE want_handle;

#define RIGHT ((DAT_RETURN)0x40424344u)
#define WRONG ((DAT_RETURN)0x80060000u)

DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
    DAT_RETURN answer = handle == want_handle && op == want_op ? RIGHT : WRONG;
    unsigned position = 3;
    const char *type;
    va_list args;

    va_start(args, op);
    for (type = want_types; *type != '\0'; type++, position++) {
        int as_expected = 0;

        switch (*type) {
        case 'i':
            as_expected = va_arg(args, unsigned) == position;
            break;
        case 'l':
            as_expected = va_arg(args, DAT_UINT64) == position;
            break;
        case 'p':
            as_expected = va_arg(args, void *) == PTR(position);
            break;
        case 'c':
            as_expected = va_arg(args, DAT_CONTEXT).as_64 == position;
            break;
        }
        if (!as_expected) {
            diag("argument %u is wrong", position);
            answer = WRONG;
        }
    }
    va_end(args);
    return answer;
}

static DAT_CONTEXT word(unsigned position)
{
    DAT_CONTEXT context;

    context.as_64 = position;
    return context;
}

/* Checks that a macro passes this operation, and arguments of these types in the right order. */
#define CHECK(macro, operation, types, arguments)                              \
    do {                                                                       \
        want_op = (operation);                                                 \
        want_types = (types);                                                  \
        ok(macro arguments == RIGHT, #macro ": " #operation ", and its arguments"); \
    } while (0)

static void check_posts(void)
{
    want_handle = PTR(1);
    CHECK(dat_ib_post_fetch_and_add, 0, "lpcpi", (PTR(1), 3, PTR(4), word(5), PTR(6), 7));
    CHECK(dat_ib_post_cmp_and_swap, 1, "llpcpi", (PTR(1), 3, 4, PTR(5), word(6), PTR(7), 8));
    CHECK(dat_ib_post_rdma_write_immed, 2, "ipcpii",
          (PTR(1), 3, PTR(4), word(5), PTR(6), 7, 8));
    CHECK(dat_ib_post_send_ud, 3, "ippci", (PTR(1), 3, PTR(4), PTR(5), word(6), 7));
    CHECK(dat_ib_ud_cm_free, 28, "c", (PTR(1), word(3)));
    CHECK(dat_ib_ud_ah_free, 29, "p", (PTR(1), PTR(3)));
}

static void check_counters(void)
{
    want_handle = PTR(1);
    CHECK(dat_ib_query_counters, 4, "ipi", (PTR(1), 3, PTR(4), 5));
    CHECK(dat_query_counters, 4, "ipi", (PTR(1), 3, PTR(4), 5));
    CHECK(dat_ib_print_counters, 5, "ii", (PTR(1), 3, 4));
    CHECK(dat_print_counters, 5, "ii", (PTR(1), 3, 4));
    CHECK(dat_ib_start_counter, 26, "i", (PTR(1), 3));
    CHECK(dat_ib_stop_counter, 27, "i", (PTR(1), 3));
}

static void check_queries(void)
{
    want_handle = DAT_HANDLE_NULL;
    CHECK(dat_ib_open_query, 0x1000, "pplplp", (PTR(3), PTR(4), 5, PTR(6), 7, PTR(8)));
    want_handle = PTR(1);
    CHECK(dat_ib_close_query, 0x2000, "", (PTR(1)));
}

static void check_collectives(void)
{
    want_handle = PTR(1);
    CHECK(dat_ib_collective_create_member, 6, "ppp", (PTR(1), PTR(3), PTR(4), PTR(5)));
    CHECK(dat_ib_collective_free_member, 7, "p", (PTR(1), PTR(3)));
    CHECK(dat_ib_collective_create_group, 8, "piiippc",
          (PTR(3), 4, 5, 6, PTR(7), PTR(1), PTR(8), word(9)));
    CHECK(dat_ib_collective_free_group, 9, "", (PTR(1)));
    CHECK(dat_ib_collective_set_clock, 10, "lc", (PTR(1), 3, word(4)));
    CHECK(dat_ib_collective_read_clock, 11, "p", (PTR(1), PTR(3)));
    CHECK(dat_ib_collective_scatter, 12, "pipiici",
          (PTR(1), PTR(3), 4, PTR(5), 6, 7, word(8), 9));
    CHECK(dat_ib_collective_scatterv, 13, "ppppiici",
          (PTR(1), PTR(3), PTR(4), PTR(5), PTR(6), 7, 8, word(9), 10));
    CHECK(dat_ib_collective_gather, 14, "pipiici",
          (PTR(1), PTR(3), 4, PTR(5), 6, 7, word(8), 9));
    CHECK(dat_ib_collective_gatherv, 15, "pipppici",
          (PTR(1), PTR(3), 4, PTR(5), PTR(6), PTR(7), 8, word(9), 10));
    CHECK(dat_ib_collective_allgather, 16, "pipici", (PTR(1), PTR(3), 4, PTR(5), 6, word(7), 8));
    CHECK(dat_ib_collective_allgatherv, 17, "pipppci",
          (PTR(1), PTR(3), 4, PTR(5), PTR(6), PTR(7), word(8), 9));
    CHECK(dat_ib_collective_alltoall, 18, "pipici", (PTR(1), PTR(3), 4, PTR(5), 6, word(7), 8));
    CHECK(dat_ib_collective_alltoallv, 19, "ppppppci",
          (PTR(1), PTR(3), PTR(4), PTR(5), PTR(6), PTR(7), PTR(8), word(9), 10));
    CHECK(dat_ib_collective_reduce, 20, "pipiiiici",
          (PTR(1), PTR(3), 4, PTR(5), 6, 7, 8, 9, word(10), 11));
    CHECK(dat_ib_collective_allreduce, 21, "pipiiici",
          (PTR(1), PTR(3), 4, PTR(5), 6, 7, 8, word(9), 10));
    CHECK(dat_ib_collective_reduce_scatter, 22, "pippiici",
          (PTR(1), PTR(3), 4, PTR(5), PTR(6), 7, 8, word(9), 10));
    CHECK(dat_ib_collective_scan, 23, "pipiiici",
          (PTR(1), PTR(3), 4, PTR(5), 6, 7, 8, word(9), 10));
    CHECK(dat_ib_collective_broadcast, 24, "piici", (PTR(1), PTR(3), 4, 5, word(6), 7));
    CHECK(dat_ib_collective_barrier, 25, "ci", (PTR(1), word(3), 4));
}

/* Checks the name that a function returns for a code. */
static void name_is(DAT_RETURN answer, const char *got, const char *want, const char *what)
{
    if (answer != DAT_SUCCESS)
        diag("%s: returned %#x", what, answer);
    ok(answer == DAT_SUCCESS && got != NULL && strcmp(got, want) == 0, "%s: %s", what, want);
}

static void check_names(void)
{
    const char *name = NULL;
    DAT_RETURN answer;

    answer = dat_strerror_extension(DAT_IB_ERR, &name);
    name_is(answer, name, "DAT_IB_ERR", "dat_strerror_extension");
    answer = dat_strerror_extension((DAT_IB_RETURN)(DAT_CLASS_ERROR | DAT_IB_COLLECTIVE_ERR), &name);
    name_is(answer, name, "DAT_IB_COLLECTIVE_ERR", "dat_strerror_extension");
    answer = dat_strerror_extension((DAT_IB_RETURN)(DAT_CLASS_ERROR | DAT_INVALID_HANDLE), &name);
    name_is(answer, name, "DAT_INVALID_HANDLE", "dat_strerror_extension");
    answer = dat_strerror_ext_status(DAT_OP_SUCCESS, &name);
    name_is(answer, name, " ", "dat_strerror_ext_status");
    answer = dat_strerror_ext_status(DAT_IB_OP_ERR, &name);
    name_is(answer, name, "DAT_IB_OP_ERR", "dat_strerror_ext_status");
    answer = dat_strerror_ext_status(DAT_IB_COLL_COMP_ERR, &name);
    name_is(answer, name, "DAT_IB_COLL_COMP_ERR", "dat_strerror_ext_status");
    ok(DAT_GET_TYPE(dat_strerror_ext_status((DAT_IB_STATUS)99, &name)) == DAT_INVALID_PARAMETER,
       "dat_strerror_ext_status: no such status: DAT_INVALID_PARAMETER");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    check_posts();
    check_counters();
    check_queries();
    check_collectives();
    check_names();
    return done_testing();
}
