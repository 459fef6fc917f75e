/*
 * late_device.c - a library to preload, with which a software RDMA device is as late as hardware.
 *
 * Soft-RoCE of Linux 6.1 executes requests during the call that posts them. Hardware may read a request at any later
 * time, except inline data, which are copied during the call. This library takes the place of the functions that post.
 * It draws for each post when the device gets it:
 *
 *   - during the call;
 *   - during the call, which returns up to 0.3 ms later, so that a completion can precede the return;
 *   - after the call, up to 1 ms later and sometimes up to 20 ms, from a thread of this library.
 *
 * The device gets all posts of a process in their order. So a peer that gets a message finds the receives that were
 * posted before it. A receive of a shared queue is never late: a datagram would be lost, and the count of receives would
 * be wrong. Neither is a receive on iWARP, where a message without a receive ends the connection.
 *
 * A change or the end of a queue first passes on what is held. The end of an address handle or window does not: if a
 * held request needs it, the process aborts.
 *
 * $DAT_TEST_LATE is the seed of the drawn numbers.
 */
#define _GNU_SOURCE
#include "verbs/late_device.h"

#include "common/chance.h"

#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 512, SEGMENTS = 8, INLINE = 512, STACK = 1 << 18, US = 1000 };

/* A held request, or a held receive. */
struct held {
    struct ibv_qp *qp;
    bool is_send;
    uint64_t due; /* ns */
    struct ibv_send_wr send;
    struct ibv_recv_wr recv;
    struct ibv_sge segments[SEGMENTS];
    unsigned char bytes[INLINE];
};

struct late_counts late_counts;

/* Protects all that follows. A signal handler may post while its thread posts, so the thread blocks signals. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool has_thread;
static struct held places[PLACES];
static unsigned first, end;
static struct chance chance;
/* The functions of the device's driver. */
static struct ibv_context_ops driver;

static void stop(const char *what)
{
    fprintf(stderr, "late_device.c: %s\n", what);
    abort();
}

static sigset_t enter(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&lock);
    return before;
}

