/*
 * memory.c - a process without memory.
 *
 * Every single allocation of a life (life.h) fails once, and all from each one on, in a process of its own for each.
 * That process must not die; what it cannot have is refused with DAT_INSUFFICIENT_RESOURCES; frees and the close
 * succeed all the same; and when there is memory again, a second life goes through and leaves nothing behind.
 *
 *   $DAT_TEST_ALL   set to anything but 0: every position, not a part of them
 *   $DAT_TEST_ONE   this position alone, in this process, for a debugger; a negative one for all from there on
 */
#define _GNU_SOURCE
#include "common/env.h"
#include "common/tap.h"
#include "common/usage.h"

#include "allocator.h"
#include "life.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child reports, in memory that it shares with the test. */
struct report {
    struct life faulty;
    struct life whole;
    long calls;
    long live;
    int fds;
    int left;
};

static struct report *report;

/* Entries of the rendezvous directory that name this process; 0 where there is no such directory. */
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

/* The child: a life in which the allocations from first to last fail, then one without faults. */
static int child(long first, long last, bool lacking)
{
    int fds = entries("/proc/self/fd");
    long live = allocator_live();

    allocator_fail(first, last);
    life_live(&report->faulty, lacking, lacking ? 300 : SOON_MS);
    report->calls = allocator_calls();
    allocator_mend();
    life_live(&report->whole, false, SOON_MS);
    report->live = allocator_live() - live;
    report->fds = entries("/proc/self/fd") - fds;
    report->left = left_behind();
    return 0;
}

/* Runs the child. Returns its wait status; a hang ends with SIGALRM. */
static int run(long first, long last, bool lacking)
{
    int status = 0;
    pid_t pid;

    memset(report, 0, sizeof *report);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(env_ms(60000) / 1000);
        _exit(child(first, last, lacking));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        bail("no child");
    return status;
}

static const char *text(const char *what)
{
    return what != NULL ? what : "nothing";
}

/* The numbers of a process that lacked nothing. */
static struct report normal;

/* Every position is tried. */
static bool whole;

/* The longest time for one sweep on an adapter with a device, and its step. */
enum { DEVICE_MS = 15000, DEVICE_STEP = 1009 };

/* The libraries of the device leave blocks behind themselves when they lack memory. */
static bool has_device(void)
{
    return strncmp(env_ia(), "verbs", 5) == 0;
}

/* Why the process in the report is not as it should be; NULL when it is. */
static const char *fault(int status)
{
    static char text[300];

    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s", WTERMSIG(status) == SIGALRM ? "hung" : strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, sizeof text, "exit status %d", WEXITSTATUS(status));
    else if (report->faulty.wrong != NULL)
        snprintf(text, sizeof text, "%s: %s", report->faulty.wrong, rc_text(report->faulty.wrong_code));
    else if (report->whole.wrong != NULL)
        snprintf(text, sizeof text, "afterwards, %s: %s", report->whole.wrong,
                 rc_text(report->whole.wrong_code));
    else if (report->fds > normal.fds)
        snprintf(text, sizeof text, "%d descriptors left, not %d", report->fds, normal.fds);
    else if (report->live > normal.live && !has_device())
        snprintf(text, sizeof text, "%ld blocks left, not %ld", report->live, normal.live);
    else if (report->left != 0)
        snprintf(text, sizeof text, "%d entries of the rendezvous directory left", report->left);
    else
        return NULL;
    return text;
}

/* Goes through the positions. Every step-th is tried, begun at another place in each process that runs this. */
static void sweep(const char *name, bool all_from_there, long step)
{
    long tried = 0, bad = 0, refused = 0;
    uint64_t end = now_ms() + DEVICE_MS;

    for (long n = 1 + (long)(getpid() % step); n <= normal.calls; n += step) {
        /* In the machine that has the device a life takes seconds. */
        if (has_device() && !whole && now_ms() > end)
            break;

        int status = run(n, all_from_there ? LONG_MAX : n, true);
        const char *why = fault(status);

        /* Threads do not always do the same; what is lost for want of this allocation is lost each time. */
        for (int more = 0; more < 3 && WIFEXITED(status) && report->live > normal.live; more++) {
            status = run(n, all_from_there ? LONG_MAX : n, true);
            why = fault(status);
        }

        tried++;
        refused += report->faulty.refused != NULL;
        if (why != NULL && ++bad <= 40)
            diag("allocation %ld: %s (refused: %s)", n, why,
                 text(report->faulty.refused));
    }
    diag("%ld of %ld positions; %ld lives were cut short", tried, normal.calls, refused);
    ok(tried > 0 && (refused > 0 || has_device()) && bad == 0, "%s: refused or served, nothing left behind, works afterwards",
       name);
}

int main(int argc, char **argv)
{
    const char *all = getenv("DAT_TEST_ALL");
    bool every = all != NULL && strcmp(all, "0") != 0;
    int status;

    env_init(argc, argv, NULL);
    if (env_valgrind())
        skip_all("valgrind has an allocator of its own");
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        bail("no shared memory");

    if (getenv("DAT_TEST_ONE") != NULL) {
        long n = atol(getenv("DAT_TEST_ONE"));

        status = child(n < 0 ? -n : n, n < 0 ? LONG_MAX : n, true);
        diag("of %ld calls; refused: %s; wrong: %s; afterwards: %s; left: %ld blocks, %d descriptors, %d entries",
             report->calls, text(report->faulty.refused), text(report->faulty.wrong), text(report->whole.wrong),
             report->live, report->fds, report->left);
        return status;
    }
    /* The largest numbers of a few runs: threads do not always do the same. */
    for (int i = 0; i < 3; i++) {
        status = run(LONG_MAX, LONG_MAX, false);
        if (status != 0 || report->faulty.wrong != NULL || report->whole.wrong != NULL)
            bail("a life without faults ended with status 0x%x: %s, %s", status,
                 text(report->faulty.wrong), text(report->whole.wrong));
        normal.calls = report->calls > normal.calls ? report->calls : normal.calls;
        normal.live = report->live > normal.live ? report->live : normal.live;
        normal.fds = report->fds;
    }
    diag("%ld allocations, %ld blocks and %d descriptors at the end; %s", normal.calls, normal.live, normal.fds,
         every ? "every position is tried" : "a part of the positions is tried; DAT_TEST_ALL=1 tries all");
    whole = every;
    sweep("the n-th allocation fails", false, every ? 1 : has_device() ? DEVICE_STEP : env_count(5, 40));
    sweep("all allocations from the n-th on fail", true, every ? 1 : has_device() ? DEVICE_STEP : env_count(5, 40));
    return done_testing();
}
