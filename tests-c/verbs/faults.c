/*
 * faults.c - a program creates every object, connects, moves data and closes. In each run one of its system calls or
 * calls of the RDMA libraries fails. It must not crash, hang or leak, and then everything must work.
 *
 *   DAT_TEST_LONG=1      Tests every call with every error. Each process loads the drivers itself.
 *   DAT_TEST_SECONDS=N   Tests as many calls as this time allows, each with one error (40, or 15 with few repetitions).
 *   DAT_TEST_SEED=N      Selects the calls and errors.
 *   DAT_TEST_FAULT=NAME  Tests only calls of this name.
 */
#define _GNU_SOURCE
#include "adapters.h"
#include "faulty.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 65536, SHORT_MS = 1500, BUDGET_MS = 40000, QUICK_MS = 15000, POSITION_MS = 1200 };

/* ---- The other process: accepts connections in turn, and returns each message ---- */

struct card {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

static void echo(struct fx *fx, DAT_CR_HANDLE cr)
{
    struct side s;
    struct region r;
    DAT_EVENT e;

    side_make(&s, fx, NULL);
    region_make(fx, &r, SIZE, MEM_LOCAL);
    must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    /* The caller may have exited. */
    if (dat_cr_accept(cr, s.ep, 0, NULL) == DAT_SUCCESS) {
        if (wait_event_ms(s.conn, SOON_MS, &e) && e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
            /* Return messages until the connection ends. */
            while (dat_evd_dequeue(s.conn, &e) != DAT_SUCCESS) {
                if (dat_evd_dequeue(s.recv, &e) != DAT_SUCCESS) {
                    breathe();
                    continue;
                }
                if (e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS)
                    post_send(&s, &r, 0, (size_t)e.event_data.dto_completion_event_data.transfered_length, 2);
            }
    }
    side_free(&s);
    region_free(&r);
}

static int partner(struct link *up)
{
    struct card card;
    struct fx fx;
    DAT_EVENT e;
    DAT_COUNT more;

    fx_open(&fx);
    memset(&card, 0, sizeof card);
    fx_listen(&fx, &card.qual);
    card.address = fx.address;
    must(LINK_SEND(up, card), "the other process is gone");
    for (;;)
        if (dat_evd_wait(fx.cr, DAT_TIMEOUT_INFINITE, 1, &e, &more) == DAT_SUCCESS)
            echo(&fx, e.event_data.cr_arrival_event_data.cr_handle);
    return 1; /* not reached */
}

/* ---- The program with the failures ---- */

/* Shared by the test and the victim. */
struct report {
    struct faults faults;
    struct card card;
    char wrong[256];    /* violation of a rule, or empty */
    int failed;         /* number of calls with an error */
    char first[96];     /* the first of these calls */
    bool hidden, again; /* all calls succeeded: in the first round; in the second round */
    bool lost;          /* libibverbs no longer has a device */
    bool done, decided;
    int listener;
    int descriptors[2]; /* after the first and the last round */
    char open[600];     /* list of the descriptors after the last round */
    int alive[2][OBJECTS_MAX];
    long heap[2];
};

static struct report *report;

static void wrong(const char *what, DAT_RETURN rc)
{
    if (report->wrong[0] == '\0')
        snprintf(report->wrong, sizeof report->wrong, "%s: %s", what, rc == DAT_SUCCESS ? "wrong" : rc_text(rc));
}

static bool round_good;

/* Records the result of a call, which must be success or an error of the interface. */
static bool good(DAT_RETURN rc, const char *what)
{
    DAT_UINT32 type = DAT_GET_TYPE(rc);

    if (rc == DAT_SUCCESS)
        return true;
    if ((rc & DAT_CLASS_ERROR) == 0 && type != DAT_TIMEOUT_EXPIRED && type != DAT_QUEUE_EMPTY)
        wrong(what, rc);
    if (round_good) {
        round_good = false;
        if (report->first[0] == '\0')
            snprintf(report->first, sizeof report->first, "%s: %s", what, rc_text(rc));
    }
    report->failed++;
    return false;
}

#define CALL(call) good((call), #call)

/* Frees an object. The free may fail while the fault is active, but must succeed within three tries. */
static void freed(DAT_RETURN (*free_it)(DAT_HANDLE), DAT_HANDLE *handle, const char *what)
{
    DAT_RETURN rc = DAT_SUCCESS;

    if (*handle == DAT_HANDLE_NULL)
        return;
    for (int i = 0; i < 3 && (rc = free_it(*handle)) != DAT_SUCCESS; i++)
        good(rc, what);
    if (rc != DAT_SUCCESS)
        wrong(what, rc);
    *handle = DAT_HANDLE_NULL;
}

#define FREE(fn, handle) freed((DAT_RETURN(*)(DAT_HANDLE))(fn), (DAT_HANDLE *)&(handle), #fn)

struct end {
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE recv, req, conn;
    int sent, received; /* successful posts, minus completions */
    bool up, over;
};

struct world {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, cr;
    DAT_CNO_HANDLE cno;
    DAT_PZ_HANDLE pz;
    DAT_LMR_HANDLE lmr;
    DAT_RMR_HANDLE rmr;
    DAT_COUNT read_iov;
    DAT_SRQ_HANDLE srq;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    DAT_LMR_CONTEXT key;
    DAT_RMR_CONTEXT remote;
    struct sockaddr_storage address;
    struct end end[3]; /* 0 connects to 1, which has the SRQ; 2 connects to the other process */
    unsigned char *memory;
};

static void end_make(struct world *w, struct end *end, DAT_SRQ_HANDLE srq)
{
    DAT_EP_ATTR attr;
    DAT_EP_PARAM param;

    attr_default(&attr);
    if (w->read_iov < attr.max_rdma_read_iov)
        attr.max_rdma_read_iov = w->read_iov;
    CALL(dat_evd_create(w->ia, 16, w->cno, DAT_EVD_DTO_FLAG, &end->recv));
    CALL(dat_evd_create(w->ia, 16, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &end->req));
    CALL(dat_evd_create(w->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &end->conn));
    if (end->recv == NULL || end->req == NULL || end->conn == NULL)
        return;
    if (srq != NULL)
        CALL(dat_ep_create_with_srq(w->ia, w->pz, end->recv, end->req, end->conn, srq, &attr, &end->ep));
    else
        CALL(dat_ep_create(w->ia, w->pz, end->recv, end->req, end->conn, &attr, &end->ep));
    if (end->ep == NULL)
        return;
    CALL(dat_evd_resize(end->req, 64));
    memset(&param, 0, sizeof param);
    param.ep_attr.max_request_dtos = attr.max_request_dtos + 2;
    CALL(dat_ep_modify(end->ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param));
}

static void take(struct world *w)
{
    for (int i = 0; i < 3; i++) {
        struct end *end = &w->end[i];
        DAT_EVENT e;

        while (end->conn != NULL && dat_evd_dequeue(end->conn, &e) == DAT_SUCCESS) {
            if (e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
                end->up = true;
            } else {
                end->up = false;
                end->over = true;
            }
        }
        while (end->req != NULL && dat_evd_dequeue(end->req, &e) == DAT_SUCCESS)
            if (--end->sent < 0)
                wrong("a completion of no request", DAT_SUCCESS);
        while (end->recv != NULL && dat_evd_dequeue(end->recv, &e) == DAT_SUCCESS)
            --end->received;
    }
}

static DAT_LMR_TRIPLET local(struct world *w, size_t at, size_t n)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.virtual_address = (DAT_VADDR)(uintptr_t)w->memory + at;
    t.segment_length = n;
    t.lmr_context = w->key;
    return t;
}

/* Timeout in ms; shorter if a fault may prevent the event. */
static int timeout_ms = SHORT_MS;

static void receive(struct world *w, struct end *end)
{
    DAT_LMR_TRIPLET t = local(w, SIZE / 2, 256);

    if (end->ep != NULL && CALL(dat_ep_post_recv(end->ep, 1, &t, cookie(9), DAT_COMPLETION_DEFAULT_FLAG)))
        end->received++;
}

static void transfers(struct world *w, struct end *end)
{
    DAT_LMR_TRIPLET t = local(w, 0, 256);
    DAT_RMR_TRIPLET far;

    memset(&far, 0, sizeof far);
    far.target_address = (DAT_VADDR)(uintptr_t)w->memory + SIZE / 4;
    far.segment_length = 256;
    far.rmr_context = w->remote;
    if (CALL(dat_ep_post_send(end->ep, 1, &t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG)))
        end->sent++;
    if (end == &w->end[2])
        return;
    if (CALL(dat_ep_post_rdma_write(end->ep, 1, &t, cookie(2), &far, DAT_COMPLETION_DEFAULT_FLAG)))
        end->sent++;
    if (CALL(dat_ep_post_rdma_read(end->ep, 1, &t, cookie(3), &far, DAT_COMPLETION_DEFAULT_FLAG)))
        end->sent++;
}

/* Connects all three ends, if possible. */
static void connect_all(struct world *w)
{
    uint64_t end = now_ms() + env_ms(timeout_ms) + 500;
    DAT_TIMEOUT limit = env_us(timeout_ms);
    bool asked = false, calls = false;
    DAT_EVENT e;

    if (w->end[0].ep != NULL && w->psp != NULL)
        asked = CALL(dat_ep_connect(w->end[0].ep, (DAT_IA_ADDRESS_PTR)&w->address, w->qual, limit, 0, NULL,
                                    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    if (w->end[2].ep != NULL)
        calls = CALL(dat_ep_connect(w->end[2].ep, (DAT_IA_ADDRESS_PTR)&report->card.address, report->card.qual, limit,
                                    0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    while (now_ms() < end) {
        bool first = !asked || w->end[0].over || (w->end[0].up && w->end[1].up);
        bool third = !calls || w->end[2].over || w->end[2].up;

        if (first && third)
            break;
        if (dat_evd_dequeue(w->cr, &e) == DAT_SUCCESS) {
            DAT_CR_HANDLE cr = e.event_data.cr_arrival_event_data.cr_handle;

            if (w->end[1].ep == NULL || !CALL(dat_cr_accept(cr, w->end[1].ep, 0, NULL))) {
                CALL(dat_cr_reject(cr));
                asked = false;
            }
        }
        take(w);
        breathe();
    }
    if (!w->end[0].up || !w->end[1].up || !w->end[2].up) {
        char what[64];

        snprintf(what, sizeof what, "connecting (%d%d%d up, %d%d%d over)", w->end[0].up, w->end[1].up, w->end[2].up,
                 w->end[0].over, w->end[1].over, w->end[2].over);
        good(DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED, what);
    }
}

static void move_data(struct world *w)
{
    uint64_t end;
    DAT_EVENT e;
    DAT_COUNT more;
    DAT_EVD_HANDLE which;

    if (w->end[0].up)
        transfers(w, &w->end[0]);
    if (w->end[2].up)
        transfers(w, &w->end[2]);
    /* Sleeps until the other process has replied. */
    if (w->end[2].up && w->cno != NULL)
        dat_cno_wait(w->cno, env_us(timeout_ms), &which);
    if (w->end[2].up && w->end[2].recv != NULL &&
        CALL(dat_evd_wait(w->end[2].recv, env_us(timeout_ms), 1, &e, &more)))
        w->end[2].received--;
    end = now_ms() + env_ms(timeout_ms);
    while (now_ms() < end && (w->end[0].sent > 0 || w->end[2].sent > 0)) {
        take(w);
        breathe();
    }
    if (w->end[0].sent > 0 || w->end[2].sent > 0)
        good(DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED, "transfers");
}

static void disconnect_all(struct world *w)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    for (int i = 0; i < 3; i++)
        if (w->end[i].up && i != 1)
            CALL(dat_ep_disconnect(w->end[i].ep, i == 0 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG));
    for (;;) {
        bool all = true;

        take(w);
        for (int i = 0; i < 3; i++)
            all &= !w->end[i].up || w->end[i].over;
        if (all)
            break;
        if (now_ms() > end) {
            /* The first disconnect failed. */
            for (int i = 0; i < 3; i++)
                if (w->end[i].up && dat_ep_disconnect(w->end[i].ep, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
                    wrong("a connection does not end", DAT_SUCCESS);
            break;
        }
        breathe();
    }
    take(w);
    /* All work of a closed connection has completed. */
    for (int i = 0; i < 3; i++)
        if (w->end[i].over && (w->end[i].sent != 0 || (i != 1 && w->end[i].received != 0)))
            wrong("work of a connection that is over has not completed", DAT_SUCCESS);
}

/* Runs one round. Returns whether every call succeeded. */
static bool live(void)
{
    static unsigned char *memory;
    struct world w;
    DAT_REGION_DESCRIPTION where;
    DAT_VLEN length;
    DAT_VADDR address;
    DAT_SRQ_ATTR attr = { 4, 1, 0 };
    DAT_IA_ATTR ia;

    if (memory == NULL)
        must(posix_memalign((void **)&memory, 4096, SIZE) == 0, "no memory");
    round_good = true;
    memset(&w, 0, sizeof w);
    memset(&ia, 0, sizeof ia);
    w.memory = memory;
    if (!CALL(dat_ia_open(env_ia(), 8, &w.async, &w.ia)))
        return false;
    if (CALL(dat_ia_query(w.ia, NULL, DAT_IA_ALL, &ia, 0, NULL)))
        memcpy(&w.address, ia.ia_address_ptr, sizeof(struct sockaddr_in));
    w.read_iov = ia.max_iov_segments_per_rdma_read;
    CALL(dat_pz_create(w.ia, &w.pz));
    CALL(dat_cno_create(w.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &w.cno));
    CALL(dat_evd_create(w.ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &w.cr));
    where.for_va = memory;
    if (w.pz != NULL) {
        CALL(dat_lmr_create(w.ia, DAT_MEM_TYPE_VIRTUAL, where, SIZE, w.pz, DAT_MEM_PRIV_ALL_FLAG, &w.lmr, &w.key,
                            &w.remote, &length, &address));
        if (ia.max_rmrs > 0)
            CALL(dat_rmr_create(w.pz, &w.rmr));
        CALL(dat_srq_create(w.ia, w.pz, &attr, &w.srq));
    }
    for (int i = 0; i < 3; i++)
        if (w.pz != NULL && (i != 1 || w.srq != NULL))
            end_make(&w, &w.end[i], i == 1 ? w.srq : NULL);
    if (w.srq != NULL && w.lmr != NULL) {
        CALL(dat_srq_resize(w.srq, 12));
        CALL(dat_srq_set_lw(w.srq, 1));
        for (int i = 0; i < 6; i++) {
            DAT_LMR_TRIPLET t = local(&w, 1024 * (size_t)i, 256);

            CALL(dat_srq_post_recv(w.srq, 1, &t, cookie(5)));
        }
    }
    if (w.cr != NULL)
        CALL(dat_psp_create_any(w.ia, &w.qual, w.cr, DAT_PSP_CONSUMER_FLAG, &w.psp));
    if (w.lmr != NULL) {
        receive(&w, &w.end[0]);
        receive(&w, &w.end[2]);
        if (w.cr != NULL)
            connect_all(&w);
        move_data(&w);
        disconnect_all(&w);
    }
    for (int i = 0; i < 3; i++) {
        FREE(dat_ep_free, w.end[i].ep);
        FREE(dat_evd_free, w.end[i].recv);
        FREE(dat_evd_free, w.end[i].req);
        FREE(dat_evd_free, w.end[i].conn);
    }
    FREE(dat_psp_free, w.psp);
    FREE(dat_srq_free, w.srq);
    FREE(dat_rmr_free, w.rmr);
    FREE(dat_lmr_free, w.lmr);
    if (round_good) {
        /* After a failure, pending connection requests may prevent these frees. */
        FREE(dat_evd_free, w.cr);
        FREE(dat_cno_free, w.cno);
        FREE(dat_pz_free, w.pz);
    }
    for (int i = 0; i < 3; i++) {
        if (CALL(dat_ia_close(w.ia, i == 0 && round_good ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG)))
            return round_good;
    }
    wrong("dat_ia_close", DAT_SUCCESS);
    return false;
}

/*
 * Lists the open descriptors, and counts all except two kinds. librdmacm creates a channel and an identifier when it
 * initialises, and leaks both if it cannot destroy the identifier. A thread keeps an eventfd after its first sleep, which
 * not every round reaches.
 */
static int describe_descriptors(char *text, size_t size)
{
    int count = 0, channels = 0, bells = 0;
    size_t len = 0;
    char path[64], name[64];

    text[0] = '\0';
    for (int fd = 0; fd < 64; fd++) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, name, sizeof name - 1);
        if (n < 0)
            continue;
        name[n] = '\0';
        count++;
        channels += strcmp(name, "/dev/infiniband/rdma_cm") == 0;
        bells += strcmp(name, "anon_inode:[eventfd]") == 0;
        if (len < size)
            len += (size_t)snprintf(text + len, size - len, " %d:%s", fd, name);
    }
    for (int i = 0; faulty_object(i) != NULL; i++)
        if (strcmp(faulty_object(i), "event channels") == 0 && channels > report->faults.alive[i])
            count -= channels - report->faults.alive[i];
    return count - (bells > 0);
}

static void look(int when)
{
    int one = 1;

    /* An adapter's progress thread may still be exiting. */
    if (!wait_until(threads_at_most, &one, SOON_MS))
        wrong("a thread is left", DAT_SUCCESS);
    report->descriptors[when] = describe_descriptors(report->open, sizeof report->open);
    memcpy(report->alive[when], report->faults.alive, sizeof report->faults.alive);
    report->heap[when] = (long)mallinfo2().uordblks;
}

/* Runs a round with the fault, then a round without it. Does not return: the caller has forked. */
static void victim(bool held)
{
    bool quick;

    faulty_use(&report->faults);
    report->faults.main = getpid();
    if (held) {
        int listener = faulty_hold(report->faults.kind);

        must(listener >= 0, "no seccomp filter");
        __atomic_store_n(&report->listener, listener, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&report->decided, __ATOMIC_ACQUIRE))
            breathe();
        close(listener);
    }
    /* Nothing may fail if no system call fails, or if it can be repeated. */
    quick = report->faults.kind >= 0 && report->faults.error != EINTR && report->faults.error != EAGAIN;
    timeout_ms = quick ? SHORT_MS : SOON_MS;
    __atomic_store_n(&report->faults.armed, 1, __ATOMIC_RELEASE);
    live();
    __atomic_store_n(&report->faults.armed, 0, __ATOMIC_RELEASE);
    look(0);
    report->hidden = report->failed == 0;
    report->failed = 0;
    timeout_ms = SOON_MS;
    report->again = live();
    report->lost = !report->again && faulty_lost_device();
    look(1);
    report->done = true;
    _exit(0);
}

/* Runs the victim. Returns its exit status, 128 + n for signal n, or -1 after a timeout. */
static int run(int kind, int nth, int error)
{
    struct card card = report->card;
    bool held = kind < 0 || faulty_is_system_call(kind);
    uint64_t end = now_ms() + env_ms(12 * SOON_MS);
    int status = 0;
    pid_t pid;

    memset(report, 0, sizeof *report);
    report->card = card;
    report->listener = -1;
    report->faults.kind = kind;
    report->faults.nth = nth;
    report->faults.error = error;
    fflush(stdout);
    pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0)
        victim(held);
    if (held) {
        int listener, process = (int)syscall(SYS_pidfd_open, pid, 0);

        while ((listener = __atomic_load_n(&report->listener, __ATOMIC_ACQUIRE)) < 0 && now_ms() < end)
            breathe();
        listener = (int)syscall(SYS_pidfd_getfd, process, listener, 0);
        must(listener >= 0, "the filter's descriptor cannot be had");
        faulty_use(&report->faults);
        __atomic_store_n(&report->decided, true, __ATOMIC_RELEASE);
        faulty_decide(listener, pid, end);
        faulty_use(NULL);
        close(listener);
        close(process);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_ms() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        breathe();
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static struct report usual;
static int crashes, hangs, wrongs, left, broken, shown, unseen;

/* Tests a failure of the nth call of a kind, and counts and prints each violation. */
static void position(int kind, int nth, int error)
{
    int status = run(kind, nth, error);
    const char *what = faulty_name(kind);
    bool passing = error == EINTR || error == EAGAIN;

    if (!report->faults.fired && status == 0) {
        unseen++;
    }
    if (status == -1) {
        hangs++;
        diag("%s %d %s: hangs (first: %s)", what, nth, strerror(error), report->first);
        return;
    }
    if (status != 0 || !report->done) {
        crashes++;
        diag("%s %d %s: ends with status %d (first: %s)", what, nth, strerror(error), status, report->first);
        return;
    }
    if (report->wrong[0] != '\0') {
        wrongs++;
        diag("%s %d %s: %s (first: %s)", what, nth, strerror(error), report->wrong, report->first);
    }
    /* A process does not retry a configuration or library that it could not read. */
    if (!report->again && !report->lost && strstr(report->first, "DAT_PROVIDER_NOT_FOUND") == NULL) {
        broken++;
        diag("%s %d %s: afterwards it does not work: %s", what, nth, strerror(error), report->first);
    }
    for (int i = 0; faulty_object(i) != NULL; i++)
        if (report->alive[0][i] > usual.alive[0][i] || report->alive[1][i] > usual.alive[1][i]) {
            left++;
            diag("%s %d %s: %s left: %d, then %d", what, nth, strerror(error), faulty_object(i),
                 report->alive[0][i] - usual.alive[0][i], report->alive[1][i] - usual.alive[1][i]);
        }
    if (report->descriptors[0] > usual.descriptors[1] || report->descriptors[1] > usual.descriptors[1] ||
        report->heap[1] > usual.heap[1] + 65536) {
        left++;
        diag("%s %d %s: descriptors %d, %d (usually %d, %d), memory %ld (%ld)", what, nth, strerror(error),
             report->descriptors[0], report->descriptors[1], usual.descriptors[0], usual.descriptors[1],
             report->heap[1], usual.heap[1]);
        diag("open:%s; usually:%s", report->open, usual.open);
    }
    /*
     * The library repeats interrupted calls. rdma-core hides the cause of some failures, and the progress thread blocks
     * signals. So only interruptions that rdma-core reports to the library must be invisible to the program.
     */
    if (passing && !report->hidden && report->faults.fired &&
        (faulty_is_system_call(kind) ? report->faults.by_main && faulty_is_restarted(kind)
                                     : report->faults.by_provider && !faulty_is_post(kind))) {
        shown++;
        diag("%s %d %s: is seen: %s", what, nth, strerror(error), report->first);
    }
}

/* Returns the number of calls to test: at most 20 of a call that polling loops repeat, otherwise all. */
static int positions(int kind)
{
    int calls = usual.faults.calls[kind];

    return faulty_is_polled(kind) && calls > 20 ? 20 : calls;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };
    static const int errors[] = { ENOMEM, EINVAL, EIO, EAGAIN, EINTR };
    enum { ERRORS = sizeof errors / sizeof errors[0] };
    const char *seed = getenv("DAT_TEST_SEED"), *only = getenv("DAT_TEST_FAULT");
    bool whole = getenv("DAT_TEST_LONG") != NULL;
    const char *seconds = getenv("DAT_TEST_SECONDS");
    uint64_t end, budget;
    unsigned from;
    int all = 0, tried = 0, place = 0, step;
    struct peer p;

    env_init(argc, argv, roles);
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(report != MAP_FAILED, "no shared memory");
    from = seed != NULL ? (unsigned)strtoul(seed, NULL, 0) : (unsigned)time(NULL);
    diag("seed %u ($DAT_TEST_SEED)", from);
    memset(report, 0, sizeof *report);
    /* Loading drivers is slow, so victims inherit them unless all calls are tested. */
    if (!whole) {
        int n;

        ibv_free_device_list(ibv_get_device_list(&n));
    }
    peer_start(&p, "partner");
    must(LINK_RECV(&p.link, report->card), "the other process is gone");
    is_int(run(-1, 0, 0), 0, "without a failure: the program ends well");
    ok(report->done && report->hidden && report->again && report->wrong[0] == '\0',
       "without a failure: every call succeeds, twice");
    diag("%s %s", report->first, report->wrong);
    usual = *report;
    for (int kind = 0; kind < faulty_kinds(); kind++) {
        all += positions(kind);
        diag("  %4d %s", usual.faults.calls[kind], faulty_name(kind));
    }
    for (int i = 0; faulty_object(i) != NULL; i++)
        diag("  %4d %4d %s", usual.alive[0][i], usual.alive[1][i], faulty_object(i));
    budget = seconds != NULL ? strtoul(seconds, NULL, 0) * 1000 : (uint64_t)env_count(BUDGET_MS, QUICK_MS);
    end = now_ms() + budget;
    /* Tests every step-th position, so that all kinds fit into the time. */
    step = whole ? 1 : 1 + (int)((uint64_t)all * POSITION_MS / budget);
    for (int kind = 0; kind < faulty_kinds(); kind++) {
        int most = positions(kind);

        if (only != NULL && strcmp(only, faulty_name(kind)) != 0)
            continue;
        for (int nth = 1; nth <= most; nth++, place++)
            for (int e = 0; e < ERRORS; e++) {
                /* One error for each position, in turn. */
                if (!whole && ((unsigned)e != (from + (unsigned)place) % ERRORS ||
                               ((unsigned)place + from) % (unsigned)step != 0))
                    continue;
                if (!whole && now_ms() > end)
                    continue;
                position(kind, nth, errors[e]);
                tried++;
            }
    }
    diag("%d of %d positions in %llu ms; in %d the call was not made", tried, all,
         (unsigned long long)(now_ms() - end + budget), unseen);
    is_int(crashes, 0, "a call fails: no crash");
    is_int(hangs, 0, "a call fails: no hang");
    is_int(wrongs, 0, "a call fails: every call answers with success or an error of the interface");
    is_int(broken, 0, "a call fails: afterwards everything works");
    is_int(left, 0, "a call fails: nothing is left behind");
    is_int(shown, 0, "a call is interrupted: the program does not see it");
    peer_kill(&p);
    return done_testing();
}
