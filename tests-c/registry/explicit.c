/* explicit.c - a program registers its own provider. */
#include "registry/entries.h"

#include "common/tap.h"

#include <stdio.h>
#include <string.h>

static DAT_PROVIDER table, other_table;
static struct {
    const DAT_PROVIDER *provider;
    int open;
} instance;

static DAT_RETURN ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd,
                          DAT_IA_HANDLE *ia)
{
    (void)name;
    (void)qlen;
    (void)evd;
    instance.provider = &table;
    instance.open++;
    *ia = &instance;
    return DAT_SUCCESS;
}

static DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
    (void)flags;
    if (ia != &instance || instance.open == 0)
        return (DAT_RETURN)(DAT_CLASS_ERROR | DAT_INVALID_HANDLE);
    instance.open--;
    return DAT_SUCCESS;
}

static DAT_PROVIDER_INFO info_of(const char *name)
{
    DAT_PROVIDER_INFO info;

    memset(&info, 0, sizeof info);
    strncpy(info.ia_name, name, sizeof info.ia_name - 1);
    info.dapl_version_major = DAT_VERSION_MAJOR;
    info.dapl_version_minor = DAT_VERSION_MINOR;
    return info;
}

static DAT_COUNT total(void)
{
    DAT_COUNT n = -1;

    dat_registry_list_providers(0, &n, NULL);
    return n;
}

