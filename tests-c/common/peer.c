#define _GNU_SOURCE /* for pipe2 */
#include "peer.h"

#include "env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PEERS 512

static struct peer *running[MAX_PEERS];
static const char *role_name;

static void remember(struct peer *p)
{
    for (int i = 0; i < MAX_PEERS; i++)
        if (running[i] == NULL) {
            running[i] = p;
            return;
        }
    bail("more than %d peers", MAX_PEERS);
}

static void forget(struct peer *p)
{
    for (int i = 0; i < MAX_PEERS; i++)
        if (running[i] == p)
            running[i] = NULL;
    if (p->link.in >= 0)
        close(p->link.in);
    if (p->link.out >= 0)
        close(p->link.out);
    p->link.in = p->link.out = -1;
    p->pid = 0;
}

/* Returns the program to start: SUBJECT/NAME in $DAT_TEST_PEERS, or this program. */
static const char *peer_program(void)
{
    static char path[4096];
    const char *folder = getenv("DAT_TEST_PEERS"), *name = env_self();
    int slashes = 0;

    if (folder == NULL || folder[0] == '\0')
        return name;
    for (const char *p = name + strlen(name); p > name && slashes < 2; p--)
        if (p[-1] == '/' && ++slashes == 2)
            name = p;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void peer_start(struct peer *p, const char *role)
{
    int down[2], up[2];
    char in[16], out[16], *program;

    memset(p, 0, sizeof *p);
    snprintf(p->role, sizeof p->role, "%s", role);
    program = (char *)peer_program();
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        bail("pipe: %s", strerror(errno));
    snprintf(in, sizeof in, "%d", down[0]);
    snprintf(out, sizeof out, "%d", up[1]);

    fflush(NULL);
    p->pid = fork();
    if (p->pid < 0)
        bail("fork: %s", strerror(errno));
    if (p->pid == 0) {
        char *args[] = { program, "--peer", p->role, in, out, env_ia(), NULL };

        /* Only async-signal-safe calls between fork and exec. */
        fcntl(down[0], F_SETFD, 0);
        fcntl(up[1], F_SETFD, 0);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output is the TAP stream */
        execv(program, args);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    p->link.in = up[0];
    p->link.out = down[1];
    remember(p);
}

int peer_join(struct peer *p, unsigned ms)
{
    uint64_t end = now_ms() + env_ms(ms);
    int status;

    if (p->pid == 0)
        return -1;
    for (;;) {
        struct timespec tick = { 0, 2000000 };
        pid_t got = waitpid(p->pid, &status, WNOHANG);

        if (got == p->pid)
            break;
        if (got < 0 || now_ms() > end)
            return -1;
        nanosleep(&tick, NULL);
    }
    forget(p);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool peer_ok(struct peer *p, const char *fmt, ...)
{
    char name[256];
    va_list ap;
    int status = peer_join(p, SOON_MS);

    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (status == -1)
        peer_kill(p);
    return is_int(status, 0, "%s", name);
}

void peer_kill(struct peer *p)
{
    if (p->pid == 0)
        return;
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    forget(p);
}

void peer_end_all(void)
{
    for (int i = 0; i < MAX_PEERS; i++)
        if (running[i] != NULL)
            peer_kill(running[i]);
}

bool peer_is_one(void)
{
    return role_name != NULL;
}

void peer_enter(int argc, char **argv, const struct peer_role *roles)
{
    struct link up;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc < 5)
        _exit(126);
    up.in = atoi(argv[3]);
    up.out = atoi(argv[4]);
    fcntl(up.in, F_SETFD, FD_CLOEXEC);
    fcntl(up.out, F_SETFD, FD_CLOEXEC);
    for (; roles != NULL && roles->name != NULL; roles++)
        if (strcmp(roles->name, argv[2]) == 0) {
            role_name = roles->name;
            exit(roles->run(&up));
        }
    fprintf(stderr, "# no role \"%s\"\n", argv[2]);
    _exit(126);
}

static bool write_all(int fd, const void *data, size_t size)
{
    const char *p = data;

    while (size > 0) {
        ssize_t n = write(fd, p, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t size, uint64_t end)
{
    char *p = data;

    while (size > 0) {
        struct pollfd f = { fd, POLLIN, 0 };
        uint64_t now = now_ms();
        int ready = poll(&f, 1, now >= end ? 0 : (int)(end - now));
        ssize_t n;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        n = read(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool link_send(struct link *l, const void *data, size_t size)
{
    uint32_t n = (uint32_t)size;

    return write_all(l->out, &n, sizeof n) && write_all(l->out, data, size);
}

/*
 * Factors for long deadlines, because a busy process can work for minutes between two messages.
 * They cost no time: the link breaks when the other process ends.
 */
enum { FACTOR_IN_SECOND = 30, FACTOR_IN_FIRST = 3 };

bool link_recv(struct link *l, void *data, size_t size, unsigned ms)
{
    unsigned times = ms < SOON_MS ? 1 : role_name != NULL ? FACTOR_IN_SECOND : FACTOR_IN_FIRST;
    uint64_t end = now_ms() + env_ms(ms * times);
    uint32_t n;

    if (!read_all(l->in, &n, sizeof n, end))
        return false;
    /* The sender has written the length, so the rest follows soon. */
    if (end < now_ms() + env_ms(SOON_MS))
        end = now_ms() + env_ms(SOON_MS);
    if (n != size) {
        fprintf(stderr, "# %s: message of %u bytes, expected %zu\n",
                role_name != NULL ? role_name : "main", n, size);
        return false;
    }
    return read_all(l->in, data, size, end);
}

bool link_say(struct link *l, const char *word)
{
    char text[32] = { 0 };

    snprintf(text, sizeof text, "%s", word);
    return link_send(l, text, sizeof text);
}

bool link_hear(struct link *l, const char *word)
{
    char text[32];

    if (!link_recv(l, text, sizeof text, SOON_MS))
        return false;
    text[sizeof text - 1] = '\0';
    if (strcmp(text, word) == 0)
        return true;
    fprintf(stderr, "# %s: heard \"%s\", expected \"%s\"\n",
            role_name != NULL ? role_name : "main", text, word);
    return false;
}

void must(bool cond, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (cond)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (role_name == NULL)
        bail("%s", text);
    fprintf(stderr, "# peer %s: %s\n", role_name, text);
    _exit(1);
}

void must_rc(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (rc_is(rc, type))
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    must(false, "%s: got %s", text, rc_text(rc));
}
