/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * link.c - communication of the processes without uDAPL, clocks, errors, memory.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *role = "bench";
static int fd = -1;

void fail(const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "bench (%s): ", role);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    _exit(1);
}

void link_set(int end)
{
    fd = end;
}

void tell(const void *data, size_t size)
{
    if (write(fd, data, size) != (ssize_t)size)
        fail("the other process is gone");
}

int link_ready(void)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

void hear(void *data, size_t size)
{
    char *at = data;
    ssize_t n;

    for (; size > 0; at += n, size -= (size_t)n) {
        n = read(fd, at, size);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            fail("the other process is gone");
    }
}

void meet(void)
{
    char byte = 1;

    tell(&byte, 1);
    hear(&byte, 1);
}

double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the CPU's counter if there is one, as ucx_perftest does: each step reads it, and a system clock is slower. */
uint64_t ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

double seconds_of_tick(void)
{
    static double known;

    if (known == 0) {
        double began = now();
        uint64_t first = ticks();

        while (now() - began < 0.005)
            continue;
        known = (now() - began) / (double)(ticks() - first);
    }
    return known;
}

void rest(int microseconds)
{
    uint64_t end = ticks() + (uint64_t)(microseconds * 1e-6 / seconds_of_tick());

    while (ticks() < end)
        continue;
}

void clock_start(struct clock *c)
{
    memset(c, 0, sizeof *c);
    c->began = now();
    (void)seconds_of_tick();
    c->last = ticks();
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static long kept(const struct clock *c)
{
    return c->count < 2048 ? c->count : 2048;
}

double clock_end(struct clock *c, double *median)
{
    double seconds = now() - c->began;

    qsort(c->kept, (size_t)kept(c), sizeof c->kept[0], by_size);
    *median = clock_percentile(c, 50);
    return seconds;
}

double clock_percentile(const struct clock *c, int percent)
{
    return c->kept[kept(c) * percent / 100] * seconds_of_tick();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], by_value);
    return values[count / 2];
}

void result(const char *name, double value, const char *unit)
{
    printf("%s %.4g %s\n", name, value, unit);
}

static struct memory_use own_memory(void)
{
    struct memory_use use = { 0, 0 };
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "Pss: %lf", &use.all);
        (void)sscanf(line, "Pss_Shmem: %lf", &use.shared);
    }
    if (use.all == 0)
        fail("no memory in /proc/self/smaps_rollup");
    fclose(f);
    return use;
}

struct memory_use memory_of_both(void)
{
    struct memory_use own, other;

    meet();
    own = own_memory();
    tell(&own, sizeof own);
    hear(&other, sizeof other);
    own.all += other.all;
    own.shared += other.shared;
    return own;
}

void connections_result(long count, double seconds, const struct memory_use *before, const struct memory_use *idle,
                        const struct memory_use *used)
{
    result("time", seconds / (double)count * 1e9, "ns");
    result("memory", (used->all - before->all) / (double)count, "KiB");
    result("shared", (used->shared - before->shared) / (double)count, "KiB");
    result("memory_idle", (idle->all - before->all) / (double)count, "KiB");
    result("shared_idle", (idle->shared - before->shared) / (double)count, "KiB");
}
