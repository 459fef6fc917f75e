/* faulty.c - see faulty.h. */
#define _GNU_SOURCE
#include "faulty.h"

#include "common/env.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#undef ibv_reg_mr

static struct faults *now;

void faulty_use(struct faults *f)
{
    now = f;
}

void faulty_reject(const char *name, int last, int passes)
{
    memset(now, 0, sizeof *now);
    now->kind = faulty_kind(name);
    now->nth = 1;
    now->last = last;
    now->passes = passes;
    now->error = ENOMEM;
    now->armed = 1;
}

/* ---- Kinds of calls ---- */

/* All system calls precede the library calls. */
#define SYSTEM_CALLS(X)                                                                                      \
    X(write) X(ioctl) X(openat) X(mmap) X(eventfd2) X(poll) X(ppoll) X(epoll_create1) X(epoll_ctl)           \
    X(epoll_wait) X(epoll_pwait) X(clone) X(clone3) X(socket) X(fcntl) X(read) X(mprotect) X(madvise)        \
    X(sendto) X(recvmsg) X(sendmsg)

#define LIBRARY_CALLS(X)                                                                                     \
    X(ibv_get_device_list) X(ibv_open_device) X(ibv_query_device) X(ibv_create_comp_channel) X(ibv_alloc_pd) \
    X(ibv_reg_mr) X(ibv_create_cq) X(ibv_resize_cq) X(ibv_create_srq) X(ibv_modify_srq) X(ibv_create_qp)     \
    X(ibv_modify_qp) X(ibv_dereg_mr) X(ibv_dealloc_pd) X(ibv_destroy_cq) X(ibv_destroy_srq)                  \
    X(ibv_destroy_qp) X(ibv_destroy_comp_channel) X(ibv_get_cq_event) X(ibv_get_async_event)                 \
    X(rdma_create_event_channel) X(rdma_create_id) X(rdma_destroy_id) X(rdma_bind_addr) X(rdma_listen)       \
    X(rdma_resolve_addr) X(rdma_resolve_route) X(rdma_init_qp_attr) X(rdma_connect) X(rdma_establish)        \
    X(rdma_accept) X(rdma_reject) X(rdma_disconnect) X(rdma_get_cm_event)                                    \
    X(post_send) X(post_recv) X(post_srq_recv) X(poll_cq) X(req_notify_cq)

#define KIND(name) KIND_##name,
enum kind { SYSTEM_CALLS(KIND) FIRST_LIBRARY_CALL, BEFORE = FIRST_LIBRARY_CALL - 1, LIBRARY_CALLS(KIND) KINDS };
#undef KIND

int faulty_kinds(void)
{
    return KINDS;
}

const char *faulty_name(int kind)
{
#define NAME(name) #name,
    static const char *const names[] = { SYSTEM_CALLS(NAME) LIBRARY_CALLS(NAME) };
#undef NAME

    return names[kind];
}

int faulty_kind(const char *name)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(faulty_name(kind), name) == 0)
            return kind;
    return -1;
}

bool faulty_is_system_call(int kind)
{
    return kind < FIRST_LIBRARY_CALL;
}

bool faulty_is_post(int kind)
{
    return kind == KIND_post_send || kind == KIND_post_recv || kind == KIND_post_srq_recv;
}

bool faulty_is_polled(int kind)
{
    return kind == KIND_poll_cq || kind == KIND_ibv_get_cq_event || kind == KIND_ibv_get_async_event ||
           kind == KIND_rdma_get_cm_event || kind == KIND_openat || kind == KIND_read || kind == KIND_poll || kind == KIND_ppoll;
}

bool faulty_is_restarted(int kind)
{
    return kind == KIND_write || kind == KIND_ioctl || kind == KIND_ppoll;
}

