/*
 * extension.c - dat_extension_op, adapters that are opened only for their attributes, handles of
 * closed adapters.
 */
#include "registry/entries.h"

#include "common/tap.h"

#include <stdint.h>
#include <string.h>

#define REFUSED_IA DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA

static void arguments(void)
{
    DAT_IA_HANDLE ia;
    DAT_EXTENDED_OP op = 0;
    DAT_CONTEXT word;

    word.as_64 = 5;
    scene_opens("a", &ia);
    scene_log_clear();
    scene_type(dat_extension_op(ia, op), DAT_SUCCESS, "no argument: success");
    scene_type(dat_extension_op(ia, 4, 1ull, 2ull, ~0ull, 4ull), DAT_SUCCESS,
               "as many arguments as there are registers: success");
    scene_type(dat_extension_op(ia, 9, 1ull, 2ull, 3ull, 4ull, 5ull, 6ull, 7ull, 8ull, 9ull), DAT_SUCCESS,
               "more of them: success");
    scene_type(dat_extension_op(ia, 3, 1ull, word, (void *)(uintptr_t)9), DAT_SUCCESS,
               "a union and a pointer: success");
    scene_log("op 0\nop 4 1 2 18446744073709551615 4\nop 9 1 2 3 4 5 6 7 8 9\nop 3 1 5 9\n",
              "the provider gets them all");

    scene_ok(dat_extension_op(ia, 17) == (DAT_RETURN)(DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED),
             "an operation that the provider does not know: DAT_NOT_IMPLEMENTED");
    scene_code(dat_extension_op(DAT_HANDLE_NULL, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
               "DAT_HANDLE_NULL: DAT_INVALID_HANDLE");
    scene_code(dat_extension_op((DAT_HANDLE)&word, 0), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
               "memory that is no object: DAT_INVALID_HANDLE");
    scene_code(dat_extension_op(DAT_HANDLE_NULL, DAT_OPEN_EXTENSION_BASE | 1), DAT_INVALID_HANDLE,
               DAT_INVALID_HANDLE1, "an unknown operation to open something: DAT_INVALID_HANDLE");
    scene_code(dat_extension_op(DAT_HANDLE_NULL, -1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1,
               "all bits of the operation: DAT_INVALID_HANDLE");
    scene_closes(ia);
}

static DAT_RETURN open_query(const char *name, DAT_IA_HANDLE *ia, DAT_IA_ATTR *attr, DAT_PROVIDER_ATTR *provider)
{
    return dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR)name, ia,
                            (DAT_IA_ATTR_MASK)(attr != NULL ? DAT_IA_FIELD_IA_ADAPTER_NAME : 0), attr,
                            (DAT_PROVIDER_ATTR_MASK)(provider != NULL ? DAT_PROVIDER_FIELD_ALL : 0), provider);
}

static DAT_RETURN close_query(DAT_IA_HANDLE ia)
{
    return dat_extension_op(ia, DAT_IB_CLOSE_QUERY_OP);
}

static void query(void)
{
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL, same = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr;
    DAT_PROVIDER_ATTR provider;

    scene_type(open_query("a", &ia, &attr, &provider), DAT_SUCCESS, "open: success");
    scene_ok(ia != DAT_HANDLE_NULL, "open: there is a handle");
    scene_ok(strcmp(attr.adapter_name, "a") == 0, "open: the attributes of the adapter");
    scene_ok(provider.dapl_version_major == 2, "open: the attributes of the provider");
    scene_log("init a 2.0 0 data\nadd 0x00000000\nopen a\n", "open: the provider opens the adapter");
    scene_code(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), REFUSED_IA, "dat_ia_close refuses it");
    scene_code(dats_get_ia_handle(AS_IA(ia), &same), REFUSED_IA,
               "dats_get_ia_handle does not know it");
    scene_ok(same == DAT_HANDLE_NULL, "and writes nothing");
    scene_log_clear();
    scene_type(close_query(ia), DAT_SUCCESS, "close: success");
    scene_log("close\nfini a\nremove 0x00000000\n", "close: the provider closes the adapter");
    scene_code(close_query(ia), REFUSED_IA, "close, again: DAT_INVALID_HANDLE");

    scene_type(open_query("a", &ia, &attr, NULL), DAT_SUCCESS, "only attributes of the adapter: success");
    scene_type(close_query(ia), DAT_SUCCESS, "close: success");
    scene_type(open_query("a", &ia, NULL, &provider), DAT_SUCCESS, "only attributes of the provider: success");
    scene_type(close_query(ia), DAT_SUCCESS, "close: success");
}

