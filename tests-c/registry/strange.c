/*
 * strange.c - configuration files that are special, too large, or changing. No call blocks, memory
 * stays bounded, and usable entries work.
 */
#define _GNU_SOURCE
#include "registry/entries.h"

#include "common/env.h"
#include "common/peer.h"
#include "common/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits of CPU time and memory. Chosen for valgrind, too, because a scene does not scale deadlines. */
#define MS (env_valgrind() ? 100000u : 10000u)
#define KIB (160L * 1024)

static DAT_COUNT count(void)
{
    DAT_COUNT n = -1;

    dat_registry_list_providers(0, &n, NULL);
    return n;
}

static uint64_t busy_ms(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
           (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/* Makes the first call within the limits. Returns the number of entries. */
static DAT_COUNT count_within_limits(void)
{
    struct rusage before, after;
    uint64_t start = busy_ms();
    DAT_COUNT n;

    /* A call that sleeps forever uses no CPU time, so the alarm ends it. */
    alarm(20 * MS / 1000);
    getrusage(RUSAGE_SELF, &before);
    n = count();
    getrusage(RUSAGE_SELF, &after);
    alarm(0);
    scene_ok(busy_ms() - start < MS, "the first call takes %d ms", (int)(busy_ms() - start));
    scene_ok(env_valgrind() || after.ru_maxrss - before.ru_maxrss < KIB,
             "the first call takes %ld KiB", after.ru_maxrss - before.ru_maxrss);
    return n;
}

static void nothing(void)
{
    scene_ok(count_within_limits() == 0, "there are no entries");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
}

/* ---- special files ---- */

static bool make_socket(const char *path)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
}

static const char *in(const char *dir, const char *name)
{
    static char path[4200];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void prepare(const char *dir)
{
    must(mkfifo(in(dir, "fifo"), 0600) == 0, "mkfifo");
    must(make_socket(in(dir, "socket")), "bind");
    must(symlink("/dev/zero", in(dir, "link")) == 0, "symlink");
    must(symlink("loop", in(dir, "loop")) == 0, "symlink");
}

static void etc_is_fifo(void)
{
    scene_ok(mkfifo("/etc/dat.conf", 0600) == 0, "mkfifo /etc/dat.conf");
    nothing();
}

static void etc_is_device(void)
{
    scene_ok(symlink("/dev/zero", "/etc/dat.conf") == 0, "/etc/dat.conf is /dev/zero");
    nothing();
}

static void etc_rdma_is_fifo(void)
{
    scene_ok(mkdir("/etc/rdma", 0755) == 0 && mkfifo("/etc/rdma/dat.conf", 0600) == 0,
             "mkfifo /etc/rdma/dat.conf");
    nothing();
}

/* ---- permissions ---- */

static void unreadable(void)
{
    const char *path = scene_path("secret.conf");
    FILE *f = fopen(path, "w");

    scene_ok(f != NULL && fclose(f) == 0 && chmod(path, 0) == 0 && chmod(scene_dir(), 0755) == 0,
             "a file that nobody may read");
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        scene_skip("permissions need another user");
    else
        nothing();
}

/* ---- large files ---- */

static void entry_to(FILE *f, int n)
{
    fprintf(f, "n%d " CONF_API " nonthreadsafe default %s/libstub.so STUB.1.0 \"data\" \"\"\n", n,
            stub_dir());
}

static void names(const char *dir, int n)
{
    FILE *f = fopen(in(dir, "large.conf"), "w");

    must(f != NULL, "fopen");
    for (int i = 0; i < n; i++)
        entry_to(f, i);
    must(fclose(f) == 0, "fclose");
}

static void names_30000(const char *dir)
{
    names(dir, 30000);
}

static void names_million(const char *dir)
{
    names(dir, 1000000);
}

static void works(const char *name)
{
    DAT_IA_HANDLE ia;

    if (scene_opens(name, &ia))
        scene_closes(ia);
}

static void all_of_30000(void)
{
    DAT_COUNT n = count_within_limits(), listed = 0;
    DAT_PROVIDER_INFO *info = calloc((size_t)n, sizeof *info), **list = calloc((size_t)n, sizeof *list);
    uint64_t start, begun;
    int opened = 0, tried = 0;

    scene_ok(n == 30000, "there are 30000 entries");
    for (DAT_COUNT i = 0; i < n; i++)
        list[i] = &info[i];
    start = busy_ms();
    scene_type(dat_registry_list_providers(n, &listed, list), DAT_SUCCESS,
               "dat_registry_list_providers: success");
    scene_ok(busy_ms() - start < MS, "dat_registry_list_providers takes %d ms",
             (int)(busy_ms() - start));
    scene_ok(listed == n && strcmp(info[0].ia_name, "n0") == 0 &&
                 strcmp(info[n - 1].ia_name, "n29999") == 0,
             "dat_registry_list_providers: in order");
    works("n0");
    works("n29999");
    scene_not_found("n30000", DAT_NAME_NOT_REGISTERED);
    start = busy_ms();
    begun = now_ms();
    for (DAT_COUNT i = 0, step = env_count(1, 100); i < n; i += step, tried++) {
        DAT_IA_HANDLE ia;

        /* On a slow machine, test only every hundredth of the remaining names. */
        if (tried >= 300 && now_ms() - begun > SOON_MS / 4)
            step = 100;
        if (open_named(info[i].ia_name, &ia) == DAT_SUCCESS &&
            dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS)
            opened++;
    }
    scene_ok(tried >= 300 && opened == tried, "each name opens");
    scene_ok(busy_ms() - start < 20 * MS, "opening each takes %d ms", (int)(busy_ms() - start));
    free(info);
    free(list);
}

static void million(void)
{
    scene_ok(count_within_limits() == 65536, "65536 entries count");
    works("n0");
    works("n65535");
    scene_not_found("n65536", DAT_NAME_NOT_REGISTERED);
}

static void long_line(const char *dir)
{
    FILE *f = fopen(in(dir, "large.conf"), "w");

    must(f != NULL, "fopen");
    entry_to(f, 0);
    fputs("n1 " CONF_API " nonthreadsafe default lib.so STUB.1.0 \"", f);
    for (int i = 0; i < 1000000; i++)
        fputc('x', f);
    fputs("\" \"\"\n", f);
    entry_to(f, 2);
    must(fclose(f) == 0, "fclose");
}

static void around_a_long_line(void)
{
    scene_ok(count_within_limits() == 2, "two of three entries count");
    works("n0");
    scene_not_found("n1", DAT_NAME_NOT_REGISTERED);
    works("n2");
}

/* Creates a file with one entry, and a hole of 1 TiB after it. */
static void huge(const char *dir)
{
    FILE *f = fopen(in(dir, "large.conf"), "w");

    must(f != NULL, "fopen");
    entry_to(f, 0);
    must(fflush(f) == 0 && ftruncate(fileno(f), (off_t)1 << 40) == 0 && fclose(f) == 0, "ftruncate");
}

static void first_alone(void)
{
    scene_ok(count_within_limits() == 1, "the entry before counts");
    works("n0");
}

/* ---- a file that changes ---- */

static void changing(void)
{
    const char *path = getenv("DAT_OVERRIDE");
    pid_t writer = fork();
    DAT_COUNT n;

    must(writer >= 0, "fork");
    if (writer == 0)
        for (;;) {
            int fd = open(path, O_WRONLY | O_TRUNC | O_APPEND);
            FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

            if (f == NULL)
                _exit(1);
            for (int i = 0; i < 5000; i++)
                entry_to(f, i);
            fclose(f);
        }
    n = count_within_limits();
    scene_ok(n >= 0 && n <= 5001, "what was there counts: %d entries", n);
    scene_ok(count() == n, "the same entries later");
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
}

static const struct scene scenes[] = {
    { "a FIFO", nothing },
    { "a socket", nothing },
    { "a folder", nothing },
    { "/dev/zero", nothing },
    { "/dev/random", nothing },
    { "/dev/tty", nothing },
    { "a link to a device", nothing },
    { "a link to itself", nothing },
    { "/proc/self/mem", nothing },
    { "/etc/dat.conf is a FIFO", etc_is_fifo },
    { "/etc/dat.conf is a device", etc_is_device },
    { "/etc/rdma/dat.conf is a FIFO", etc_rdma_is_fifo },
    { "no permission", unreadable },
    { "30000 names", all_of_30000 },
    { "a million names", million },
    { "a long line", around_a_long_line },
    { "a terabyte", first_alone },
    { "it changes", changing },
    { NULL, NULL },
};

static void refused(const char *name, const char *override, const char *what)
{
    const char *text = scene_play(name, &(struct setting){ .override = override,
                                                           .env = { "DAT_DBG_TYPE=1" },
                                                           .prepare = prepare });

    ok(strstr(text, "cannot be read") != NULL && strstr(text, what) != NULL,
       "%s: a line says why it is not read", name);
}

static void cut(const char *name, void (*prepare)(const char *), const char *level, const char *what)
{
    const char *text = scene_play(name, &(struct setting){ .override = "%D/large.conf",
                                                           .env = { level },
                                                           .prepare = prepare });
    const char *found = what == NULL ? NULL : strstr(text, what);

    if (what != NULL)
        ok(found != NULL && strstr(found + 1, what) == NULL, "%s: one line about it", name);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes);
    refused("a FIFO", "%D/fifo", "no regular file");
    refused("a socket", "%D/socket", "no regular file");
    refused("a folder", "%D", "no regular file");
    refused("/dev/zero", "/dev/zero", "no regular file");
    refused("/dev/random", "/dev/random", "no regular file");
    refused("/dev/tty", "/dev/tty", "no regular file");
    refused("a link to a device", "%D/link", "no regular file");
    refused("a link to itself", "%D/loop", "os error");
    refused("/proc/self/mem", "/proc/self/mem", "os error");
    scene_play("/etc/dat.conf is a FIFO", &(struct setting){ .private_etc = true });
    scene_play("/etc/dat.conf is a device", &(struct setting){ .private_etc = true });
    scene_play("/etc/rdma/dat.conf is a FIFO", &(struct setting){ .private_etc = true });
    refused("no permission", "%D/secret.conf", "Permission denied");
    cut("30000 names", names_30000, "DAT_DBG_TYPE=1", NULL);
    cut("a million names", names_million, "DAT_DBG_TYPE=1", "more than 65536 entries");
    cut("a long line", long_line, "DAT_DBG_TYPE=2", "longer than 65536 bytes");
    cut("a terabyte", huge, "DAT_DBG_TYPE=1", "larger than");
    scene_play("it changes", &(struct setting){ .conf = ENTRY("n0") });
    return done_testing();
}
