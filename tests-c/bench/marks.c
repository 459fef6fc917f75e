/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * marks.c - measures the minimum times of the machine, which no library can undercut.
 *
 *   marks TEST SIZE ITERATIONS CPU,CPU    prints lines "name value unit"
 *
 * Times of round trips are halved.
 *
 * - cache_line: round trip of a cache line between two CPUs
 * - futex: round trip; FUTEX_WAKE wakes a sleeping process
 * - futex_late: as futex; each process waits 50 us before it wakes the other; the pauses are subtracted
 * - writev: process_vm_writev to a process that polls its memory
 * - writev_pong: round trip of such writes
 * - readv: process_vm_readv from a process that polls its memory
 * - memcpy: from one buffer to another, in one process
 *
 * Over a TCP connection on the loopback interface, with TCP_NODELAY:
 *
 * - tcp_pong: round trip of send and recv; both processes poll
 * - tcp_epoll: as tcp_pong; both processes sleep in epoll_wait
 * - tcp_epoll_late: as tcp_epoll; each process pauses 50 us before it sends; the pauses are subtracted
 * - tcp_stream: sends in one direction; the receiver acknowledges only the last send
 * - tcp_watched: time from before the first of eight sends of SIZE / 8 until the second process sees the last word: one
 *   of its threads receives, and the main thread polls the memory
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by both processes; each word has its own cache line. */
static struct {
    _Alignas(128) _Atomic uint32_t ping;
    _Alignas(128) _Atomic uint32_t pong;
    _Alignas(128) _Atomic uint32_t ready, stop;
} *shared;

/* Private to each process, at the same address in both. */
static unsigned char *out, *in;
static size_t size;
static long iterations, warmup;
static pid_t other;
static struct clock times;

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (cpu >= 0 && sched_setaffinity(0, sizeof set, &set) != 0)
        fail("there is no processor %d", cpu);
}

/* ---- A round trip, in either process ---- */

static void line(long i, int second)
{
    if (second) {
        while (atomic_load_explicit(&shared->ping, memory_order_acquire) != (uint32_t)i)
            continue;
        atomic_store_explicit(&shared->pong, (uint32_t)i, memory_order_release);
    } else {
        atomic_store_explicit(&shared->ping, (uint32_t)i, memory_order_release);
        while (atomic_load_explicit(&shared->pong, memory_order_acquire) != (uint32_t)i)
            continue;
    }
}

static void sleep_until(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t seen;

    while ((seen = atomic_load(word)) != value)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex(long i, int second)
{
    if (second) {
        sleep_until(&shared->ping, (uint32_t)i);
        wake(&shared->pong, (uint32_t)i);
    } else {
        wake(&shared->ping, (uint32_t)i);
        sleep_until(&shared->pong, (uint32_t)i);
    }
}

#define PAUSE 50

static void futex_late(long i, int second)
{
    if (second) {
        sleep_until(&shared->ping, (uint32_t)i);
        rest(PAUSE);
        wake(&shared->pong, (uint32_t)i);
    } else {
        rest(PAUSE);
        wake(&shared->ping, (uint32_t)i);
        sleep_until(&shared->pong, (uint32_t)i);
    }
}

static void copy(int read)
{
    struct iovec mine = { out, size }, theirs = { in, size };
    ssize_t n = read ? process_vm_readv(other, &mine, 1, &theirs, 1, 0)
                     : process_vm_writev(other, &mine, 1, &theirs, 1, 0);

    if (n != (ssize_t)size)
        fail("this system does not allow process_vm_%s", read ? "readv" : "writev");
}

static _Atomic uint64_t *end_of(unsigned char *base)
{
    return (_Atomic uint64_t *)(void *)(base + size - 8);
}

static void pong(long i, int second)
{
    if (second)
        while (atomic_load_explicit(end_of(in), memory_order_acquire) != (uint64_t)i)
            continue;
    atomic_store_explicit(end_of(out), (uint64_t)i, memory_order_relaxed);
    copy(0);
    if (!second)
        while (atomic_load_explicit(end_of(in), memory_order_acquire) != (uint64_t)i)
            continue;
}

/* ---- Steps of the first process, while the second one polls its memory ---- */

static void write_step(long i, int second)
{
    (void)i;
    if (!second)
        copy(0);
}

static void read_step(long i, int second)
{
    (void)i;
    if (!second)
        copy(1);
}

static void memcpy_step(long i, int second)
{
    (void)i;
    if (!second) {
        memcpy(in, out, size);
        /* Prevents the compiler from removing the copy. */
        __asm__ volatile("" ::"r"(in), "r"(out) : "memory");
    }
}

/* ---- TCP ---- */

/* Ends of a connection, in the first and in the second process. */
static int ends[2];

static void tcp_connect(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(ends[0], (struct sockaddr *)&address, length) != 0 ||
        (ends[1] = accept(listener, NULL, NULL)) < 0)
        fail("no TCP connection");
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
}

