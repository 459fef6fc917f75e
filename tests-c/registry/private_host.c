/* private_host.c - a program without libdat that loads a plug-in with RTLD_LOCAL. */
#define _GNU_SOURCE
#include "registry/scene.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void plug_in(void)
{
    const char *path = getenv("PRIVATE_PLUGIN");
    void *plugin;
    void *symbol;
    void (*run)(void);

    scene_ok(dlsym(RTLD_DEFAULT, "dat_ia_openv") == NULL, "the program has no libdat");
    plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!scene_ok(plugin != NULL, "the plug-in is opened")) {
        scene_ok(false, "%s", dlerror());
        return;
    }
    scene_ok(dlsym(RTLD_DEFAULT, "dat_ia_openv") == NULL, "its libdat is private");
    symbol = dlsym(plugin, "private_plugin_run");
    if (!scene_ok(symbol != NULL, "the plug-in has its function"))
        return;
    memcpy(&run, &symbol, sizeof run);
    run();
    scene_ok(dlclose(plugin) == 0, "the plug-in is closed");
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = { { "plug-in", plug_in }, { NULL, NULL } };

    scene_enter(argc, argv, scenes);
    return 2;
}
