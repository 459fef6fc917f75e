/*
 * opened.c - a program that is linked with neither library opens both with dlopen, and then every provider. Each of
 * these libraries takes memory from the dynamic linker's reserve for thread-local data.
 */
#define _GNU_SOURCE
#include "both/meeting.h"

#include "common/env.h"
#include "common/tap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct half *open_half(const char *number)
{
    char path[4096], name[16];
    const struct half *(*get)(void);
    void *library;

    snprintf(path, sizeof path, "%s", env_self());
    *strrchr(path, '/') = '\0';
    snprintf(path + strlen(path), sizeof path - strlen(path), "/libhalf%s.so", number);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        bail("%s", dlerror());
    snprintf(name, sizeof name, "half%s", number);
    *(void **)&get = dlsym(library, name);
    return get();
}

/* Opens every provider of packaging/libraries.txt that has been built. */
static void open_providers(void)
{
#define PROVIDER(udapl, transport, file) file,
    static const char *const names[] = {
#include "providers.h"
    };
#undef PROVIDER

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (dlopen(names[i], RTLD_NOW | RTLD_LOCAL) != NULL) {
            pass("%s is loaded too", names[i]);
            continue;
        }
        const char *why = dlerror();

        if (strstr(why, "No such file") != NULL)
            skip(1, "%s is not built", names[i]);
        else
            fail("%s: %s", names[i], why);
    }
}

/* Checks that the names of a provider for the two versions are one library, with one set of threads and objects. */
static void share_providers(void)
{
#define PROVIDER(udapl, transport, file) {udapl, file},
    static const struct {
        int udapl;
        const char *file;
    } providers[] = {
#include "providers.h"
    };
#undef PROVIDER

    for (size_t i = 0; i + 1 < sizeof providers / sizeof providers[0]; i += 2) {
        void *first = dlopen(providers[i].file, RTLD_NOW | RTLD_LOCAL);
        void *second = dlopen(providers[i + 1].file, RTLD_NOW | RTLD_LOCAL);

        if (first == NULL && second == NULL) {
            skip(1, "%s is not built", providers[i].file);
            continue;
        }
        ok(providers[i].udapl == 12 && providers[i + 1].udapl == 20 && first == second, "%s and %s: one library",
           providers[i].file, providers[i + 1].file);
    }
}

int main(int argc, char **argv)
{
    const struct half *first, *second;

    env_init(argc, argv, NULL);
    first = open_half("20");
    second = open_half("12");
    open_providers();
    share_providers();
    meet(first, second, argc, argv);
    return done_testing();
}