static void tcp_send(int fd, const unsigned char *from, size_t bytes)
{
    for (ssize_t n; bytes > 0; from += n, bytes -= (size_t)n)
        if ((n = send(fd, from, bytes, MSG_DONTWAIT)) < 0) {
            if (errno != EAGAIN)
                fail("send: %s", strerror(errno));
            n = 0;
        }
}

static void tcp_receive(int fd, unsigned char *to, size_t bytes, int epoll)
{
    struct epoll_event event;

    for (ssize_t n; bytes > 0; to += n, bytes -= (size_t)n) {
        if (epoll >= 0 && epoll_wait(epoll, &event, 1, -1) != 1)
            fail("epoll_wait: %s", strerror(errno));
        n = recv(fd, to, bytes, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            n = 0;
        else if (n <= 0)
            fail("recv: the connection has failed");
    }
}

static void tcp_round(int second, int epoll, int pause)
{
    for (int turn = 0; turn < 2; turn++)
        if (turn == second) {
            rest(pause);
            tcp_send(ends[second], out, size);
        } else {
            tcp_receive(ends[second], in, size, epoll);
        }
}

static void tcp_pong(long i, int second)
{
    (void)i;
    tcp_round(second, -1, 0);
}

static int epoll_of(int fd)
{
    static int epoll = -1;
    struct epoll_event event = { .events = EPOLLIN };

    if (epoll < 0 && ((epoll = epoll_create1(0)) < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0))
        fail("epoll: %s", strerror(errno));
    return epoll;
}

static void tcp_epoll(long i, int second)
{
    (void)i;
    tcp_round(second, epoll_of(ends[second]), 0);
}

static void tcp_epoll_late(long i, int second)
{
    (void)i;
    tcp_round(second, epoll_of(ends[second]), PAUSE);
}

static void tcp_stream(long i, int second)
{
    int last = i == warmup || i == warmup + iterations;

    if (second) {
        tcp_receive(ends[1], in, size, -1);
        if (last)
            tcp_send(ends[1], out, 1);
    } else {
        tcp_send(ends[0], out, size);
        if (last)
            tcp_receive(ends[0], in, 1, -1);
    }
}

/* The receiving thread of the second process. */
static void *tcp_receiver(void *unused)
{
    size_t at = 0;
    ssize_t n;

    while ((n = recv(ends[1], in + at, size - at, 0)) > 0)
        at = (at + (size_t)n) % size;
    return unused;
}

static void tcp_watched(long i, int second)
{
    static double before;
    double time;
    pthread_t thread;

    if (!second) {
        time = now();
        memcpy(end_of(out), &time, sizeof time);
        for (int part = 0; part < 8; part++)
            tcp_send(ends[0], out + size / 8 * (size_t)part, size / 8);
        hear(&time, sizeof time);
        clock_began(&times, time);
        return;
    }
    if (i == 1 && pthread_create(&thread, NULL, tcp_receiver, NULL) != 0)
        fail("no thread");
    do
        __atomic_load((double *)(void *)end_of(in), &time, __ATOMIC_ACQUIRE);
    while (time == before);
    before = time;
    time = now() - time;
    tell(&time, sizeof time);
}

static const struct test {
    const char *name;
    void (*step)(long i, int second);
    int ways; /* messages per step: 2 for a round trip */
    int alone; /* only the first process runs the steps */
} tests[] = {
    { "cache_line", line, 2, 0 },
    { "futex", futex, 2, 0 },
    { "futex_late", futex_late, 2, 0 },
    { "writev_pong", pong, 2, 0 },
    { "writev", write_step, 1, 1 },
    { "readv", read_step, 1, 1 },
    { "memcpy", memcpy_step, 1, 1 },
    { "tcp_pong", tcp_pong, 2, 0 },
    { "tcp_epoll", tcp_epoll, 2, 0 },
    { "tcp_epoll_late", tcp_epoll_late, 2, 0 },
    { "tcp_stream", tcp_stream, 1, 0 },
    { "tcp_watched", tcp_watched, 1, 0 },
};

static void second_process(const struct test *test)
{
    unsigned char seen = 0;

    atomic_store(&shared->ready, 1);
    for (long i = 1; i <= warmup + iterations && !test->alone; i++)
        test->step(i, 1);
    while (!atomic_load(&shared->stop))
        for (int i = 0; i < 10000 && test->step != memcpy_step; i++)
            seen ^= *(volatile unsigned char *)(in + size - 1);
    (void)seen;
    _exit(0);
}

static void *buffer(void)
{
    void *at;

    if (posix_memalign(&at, 4096, size) != 0)
        fail("no memory");
    memset(at, 0, size);
    return at;
}

int main(int argc, char **argv)
{
    const struct test *test = NULL;
    double seconds, median, rests;
    int cpu[2], link[2];

    for (size_t i = 0; argc == 5 && i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(argv[1], tests[i].name) == 0)
            test = &tests[i];
    if (test == NULL || sscanf(argv[4], "%d,%d", &cpu[0], &cpu[1]) != 2 || atol(argv[2]) < 8 ||
        atol(argv[3]) < 1) {
        fprintf(stderr, "usage: marks TEST SIZE ITERATIONS CPU,CPU; see tests-c/bench/marks.c\n");
        return 2;
    }
    role = "marks";
    size = (size_t)atol(argv[2]);
    iterations = atol(argv[3]);
    warmup = iterations / 10 + 1;
    out = buffer();
    in = buffer();
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("no shared memory");
    if (strncmp(test->name, "tcp_", 4) == 0)
        tcp_connect();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, link) != 0)
        fail("no socket");
    /* Each process may write to the other. */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    other = fork();
    if (other < 0)
        fail("no second process");
    alarm(120);
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        other = getppid();
        link_set(link[1]);
        pin(cpu[1]);
        memset(in, 0, size);
        memset(out, 0, size);
        second_process(test);
    }
    link_set(link[0]);
    pin(cpu[0]);
    memset(in, 0, size);
    memset(out, 0, size);
    while (!atomic_load(&shared->ready))
        usleep(100);
    clock_start(&times);
    for (long i = 1; i <= warmup; i++) {
        test->step(i, 0);
        clock_step(&times);
    }
    clock_start(&times);
    for (long i = 1 + warmup; i <= warmup + iterations; i++) {
        test->step(i, 0);
        clock_step(&times);
    }
    seconds = clock_end(&times, &median);
    atomic_store(&shared->stop, 1);
    waitpid(other, NULL, 0);
    rests = strstr(test->name, "_late") != NULL ? 2 * PAUSE * 1e-6 : 0;
    result("median", (median - rests) / test->ways * 1e9, "ns");
    result("overall", (seconds / (double)iterations - rests) / test->ways * 1e9, "ns");
    result("bandwidth", (double)size * (double)iterations / seconds / 1e6, "MB/s");
    return 0;
}
