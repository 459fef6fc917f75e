/* scene.c - the director, which starts a process for each scene: see scene.h. */
#define _GNU_SOURCE
#include "registry/scene.h"

#include "common/env.h"
#include "common/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNAVAILABLE 77 /* exit status: the setting is not available */

static const char *self(void)
{
    static char path[4096];
    ssize_t n;

    if (path[0] == '\0') {
        n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n <= 0)
            bail("/proc/self/exe: %s", strerror(errno));
        path[n] = '\0';
    }
    return path;
}

/* Returns a path relative to the directory of this program. valgrind emulates /proc/self/exe. */
static const char *beside(const char *relative)
{
    static char path[4096];
    char copy[4096];

    snprintf(copy, sizeof copy, "%s", self());
    snprintf(path, sizeof path, "%.2000s/%.2000s", dirname(copy), relative);
    return path;
}

const char *stub_dir(void)
{
    static char path[4096];

    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s", beside("../stub"));
    return path;
}

const char *lib_dir(void)
{
    const char *dir = getenv("DAT_TEST_LIBDIR");

    return dir != NULL ? dir : ".";
}

int lines_in(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

bool copy_file(const char *from, const char *to)
{
    char buffer[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;
    bool good = in != NULL && out != NULL;

    while (good && (n = fread(buffer, 1, sizeof buffer, in)) > 0)
        good = fwrite(buffer, 1, n, out) == n;
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        good = fclose(out) == 0 && good;
    return good;
}

/* Returns the text with %S, %L and %D replaced, in one of eight static buffers. */
static char *expanded(const char *text, const char *dir)
{
    static char out[8][65536];
    static int next;
    char *to = out[next = (next + 1) % 8];
    size_t n = 0;

    for (; *text != '\0' && n + 1 < sizeof out[0]; text++) {
        const char *part = NULL;

        if (text[0] == '%' && text[1] == 'S')
            part = stub_dir();
        else if (text[0] == '%' && text[1] == 'L')
            part = lib_dir();
        else if (text[0] == '%' && text[1] == 'D')
            part = dir;
        if (part == NULL) {
            to[n++] = *text;
            continue;
        }
        n += (size_t)snprintf(to + n, sizeof out[0] - n, "%s", part);
        text++;
    }
    to[n] = '\0';
    return to;
}

static bool write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        return false;
    fputs(text, f);
    return fclose(f) == 0;
}

/* Opens a pseudo terminal. Returns the master, and the name of the other side. */
static int open_terminal(char *name, size_t size)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);

    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, size) != 0)
        bail("no pseudo terminal: %s", strerror(errno));
    return fd;
}

/* Gives this process a private /etc, in a mount namespace. Exits with UNAVAILABLE if that is not permitted. */
static void replace_etc(const struct setting *s)
{
    char text[64];
    uid_t uid = getuid();
    gid_t gid = getgid();

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            _exit(UNAVAILABLE);
        snprintf(text, sizeof text, "%u %u 1", (unsigned)uid, (unsigned)uid);
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", text);
        snprintf(text, sizeof text, "%u %u 1", (unsigned)gid, (unsigned)gid);
        write_file("/proc/self/gid_map", text);
    }
    if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/etc", "tmpfs", 0, NULL) != 0)
        _exit(UNAVAILABLE);
    if (s->etc[0] != NULL && !write_file("/etc/dat.conf", expanded(s->etc[0], "")))
        _exit(UNAVAILABLE);
    if (s->etc[1] != NULL && (mkdir("/etc/rdma", 0755) != 0 ||
                              !write_file("/etc/rdma/dat.conf", expanded(s->etc[1], ""))))
        _exit(UNAVAILABLE);
}

