/*
 * memory.c - a process without memory.
 *
 * For each allocation of a life (life.h) there are two cases: only this allocation fails, or it and all later ones
 * fail. Each case runs in its own process, which must not die. Calls return DAT_INSUFFICIENT_RESOURCES; frees and the
 * close succeed. Afterwards a second life with memory succeeds, and leaves no memory, descriptors, threads or files.
 *
 * After a lack of memory, the libraries of an RDMA device can remain unusable, or end the process. The test counts
 * these cases, which device.h detects, but they are no failures.
 *
 *   DAT_TEST_ALL=1    all positions instead of a part
 *   DAT_TEST_SEED=N   determines the first position of that part
 *   DAT_TEST_ONE=N    only position N (-N: all from N on), in this process, for a debugger; prints the stack of the
 *                     first failed allocation
 */
#define _GNU_SOURCE
#include "common/env.h"
#include "common/tap.h"
#include "common/usage.h"
#include "common/wait.h"

#include "allocator.h"
#include "device.h"
#include "life.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Results of a child, in shared memory. */
struct report {
    struct life faulty;
    struct life whole;
    long calls;
    long live;
    int fds;
    /* Numbers and targets of the open descriptors. */
    char open[400];
    int left;
    /* Set if more threads are running than before the lives. */
    bool running;
    /* The reason why the device cannot be used, and the device library that ended the process; or NULL. */
    const char *lost;
    const char *ended;
};

static struct report *report;

/* Returns the number of entries of the rendezvous directory that name this process. */
static int left_behind(void)
{
    char path[300], own[64], target[256];
    DIR *d;
    struct dirent *e;
    int n = 0;

    snprintf(path, sizeof path, "/tmp/dat-shm-%u", (unsigned)getuid());
    snprintf(own, sizeof own, "-%d-", (int)getpid());
    d = opendir(path);
    if (d == NULL)
        return 0;
    while ((e = readdir(d)) != NULL) {
        ssize_t len = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);

        target[len > 0 ? len : 0] = '\0';
        n += strstr(e->d_name, own) != NULL || strstr(target, own) != NULL;
    }
    closedir(d);
    return n;
}

static void list_descriptors(char *text, size_t size)
{
    char path[64], target[200];
    size_t used = 0;

    text[0] = '\0';
    for (int fd = 3; fd < 200 && used < size; fd++) {
        ssize_t len;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        len = readlink(path, target, sizeof target - 1);
        if (len >= 0)
            used += (size_t)snprintf(text + used, size - used, " %d %.*s", fd, (int)len, target);
    }
}

/* The maximum of each result in runs without failed allocations. */
static struct report normal;

/* Returns whether the adapter uses libraries that may lose resources. */
static bool has_device(void)
{
    return strncmp(env_ia(), "verbs", 5) == 0;
}

/* The child: a life in which the allocations `first` to `last` fail, then one without failures. */
static int child(long first, long last, bool lacking)
{
    int fds = entries("/proc/self/fd"), before = threads();
    long live = allocator_live();

    device_watch(&report->ended);
    allocator_fail(first, last);
    life_live(&report->faulty, lacking, lacking ? 300 : SOON_MS);
    report->calls = allocator_calls();
    allocator_restore();
    if (has_device() && device_locked_loader()) {
        report->ended = "libibverbs, in the dynamic loader, which stays locked";
        return 1;
    }
    life_live(&report->whole, false, SOON_MS);
    report->running = !wait_until(threads_at_most, &before, SOON_MS);
    report->live = allocator_live() - live;
    /* On iWARP the kernel can still hold some. */
    descriptors_left(fds + normal.fds);
    report->fds = entries("/proc/self/fd") - fds;
    list_descriptors(report->open, sizeof report->open);
    report->left = left_behind();
    if (has_device() && report->whole.wrong != NULL)
        report->lost = device_lost((struct sockaddr *)&normal.whole.address);
    return 0;
}

/* Runs the child. Returns its wait status. */
static int run(long first, long last, bool lacking)
{
    int status;

    memset(report, 0, sizeof *report);
    if (life_fork(&status, 30000))
        _exit(child(first, last, lacking));
    return status;
}

static const char *text(const char *what)
{
    return what != NULL ? what : "nothing";
}

/* Returns the failure of the libraries of the device that explains the report, or NULL. */
static const char *excuse(int status)
{
    if (status != 0)
        return report->ended;
    /* The second life failed only with the correct code for an unavailable device. */
    if (report->faulty.wrong == NULL && report->whole.wrong != NULL &&
        strcmp(report->whole.wrong, "dat_ia_open") == 0 &&
        rc_is(report->whole.wrong_code, DAT_INSUFFICIENT_RESOURCES) &&
        DAT_GET_SUBTYPE(report->whole.wrong_code) == DAT_RESOURCE_DEVICE)
        return report->lost;
    return NULL;
}

