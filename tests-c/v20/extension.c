/* extension.c - dat_extension_op: unsupported operations, bad handles, and queries without an open adapter. */
#include "v20/extended.h"

#include "common/zoo.h"

#include <string.h>

static struct fx fx;

/* Returns whether the named attributes of the adapter announce the operation. */
static bool provided(unsigned op)
{
    switch (op) {
    case DAT_IB_UD_SEND_OP:
    case DAT_IB_UD_CM_FREE_OP:
    case DAT_IB_UD_AH_FREE_OP: return strcmp(named_attribute(&fx, DAT_IB_ATTR_UD), "TRUE") == 0;
    case DAT_IB_QUERY_COUNTERS_OP:
    case DAT_IB_PRINT_COUNTERS_OP:
    case DAT_IB_START_COUNTERS_OP:
    case DAT_IB_STOP_COUNTERS_OP: return strcmp(named_attribute(&fx, DAT_IB_ATTR_COUNTERS), "TRUE") == 0;
    default: return false;
    }
}

/* Calls unsupported operations and unknown numbers of operations on an adapter, an endpoint and an EVD. */
static void absent(void)
{
    static const unsigned wild[] = { 32, 33, 100, 0xfff, 0x4000, 0x8000, 0x10000, 0x7fffcfff, 0x80000000u, 0xffffcfffu };
    struct side s;
    DAT_HANDLE of[3];
    int good = 0, asked = 0;

    side_make(&s, &fx, NULL);
    of[0] = fx.ia;
    of[1] = s.ep;
    of[2] = s.recv;
    for (int h = 0; h < 3; h++) {
        for (unsigned op = DAT_IB_UD_SEND_OP; op < 32; op++, asked++)
            /* Operations on endpoints return another error first if the handle is not an endpoint. */
            good += provided(op) || (op <= DAT_IB_UD_AH_FREE_OP && of[h] != s.ep) || dat_extension_op(of[h], (DAT_EXTENDED_OP)op, (void *)0, (void *)0, 0, 0, 0, 0, 0,
                                                     0) == NOT_IMPLEMENTED;
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++, asked++)
            good += dat_extension_op(of[h], (DAT_EXTENDED_OP)wild[i], (void *)0, (void *)0, 0, 0) == NOT_IMPLEMENTED;
    }
    is_int(good, asked, "dat_extension_op: what is not announced, collectives, unknown operations: DAT_NOT_IMPLEMENTED");
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_extension_op: DAT_NOT_IMPLEMENTED: the endpoint is as it was");
    side_free(&s);
}

static DAT_RETURN unknown(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_extension_op(h, (DAT_EXTENDED_OP)DAT_IB_UD_SEND_OP, 0, 0, 0, 0);
}

