/* under_foreign_libdat.c - our providers under a libdat that is not ours (foreign_libdat.c). */
#include "registry/scene.h"

#include "common/tap.h"

#include <stdio.h>
#include <unistd.h>

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    char path[4200];

    scene_enter(argc, argv, none);
    scene_play("stub", &(struct setting){ .program = "../stub/foreign_libdat",
                                          .env = { "FOREIGN_PROVIDER=%S/libstub.so" } });
    snprintf(path, sizeof path, "%s/libdaplshm.so.1", lib_dir());
    if (access(path, R_OK) != 0)
        skip_named("shm", "libdaplshm.so.1 is not built");
    else
        scene_play("shm", &(struct setting){ .program = "../stub/foreign_libdat",
                                             .env = { "FOREIGN_PROVIDER=%L/libdaplshm.so.1" } });
    return done_testing();
}