static void query_refused(void)
{
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL, used;
    DAT_IA_ATTR attr;
    char name[400];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    scene_code(open_query(NULL, &ia, &attr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
               "no name: DAT_INVALID_PARAMETER");
    scene_code(open_query(name, &ia, &attr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
               "a name that is too long: DAT_INVALID_PARAMETER");
    scene_code(open_query("a", NULL, &attr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
               "no place for the handle: DAT_INVALID_PARAMETER");
    scene_code(open_query("a", &ia, NULL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
               "no attributes: DAT_INVALID_PARAMETER");
    scene_code(open_query("nobody", &ia, &attr, NULL), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "an unknown name: DAT_PROVIDER_NOT_FOUND");
    scene_log("", "nothing is loaded");
    scene_code(open_query("refuse", &ia, &attr, NULL), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
               "an adapter that does not open: the code of its provider");
    scene_log_clear();
    scene_code(dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR) "a", &ia,
                                (DAT_IA_ATTR_MASK)0, &attr, (DAT_PROVIDER_ATTR_MASK)1,
                                (DAT_PROVIDER_ATTR *)NULL),
               DAT_INVALID_PARAMETER, DAT_INVALID_ARG6, "attributes without a place: its place in this call");
    scene_log("init a 2.0 0 data\nadd 0x00000000\nopen a\nclose\nfini a\nremove 0x00000000\n",
              "the adapter is closed again");
    scene_ok(ia == DAT_HANDLE_NULL, "no handle is written");

    scene_opens("a", &used);
    scene_code(close_query(used), REFUSED_IA, "an adapter that is in use is no query: DAT_INVALID_HANDLE");
    scene_code(close_query(DAT_HANDLE_NULL), REFUSED_IA, "DAT_HANDLE_NULL: DAT_INVALID_HANDLE");
    scene_code(close_query((DAT_HANDLE)(uintptr_t)1), REFUSED_IA, "a number: DAT_INVALID_HANDLE");
    scene_closes(used);
}

/* The object of a closed adapter may have been freed, so the library does not read it. */
static void closed(void)
{
    DAT_IA_HANDLE ia, same = DAT_HANDLE_NULL;

    scene_opens("asks", &ia);
    scene_log("init asks 2.0 0 data\nadd 0x00000000\nopen asks\nasks 0x00000000\nasks itself\n",
              "a provider may ask for the handle while it opens");
    scene_type(dats_get_ia_handle(AS_IA(ia), &same), DAT_SUCCESS,
               "dats_get_ia_handle: success");
    scene_ok(same == ia, "dats_get_ia_handle: the same handle");
    scene_closes(ia);
    same = DAT_HANDLE_NULL;
    scene_code(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), REFUSED_IA, "dat_ia_close, again: DAT_INVALID_HANDLE");
    scene_code(dats_get_ia_handle(AS_IA(ia), &same), REFUSED_IA,
               "dats_get_ia_handle, of a closed one: DAT_INVALID_HANDLE");
    scene_ok(same == DAT_HANDLE_NULL, "dats_get_ia_handle: nothing is written");
    scene_code(dat_ia_close((DAT_IA_HANDLE)(uintptr_t)0x10000, DAT_CLOSE_ABRUPT_FLAG), REFUSED_IA,
               "dat_ia_close, where there is no memory: DAT_INVALID_HANDLE");
    scene_opens("stay", &ia);
    scene_log_clear();
    scene_type(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
               "dat_ia_close, refused by the provider: its code");
    scene_log("asks 0x00000000\nasks itself\n", "dat_ia_close, refused by the provider: the handle is valid meanwhile");
    scene_closes(ia);
}

static const struct scene scenes[] = {
    { "arguments", arguments },
    { "query", query },
    { "query_refused", query_refused },
    { "closed", closed },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting set = { .conf = ENTRY("a") ENTRY("refuse") ENTRY("asks") ENTRY("stay") };

    scene_enter(argc, argv, scenes);
    for (const struct scene *s = scenes; s->name != NULL; s++)
        scene_play(s->name, &set);
    return done_testing();
}
