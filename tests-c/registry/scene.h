/*
 * scene.h - parts of a test, *scenes*, that run in their own processes.
 *
 * A process reads the configuration and the environment only once. So the first process, the
 * *director*, starts this or another program for each scene, with a private dat.conf and
 * environment. It repeats the scene's checks and collects its standard error.
 *
 * scene_child.c, the part for scenes, does not need libdat.
 */
#ifndef TESTS_C_REGISTRY_SCENE_H
#define TESTS_C_REGISTRY_SCENE_H

#include "common/dat.h"

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define SCENE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SCENE_PRINTF(fmt, args)
#endif

struct scene {
    const char *name;
    void (*run)(void);
};

/* ---- in the scene (scene_child.c) ---- */

/* If argv contains the name of a scene, runs this scene and exits. main() must call it first. */
void scene_enter(int argc, char **argv, const struct scene *scenes);

/* Reports a subtest to the director. Returns cond. */
bool scene_ok(bool cond, const char *fmt, ...) SCENE_PRINTF(2, 3);

/* Checks the type of a code, not its class bits. If `type` is DAT_SUCCESS, the complete code must be equal. */
bool scene_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) SCENE_PRINTF(3, 4);

/* Checks the complete code. */
bool scene_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
    SCENE_PRINTF(4, 5);

/* Skips the scene. */
void scene_skip(const char *reason);

/* Returns the private directory of the scene. */
const char *scene_dir(void);

/* Returns the path of a file in the private directory, in a static buffer. */
const char *scene_path(const char *name);

/* Checks that the log of the stub provider contains exactly these lines. */
bool scene_log(const char *lines, const char *what);

void scene_log_clear(void);

/* ---- the director (scene.c) ---- */

/*
 * In the texts, %S, %L and %D are the directories of the stub providers, of libdat, and of the
 * scene.
 */
struct setting {
    const char *conf;       /* text of a file, whose path is DAT_OVERRIDE; NULL: not set */
    const char *override;
    const char *env[4];
    bool terminal;
    const char *program;    /* another program: path relative to the directory of this one */
    const char *etc[2];     /* texts of /etc/dat.conf and /etc/rdma/dat.conf */
    bool private_etc;       /* /etc contains only the files of `etc` */
    bool in_folder;         /* starts in the scene's directory */
    void (*prepare)(const char *dir); /* called first, with the scene's directory */
};

/* Runs a scene. Returns its standard error, in a static buffer. */
const char *scene_play(const char *name, const struct setting *s);

/* Return the directory of the stub providers, and of libdat. */
const char *stub_dir(void);
const char *lib_dir(void);

bool copy_file(const char *from, const char *to);

int lines_in(const char *text);

#endif
