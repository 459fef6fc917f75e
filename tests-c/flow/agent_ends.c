/*
 * agent_ends.c - an agent that ends its thread: calls that wait for the agent return, and other
 * agents run.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <pthread.h>
#include <string.h>

enum how { BY_EXIT, BY_CANCELLATION, ANYWHERE };

static const char *const names[] = { "pthread_exit", "cancelled", "cancelled asynchronously" };

/* An agent that ends its thread. */
struct ending {
    enum how how;
    unsigned rounds; /* number of times that it arms itself again */
    bool closes;     /* the agent closes its adapter first */
    DAT_IA_HANDLE ia;
    DAT_CNO_HANDLE cno;
    unsigned may_end; /* the agent ends only when this is set */
    unsigned begun, cleaned;
    DAT_RETURN rc;
};

static void cleaned(void *arg)
{
    __atomic_fetch_add(&((struct ending *)arg)->cleaned, 1, __ATOMIC_RELEASE);
}

static bool may_end(void *arg)
{
    return __atomic_load_n(&((struct ending *)arg)->may_end, __ATOMIC_ACQUIRE);
}

static void ending_agent(DAT_PVOID data, DAT_EVD_HANDLE evd);

static DAT_RETURN set_agent_again(struct ending *e)
{
    DAT_OS_WAIT_PROXY_AGENT again = { .instance_data = e, .proxy_agent_func = ending_agent };

    return dat_cno_modify_agent(e->cno, again);
}

static void ending_agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    struct ending *e = data;

    (void)evd;
    pthread_cleanup_push(cleaned, e);
    __atomic_fetch_add(&e->begun, 1, __ATOMIC_RELEASE);
    wait_until(may_end, e, SOON_MS);
    if (e->closes)
        e->rc = dat_ia_close(e->ia, DAT_CLOSE_ABRUPT_FLAG);
    else if (e->rounds > 0 && e->rounds-- > 0)
        e->rc = set_agent_again(e);
    switch (e->how) {
    case BY_EXIT:
        pthread_exit(NULL);
    case ANYWHERE:
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        /* fall through */
    case BY_CANCELLATION:
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
}

static bool begun(void *arg)
{
    return __atomic_load_n(&((struct ending *)arg)->begun, __ATOMIC_ACQUIRE) > 0;
}

static bool ended(void *arg)
{
    return __atomic_load_n(&((struct ending *)arg)->cleaned, __ATOMIC_ACQUIRE) > 0;
}

static bool all_ended(void *arg)
{
    struct ending *e = arg;

    return __atomic_load_n(&e->rounds, __ATOMIC_ACQUIRE) == 0 && __atomic_load_n(&e->cleaned, __ATOMIC_ACQUIRE) > 8;
}

static void note(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    (void)evd;
    __atomic_store_n((unsigned *)data, 1, __ATOMIC_RELEASE);
}

static bool noted(void *arg)
{
    return __atomic_load_n((unsigned *)arg, __ATOMIC_ACQUIRE);
}

static DAT_EVD_HANDLE armed(DAT_IA_HANDLE ia, DAT_AGENT_FUNC function, void *data, DAT_CNO_HANDLE *cno)
{
    DAT_OS_WAIT_PROXY_AGENT agent = { .instance_data = data, .proxy_agent_func = function };
    DAT_EVD_HANDLE evd;

    must_rc(dat_cno_create(ia, agent, cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_create(ia, 8, *cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS, "dat_evd_create");
    return evd;
}

static void trigger(DAT_EVD_HANDLE evd)
{
    DAT_EVENT e, taken;

    memset(&e, 0, sizeof e);
    e.evd_handle = evd;
    e.event_number = DAT_SOFTWARE_EVENT;
    must_rc(dat_evd_post_se(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
    must_rc(dat_evd_dequeue(evd, &taken), DAT_SUCCESS, "dat_evd_dequeue");
}

static void let_end(struct ending *e)
{
    __atomic_store_n(&e->may_end, 1, __ATOMIC_RELEASE);
}

/* Triggers another CNO while an agent ends its thread. The agent of this CNO must be called. */
static void others_follow(struct fx *fx, enum how how)
{
    struct ending e = { .how = how };
    unsigned other = 0;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd = armed(fx->ia, ending_agent, &e, &e.cno), evd2 = armed(fx->ia, note, &other, &cno);

    trigger(evd);
    must(wait_until(begun, &e, SOON_MS), "the agent is not called");
    trigger(evd2);
    let_end(&e);
    ok(wait_until(ended, &e, SOON_MS), "agent: %s: its cleanup handler runs", names[how]);
    ok(wait_until(noted, &other, SOON_MS), "agent: %s: the agent of another object is called", names[how]);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(evd2), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_cno_free(e.cno), "agent: %s: dat_cno_free: success", names[how]);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

static void again_and_again(struct fx *fx, enum how how)
{
    struct ending e = { .how = how, .rounds = 8, .may_end = 1 };
    DAT_EVD_HANDLE evd = armed(fx->ia, ending_agent, &e, &e.cno);
    uint64_t until = now_ms() + env_ms(SOON_MS);

    while (!all_ended(&e) && now_ms() < until) {
        trigger(evd);
        breathe();
    }
    is_int((long)e.begun, 9, "agent: %s: it is called each time that it has armed itself again", names[how]);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(e.cno), DAT_SUCCESS, "dat_cno_free");
}

static void *free_object(void *arg)
{
    struct ending *e = arg;

    e->rc = dat_cno_free(e->cno);
    return NULL;
}

static void freed_meanwhile(struct fx *fx)
{
    struct ending e = { .how = BY_EXIT };
    DAT_EVD_HANDLE evd = armed(fx->ia, ending_agent, &e, &e.cno);
    DAT_CNO_PARAM p;
    pthread_t thread;
    uint64_t until = now_ms() + env_ms(SOON_MS);

    trigger(evd);
    must(wait_until(begun, &e, SOON_MS), "the agent is not called");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must(pthread_create(&thread, NULL, free_object, &e) == 0, "no thread");
    while (dat_cno_query(e.cno, DAT_CNO_FIELD_ALL, &p) == DAT_SUCCESS && now_ms() < until)
        breathe();
    let_end(&e);
    must(pthread_join(thread, NULL) == 0, "no end of the thread");
    is_success(e.rc, "agent: it ends its thread while dat_cno_free waits: success");
    ok(ended(&e), "agent: it ends its thread while dat_cno_free waits: the call has waited for that");
}

/* dat_ia_close calls the agent once more, without an EVD, and waits for it. */
static void closed(void)
{
    struct ending e = { .how = BY_EXIT, .may_end = 1 }, closing = { .how = BY_EXIT, .closes = true };
    struct fx fx;

    fx_open(&fx);
    armed(fx.ia, ending_agent, &e, &e.cno);
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close: an agent ends its thread: success");
    ok(ended(&e), "dat_ia_close: an agent ends its thread: it was called");

    fx_open(&fx);
    closing.ia = fx.ia;
    trigger(armed(fx.ia, ending_agent, &closing, &closing.cno));
    let_end(&closing);
    ok(wait_until(ended, &closing, SOON_MS), "agent: it closes the adapter and ends its thread: the call returns");
    is_success(closing.rc, "agent: it closes the adapter and ends its thread: success");
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    for (enum how how = BY_EXIT; how <= ANYWHERE; how++) {
        others_follow(&fx, how);
        again_and_again(&fx, how);
    }
    freed_meanwhile(&fx);
    fx_close(&fx);
    closed();
    return done_testing();
}
