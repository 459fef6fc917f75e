/* under_foreign_libdat.c - our providers under a libdat that is not ours (foreign_libdat.c). */
#include "registry/scene.h"

#include "common/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    char path[4200], adapter[512];
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
    /* These providers open a device, so only where the tests run on one. */
    if (ia != NULL && strncmp(ia, "verbs-", 6) == 0) {
        snprintf(adapter, sizeof adapter, "FOREIGN_ADAPTER=%.400s", ia);
        scene_play("verbs", &(struct setting){ .program = "../stub/foreign_libdat",
                                               .env = { "FOREIGN_PROVIDER=%L/libdaplverbs" SO,
                                                        adapter } });
    }
    if (ia != NULL && strncmp(ia, "tcp", 3) == 0) {
        snprintf(adapter, sizeof adapter, "FOREIGN_ADAPTER=%.400s", ia);
        scene_play("tcp", &(struct setting){ .program = "../stub/foreign_libdat",
                                             .env = { "FOREIGN_PROVIDER=%L/libdaplofi" SO,
                                                      adapter } });
    }
    return done_testing();
}