/* Counts a call. Returns whether it must fail; then errno is set. */
static bool fails(int kind, pid_t thread)
{
    int n;

    if (now == NULL || !__atomic_load_n(&now->armed, __ATOMIC_ACQUIRE))
        return false;
    n = __atomic_add_fetch(&now->calls[kind], 1, __ATOMIC_ACQ_REL);
    if (kind < FIRST_LIBRARY_CALL && __atomic_load_n(&now->spared, __ATOMIC_ACQUIRE) > 0)
        return false;
    if (kind != now->kind || n < now->nth || (n > now->nth && n > now->last) || n == now->passes)
        return false;
    now->by_main = thread == now->main;
    __atomic_store_n(&now->fired, 1, __ATOMIC_RELEASE);
    errno = now->error;
    return true;
}

/* Returns whether code belongs to the provider. It may not, because librdmacm calls some of these functions, too. */
static bool is_provider(const void *code)
{
    Dl_info from;

    return dladdr(code, &from) != 0 && strstr(from.dli_fname, "libdapl") != NULL;
}

/* Returns whether the enclosing function must fail. */
#define BREAKS(kind) breaks(kind, __builtin_return_address(0))

static bool breaks(int kind, const void *caller)
{
    if (!fails(kind, (pid_t)syscall(SYS_gettid)))
        return false;
    now->by_provider = is_provider(caller);
    return true;
}

/* ---- Objects ---- */

enum object { CONTEXT, CHANNEL, PD, MR, CQ, SRQ, QP, EVENTS, ID, OBJECTS };

const char *faulty_object(int object)
{
    static const char *const names[] = { "contexts", "completion channels", "zones", "regions", "completion queues",
                                         "shared receive queues", "queue pairs", "event channels", "identifiers" };

    return object < OBJECTS ? names[object] : NULL;
}

/* Counts objects of the provider, but not librdmacm's own. */
static void count(enum object object, int change, void *caller)
{
    if (now != NULL && is_provider(caller))
        __atomic_fetch_add(&now->alive[object], change, __ATOMIC_ACQ_REL);
}

/* ---- The functions of the libraries ---- */

#define REAL(name, ...) (*(__typeof__(name) **)real(#name, &(void *){ NULL }))(__VA_ARGS__)

static void **real(const char *name, void **place)
{
    *place = dlsym(RTLD_NEXT, name);
    if (*place == NULL)
        abort();
    return place;
}

