/* dlopen.c - a program without libdat loads a plug-in that needs it. */
#define _GNU_SOURCE
#include "common/env.h"
#include "common/tap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char path[4096];
    char *slash;
    void *plugin;
    int (*run)(char *) = NULL;

    env_init(argc, argv, NULL);
    ok(dlsym(RTLD_DEFAULT, "dat_ia_openv") == NULL, "32: this program has no libdat");
    snprintf(path, sizeof path - 16, "%s", env_self());
    slash = strrchr(path, '/');
    strcpy(slash != NULL ? slash + 1 : path, "plugin.so");
    for (int i = 0; i < 3; i++) {
        plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!ok(plugin != NULL, "32: dlopen(RTLD_LOCAL) of a plug-in that links libdat")) {
            diag("%s", dlerror());
            break;
        }
        *(void **)&run = dlsym(plugin, "plugin_run");
        if (ok(run != NULL, "32: the plug-in has its function"))
            is_int(run(env_ia()), 0, "32: the plug-in opens an adapter, uses and closes it");
        ok(dlclose(plugin) == 0, "32: dlclose of the plug-in");
    }
    return done_testing();
}
