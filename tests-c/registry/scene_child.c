/* scene_child.c - functions that a scene calls in its own process: see scene.h. */
#define _POSIX_C_SOURCE 200809L
#include "registry/scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void report(char verdict, const char *fmt, va_list ap)
{
    char text[1024];
    const char *fd = getenv("SCENE_FD");
    size_t n;

    text[0] = verdict;
    vsnprintf(text + 1, sizeof text - 2, fmt, ap);
    n = strlen(text);
    text[n++] = '\n';
    if (fd == NULL || write(atoi(fd), text, n) != (ssize_t)n)
        _exit(3);
}

bool scene_ok(bool cond, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(cond ? '+' : '-', fmt, ap);
    va_end(ap);
    return cond;
}

static void say(char verdict, const char *fmt, ...) SCENE_PRINTF(2, 3);

static void say(char verdict, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(verdict, fmt, ap);
    va_end(ap);
}

bool scene_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...)
{
    va_list ap;
    bool good = type == DAT_SUCCESS ? rc == DAT_SUCCESS : DAT_GET_TYPE(rc) == DAT_GET_TYPE(type);

    va_start(ap, fmt);
    report(good ? '+' : '-', fmt, ap);
    va_end(ap);
    if (!good)
        say('#', "got 0x%08x, expected type 0x%08x", (unsigned)rc, (unsigned)type);
    return good;
}

bool scene_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
{
    va_list ap;
    bool good = rc == (DAT_CLASS_ERROR | type | subtype);

    va_start(ap, fmt);
    report(good ? '+' : '-', fmt, ap);
    va_end(ap);
    if (!good)
        say('#', "got 0x%08x, expected 0x%08x", (unsigned)rc,
               (unsigned)(DAT_CLASS_ERROR | type | subtype));
    return good;
}

void scene_skip(const char *reason)
{
    say('~', "%s", reason);
}

const char *scene_dir(void)
{
    const char *dir = getenv("SCENE_DIR");

    return dir != NULL ? dir : ".";
}

const char *scene_path(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", scene_dir(), name);
    return path;
}

bool scene_log(const char *lines, const char *what)
{
    char text[4096];
    const char *path = getenv("STUB_LOG");
    FILE *f = path != NULL ? fopen(path, "r") : NULL;
    size_t n = 0;

    if (f != NULL) {
        n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    if (scene_ok(strcmp(text, lines) == 0, "%s", what))
        return true;
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\n')
            *p = '|';
    say('#', "the provider was told: %s", text);
    return false;
}

void scene_log_clear(void)
{
    const char *path = getenv("STUB_LOG");

    if (path != NULL)
        remove(path);
}

void scene_enter(int argc, char **argv, const struct scene *scenes)
{
    if (argc < 2 || strncmp(argv[1], "scene:", 6) != 0)
        return;
    alarm(60);
    for (; scenes->name != NULL; scenes++)
        if (strcmp(argv[1] + 6, scenes->name) == 0) {
            scenes->run();
            exit(0);
        }
    fprintf(stderr, "no scene %s\n", argv[1] + 6);
    exit(2);
}
