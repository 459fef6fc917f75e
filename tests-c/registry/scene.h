/*
 * scene.h - parts of a test that need a process of their own.
 *
 * The registry reads its configuration and the environment once a process. So a test of it is a
 * director, which starts this same program (or another one) once for each scene, with a private
 * configuration file and environment, relays the checks that the scene makes, and reads its
 * standard error.
 *
 * The part for the scene itself (scene_child.c) does not need libdat.
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

/* First call of main(). Plays the scene named in argv and exits, if one is. */
void scene_enter(int argc, char **argv, const struct scene *scenes);

/* A subtest of the director's. Returns cond. */
bool scene_ok(bool cond, const char *fmt, ...) SCENE_PRINTF(2, 3);

/* A subtest: the code has this type, whatever its class; a success is exact. */
bool scene_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) SCENE_PRINTF(3, 4);

/* The same, and the subtype must be this one. */
bool scene_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
    SCENE_PRINTF(4, 5);

/* The scene cannot be played here. */
void scene_skip(const char *reason);

/* The scene's private folder. */
const char *scene_dir(void);

/* A file in it. Uses one static buffer. */
const char *scene_path(const char *name);

/* Whether the stub provider's log is exactly these lines so far; a subtest. */
bool scene_log(const char *lines, const char *what);

/* Forgets the log so far. */
void scene_log_clear(void);

/* ---- the director (scene.c) ---- */

struct setting {
    const char *conf;       /* text of the file in DAT_OVERRIDE; %S is the folder of the stubs, %L
                               that of libdat, %D the scene's own; NULL: DAT_OVERRIDE is not set */
    const char *override;   /* DAT_OVERRIDE itself, in place of a file with conf */
    const char *env[4];     /* further variables, "NAME=value", same substitutions */
    bool terminal;          /* standard error is a terminal */
    const char *program;    /* another program, beside this one; NULL: this one */
    const char *etc[2];     /* texts of /etc/dat.conf and /etc/rdma/dat.conf */
    bool private_etc;       /* an empty /etc but for these */
    bool in_folder;         /* it starts in its own folder */
    void (*prepare)(const char *dir); /* called before the scene, with its folder */
};

/* Plays a scene. Returns what it wrote to standard error, in a static buffer. */
const char *scene_play(const char *name, const struct setting *s);

/* Folder of the stub providers, and of libdat. */
const char *stub_dir(void);
const char *lib_dir(void);

/* Copies a file. */
bool copy_file(const char *from, const char *to);

/* Number of lines in a text. */
int lines_in(const char *text);

#endif