/* Returns the error in the report, or NULL. */
static const char *fault(int status)
{
    static char text[500];

    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s", WTERMSIG(status) == SIGALRM ? "hung" : strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, sizeof text, "exit status %d", WEXITSTATUS(status));
    else if (report->faulty.wrong != NULL)
        snprintf(text, sizeof text, "%s: %s", report->faulty.wrong, rc_text(report->faulty.wrong_code));
    else if (report->whole.wrong != NULL)
        snprintf(text, sizeof text, "afterwards, %s: %s", report->whole.wrong,
                 rc_text(report->whole.wrong_code));
    else if (report->running)
        snprintf(text, sizeof text, "a thread is left");
    else if (report->fds > normal.fds)
        snprintf(text, sizeof text, "%d descriptors left, not %d:%s", report->fds, normal.fds, report->open);
    else if (report->live > normal.live && !has_device())
        snprintf(text, sizeof text, "%ld blocks left, not %ld", report->live, normal.live);
    else if (report->left != 0)
        snprintf(text, sizeof text, "%d entries of the rendezvous directory left", report->left);
    else
        return NULL;
    return text;
}

/* Minimum number of positions of a part, and the time for further positions on a device. */
enum { MIN_POSITIONS = 6, DEVICE_MS = 15000 };

static long common_divisor(long a, long b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Returns a step that reaches all positions, and distributes the first ones over the life. */
static long step_over(long positions)
{
    long step = (long)((double)positions * 0.618);

    while (step > 1 && common_divisor(positions, step) != 1)
        step--;
    return step > 0 ? step : 1;
}

/* Tries all positions, or a part that depends on `seed`, in which at least one call lacks memory. */
static void sweep(const char *name, bool all_from_there, bool every, unsigned seed)
{
    long tried = 0, bad = 0, refused = 0, excused = 0;
    long step = every ? 1 : step_over(normal.calls);
    long wanted = every ? normal.calls : has_device() ? MIN_POSITIONS : normal.calls / env_count(5, 40) + MIN_POSITIONS;
    /* In the virtual machine with the device, a life takes seconds. */
    uint64_t end = every || !has_device() ? 0 : now_ms() + DEVICE_MS;
    long n = every ? 0 : (long)(seed % (unsigned long)normal.calls);

    while (tried < normal.calls && (tried < wanted || refused == 0 || now_ms() < end)) {
        int status = run(n + 1, all_from_there ? LONG_MAX : n + 1, true);
        const char *why = fault(status), *because;

        /* The timing of threads can leave blocks in one run, but a leak occurs in each run, so repeat. */
        for (int more = 0; more < 3 && WIFEXITED(status) && report->live > normal.live; more++) {
            status = run(n + 1, all_from_there ? LONG_MAX : n + 1, true);
            why = fault(status);
        }
        because = why != NULL && has_device() ? excuse(status) : NULL;
        if (because != NULL) {
            excused++;
            diag("allocation %ld: %s: by the libraries of the device: %s", n + 1, why, because);
        } else if (why != NULL && ++bad <= 40) {
            diag("allocation %ld: %s (refused: %s)", n + 1, why, text(report->faulty.refused));
        }
        tried++;
        refused += report->faulty.refused != NULL;
        n = (n + step) % normal.calls;
    }
    diag("%ld of %ld positions; %ld lives were cut short; %ld times the libraries of the device failed", tried,
         normal.calls, refused, excused);
    ok(refused > 0 && excused < tried && bad == 0,
       "%s: refused or served, nothing left behind, works afterwards", name);
}

int main(int argc, char **argv)
{
    const char *all = getenv("DAT_TEST_ALL");
    const char *given = getenv("DAT_TEST_SEED");
    bool every = all != NULL && strcmp(all, "0") != 0;
    unsigned seed;
    int status;

    env_init(argc, argv, NULL);
    (void)env_is_iwarp(); /* The first call starts a process, which the lives must not. */
    if (env_valgrind())
        skip_all("valgrind has an allocator of its own");
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        bail("no shared memory");

    /*
     * Take the results of three runs, because the timing of threads varies. The number of allocations is the minimum:
     * processes that concurrently search for a free qualifier increase it.
     */

    for (int i = 0; i < 3; i++) {
        status = run(LONG_MAX, LONG_MAX, false);
        if (status != 0 || report->faulty.wrong != NULL || report->whole.wrong != NULL || report->running)
            bail("a life without faults ended with status 0x%x: %s, %s", status,
                 text(report->faulty.wrong), text(report->whole.wrong));
        normal.calls = i == 0 || report->calls < normal.calls ? report->calls : normal.calls;
        normal.live = report->live > normal.live ? report->live : normal.live;
        normal.fds = report->fds > normal.fds ? report->fds : normal.fds;
        normal.whole = report->whole;
    }
    if (getenv("DAT_TEST_ONE") != NULL) {
        long n = atol(getenv("DAT_TEST_ONE"));

        memset(report, 0, sizeof *report);
        allocator_print();
        status = child(n < 0 ? -n : n, n < 0 ? LONG_MAX : n, true);
        diag("of %ld calls; refused: %s; wrong: %s; afterwards: %s; left: %ld blocks, %d descriptors, %d entries; "
             "lost: %s; descriptors:%s", report->calls, text(report->faulty.refused), text(report->faulty.wrong),
             text(report->whole.wrong), report->live, report->fds, report->left, text(report->lost), report->open);
        return status;
    }
    seed = given != NULL ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL) * 7919u + (unsigned)getpid();
    diag("%ld allocations, %ld blocks and %d descriptors at the end; %s", normal.calls, normal.live, normal.fds,
         every ? "every position is tried" : "a part of the positions is tried; DAT_TEST_ALL=1 tries all");
    diag("seed %u ($DAT_TEST_SEED)", seed);
    sweep("the n-th allocation fails", false, every, seed);
    sweep("all allocations from the n-th on fail", true, every, seed);
    return done_testing();
}
