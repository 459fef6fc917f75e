/* cno.c - CNOs: creation, query, agent, free. flow/notify.c tests waiting. */
#include "common/waiter.h"
#include "common/zoo.h"

#include <string.h>

static void nothing(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    (void)data;
    (void)evd;
}

static DAT_RETURN do_create(DAT_HANDLE h, void *arg)
{
    DAT_CNO_HANDLE cno;

    (void)arg;
    return dat_cno_create(h, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
}

static DAT_RETURN do_modify(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_cno_modify_agent(h, DAT_OS_WAIT_PROXY_AGENT_NULL);
}

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_CNO_PARAM p;

    (void)arg;
    return dat_cno_query(h, DAT_CNO_FIELD_ALL, &p);
}

static DAT_RETURN do_wait(DAT_HANDLE h, void *arg)
{
    DAT_EVD_HANDLE evd;

    (void)arg;
    return dat_cno_wait(h, 0, &evd);
}

static DAT_RETURN do_free(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_cno_free(h);
}

static void handles(struct zoo *z)
{
    DAT_CNO_HANDLE freed;

    must_rc(dat_cno_create(z->fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &freed), DAT_SUCCESS,
            "dat_cno_create");
    must_rc(dat_cno_free(freed), DAT_SUCCESS, "dat_cno_free");
    zoo_sweep(z, "dat_cno_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_create,
              NULL);
    zoo_sweep(z, "dat_cno_modify_agent", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, freed, 0,
              do_modify, NULL);
    zoo_sweep(z, "dat_cno_query", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, freed, 0, do_query,
              NULL);
    zoo_sweep(z, "dat_cno_wait", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, freed, 0, do_wait,
              NULL);
    zoo_sweep(z, "dat_cno_free", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, freed, 0, do_free,
              NULL);
    zoo_intact(z, "dat_cno_free");
}

static void parameters(struct fx *fx)
{
    DAT_CNO_HANDLE cno = UNTOUCHED;
    DAT_OS_WAIT_PROXY_AGENT agent, odd;
    DAT_CNO_PARAM p, before;
    DAT_EVD_HANDLE evd = UNTOUCHED;

    agent.instance_data = &p;
    agent.proxy_agent_func = nothing;
    odd.instance_data = &p;
    odd.proxy_agent_func = NULL;
    is_code(dat_cno_create(fx->ia, odd, &cno), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cno_create: agent with data and no function: DAT_INVALID_PARAMETER");
    is_code(dat_cno_create(fx->ia, agent, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cno_create: no place for the handle: DAT_INVALID_PARAMETER");
    ok(cno == UNTOUCHED, "dat_cno_create: error: the handle is untouched");

    is_success(dat_cno_create(fx->ia, agent, &cno), "dat_cno_create: with an agent: success");
    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)CNO_FIELD_UNKNOWN, &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cno_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_cno_query: error: the structure is untouched");
    is_code(dat_cno_query(cno, DAT_CNO_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cno_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &p), "dat_cno_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_cno_query: ia_handle: true");
    ok(CNO_AGENT(p).instance_data == agent.instance_data &&
           CNO_AGENT(p).proxy_agent_func == agent.proxy_agent_func,
       "dat_cno_query: agent: true");

    is_code(dat_cno_modify_agent(cno, odd), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cno_modify_agent: data and no function: DAT_INVALID_PARAMETER");
    dat_cno_query(cno, CNO_FIELD_AGENT, &p);
    ok(CNO_AGENT(p).proxy_agent_func == agent.proxy_agent_func,
       "dat_cno_modify_agent: error: the agent is unchanged");
    is_success(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL),
               "dat_cno_modify_agent: NULL: success");
    dat_cno_query(cno, CNO_FIELD_AGENT, &p);
    ok(CNO_AGENT(p).proxy_agent_func == NULL && CNO_AGENT(p).instance_data == NULL,
       "dat_cno_query: agent: NULL after dat_cno_modify_agent");

    is_code(dat_cno_wait(cno, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cno_wait: no place for the EVD: DAT_INVALID_PARAMETER");
    is_type(dat_cno_wait(cno, 0, &evd), DAT_QUEUE_EMPTY,
            "dat_cno_wait: timeout 0, nothing happened: DAT_QUEUE_EMPTY");
    is_ptr(evd, DAT_HANDLE_NULL, "dat_cno_wait: timeout: the EVD is NULL");
    is_success(dat_cno_free(cno), "dat_cno_free: unused: success");
}

/* Frees a CNO just after a thread begins to wait, while it still polls. */
static void freed_early(struct fx *fx)
{
    int both = 0, wrong = 0;

    for (int i = 0; i < 100; i++) {
        DAT_CNO_HANDLE cno;
        struct waiter w;
        DAT_RETURN rc;

        must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
        waiter_start_cno(&w, cno, env_us(2));
        rc = dat_cno_free(cno);
        waiter_join(&w);
        both += rc == DAT_SUCCESS && w.rc == DAT_SUCCESS;
        if (rc != DAT_SUCCESS) {
            wrong += !rc_is(rc, DAT_INVALID_STATE);
            must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
        }
    }
    is_int(both, 0, "dat_cno_free: a thread begins to wait: the free or the wait fails");
    is_int(wrong, 0, "dat_cno_free: a thread begins to wait: DAT_INVALID_STATE, if it fails");
}

int main(int argc, char **argv)
{
    struct zoo z;
    DAT_CNO_HANDLE cno;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    rc = dat_cno_create(z.fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
    if (rc_not_implemented(rc)) {
        fx_close(&z.fx);
        skip_all("dat_cno_create: not implemented");
    }
    is_success(rc, "dat_cno_create: no agent: success");
    is_success(dat_cno_free(cno), "dat_cno_free: no agent: success");
    handles(&z);
    parameters(&z.fx);
    freed_early(&z.fx);
    zoo_close(&z);
    return done_testing();
}
