/*
 * layout.c - the headers have the sizes, offsets and values of the binary interface.
 *
 * The numbers are in layout.rs and layout20.rs, from which layout.def is made. Each type or group of
 * values is one subtest.
 */
#include "common/dat.h"
#include "common/env.h"
#include "common/tap.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

/* The offset of an object after one byte is its alignment. */
#define TYPE(type, size, alignment) \
    struct behind_byte_##type {     \
        char byte;                  \
        type object;                \
    };
#define FIELD(type, field, offset, size)
#define VALUE(group, name, value)
#include "layout.def"
#undef TYPE
#undef FIELD
#undef VALUE

struct fact {
    const char *group;
    const char *what;
    long long got;
    long long want;
};

static const struct fact facts[] = {
#define TYPE(type, size, alignment)                             \
    { #type, "size", (long long)sizeof(type), size },           \
    { #type, "alignment", (long long)offsetof(struct behind_byte_##type, object), alignment },
#define FIELD(type, field, offset, size)                                        \
    { #type, "offset of " #field, (long long)offsetof(type, field), offset },   \
    { #type, "size of " #field, (long long)sizeof(((type *)0)->field), size },
#define VALUE(group, name, value) { #group, #name, (long long)(name), (long long)(value) },
#include "layout.def"
#undef TYPE
#undef FIELD
#undef VALUE
};

#define FACTS (sizeof facts / sizeof facts[0])

/* Checks the consecutive facts of one group. Returns the index of the next group. */
static size_t check_group(size_t index)
{
    const char *group = facts[index].group;
    size_t wrong = 0;

    for (; index < FACTS && strcmp(facts[index].group, group) == 0; index++) {
        const struct fact *f = &facts[index];

        if (f->got != f->want) {
            diag("%s: %s is %lld, must be %lld", group, f->what, f->got, f->want);
            wrong++;
        }
    }
    ok(wrong == 0, "%s: as the binary interface has it", group);
    return index;
}

/* Checks pointer constants, and macros with arguments. */
static void check_macros(void)
{
    DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
    DAT_RETURN error = DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA;

    ok(DAT_HANDLE_NULL == NULL, "DAT_HANDLE_NULL: a null pointer");
    ok((uintptr_t)DAT_EVD_ASYNC_EXISTS == 1, "DAT_EVD_ASYNC_EXISTS: the pointer 1");
    ok((uintptr_t)DAT_EVD_OUT_OF_SCOPE == 2, "DAT_EVD_OUT_OF_SCOPE: the pointer 2");
    ok(none.instance_data == NULL && none.proxy_agent_func == NULL,
       "DAT_OS_WAIT_PROXY_AGENT_NULL: two null pointers");

    is_int(error, 0x8005000B, "a return code: class, type and subtype or-ed");
    is_int(DAT_GET_TYPE(error), DAT_INVALID_HANDLE, "DAT_GET_TYPE: without class and subtype");
    is_int(DAT_GET_SUBTYPE(error), DAT_INVALID_HANDLE_IA, "DAT_GET_SUBTYPE: the low 16 bits");
    is_int(DAT_GET_TYPE(0xFFFFFFFFu), 0x3FFF0000, "DAT_GET_TYPE: 14 bits");
    is_int(DAT_GET_SUBTYPE(0xFFFFFFFFu), 0xFFFF, "DAT_GET_SUBTYPE: 16 bits");
    ok(!DAT_IS_WARNING(error), "DAT_IS_WARNING: not for an error");
    ok(DAT_IS_WARNING(0x40010000u), "DAT_IS_WARNING: for a warning");

    ok(strcmp(DAT_PROVIDER_INIT_FUNC_STR, "dat_provider_init") == 0,
       "DAT_PROVIDER_INIT_FUNC_STR: dat_provider_init");
    ok(strcmp(DAT_PROVIDER_FINI_FUNC_STR, "dat_provider_fini") == 0,
       "DAT_PROVIDER_FINI_FUNC_STR: dat_provider_fini");
    is_int(offsetof(DAT_IA_ATTR, max_rdma_read_per_ep),
           offsetof(DAT_IA_ATTR, max_rdma_read_per_ep_in),
           "max_rdma_read_per_ep: older name of a field");
    is_int(offsetof(DAT_EP_ATTR, max_mtu_size), offsetof(DAT_EP_ATTR, max_message_size),
           "max_mtu_size: older name of a field");
}

#if UDAPL == 20
/* Checks what the numbers do not cover: unnamed members and strings. */
static void check_extensions(void)
{
    static const struct {
        const char *macro, *want;
    } names[] = {
        { DAT_IB_ATTR_COUNTERS, "DAT_COUNTERS" },
        { DAT_ATTR_COUNTERS, "DAT_COUNTERS" },
        { DAT_IB_ATTR_FETCH_AND_ADD, "DAT_IB_FETCH_AND_ADD" },
        { DAT_IB_ATTR_CMP_AND_SWAP, "DAT_IB_CMP_AND_SWAP" },
        { DAT_IB_ATTR_IMMED_DATA, "DAT_IB_IMMED_DATA" },
        { DAT_IB_ATTR_UD, "DAT_IB_UD" },
    };
    size_t i, wrong = 0;

    ok(sizeof(DAT_IB_EXTENSION_EVENT_DATA) == 64 &&
           sizeof(((DAT_EVENT *)0)->event_extension_data) == 64,
       "DAT_IB_EXTENSION_EVENT_DATA: as long as its place in an event");
    ok(offsetof(DAT_IB_EXTENSION_EVENT_DATA, type) == 0 &&
           offsetof(DAT_IB_EXTENSION_EVENT_DATA, status) == 4 &&
           offsetof(DAT_IB_EXTENSION_EVENT_DATA, val.immed.data) == 8 &&
           offsetof(DAT_IB_EXTENSION_EVENT_DATA, remote_ah) == 16 &&
           offsetof(DAT_IB_EXTENSION_EVENT_DATA, coll) == 16 &&
           offsetof(DAT_IB_EXTENSION_EVENT_DATA, context) == 56,
       "DAT_IB_EXTENSION_EVENT_DATA: as the binary interface has it");
    ok(offsetof(DAT_CNO_PARAM, proxy.agent) == 16 && offsetof(DAT_CNO_PARAM, proxy.fd) == 16 &&
           offsetof(DAT_CNO_PARAM, proxy.none) == 16,
       "DAT_CNO_PARAM: the members of proxy begin with it");
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        wrong += strcmp(names[i].macro, names[i].want) != 0;
    ok(wrong == 0, "names of attributes: as providers have them");
    ok(DAT_UL_TO_IA_HANDLE(DAT_IA_HANDLE_TO_UL((DAT_IA_HANDLE)&wrong)) == (DAT_IA_HANDLE)&wrong,
       "DAT_IA_HANDLE_TO_UL: and back");
}
#endif

int main(int argc, char **argv)
{
    size_t index = 0;

    env_init(argc, argv, NULL);
    while (index < FACTS)
        index = check_group(index);
    check_macros();
#if UDAPL == 20
    check_extensions();
#endif
    return done_testing();
}