static void bad_arguments(void)
{
    DAT_PROVIDER_INFO info = info_of("mine");

    scene_code(dat_registry_add_provider(NULL, &info), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "dat_registry_add_provider: table NULL: DAT_INVALID_PARAMETER");
    scene_code(dat_registry_add_provider(&table, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_add_provider: information NULL: DAT_INVALID_PARAMETER");
    info.dapl_version_major = OTHER_MAJOR;
    scene_code(dat_registry_add_provider(&table, &info), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_add_provider: a table of another major version: DAT_INVALID_PARAMETER");
    info = info_of("");
    scene_code(dat_registry_add_provider(&table, &info), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_add_provider: empty name: DAT_INVALID_PARAMETER");
    memset(info.ia_name, 'x', sizeof info.ia_name);
    scene_code(dat_registry_add_provider(&table, &info), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_add_provider: name without an end: DAT_INVALID_PARAMETER");
    info = info_of("mine");
    scene_code(dat_registry_remove_provider(NULL, &info), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "dat_registry_remove_provider: table NULL: DAT_INVALID_PARAMETER");
    scene_code(dat_registry_remove_provider(&table, NULL), DAT_INVALID_PARAMETER,
               DAT_INVALID_ARG2,
               "dat_registry_remove_provider: information NULL: DAT_INVALID_PARAMETER");
    scene_type(dat_registry_remove_provider(&table, &info), DAT_INVALID_PARAMETER,
               "dat_registry_remove_provider: not registered: DAT_INVALID_PARAMETER");
    scene_ok(total() == 1, "nothing was added");
}

static void life(void)
{
    DAT_PROVIDER_INFO info = info_of("mine"), entries[2], *list[2] = { entries, entries + 1 };
    DAT_IA_HANDLE ia, second;
    DAT_COUNT n = 0;

    table.ia_open_func = ia_open;
    table.ia_close_func = ia_close;
    scene_type(dat_registry_add_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_add_provider: success");
    scene_code(dat_registry_add_provider(&other_table, &info), DAT_PROVIDER_ALREADY_REGISTERED,
               DAT_NO_SUBTYPE,
               "dat_registry_add_provider: same identity: DAT_PROVIDER_ALREADY_REGISTERED");
    info.is_thread_safe = DAT_TRUE;
    scene_type(dat_registry_add_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_add_provider: other thread safety: success");
    scene_type(dat_registry_remove_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_remove_provider: success");
    info = info_of("mine");
    memset(entries, 0, sizeof entries);
    scene_type(dat_registry_list_providers(2, &n, list), DAT_SUCCESS,
               "dat_registry_list_providers: success");
    scene_ok(n == 2 && strcmp(entries[0].ia_name, "a") == 0 &&
                 strcmp(entries[1].ia_name, "mine") == 0,
             "it is listed after the entries of the file");

    scene_opens("mine", &ia);
    scene_opens("mine", &second);
    scene_ok(ia == &instance && second == &instance, "the handle is the provider's own");
    scene_code(dat_registry_remove_provider(&table, &info), DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE,
               "dat_registry_remove_provider: two instances: DAT_PROVIDER_IN_USE");
    scene_closes(ia);
    scene_type(dat_registry_remove_provider(&table, &info), DAT_PROVIDER_IN_USE,
               "dat_registry_remove_provider: one instance: DAT_PROVIDER_IN_USE");
    scene_closes(second);
    scene_type(dat_registry_remove_provider(&other_table, &info), DAT_INVALID_PARAMETER,
               "dat_registry_remove_provider: another table: DAT_INVALID_PARAMETER");
    scene_type(dat_registry_remove_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_remove_provider: success");
    scene_code(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
               "dat_ia_close: its provider was removed: DAT_INVALID_HANDLE");
    scene_not_found("mine", DAT_NAME_NOT_REGISTERED);
    scene_ok(total() == 1, "it is not listed any more");
}

/* A registered provider takes precedence over an entry with the same name. */
static void instead_of_an_entry(void)
{
    DAT_PROVIDER_INFO info = info_of("a");
    DAT_IA_HANDLE ia;

    table.ia_open_func = ia_open;
    table.ia_close_func = ia_close;
    scene_type(dat_registry_add_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_add_provider: success");
    scene_ok(total() == 1, "an identity is listed once");
    scene_opens("a", &ia);
    scene_ok(ia == &instance, "the provider that is there serves it");
    scene_log("", "and the library of the entry is not loaded");
    scene_closes(ia);
    scene_type(dat_registry_remove_provider(&table, &info), DAT_SUCCESS,
               "dat_registry_remove_provider: success");
    scene_opens("a", &ia);
    scene_log("init a " API_VERSION " 0 data\nadd 0x00000000\nopen a\n", "afterwards it is");
    scene_closes(ia);
}

static void many_tables(void)
{
    static DAT_PROVIDER tables[2000];
    char name[32];
    DAT_PROVIDER_INFO info;
    DAT_RETURN rc = DAT_SUCCESS;
    int n;

    for (n = 0; n < 2000 && rc == DAT_SUCCESS; n++) {
        snprintf(name, sizeof name, "many-%d", n);
        info = info_of(name);
        rc = dat_registry_add_provider(&tables[n], &info);
    }
    scene_ok(n > 64, "at least 64 tables can be registered at once");
    if (rc != DAT_SUCCESS) {
        n--;
        scene_code(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                   "dat_registry_add_provider: one too many: DAT_INSUFFICIENT_RESOURCES");
    }
    scene_ok(total() == 1 + n, "those registered are listed");
    while (n-- > 0) {
        snprintf(name, sizeof name, "many-%d", n);
        info = info_of(name);
        if (dat_registry_remove_provider(&tables[n], &info) != DAT_SUCCESS)
            break;
    }
    scene_ok(n == -1, "all are removed again");
    scene_ok(total() == 1, "and not listed");
}

/* A provider registers one table with NAMES names. */
static void flood(void)
{
    enum { NAMES = 70000 };
    char name[32];
    DAT_PROVIDER_INFO info;
    DAT_RETURN rc = DAT_SUCCESS;
    DAT_IA_HANDLE ia;
    int n, removed = 0;

    table.device_name = "flood";
    table.ia_open_func = ia_open;
    table.ia_close_func = ia_close;
    for (n = 0; n < NAMES; n++) {
        snprintf(name, sizeof name, "flood-%d", n);
        info = info_of(name);
        rc = dat_registry_add_provider(&table, &info);
        if (rc != DAT_SUCCESS)
            break;
    }
    if (rc != DAT_SUCCESS)
        scene_code(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                   "dat_registry_add_provider: too many names: DAT_INSUFFICIENT_RESOURCES");
    scene_ok(n >= 1000 && total() == n + 1, "%d names are registered", n);
    if (scene_opens("flood-999", &ia))
        scene_closes(ia);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "flood-%d", i);
        info = info_of(name);
        removed += dat_registry_remove_provider(&table, &info) == DAT_SUCCESS;
    }
    scene_ok(removed == n && total() == 1, "all are removed again");
    if (scene_opens("a", &ia))
        scene_closes(ia);
}

/* Registers names with any bytes, in misaligned structures. */
static void odd(void)
{
    char memory[sizeof(DAT_PROVIDER_INFO) + 8];
    DAT_PROVIDER_INFO info = info_of(""), listed[2], *list[2] = { &listed[0], &listed[1] };
    DAT_COUNT n = 0;
    DAT_IA_HANDLE ia;

    for (int i = 0; i < 255; i++)
        info.ia_name[i] = (char)(i + 1);
    memcpy(memory + 1, &info, sizeof info);
    table.device_name = "odd";
    table.ia_open_func = ia_open;
    table.ia_close_func = ia_close;
    scene_type(dat_registry_add_provider(&table, (void *)(memory + 1)), DAT_SUCCESS,
               "dat_registry_add_provider: misaligned information: success");
    scene_type(dat_registry_list_providers(2, &n, list), DAT_SUCCESS,
               "dat_registry_list_providers: success");
    scene_ok(n == 2 && memcmp(listed[1].ia_name, info.ia_name, sizeof info.ia_name) == 0,
             "a name of all bytes is listed as it is");
    scene_ok(open_named(info.ia_name, &ia) == DAT_SUCCESS, "a name of all bytes opens");
    scene_closes(ia);
    scene_type(dat_registry_remove_provider(&table, (void *)(memory + 1)), DAT_SUCCESS,
               "dat_registry_remove_provider: misaligned information: success");
    memset(memory, 'x', sizeof memory);
    scene_code(dat_registry_add_provider(&table, (void *)(memory + 1)), DAT_INVALID_PARAMETER,
               DAT_INVALID_ARG2,
               "dat_registry_add_provider: a name without an end: DAT_INVALID_PARAMETER");
}

static const struct scene scenes[] = {
    { "bad arguments", bad_arguments },
    { "life", life },
    { "instead of an entry", instead_of_an_entry },
    { "many tables", many_tables },
    { "one table, many names", flood },
    { "odd names and addresses", odd },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting one = { .conf = ENTRY("a") };

    scene_enter(argc, argv, scenes);
    for (const struct scene *s = scenes; s->name != NULL; s++)
        scene_play(s->name, &one);
    return done_testing();
}
