/* cno_fd.c - CNOs with a file descriptor: dat_cno_fd_create, dat_cno_trigger. */
#define _GNU_SOURCE
#include "common/waiter.h"
#include "common/zoo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct fx fx;

static bool readable(DAT_FD fd, int ms)
{
    struct pollfd p = { fd, POLLIN, 0 };

    return poll(&p, 1, ms) == 1 && (p.revents & POLLIN) != 0;
}

static bool becomes_readable(DAT_FD fd)
{
    return readable(fd, (int)env_ms(SOON_MS));
}

static void software(DAT_EVD_HANDLE evd)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    must_rc(dat_evd_post_se(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
}

/* Returns whether dat_cno_trigger found no trigger. Unlike dat_cno_wait, it sets DAT_CLASS_ERROR then. */
static bool not_triggered(DAT_RETURN rc)
{
    return rc == (DAT_RETURN)(DAT_CLASS_ERROR | DAT_QUEUE_EMPTY);
}

static DAT_EVD_HANDLE evd_on(DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE evd;

    must_rc(dat_evd_create(fx.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS, "dat_evd_create");
    return evd;
}

static void birth(void)
{
    DAT_CNO_HANDLE cno = UNTOUCHED;
    DAT_CNO_PARAM p;
    DAT_EVD_HANDLE evd = UNTOUCHED;
    DAT_FD fd = -1;

    is_success(dat_cno_fd_create(fx.ia, &fd, &cno), "dat_cno_fd_create: success");
    ok(fd >= 0 && fcntl(fd, F_GETFD) >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
       "dat_cno_fd_create: a descriptor that programs started by exec do not get");
    ok((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, "dat_cno_fd_create: a descriptor that does not block");
    ok(!readable(fd, 0), "dat_cno_fd_create: not readable at first");
    memset(&p, 0x5a, sizeof p);
    is_success(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &p), "dat_cno_query: success");
    ok(p.ia_handle == fx.ia && p.proxy_type == DAT_PROXY_TYPE_FD && p.proxy.fd == fd, "dat_cno_query: the descriptor");
    ok(not_triggered(dat_cno_trigger(cno, &evd)) && evd == DAT_HANDLE_NULL,
       "dat_cno_trigger: not triggered: DAT_QUEUE_EMPTY, without an EVD");
    is_code(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE,
            "dat_cno_modify_agent: with a descriptor: DAT_INVALID_STATE");
    is_success(dat_cno_free(cno), "dat_cno_free: success");
    ok(fcntl(fd, F_GETFD) < 0 && errno == EBADF, "dat_cno_free: the descriptor is closed");
}

static void triggering(void)
{
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE one, two, got = UNTOUCHED;
    DAT_EVENT e;
    DAT_FD fd;

    must_rc(dat_cno_fd_create(fx.ia, &fd, &cno), DAT_SUCCESS, "dat_cno_fd_create");
    one = evd_on(cno);
    two = evd_on(cno);
    is_code(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE,
            "dat_cno_free: EVDs notify it: DAT_INVALID_STATE");
    software(one);
    ok(becomes_readable(fd), "an event: the descriptor is readable");
    ok(readable(fd, 0), "still readable, as long as nobody asks");
    is_success(dat_cno_trigger(cno, &got), "dat_cno_trigger: triggered: success");
    is_ptr(got, one, "dat_cno_trigger: the EVD");
    ok(!readable(fd, 0), "dat_cno_trigger: the descriptor is not readable any more");
    ok(not_triggered(dat_cno_trigger(cno, &got)) && got == DAT_HANDLE_NULL, "dat_cno_trigger: again: DAT_QUEUE_EMPTY");
    /* As with dat_cno_wait, an EVD triggers again only after it was empty. */
    ok(wait_event(one, &e), "the event is there");
    software(one);
    software(two);
    ok(becomes_readable(fd), "events of two EVDs: readable");
    is_success(dat_cno_trigger(cno, &got), "dat_cno_trigger: two EVDs: success");
    ok(got == one || got == two, "dat_cno_trigger: two EVDs: one of them");
    ok(!readable(fd, 0), "dat_cno_trigger: two EVDs: not readable any more");
    drain(one);
    drain(two);

    /* dat_cno_wait also consumes the trigger. */
    software(two);
    ok(becomes_readable(fd), "an event: readable");
    got = UNTOUCHED;
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "dat_cno_wait: with a descriptor: success");
    is_ptr(got, two, "dat_cno_wait: with a descriptor: the EVD");
    ok(!readable(fd, 0), "dat_cno_wait: with a descriptor: not readable any more");
    is_type(dat_cno_wait(cno, 1000, &got), DAT_QUEUE_EMPTY, "dat_cno_wait: with a descriptor, in vain: DAT_QUEUE_EMPTY");
    drain(two);

    /* A freed EVD may leave one trigger. */
    software(one);
    ok(becomes_readable(fd), "an event: readable");
    must_rc(dat_evd_free(one), DAT_SUCCESS, "dat_evd_free");
    dat_cno_trigger(cno, &got);
    ok(not_triggered(dat_cno_trigger(cno, &got)) && got == DAT_HANDLE_NULL && !readable(fd, 0),
       "dat_cno_trigger: the EVD is freed: nothing remains");
    must_rc(dat_evd_free(two), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

/* A CNO stores one trigger. If its EVD is freed, other EVDs with events must still trigger. */
static void freeing_another(void)
{
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE a, b, got = UNTOUCHED;
    DAT_FD fd;

    must_rc(dat_cno_fd_create(fx.ia, &fd, &cno), DAT_SUCCESS, "dat_cno_fd_create");
    a = evd_on(cno);
    b = evd_on(cno);
    software(a);
    software(b);
    must_rc(dat_evd_free(b), DAT_SUCCESS, "dat_evd_free");
    ok(becomes_readable(fd), "dat_evd_free: another EVD has an event: the descriptor stays readable");
    is_success(dat_cno_trigger(cno, &got), "dat_cno_trigger: an EVD was freed, another one has an event: success");
    is_ptr(got, a, "dat_cno_trigger: an EVD was freed, another one has an event: the other one");
    ok(!readable(fd, 0), "dat_cno_trigger: an EVD was freed: the descriptor is not readable any more");
    drain(a);

    /* An EVD that is detached and then freed leaves the trigger of the other EVD. */
    b = evd_on(cno);
    software(a);
    software(b);
    must_rc(dat_evd_modify_cno(b, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_free(b), DAT_SUCCESS, "dat_evd_free");
    ok(becomes_readable(fd), "dat_evd_modify_cno, dat_evd_free: another EVD has an event: readable");
    is_success(dat_cno_trigger(cno, &got), "dat_cno_trigger: an EVD was untied and freed: success");
    is_ptr(got, a, "dat_cno_trigger: an EVD was untied and freed: the other one");
    software(a);
    must_rc(dat_evd_modify_cno(a, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_free(a), DAT_SUCCESS, "dat_evd_free");
    ok(not_triggered(dat_cno_trigger(cno, &got)) && got == DAT_HANDLE_NULL && !readable(fd, 0),
       "dat_cno_trigger: the only EVD was untied and freed: DAT_QUEUE_EMPTY");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

/* Each message makes the descriptor readable for a thread in poll(). */
static void by_a_connection(void)
{
    enum { N = 50 };
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE got;
    DAT_FD fd;
    struct region r;
    struct pair p;
    DAT_EVENT e;
    int good = 0;

    must_rc(dat_cno_fd_create(fx.ia, &fd, &cno), DAT_SUCCESS, "dat_cno_fd_create");
    region_make(&fx, &r, 4096, MEM_LOCAL);
    pair_open(&p, &fx, NULL);
    must_rc(dat_evd_modify_cno(p.b.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    for (DAT_UINT64 i = 0; i < N; i++) {
        must_rc(post_recv(&p.b, &r, 0, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 64, 64, i), DAT_SUCCESS, "dat_ep_post_send");
        good += becomes_readable(fd) && dat_cno_trigger(cno, &got) == DAT_SUCCESS && got == p.b.recv &&
                poll_event(p.b.recv, &e) && wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL);
    }
    is_int(good, N, "poll: each message makes the descriptor readable");
    must_rc(dat_evd_modify_cno(p.b.recv, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    pair_close(&p);
    region_free(&r);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

/* Role: sends messages. If a call of the first process sent them, it could also poll for the first process's events. */
static int sender(struct link *up)
{
    struct fx own;
    struct side s;
    struct region r;

    fx_open(&own);
    side_make(&s, &own, NULL);
    region_make(&own, &r, 4096, MEM_LOCAL);
    side_connect_peer(&s, up);
    for (DAT_UINT64 i = 0; i < 20; i++) {
        must(link_hear(up, "send"), "no word");
        must_rc(post_send(&s, &r, 0, 64, i), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "message %d", (int)i);
    }
    must(link_hear(up, "bye"), "no word");
    fx_close(&own);
    return 0;
}

static void by_another_process(void)
{
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE got;
    DAT_FD fd;
    struct region r;
    struct side s;
    struct peer p;
    int good = 0;

    peer_start(&p, "sender");
    must_rc(dat_cno_fd_create(fx.ia, &fd, &cno), DAT_SUCCESS, "dat_cno_fd_create");
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, &p.link);
    must_rc(dat_evd_modify_cno(s.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    for (DAT_UINT64 i = 0; i < 20; i++) {
        must_rc(post_recv(&s, &r, 0, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        link_say(&p.link, "send");
        good += becomes_readable(fd) && dat_cno_trigger(cno, &got) == DAT_SUCCESS && got == s.recv &&
                wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL);
    }
    is_int(good, 20, "poll, two processes: each message makes the descriptor readable");
    link_say(&p.link, "bye");
    peer_ok(&p, "poll, two processes: the other one ends well");
    side_free(&s);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    region_free(&r);
}

/* Checks dat_cno_trigger on a CNO without a descriptor. */
static void plain(void)
{
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd, got = UNTOUCHED;

    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    evd = evd_on(cno);
    ok(not_triggered(dat_cno_trigger(cno, &got)), "dat_cno_trigger: no descriptor, not triggered: DAT_QUEUE_EMPTY");
    software(evd);
    is_success(dat_cno_trigger(cno, &got), "dat_cno_trigger: no descriptor, triggered: success");
    is_ptr(got, evd, "dat_cno_trigger: no descriptor: the EVD");
    is_type(dat_cno_wait(cno, 1000, &got), DAT_QUEUE_EMPTY, "dat_cno_wait: after dat_cno_trigger: DAT_QUEUE_EMPTY");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

static DAT_RETURN create_on(DAT_HANDLE ia, void *arg)
{
    DAT_CNO_HANDLE cno;
    DAT_FD fd;

    (void)arg;
    return dat_cno_fd_create(ia, &fd, &cno);
}

static DAT_RETURN trigger(DAT_HANDLE cno, void *arg)
{
    DAT_EVD_HANDLE evd;

    (void)arg;
    return dat_cno_trigger(cno, &evd);
}

static void parameters(void)
{
    struct zoo z;
    DAT_CNO_HANDLE cno = UNTOUCHED, freed;
    DAT_FD fd = -7;
    struct rlimit limit, none;
    DAT_RETURN rc;

    zoo_open(&z);
    must_rc(dat_cno_fd_create(z.fx.ia, &fd, &freed), DAT_SUCCESS, "dat_cno_fd_create");
    must_rc(dat_cno_free(freed), DAT_SUCCESS, "dat_cno_free");
    zoo_sweep(&z, "dat_cno_fd_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, create_on, NULL);
    zoo_sweep(&z, "dat_cno_trigger", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, freed, 0, trigger, NULL);
    zoo_intact(&z, "dat_cno_trigger");
    zoo_close(&z);

    fd = -7;
    is_code(dat_cno_fd_create(fx.ia, NULL, &cno), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cno_fd_create: no place for the descriptor: DAT_INVALID_PARAMETER");
    is_code(dat_cno_fd_create(fx.ia, &fd, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cno_fd_create: no place for the handle: DAT_INVALID_PARAMETER");
    ok(fd == -7 && cno == UNTOUCHED, "dat_cno_fd_create: error: the outputs are untouched");
    must_rc(dat_cno_fd_create(fx.ia, &fd, &cno), DAT_SUCCESS, "dat_cno_fd_create");
    is_code(dat_cno_trigger(cno, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cno_trigger: no place for the EVD: DAT_INVALID_PARAMETER");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");

    /* The process cannot open more descriptors. */
    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    none = limit;
    none.rlim_cur = 0;
    must(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    rc = dat_cno_fd_create(fx.ia, &fd, &cno);
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    is_code(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            "dat_cno_fd_create: no descriptor is left: DAT_INSUFFICIENT_RESOURCES");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "sender", sender }, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    birth();
    triggering();
    freeing_another();
    by_a_connection();
    by_another_process();
    plain();
    parameters();
    fx_close(&fx);
    return done_testing();
}
