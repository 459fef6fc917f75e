/* churn.c - repeated opening and closing with at most 50 file descriptors. */
#define _DEFAULT_SOURCE
#include "common/usage.h"
#include "common/zoo.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Opens one adapter many times and connects the instances. */
static void many_at_once(void)
{
    enum { MANY = 40 };
    static struct fx fx[MANY];
    struct side first, s[MANY];
    int n = env_count(MANY, 10), good = 0;

    for (int i = 0; i < n; i++)
        fx_open(&fx[i]);
    for (int i = 1; i < n; i++) {
        side_make(&first, &fx[0], NULL);
        side_make(&s[i], &fx[i], NULL);
        sides_connect(&first, &s[i]);
        good += sides_talk(&first, &s[i]);
        side_free(&first);
    }
    is_int(good, n - 1, "one adapter opened %d times at once: each reaches the first", n);
    for (int i = 0; i < n; i++)
        fx_close(&fx[(i * 7) % n]);
    pass("one adapter opened %d times at once: closed in another order", n);
}

/* Connects and disconnects endpoints, long before the timeouts of dat_ep_connect have passed. */
static void many_in_turn(void)
{
    int n = env_valgrind() || strncmp(env_ia(), "verbs", 5) == 0 ? 20 : env_count(6000, 20);
    long memory = 0;
    struct fx fx;
    struct pair p;

    fx_open(&fx);
    for (int i = 0; i < n; i++) {
        if (i == n / 6)
            memory = resident_kib();
        pair_open(&p, &fx, NULL);
        pair_close(&p);
    }
    memory = resident_kib() - memory;
    ok(env_valgrind() || memory < 6 * 1024, "dat_ep_free: %d connections in turn: memory does not grow", n);
    diag("%ld KiB", memory);
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    int rounds, good = 0, left = 0, fds, others;
    struct rlimit limit;
    long memory;

    env_init(argc, argv, NULL);
    many_at_once();
    many_in_turn();
    rounds = env_count(400, 60);
    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = env_valgrind() ? limit.rlim_cur : 50;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");

    /* The first rounds allocate what the library keeps until the process ends. */

    for (int i = 0; i < 5; i++) {
        struct zoo z;

        zoo_open(&z);
        zoo_close(&z);
    }
    fds = entries("/proc/self/fd");
    others = threads();
    memory = resident_kib();

    for (int i = 0; i < rounds; i++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia;

        if (dat_ia_open(env_ia(), 8, &async, &ia) != DAT_SUCCESS)
            break;
        if (dat_ia_close(ia, i % 2 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
            break;
        good++;
    }
    is_int(good, rounds, "dat_ia_open and dat_ia_close %d times with 50 descriptors: success",
           rounds);

    good = 0;
    rounds = env_count(100, 10);
    for (int i = 0; i < rounds; i++) {
        struct fx fx;
        struct pair p;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        good += sides_talk(&p.a, &p.b);
        if (i % 2)
            pair_close(&p);
        fx_close(&fx);
        left += descriptors_left(fds);
    }
    is_int(good, rounds, "opened, connected, closed %d times with 50 descriptors: success", rounds);

    for (int i = 0; i < rounds; i++) {
        struct zoo z;

        zoo_open(&z);
        zoo_close(&z);
    }
    pass("one object of every kind made and closed over %d times with 50 descriptors", rounds);

    for (int i = 0; i < rounds; i++) {
        struct fx fx;
        struct side s[4];

        fx_open(&fx);
        for (int k = 0; k < 4; k++)
            side_make(&s[k], &fx, NULL);
        for (int k = 0; k < 4; k++)
            must_rc(side_connect(&s[k], fx_address(&fx), unique_qual(false)), DAT_SUCCESS, "dat_ep_connect");
        fx_close(&fx);
        left += descriptors_left(fds);
    }
    is_int(left, 0, "dat_ia_close: no descriptor is open any more when it returns");
    pass("opened, and closed right behind dat_ep_connect, %d times with 50 descriptors", rounds);

    ok(wait_until(threads_at_most, &others, SOON_MS), "dat_ia_close: no thread is left");
    if (!env_valgrind()) {
        ok(resident_kib() - memory < 32 * 1024, "dat_ia_close: memory does not grow");
        diag("resident: %ld KiB, %ld KiB before", resident_kib(), memory);
    }
    return done_testing();
}
