/* under_foreign_libdat.c - our providers under a third-party libdat (foreign_libdat.c). */
#include "registry/scene.h"

#include "common/provider.h"
#include "common/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    char path[4200], adapter[512], provider[64], name[64];
    const char *ia = argc > 1 ? argv[1] : getenv("DAT_IA");

    scene_enter(argc, argv, none);
    scene_play("stub", &(struct setting){ .program = "../stub/foreign_libdat",
                                          .env = { "FOREIGN_PROVIDER=%S/libstub.so" } });
    snprintf(path, sizeof path, "%s/libdaplshm" SO, lib_dir());
    if (access(path, R_OK) != 0)
        skip_named("shm", "libdaplshm" SO " is not built");
    else
        scene_play("shm", &(struct setting){ .program = "../stub/foreign_libdat",
                                             .env = { "FOREIGN_PROVIDER=%L/libdaplshm" SO } });
    /* Other providers need a device or a network, which the suite's adapter specifies. */
    if (ia != NULL && strcmp(ia, "shm") != 0 && provider_of(ia) != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(ia, "-"), ia);
        snprintf(adapter, sizeof adapter, "FOREIGN_ADAPTER=%.400s", ia);
        snprintf(provider, sizeof provider, "FOREIGN_PROVIDER=%%L/%s", provider_of(ia));
        scene_play(name, &(struct setting){ .program = "../stub/foreign_libdat",
                                            .env = { provider, adapter } });
    }
    return done_testing();
}
