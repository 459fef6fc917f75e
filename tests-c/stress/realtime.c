/*
 * realtime.c - a thread of a real-time class and a normal thread call the library on one CPU.
 *
 * If the real-time thread waits for a lock that the normal thread owns, it must sleep. It must not spin until the
 * kernel throttles it.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Duration of the test, and maximum time that the real-time thread may run without a sleep. The kernel throttles it
 * only after 0.95 s of each second.
 */
enum { SPAN_MS = 4000, QUICK_SPAN_MS = 400, MAX_RUN_US = 200000 };

static DAT_EVD_HANDLE evd;
static int stop;
static unsigned calls;
static volatile sig_atomic_t stalled;

/* Handles SIGXCPU: the real-time thread has run for too long. Moves it to the normal class, so that the test ends. */
static void on_limit(int signo)
{
    struct sched_param none = { 0 };

    (void)signo;
    stalled++;
    syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
}

static void *usual(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        DAT_EVENT e;

        must(rc_is(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY), "an event from nowhere");
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int change_class(void)
{
    struct sched_param first = { 1 };

    return sched_setscheduler(0, SCHED_FIFO, &first) == 0 ? 0 : errno;
}

/* Makes calls in bursts. Between the bursts, it sleeps for up to 16 us, in which the normal thread calls. */
static void *realtime(void *arg)
{
    uint64_t end = now_ms() + (uint64_t)env_count(SPAN_MS, QUICK_SPAN_MS);
    unsigned n = 0;

    *(int *)arg = change_class();
    while (*(int *)arg == 0 && !stalled && now_ms() < end) {
        struct timespec nap = { 0, (long)(n++ % 64 * 250) };

        for (unsigned i = 0; i < 20u << n % 8; i++) {
            DAT_EVENT e;

            must(rc_is(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY), "an event from nowhere");
        }
        nanosleep(&nap, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct rlimit limit = { MAX_RUN_US, RLIM_INFINITY };
    struct sigaction act;
    struct fx fx;
    pthread_t one, two;
    cpu_set_t all, first;
    int failed = 0;

    env_init(argc, argv, NULL);
    if (env_valgrind())
        skip_all("valgrind runs one thread at a time");
    must(sched_getaffinity(0, sizeof all, &all) == 0, "sched_getaffinity");
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &first);
    must(sched_setaffinity(0, sizeof first, &first) == 0, "sched_setaffinity");
    memset(&act, 0, sizeof act);
    act.sa_handler = on_limit;
    must(sigaction(SIGXCPU, &act, NULL) == 0 && setrlimit(RLIMIT_RTTIME, &limit) == 0, "RLIMIT_RTTIME");

    fx_open(&fx);
    evd = fx_evd(&fx, 16, DAT_EVD_DTO_FLAG);
    must(pthread_create(&one, NULL, usual, NULL) == 0, "no thread");
    must(pthread_create(&two, NULL, realtime, &failed) == 0, "no thread");
    pthread_join(two, NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(one, NULL);
    if (failed != 0)
        skip_all("SCHED_FIFO: %s", strerror(failed));
    is_int(stalled, 0, "a thread of SCHED_FIFO never keeps the processor for %d ms", MAX_RUN_US / 1000);
    ok(calls > 0, "the other thread calls in as well");
    fx_close(&fx);
    return done_testing();
}