static void leave(sigset_t before)
{
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static struct timespec in_timespec(uint64_t ns)
{
    struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

    return t;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Passing on, with the lock ---- */

/*
 * The queue has room for what is held, because the provider counts its entries. If only the doorbell fails, no bad
 * request is returned: the device has the request, or is gone.
 */
static void pass_on(struct held *h)
{
    struct ibv_send_wr *bad_send = NULL;
    struct ibv_recv_wr *bad_recv = NULL;

    if (h->is_send)
        (void)driver.post_send(h->qp, &h->send, &bad_send);
    else if (driver.post_recv(h->qp, &h->recv, &bad_recv) != 0)
        bad_recv = &h->recv;
    if (bad_send != NULL || bad_recv != NULL)
        stop("the device rejects what it was late for");
}

static void pass_on_all(void)
{
    for (; first != end; first++)
        pass_on(&places[first % PLACES]);
}

static void *pass_on_in_time(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        if (first == end) {
            pthread_cond_wait(&changed, &lock);
        } else if (places[first % PLACES].due > now()) {
            struct timespec due = in_timespec(places[first % PLACES].due);

            pthread_cond_timedwait(&changed, &lock, &due);
        } else {
            pass_on(&places[first++ % PLACES]);
            late_counts.later++;
        }
    }
    return unused;
}

static void start_thread(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    /* The program's signals must not reach the thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_thread = pthread_create(&thread, &attr, pass_on_in_time, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

/* ---- Posts ---- */

/* Holds the first entry's place until `due`. Returns NULL if there is none, or no thread that passes it on. */
static struct held *hold(struct ibv_qp *qp, const struct ibv_sge *list, int count)
{
    struct held *h = &places[end % PLACES];
    uint64_t most = draw(&chance, 64) == 0 ? 20000 * US : 1000 * US;

    if (!has_thread || end - first == PLACES || count > SEGMENTS)
        return NULL;
    h->qp = qp;
    h->due = now() + draw(&chance, (unsigned)most);
    if (count > 0)
        memcpy(h->segments, list, (size_t)count * sizeof *list);
    return h;
}

static void held(void)
{
    end++;
    pthread_cond_signal(&changed);
}

static bool copy_inline(struct held *h, size_t count)
{
    size_t length = 0;

    for (size_t i = 0; i < count; i++) {
        size_t n = h->segments[i].length;

        if (n > INLINE - length)
            return false;
        memcpy(h->bytes + length, (void *)(uintptr_t)h->segments[i].addr, n);
        h->segments[i].addr = (uintptr_t)h->bytes + length;
        length += n;
    }
    late_counts.copied++;
    return true;
}

static bool hold_send(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
    struct held *h = wr->next == NULL ? hold(qp, wr->sg_list, wr->num_sge) : NULL;

    if (h == NULL || ((wr->send_flags & IBV_SEND_INLINE) && !copy_inline(h, (size_t)wr->num_sge)))
        return false;
    h->is_send = true;
    h->send = *wr;
    h->send.sg_list = h->segments;
    held();
    return true;
}

static bool hold_recv(struct ibv_qp *qp, const struct ibv_recv_wr *wr)
{
    struct held *h = wr->next == NULL ? hold(qp, wr->sg_list, wr->num_sge) : NULL;

    if (h == NULL)
        return false;
    h->is_send = false;
    h->recv = *wr;
    h->recv.sg_list = h->segments;
    held();
    return true;
}

/* Returns whether to hold a post, or how long a call that does not hold it lasts, in ns. */
static bool draw_hold(unsigned *pause)
{
    unsigned kind = draw(&chance, 4);

    *pause = kind == 0 ? 1 + draw(&chance, 300 * US) : 0;
    return kind > 1;
}

/* Ends a call after a pause. It is no cancellation point, and keeps errno. */
static int leave_after(sigset_t before, unsigned pause, int result)
{
    int error = errno;

    if (pause > 0)
        late_counts.before++;
    else
        late_counts.during++;
    leave(before);
    if (pause > 0) {
        struct timespec t = in_timespec(pause);

        syscall(SYS_nanosleep, &t, NULL);
    }
    errno = error;
    return result;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    sigset_t before = enter();
    unsigned pause;

    if (draw_hold(&pause) && hold_send(qp, wr)) {
        leave(before);
        return 0;
    }
    pass_on_all();
    return leave_after(before, pause, driver.post_send(qp, wr, bad));
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    sigset_t before = enter();
    unsigned pause;
    bool late = draw_hold(&pause) && qp->qp_type == IBV_QPT_RC &&
                qp->context->device->transport_type != IBV_TRANSPORT_IWARP;

    if (late && hold_recv(qp, wr)) {
        leave(before);
        return 0;
    }
    pass_on_all();
    return leave_after(before, pause, driver.post_recv(qp, wr, bad));
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    sigset_t before = enter();
    unsigned pause;

    (void)draw_hold(&pause);
    pass_on_all();
    return leave_after(before, pause, driver.post_srq_recv(srq, wr, bad));
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    sigset_t before = enter();

    pass_on_all();
    return leave_after(before, 0, driver.bind_mw(qp, mw, bind));
}

/* ---- Ends of objects that a held request can need ---- */

static bool needs_handle(const struct held *h, const void *handle)
{
    return h->qp->qp_type == IBV_QPT_UD && h->send.wr.ud.ah == handle;
}

static bool needs_window(const struct held *h, const void *window)
{
    return h->send.opcode == IBV_WR_BIND_MW && h->send.bind_mw.mw == window;
}

static void must_be_free(bool (*needs)(const struct held *, const void *), const void *object, const char *what)
{
    sigset_t before = enter();

    for (unsigned i = first; i != end; i++)
        if (places[i % PLACES].is_send && needs(&places[i % PLACES], object))
            stop(what);
    leave(before);
}

static int dealloc_mw(struct ibv_mw *mw)
{
    must_be_free(needs_window, mw, "a window ends before its bind has completed");
    return driver.dealloc_mw(mw);
}

/* ---- Functions of libibverbs ---- */

/* A program can load libibverbs later than this library, and not for all. */
static void *theirs(const char *name)
{
    void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = library != NULL ? dlsym(library, name) : NULL;

    if (function == NULL)
        stop(name);
    return function;
}

/* Calls a function of libibverbs. */
#define THEIRS(name, ...)                                        \
    __extension__({                                              \
        static __typeof__(&name) function;                       \
                                                                 \
        if (function == NULL)                                    \
            function = (__typeof__(&name))theirs(#name);         \
        function(__VA_ARGS__);                                   \
    })

static sigset_t around_fork;

static void before_fork(void)
{
    around_fork = enter();
}

static void after_fork(void)
{
    leave(around_fork);
}

/* The child has neither the thread nor the queues of its parent. */
static void in_child(void)
{
    first = end;
    has_thread = false;
    pthread_cond_init(&changed, NULL);
    leave(around_fork);
}

static void start(void)
{
    const char *seed = getenv("DAT_TEST_LATE");

    chance_begin(&chance, seed != NULL ? strtoull(seed, NULL, 10) : 0);
    pthread_atfork(before_fork, after_fork, in_child);
}

/* Without the lock: the caller can hold a lock that is taken before each fork. */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct ibv_context *context = THEIRS(ibv_open_device, device);

    pthread_once(&once, start);
    if (context == NULL)
        return NULL;
    if (driver.post_send == NULL)
        driver = context->ops;
    /* A device with another driver is not late. */
    if (context->ops.post_send != driver.post_send)
        return context;
    if (!has_thread)
        start_thread();
    context->ops.post_send = post_send;
    context->ops.post_recv = post_recv;
    context->ops.post_srq_recv = post_srq_recv;
    context->ops.bind_mw = bind_mw;
    context->ops.dealloc_mw = dealloc_mw;
    return context;
}

static void pass_on_now(void)
{
    sigset_t before = enter();

    pass_on_all();
    leave(before);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    pass_on_now();
    return THEIRS(ibv_modify_qp, qp, attr, mask);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    pass_on_now();
    return THEIRS(ibv_destroy_qp, qp);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    pass_on_now();
    return THEIRS(ibv_modify_srq, srq, attr, mask);
}

int ibv_destroy_ah(struct ibv_ah *handle)
{
    must_be_free(needs_handle, handle, "an address handle ends before its datagrams are sent");
    return THEIRS(ibv_destroy_ah, handle);
}