/* Defines a function that creates an object or returns NULL. */
#define MAKES(type, name, object, declared, passed) \
    type *name declared                             \
    {                                               \
        type *made;                                 \
                                                    \
        if (BREAKS(KIND_##name))                    \
            return NULL;                            \
        made = REAL(name, UNPACK passed);           \
        if (made != NULL)                           \
            count(object, 1, __builtin_return_address(0));                       \
        return made;                                \
    }
#define UNPACK(...) __VA_ARGS__

/* Defines a function that returns 0 or an error number. */
#define ANSWERS(name, declared, passed)   \
    int name declared                     \
    {                                     \
        if (BREAKS(KIND_##name))          \
            return errno;                 \
        return REAL(name, UNPACK passed); \
    }

/* Defines a function that returns 0, or -1 with errno. */
#define SETS_ERRNO(name, declared, passed) \
    int name declared                      \
    {                                      \
        if (BREAKS(KIND_##name))           \
            return -1;                     \
        return REAL(name, UNPACK passed);  \
    }

/* Defines a function that destroys an object, and returns `failed` if it must fail. */
#define ENDS(name, object, failed, declared, passed) \
    int name declared                                \
    {                                                \
        int answer;                                  \
                                                     \
        if (BREAKS(KIND_##name))                     \
            return failed;                           \
        answer = REAL(name, UNPACK passed);          \
        if (answer == 0)                             \
            count(object, -1, __builtin_return_address(0));                       \
        return answer;                               \
    }

struct ibv_device **ibv_get_device_list(int *n)
{
    return BREAKS(KIND_ibv_get_device_list) ? NULL : REAL(ibv_get_device_list, n);
}

/* Functions that verbs.h calls through the context. */
static struct ibv_context_ops before;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (BREAKS(KIND_post_send)) {
        *bad = wr;
        return errno;
    }
    return before.post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (BREAKS(KIND_post_recv)) {
        *bad = wr;
        return errno;
    }
    return before.post_recv(qp, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (BREAKS(KIND_post_srq_recv)) {
        *bad = wr;
        return errno;
    }
    return before.post_srq_recv(srq, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    return BREAKS(KIND_poll_cq) ? -errno : before.poll_cq(cq, n, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    return BREAKS(KIND_req_notify_cq) ? errno : before.req_notify_cq(cq, solicited);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *context;

    if (BREAKS(KIND_ibv_open_device))
        return NULL;
    context = REAL(ibv_open_device, device);
    if (context != NULL) {
        count(CONTEXT, 1, __builtin_return_address(0));
        before = context->ops;
        context->ops.post_send = post_send;
        context->ops.post_recv = post_recv;
        context->ops.post_srq_recv = post_srq_recv;
        context->ops.poll_cq = poll_cq;
        context->ops.req_notify_cq = req_notify_cq;
    }
    return context;
}

/*
 * Soft-RoCE's library unmaps a queue before it maps the longer one. If mmap fails, the next use of the queue crashes the
 * process. So no system call fails in these functions.
 */
#define SPARES(name, declared, passed)                                  \
    int name declared                                                   \
    {                                                                   \
        int answer;                                                     \
                                                                        \
        if (BREAKS(KIND_##name))                                        \
            return errno;                                               \
        if (now != NULL)                                                \
            __atomic_fetch_add(&now->spared, 1, __ATOMIC_ACQ_REL);      \
        answer = REAL(name, UNPACK passed);                             \
        if (now != NULL)                                                \
            __atomic_fetch_sub(&now->spared, 1, __ATOMIC_ACQ_REL);      \
        return answer;                                                  \
    }

SPARES(ibv_resize_cq, (struct ibv_cq *cq, int n), (cq, n))
SPARES(ibv_modify_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), (srq, attr, mask))

bool faulty_lost_device(void)
{
    int count = 0;
    struct ibv_device **list = REAL(ibv_get_device_list, &count);

    if (list != NULL)
        ibv_free_device_list(list);
    return count == 0;
}

int ibv_close_device(struct ibv_context *context)
{
    count(CONTEXT, -1, __builtin_return_address(0));
    return REAL(ibv_close_device, context);
}

MAKES(struct ibv_comp_channel, ibv_create_comp_channel, CHANNEL, (struct ibv_context *c), (c))
MAKES(struct ibv_pd, ibv_alloc_pd, PD, (struct ibv_context *c), (c))
MAKES(struct ibv_mr, ibv_reg_mr, MR, (struct ibv_pd *pd, void *addr, size_t n, int access), (pd, addr, n, access))
MAKES(struct ibv_cq, ibv_create_cq, CQ, (struct ibv_context *c, int n, void *cookie, struct ibv_comp_channel *ch, int v),
      (c, n, cookie, ch, v))
MAKES(struct ibv_srq, ibv_create_srq, SRQ, (struct ibv_pd *pd, struct ibv_srq_init_attr *init), (pd, init))
MAKES(struct ibv_qp, ibv_create_qp, QP, (struct ibv_pd *pd, struct ibv_qp_init_attr *init), (pd, init))
ANSWERS(ibv_query_device, (struct ibv_context *c, struct ibv_device_attr *attr), (c, attr))
ANSWERS(ibv_modify_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), (qp, attr, mask))
SETS_ERRNO(ibv_get_cq_event, (struct ibv_comp_channel *ch, struct ibv_cq **cq, void **cookie), (ch, cq, cookie))
SETS_ERRNO(ibv_get_async_event, (struct ibv_context *c, struct ibv_async_event *e), (c, e))
ENDS(ibv_dereg_mr, MR, errno, (struct ibv_mr *mr), (mr))
ENDS(ibv_dealloc_pd, PD, errno, (struct ibv_pd *pd), (pd))
ENDS(ibv_destroy_cq, CQ, errno, (struct ibv_cq *cq), (cq))
ENDS(ibv_destroy_srq, SRQ, errno, (struct ibv_srq *srq), (srq))
ENDS(ibv_destroy_qp, QP, errno, (struct ibv_qp *qp), (qp))
ENDS(ibv_destroy_comp_channel, CHANNEL, errno, (struct ibv_comp_channel *ch), (ch))
MAKES(struct rdma_event_channel, rdma_create_event_channel, EVENTS, (void), ())
ENDS(rdma_destroy_id, ID, -1, (struct rdma_cm_id *id), (id))
SETS_ERRNO(rdma_bind_addr, (struct rdma_cm_id *id, struct sockaddr *a), (id, a))
SETS_ERRNO(rdma_listen, (struct rdma_cm_id *id, int n), (id, n))
SETS_ERRNO(rdma_resolve_addr, (struct rdma_cm_id *id, struct sockaddr *a, struct sockaddr *b, int ms), (id, a, b, ms))
SETS_ERRNO(rdma_resolve_route, (struct rdma_cm_id *id, int ms), (id, ms))
SETS_ERRNO(rdma_init_qp_attr, (struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask), (id, attr, mask))
SETS_ERRNO(rdma_connect, (struct rdma_cm_id *id, struct rdma_conn_param *p), (id, p))
SETS_ERRNO(rdma_establish, (struct rdma_cm_id *id), (id))
SETS_ERRNO(rdma_accept, (struct rdma_cm_id *id, struct rdma_conn_param *p), (id, p))
SETS_ERRNO(rdma_reject, (struct rdma_cm_id *id, const void *data, uint8_t n), (id, data, n))
SETS_ERRNO(rdma_disconnect, (struct rdma_cm_id *id), (id))

int rdma_create_id(struct rdma_event_channel *ch, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
    int answer;

    if (BREAKS(KIND_rdma_create_id))
        return -1;
    answer = REAL(rdma_create_id, ch, id, context, ps);
    if (answer == 0)
        count(ID, 1, __builtin_return_address(0));
    return answer;
}

int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **event)
{
    int answer;

    if (BREAKS(KIND_rdma_get_cm_event))
        return -1;
    answer = REAL(rdma_get_cm_event, ch, event);
    if (answer == 0 && (*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        count(ID, 1, __builtin_return_address(0));
    return answer;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ch)
{
    count(EVENTS, -1, __builtin_return_address(0));
    REAL(rdma_destroy_event_channel, ch);
}

/* ---- System calls ---- */

static const int numbers[] = {
#define NUMBER(name) SYS_##name,
    SYSTEM_CALLS(NUMBER)
#undef NUMBER
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

int faulty_hold(int kind)
{
    struct sock_filter filter[NUMBERS + 4];
    struct sock_fprog program;
    int first = kind < 0 ? 0 : kind, n = kind < 0 ? NUMBERS : 1;
    size_t at = 0;

    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < n; i++)
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[first + i],
                                                    (unsigned char)(n - i), 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    program.len = (unsigned short)at;
    program.filter = filter;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

void faulty_decide(int listener, pid_t child, uint64_t until)
{
    while (now_ms() < until) {
        struct seccomp_notif asked;
        struct seccomp_notif_resp answer;
        struct pollfd p = { listener, POLLIN, 0 };
        int kind = 0;

        if (poll(&p, 1, 200) == 0) {
            siginfo_t ended;

            memset(&ended, 0, sizeof ended);
            if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
                return;
            continue;
        }
        if ((p.revents & POLLIN) == 0)
            return;
        memset(&asked, 0, sizeof asked);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            continue;
        while (kind < NUMBERS && numbers[kind] != asked.data.nr)
            kind++;
        memset(&answer, 0, sizeof answer);
        answer.id = asked.id;
        if (kind < NUMBERS && fails(kind, (pid_t)asked.pid))
            answer.error = -now->error;
        else
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}
