/*
 * secure_child.c - the program of secure.c. If it is set-user-ID, the loader ignores the
 * environment, so it opens libdat itself.
 */
#define _GNU_SOURCE
#include "registry/scene.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

/* Returns 1 if the entry of DAT_OVERRIDE is the only entry, 0 if not, or -1 if libdat cannot be loaded. */
static int overridden(void)
{
    static DAT_PROVIDER_INFO entries[64];
    DAT_PROVIDER_INFO *list[64];
    DAT_COUNT n = 0;
    DAT_RETURN (*list_providers)(DAT_COUNT, DAT_COUNT *, DAT_PROVIDER_INFO *[]);
    void *libdat = dlopen(scene_path(LIBDAT), RTLD_NOW);
    void *symbol = libdat != NULL ? dlsym(libdat, "dat_registry_list_providers") : NULL;

    if (symbol == NULL) {
        scene_ok(false, "libdat is opened: %s", dlerror());
        return -1;
    }
    memcpy(&list_providers, &symbol, sizeof list_providers);
    for (int i = 0; i < 64; i++)
        list[i] = &entries[i];
    list_providers(64, &n, list);
    return n == 1 && strcmp(entries[0].ia_name, "overriding") == 0;
}

static void ordinary(void)
{
    scene_ok(overridden() == 1, "DAT_OVERRIDE counts");
}

static void set_user_id(void)
{
    if (getauxval(AT_SECURE) == 0) {
        scene_skip("set-user-ID has no effect here");
        return;
    }
    scene_ok(overridden() == 0, "DAT_OVERRIDE is ignored");
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        { "ordinary", ordinary },
        { "set-user-ID", set_user_id },
        { NULL, NULL },
    };

    scene_enter(argc, argv, scenes);
    return 2;
}