static void enter(const char *name, const struct setting *s, const char *dir, int report, int err)
{
    char scene[128], path[4200], number[16];
    char *argv[3] = { NULL, NULL, NULL };

    if (dup2(err, STDERR_FILENO) < 0)
        _exit(UNAVAILABLE);
    snprintf(number, sizeof number, "%d", report);
    setenv("SCENE_FD", number, 1);
    setenv("SCENE_DIR", dir, 1);
    snprintf(path, sizeof path, "%s/log", dir);
    setenv("STUB_LOG", path, 1);
    unsetenv("DAT_OVERRIDE");
    unsetenv("DAT_DBG_TYPE");
    unsetenv("DAPL_DBG_TYPE");
    unsetenv("DAT_LOG");
    unsetenv("RUST_LOG");
    if (s->override != NULL)
        setenv("DAT_OVERRIDE", expanded(s->override, dir), 1);
    else if (s->conf != NULL) {
        snprintf(path, sizeof path, "%s/dat.conf", dir);
        if (!write_file(path, expanded(s->conf, dir)))
            _exit(UNAVAILABLE);
        setenv("DAT_OVERRIDE", path, 1);
    }
    for (size_t i = 0; i < sizeof s->env / sizeof s->env[0] && s->env[i] != NULL; i++) {
        char *variable = expanded(s->env[i], dir);
        size_t length = strcspn(variable, "=");

        variable[length] = '\0';
        setenv(variable, variable + length + 1, 1);
    }
    if (s->in_folder && chdir(dir) != 0)
        _exit(UNAVAILABLE);
    if (s->private_etc)
        replace_etc(s);
    snprintf(scene, sizeof scene, "scene:%s", name);
    argv[0] = s->program != NULL ? expanded(s->program, dir) : (char *)self();
    if (argv[0][0] != '/')
        argv[0] = (char *)beside(argv[0]);
    argv[1] = scene;
    execv(argv[0], argv);
    _exit(UNAVAILABLE);
}

/* Prints one line of the scene's report as a subtest or a diagnostic line. */
static void relay(const char *name, const char *line)
{
    switch (line[0]) {
    case '+':
    case '-':
        ok(line[0] == '+', "%s: %s", name, line + 1);
        break;
    case '~':
        skip_named(name, line + 1);
        break;
    default:
        diag("  %s", line + 1);
    }
}

/* Reads both streams until they end. Returns false after the deadline. */
static bool listen_to(const char *name, int report, int err, char *text, size_t size)
{
    char lines[65536];
    size_t have = 0, used = 0;
    struct pollfd p[2] = { { report, POLLIN, 0 }, { err, POLLIN, 0 } };
    uint64_t end = now_ms() + env_ms(3 * SOON_MS);

    while (p[0].fd >= 0 || p[1].fd >= 0) {
        uint64_t now = now_ms();
        ssize_t n;

        if (now >= end || poll(p, 2, (int)(end - now)) < 0)
            return false;
        if (p[0].fd >= 0 && p[0].revents != 0) {
            n = read(report, lines + have, sizeof lines - have - 1);
            if (n <= 0)
                p[0].fd = -1;
            else
                have += (size_t)n;
            lines[have] = '\0';
            for (char *nl; (nl = strchr(lines, '\n')) != NULL;) {
                *nl = '\0';
                relay(name, lines);
                have -= (size_t)(nl + 1 - lines);
                memmove(lines, nl + 1, have + 1);
            }
        }
        if (p[1].fd >= 0 && p[1].revents != 0) {
            n = read(err, text + used, size - used - 1);
            /* A terminal that the other side has closed returns an error. */
            if (n <= 0)
                p[1].fd = -1;
            else
                used += (size_t)n;
            text[used] = '\0';
        }
    }
    return true;
}

static void remove_dir(const char *dir)
{
    char command[4200];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        diag("could not remove %s", dir);
}

const char *scene_play(const char *name, const struct setting *s)
{
    static char text[65536];
    char dir[] = "/tmp/dat-scene-XXXXXX", terminal[128];
    int report[2], err[2], status = 0;
    pid_t pid;

    text[0] = '\0';
    if (mkdtemp(dir) == NULL)
        bail("no temporary folder: %s", strerror(errno));
    if (s->prepare != NULL)
        s->prepare(dir);
    if (pipe2(report, 0) != 0)
        bail("pipe: %s", strerror(errno));
    fcntl(report[0], F_SETFD, FD_CLOEXEC);
    if (s->terminal) {
        err[0] = open_terminal(terminal, sizeof terminal);
        err[1] = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC);
    } else if (pipe2(err, O_CLOEXEC) != 0)
        bail("pipe: %s", strerror(errno));

    fflush(stdout);
    pid = fork();
    if (pid < 0)
        bail("fork: %s", strerror(errno));
    if (pid == 0)
        enter(name, s, dir, report[1], err[1]);
    close(report[1]);
    close(err[1]);
    if (!listen_to(name, report[0], err[0], text, sizeof text)) {
        fail("%s: ends in time", name);
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(report[0]);
    close(err[0]);
    remove_dir(dir);
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNAVAILABLE)
        skip_named(name, "its setting (namespaces, a file system) cannot be had here");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("%s: ends with status 0", name);
        diag("  status 0x%x", (unsigned)status);
        diag("  %s", text);
    }
    return text;
}