/* Values that are no handles are rejected, even if the adapter does not support the operation. */
static void no_handles(void)
{
    static DAT_UINT64 zeros[32], ones[32];

    memset(ones, 0xff, sizeof ones);
    is_code(unknown(DAT_HANDLE_NULL, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
            "dat_extension_op: DAT_HANDLE_NULL: DAT_INVALID_HANDLE");
    is_type(unknown(zeros, NULL), DAT_INVALID_HANDLE, "dat_extension_op: memory full of zeros: DAT_INVALID_HANDLE");
    is_type(unknown(ones, NULL), DAT_INVALID_HANDLE, "dat_extension_op: memory full of ones: DAT_INVALID_HANDLE");
    is_type(unknown((char *)fx.pz + 1, NULL), DAT_INVALID_HANDLE, "dat_extension_op: misaligned: DAT_INVALID_HANDLE");
    for (uintptr_t small = 1; small < 4096; small *= 2)
        if (!rc_is(unknown((DAT_HANDLE)small, NULL), DAT_INVALID_HANDLE))
            fail("dat_extension_op: handle %u: is not refused", (unsigned)small);
}

/* ---- attributes without an open adapter ---- */

static void queried(void)
{
    DAT_IA_HANDLE query = UNTOUCHED, second = UNTOUCHED;
    DAT_PZ_HANDLE pz;
    DAT_HANDLE_TYPE kind;
    DAT_CONTEXT context = { .as_64 = 5 };
    DAT_UINT64 counters[DCNT_IA_ALL_COUNTERS];
    DAT_IA_ATTR ia, same;
    DAT_PROVIDER_ATTR provider;

    memset(&ia, 0, sizeof ia);
    memset(&same, 0, sizeof same);
    memset(&provider, 0, sizeof provider);
    is_success(dat_ib_open_query(env_ia(), &query, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider),
               "dat_extension_op: dat_ib_open_query: success");
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &same, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    ok(strcmp(ia.adapter_name, same.adapter_name) == 0 && ia.max_eps == same.max_eps &&
           ia.max_message_size == same.max_message_size && ia.extension_version == same.extension_version,
       "dat_ib_open_query: the attributes are those of the open adapter");
    ok(ia.ia_address_ptr != NULL && ia.ia_address_ptr->sa_family == fx_address(&fx)->sa_family,
       "dat_ib_open_query: with its address");
    ok(provider.num_provider_specific_attr > 0 && provider.provider_specific_attr[0].name != NULL,
       "dat_ib_open_query: with its named attributes");
    is_success(dat_ib_open_query(env_ia(), &second, DAT_IA_FIELD_ALL, &same, 0, NULL),
               "dat_ib_open_query: once more, and the attributes of the adapter alone: success");

    is_code(dat_ia_close(query, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_ia_close: handle of a query: DAT_INVALID_HANDLE");

    is_code(dat_ia_query(query, NULL, DAT_IA_FIELD_ALL, &same, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_ia_query: handle of a query: DAT_INVALID_HANDLE");
    is_code(dat_pz_create(query, &pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_pz_create: handle of a query: DAT_INVALID_HANDLE");
    is_code(dat_get_handle_type(query, &kind), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
            "dat_get_handle_type: handle of a query: DAT_INVALID_HANDLE");
    is_code(dat_set_consumer_context(query, context), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
            "dat_set_consumer_context: handle of a query: DAT_INVALID_HANDLE");
    is_code(dat_get_consumer_context(query, &context), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
            "dat_get_consumer_context: handle of a query: DAT_INVALID_HANDLE");
    is_code(dat_ib_query_counters(query, DCNT_IA_ALL_COUNTERS, counters, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
            "dat_ib_query_counters: handle of a query: DAT_INVALID_HANDLE");
    is_success(dat_get_handle_type(fx.ia, &kind), "dat_get_handle_type: the open adapter beside a query: success");
    is_success(dat_ib_close_query(query), "dat_extension_op: dat_ib_close_query: success");
    is_code(dat_ib_close_query(query), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_extension_op: dat_ib_close_query, again: DAT_INVALID_HANDLE");
    is_code(dat_ib_close_query(fx.ia), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_extension_op: dat_ib_close_query, an open adapter: DAT_INVALID_HANDLE");
    is_code(dat_ib_close_query(NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_extension_op: dat_ib_close_query, DAT_HANDLE_NULL: DAT_INVALID_HANDLE");
    is_code(dat_ib_close_query(fx.pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_extension_op: dat_ib_close_query, a protection zone: DAT_INVALID_HANDLE");
    ok(same.adapter_name[0] != '\0' && same.ia_address_ptr != NULL && same.ia_address_ptr->sa_family != 0,
       "dat_ib_open_query: another query is closed: the address stands");
    is_success(dat_ib_close_query(second), "dat_extension_op: dat_ib_close_query, the other one: success");
}

static void query_parameters(void)
{
    DAT_IA_HANDLE query = UNTOUCHED;
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;

    is_code(dat_ib_open_query(NULL, &query, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_extension_op: dat_ib_open_query, no name: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG4, "dat_extension_op: dat_ib_open_query, no place for the handle: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), &query, 0, NULL, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_extension_op: dat_ib_open_query, no place for attributes: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), &query, ~(DAT_IA_ATTR_MASK)DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG5, "dat_extension_op: dat_ib_open_query, unknown attributes: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), &query, DAT_IA_FIELD_ALL, NULL, DAT_PROVIDER_FIELD_ALL, &provider),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            "dat_extension_op: dat_ib_open_query, no place for the adapter's: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), &query, DAT_IA_FIELD_ALL, &ia, ~(DAT_PROVIDER_ATTR_MASK)DAT_PROVIDER_FIELD_ALL,
                              &provider),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
            "dat_extension_op: dat_ib_open_query, unknown attributes of the provider: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query(env_ia(), &query, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_extension_op: dat_ib_open_query, no place for the provider's: DAT_INVALID_PARAMETER");
    is_code(dat_ib_open_query("no such adapter", &query, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_PROVIDER_NOT_FOUND,
            DAT_NAME_NOT_REGISTERED, "dat_extension_op: dat_ib_open_query, unknown name: DAT_PROVIDER_NOT_FOUND");
    ok(query == UNTOUCHED, "dat_ib_open_query: error: the handle is untouched");
}

/* Role: queries an adapter while no adapter is open in the process. */
static int asks_alone(struct link *up)
{
    DAT_IA_HANDLE query;
    DAT_PROVIDER_ATTR provider;

    (void)up;
    memset(&provider, 0, sizeof provider);
    must_rc(dat_ib_open_query(env_ia(), &query, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider), DAT_SUCCESS,
            "dat_ib_open_query");
    must(provider.num_provider_specific_attr > 0, "no named attributes");
    must_rc(dat_ib_close_query(query), DAT_SUCCESS, "dat_ib_close_query");
    must(rc_is(dat_ib_close_query(query), DAT_INVALID_HANDLE), "the closed query is still there");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "asks alone", asks_alone }, { NULL, NULL } };
    struct peer p;

    env_init(argc, argv, roles);
    fx_open(&fx);
    absent();
    no_handles();
    queried();
    query_parameters();
    fx_close(&fx);
    peer_start(&p, "asks alone");
    peer_ok(&p, "dat_ib_open_query: in a process that opens nothing: success");
    return done_testing();
}
