/* evd.c - event dispatchers: creation, query, state, resize, free, software events. */
#include "common/zoo.h"

#include <string.h>

#define SE DAT_EVD_SOFTWARE_FLAG

static DAT_EVENT software(void *pointer)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    e.event_data.software_event_data.pointer = pointer;
    return e;
}

static DAT_RETURN post(DAT_EVD_HANDLE evd, void *pointer)
{
    DAT_EVENT e = software(pointer);

    return dat_evd_post_se(evd, &e);
}

/* Wrappers of the calls, for zoo_sweep(). */
static DAT_RETURN do_create(DAT_HANDLE h, void *arg)
{
    DAT_EVD_HANDLE evd = UNTOUCHED;

    (void)arg;
    return dat_evd_create(h, 4, DAT_HANDLE_NULL, SE, &evd);
}

static DAT_RETURN do_create_cno(DAT_HANDLE h, void *arg)
{
    DAT_EVD_HANDLE evd = UNTOUCHED;

    return dat_evd_create(arg, 4, h, SE, &evd);
}

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_EVD_PARAM p;

    (void)arg;
    return dat_evd_query(h, DAT_EVD_FIELD_ALL, &p);
}

static DAT_RETURN do_modify(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_evd_modify_cno(h, DAT_HANDLE_NULL);
}

static DAT_RETURN do_modify_cno(DAT_HANDLE h, void *arg)
{
    return dat_evd_modify_cno(arg, h);
}

static DAT_RETURN do_wait(DAT_HANDLE h, void *arg)
{
    DAT_EVENT e;
    DAT_COUNT n;

    (void)arg;
    return dat_evd_wait(h, 0, 1, &e, &n);
}

static DAT_RETURN do_dequeue(DAT_HANDLE h, void *arg)
{
    DAT_EVENT e;

    (void)arg;
    return dat_evd_dequeue(h, &e);
}

static DAT_RETURN do_post(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return post(h, NULL);
}

static DAT_RETURN do_resize(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_evd_resize(h, 8);
}

#define SIMPLE(name)                                   \
    static DAT_RETURN do_##name(DAT_HANDLE h, void *a) \
    {                                                  \
        (void)a;                                       \
        return dat_evd_##name(h);                      \
    }
SIMPLE(enable)
SIMPLE(disable)
SIMPLE(set_unwaitable)
SIMPLE(clear_unwaitable)
SIMPLE(free)

static void handles(struct zoo *z)
{
    static const struct {
        const char *name;
        zoo_call fn;
    } calls[] = {
        { "dat_evd_query", do_query },
        { "dat_evd_modify_cno", do_modify },
        { "dat_evd_wait", do_wait },
        { "dat_evd_dequeue", do_dequeue },
        { "dat_evd_post_se", do_post },
        { "dat_evd_resize", do_resize },
        { "dat_evd_enable", do_enable },
        { "dat_evd_disable", do_disable },
        { "dat_evd_set_unwaitable", do_set_unwaitable },
        { "dat_evd_clear_unwaitable", do_clear_unwaitable },
        { "dat_evd_free", do_free },
    };
    DAT_EVD_HANDLE freed = fx_evd(&z->fx, 4, SE);
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;

    must_rc(dat_evd_free(freed), DAT_SUCCESS, "dat_evd_free");
    zoo_sweep(z, "dat_evd_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_create,
              NULL);
    if (dat_cno_create(z->fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno) == DAT_SUCCESS)
        dat_cno_free(cno);
    zoo_sweep(z, "dat_evd_create, cno_handle", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO, cno,
              ZOO_NULL_OK, do_create_cno, z->fx.ia);
    zoo_sweep(z, "dat_evd_modify_cno, cno_handle", DAT_HANDLE_TYPE_CNO, DAT_INVALID_HANDLE_CNO,
              cno, ZOO_NULL_OK, do_modify_cno, z->of[DAT_HANDLE_TYPE_EVD]);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        zoo_sweep(z, calls[i].name, DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE1, freed, 0,
                  calls[i].fn, NULL);
    zoo_intact(z, "dat_evd_free");
}

static void create_parameters(struct fx *fx)
{
    static const unsigned merges[] = {
        SE,
        DAT_EVD_CR_FLAG,
        DAT_EVD_DTO_FLAG,
        DAT_EVD_CONNECTION_FLAG,
        DAT_EVD_RMR_BIND_FLAG,
        DAT_EVD_ASYNC_FLAG,
        DAT_EVD_DEFAULT_FLAG,
        DAT_EVD_DEFAULT_FLAG | SE,
        DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG,
        DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | SE,
    };
    DAT_EVD_HANDLE evd = UNTOUCHED;
    DAT_IA_ATTR ia;
    DAT_EVD_PARAM p;
    struct fx other;
    DAT_CNO_HANDLE cno;

    is_code(dat_evd_create(fx->ia, 0, DAT_HANDLE_NULL, SE, &evd), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_evd_create: length 0: DAT_INVALID_PARAMETER");
    is_code(dat_evd_create(fx->ia, -1, DAT_HANDLE_NULL, SE, &evd), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_evd_create: length -1: DAT_INVALID_PARAMETER");
    is_code(dat_evd_create(fx->ia, (DAT_COUNT)0x80000000u, DAT_HANDLE_NULL, SE, &evd),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_create: the smallest length: DAT_INVALID_PARAMETER");
    is_code(dat_evd_create(fx->ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0, &evd),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_evd_create: no flag: DAT_INVALID_PARAMETER");
    is_code(dat_evd_create(fx->ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)(SE | 0x400), &evd),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_evd_create: unknown flag: DAT_INVALID_PARAMETER");
    is_code(dat_evd_create(fx->ia, 4, DAT_HANDLE_NULL, SE, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG5, "dat_evd_create: no place for the handle: DAT_INVALID_PARAMETER");
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    if (ia.max_evd_qlen < 0x7fffffff)
        is_code(dat_evd_create(fx->ia, ia.max_evd_qlen + 1, DAT_HANDLE_NULL, SE, &evd),
                DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD,
                "dat_evd_create: above max_evd_qlen: DAT_INSUFFICIENT_RESOURCES");
    fx_open(&other);
    if (dat_cno_create(other.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno) == DAT_SUCCESS)
        is_code(dat_evd_create(fx->ia, 4, cno, SE, &evd), DAT_INVALID_HANDLE,
                DAT_INVALID_HANDLE_CNO,
                "dat_evd_create: CNO of another open: DAT_INVALID_HANDLE");
    else
        skip_named("dat_evd_create: CNO of another open", "not implemented");
    fx_close(&other);
    ok(evd == UNTOUCHED, "dat_evd_create: error: the handle is untouched");

    for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
        if (!is_success(dat_evd_create(fx->ia, 5, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)merges[i], &evd),
                        "dat_evd_create: flags 0x%03x: success", merges[i]))
            continue;
        memset(&p, 0, sizeof p);
        dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p);
        is_int(p.evd_flags, merges[i], "dat_evd_query: flags 0x%03x: true", merges[i]);
        is_success(dat_evd_free(evd), "dat_evd_free: flags 0x%03x: success", merges[i]);
    }
}

static void query(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 7, SE);
    DAT_EVD_PARAM p, before;

    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_evd_query(evd, (DAT_EVD_PARAM_MASK)(DAT_EVD_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_evd_query: error: the structure is untouched");
    is_code(dat_evd_query(evd, DAT_EVD_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_evd_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p), "dat_evd_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_evd_query: ia_handle: true");
    ok(p.evd_qlen >= 7, "dat_evd_query: evd_qlen: at least what was asked for");
    is_int(p.evd_state & 0x0f, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE,
           "dat_evd_query: new: enabled and waitable");
    is_ptr(p.cno_handle, DAT_HANDLE_NULL, "dat_evd_query: cno_handle: none");

    for (int i = 0; i < 2; i++)
        is_success(dat_evd_disable(evd), "dat_evd_disable: %s: success", i ? "twice" : "once");
    for (int i = 0; i < 2; i++)
        is_success(dat_evd_set_unwaitable(evd), "dat_evd_set_unwaitable: %s: success",
                   i ? "twice" : "once");
    dat_evd_query(evd, DAT_EVD_FIELD_EVD_STATE, &p);
    is_int(p.evd_state & 0x0f, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_UNWAITABLE,
           "dat_evd_query: after both: disabled and unwaitable");
    for (int i = 0; i < 2; i++)
        is_success(dat_evd_enable(evd), "dat_evd_enable: %s: success", i ? "twice" : "once");
    for (int i = 0; i < 2; i++)
        is_success(dat_evd_clear_unwaitable(evd), "dat_evd_clear_unwaitable: %s: success",
                   i ? "twice" : "once");
    dat_evd_query(evd, DAT_EVD_FIELD_EVD_STATE, &p);
    is_int(p.evd_state & 0x0f, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE,
           "dat_evd_query: after the opposites: enabled and waitable");
    is_success(dat_evd_free(evd), "dat_evd_free: unused: success");
}

static void wait_parameters(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, SE);
    DAT_EVD_PARAM p;
    DAT_EVENT e, before;
    DAT_COUNT n = 77;

    memset(&e, 0x5a, sizeof e);
    before = e;
    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p);
    is_code(dat_evd_wait(evd, 0, 0, &e, &n), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_evd_wait: threshold 0: DAT_INVALID_PARAMETER");
    is_code(dat_evd_wait(evd, 0, -1, &e, &n), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_evd_wait: negative threshold: DAT_INVALID_PARAMETER");
    is_code(dat_evd_wait(evd, 0, p.evd_qlen + 1, &e, &n), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_evd_wait: threshold above the queue length: DAT_INVALID_PARAMETER");
    is_code(dat_evd_wait(evd, 0, 1, NULL, &n), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_evd_wait: no place for the event: DAT_INVALID_PARAMETER");
    is_code(dat_evd_wait(evd, 0, 1, &e, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_evd_wait: no place for nmore: DAT_INVALID_PARAMETER");
    is_int(n, 77, "dat_evd_wait: bad parameter: nmore is untouched");
    is_code(dat_evd_dequeue(evd, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_dequeue: no place for the event: DAT_INVALID_PARAMETER");
    is_type(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY, "dat_evd_dequeue: empty: DAT_QUEUE_EMPTY");
    ok(memcmp(&e, &before, sizeof e) == 0, "dat_evd_dequeue: error: the event is untouched");
    is_type(dat_evd_wait(evd, 0, 1, &e, &n), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: empty, timeout 0: DAT_TIMEOUT_EXPIRED");
    is_int(n, 0, "dat_evd_wait: empty: nmore is 0");

    must_rc(post(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
    dat_evd_wait(evd, 0, 1, NULL, &n);
    dat_evd_dequeue(evd, NULL);
    ok(dat_evd_dequeue(evd, &e) == DAT_SUCCESS, "dat_evd_dequeue: after failed calls: still there");

    is_success(dat_evd_set_unwaitable(evd), "dat_evd_set_unwaitable: success");
    is_code(dat_evd_wait(evd, 0, 1, &e, &n), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE,
            "dat_evd_wait: unwaitable: DAT_INVALID_STATE");
    is_success(post(evd, &n), "dat_evd_post_se: unwaitable: success");
    is_code(dat_evd_wait(evd, 0, 1, &e, &n), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE,
            "dat_evd_wait: unwaitable, with an event: DAT_INVALID_STATE");
    is_success(dat_evd_dequeue(evd, &e), "dat_evd_dequeue: unwaitable: success");
    is_success(dat_evd_clear_unwaitable(evd), "dat_evd_clear_unwaitable: success");
    is_type(dat_evd_wait(evd, 0, 1, &e, &n), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: waitable again: DAT_TIMEOUT_EXPIRED");
    is_success(dat_evd_free(evd), "dat_evd_free: success");
}

static void software_events(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, SE), dto = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
    DAT_EVD_PARAM p;
    DAT_EVENT e = software(&p), got;
    DAT_RETURN rc = DAT_SUCCESS;
    int posted = 0, in_order = 1;

    is_code(dat_evd_post_se(evd, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_post_se: event NULL: DAT_INVALID_PARAMETER");
    e.event_number = DAT_DTO_COMPLETION_EVENT;
    is_code(dat_evd_post_se(evd, &e), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_post_se: not a software event: DAT_INVALID_PARAMETER");
    is_code(post(dto, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
            "dat_evd_post_se: EVD without the SOFTWARE flag: DAT_INVALID_PARAMETER");
    is_type(dat_evd_dequeue(evd, &got), DAT_QUEUE_EMPTY,
            "dat_evd_post_se: error: nothing is queued");

    e = software((void *)0x1234);
    e.evd_handle = dto; /* ignored */
    is_success(dat_evd_post_se(evd, &e), "dat_evd_post_se: software event: success");
    memset(&e, 0, sizeof e); /* dat_evd_post_se has copied it */
    is_success(dat_evd_dequeue(evd, &got), "dat_evd_dequeue: software event: success");
    is_event(got.event_number, DAT_SOFTWARE_EVENT, "dat_evd_dequeue: event_number: DAT_SOFTWARE_EVENT");
    is_ptr(got.evd_handle, evd, "dat_evd_dequeue: evd_handle: the EVD posted to");
    is_ptr(got.event_data.software_event_data.pointer, (void *)0x1234,
           "dat_evd_dequeue: pointer: as posted");

    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p);
    while (posted <= p.evd_qlen && (rc = post(evd, (void *)(uintptr_t)posted)) == DAT_SUCCESS)
        posted++;
    is_type(rc, DAT_QUEUE_FULL, "dat_evd_post_se: queue full: DAT_QUEUE_FULL");
    is_int(posted, p.evd_qlen, "dat_evd_post_se: as many as evd_qlen fit");
    for (int i = 0; i < posted; i++)
        in_order &= dat_evd_dequeue(evd, &got) == DAT_SUCCESS &&
                    got.event_data.software_event_data.pointer == (void *)(uintptr_t)i;
    ok(in_order, "dat_evd_dequeue: full queue: all there, in order");
    is_type(dat_evd_dequeue(evd, &got), DAT_QUEUE_EMPTY,
            "dat_evd_dequeue: full queue: the refused one is not there");
    ok(quiet(fx->async), "dat_evd_post_se: queue full: no asynchronous event");
    is_success(dat_evd_free(evd), "dat_evd_free: success");
    is_success(dat_evd_free(dto), "dat_evd_free: success");
}

static void resize(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, SE);
    DAT_EVD_PARAM p, q;
    DAT_IA_ATTR ia;
    DAT_EVENT got;
    int good = 1;

    is_code(dat_evd_resize(evd, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_resize: 0: DAT_INVALID_PARAMETER");
    is_code(dat_evd_resize(evd, -3), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_evd_resize: negative: DAT_INVALID_PARAMETER");
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    if (ia.max_evd_qlen < 0x7fffffff)
        is_code(dat_evd_resize(evd, ia.max_evd_qlen + 1), DAT_INSUFFICIENT_RESOURCES,
                DAT_RESOURCE_TEVD,
                "dat_evd_resize: above max_evd_qlen: DAT_INSUFFICIENT_RESOURCES");
    for (uintptr_t i = 0; i < 4; i++)
        must_rc(post(evd, (void *)i), DAT_SUCCESS, "dat_evd_post_se");
    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p);
    is_type(dat_evd_resize(evd, 3), DAT_INVALID_STATE,
            "dat_evd_resize: below the number of events queued: DAT_INVALID_STATE");
    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q);
    is_int(q.evd_qlen, p.evd_qlen, "dat_evd_resize: refused: the length is unchanged");
    is_success(dat_evd_resize(evd, 4), "dat_evd_resize: to the number of events queued: success");
    is_success(dat_evd_resize(evd, 5000), "dat_evd_resize: grow: success");
    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q);
    ok(q.evd_qlen >= 5000, "dat_evd_resize: grow: at least as asked for");
    for (uintptr_t i = 4; i < 5000; i++)
        good &= post(evd, (void *)i) == DAT_SUCCESS;
    ok(good, "dat_evd_post_se: after growing: as many as asked for fit");
    for (uintptr_t i = 0; i < 5000; i++)
        good &= dat_evd_dequeue(evd, &got) == DAT_SUCCESS &&
                got.event_data.software_event_data.pointer == (void *)i;
    ok(good, "dat_evd_resize: grow: no event lost, none out of order");
    is_success(dat_evd_resize(evd, 2), "dat_evd_resize: shrink: success");
    dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q);
    ok(q.evd_qlen >= 2, "dat_evd_resize: shrink: at least as asked for");
    is_success(dat_evd_free(evd), "dat_evd_free: success");
}

static void references(struct fx *fx)
{
    struct side s;
    DAT_EVD_HANDLE evd;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    const char *const what[3] = { "receive completions", "request completions",
                                  "connection events" };

    side_make(&s, fx, NULL);
    for (int i = 0; i < 3; i++)
        is_code(dat_evd_free(i == 0 ? s.recv : i == 1 ? s.req : s.conn), DAT_INVALID_STATE,
                DAT_INVALID_STATE_EVD_IN_USE,
                "dat_evd_free: takes the %s of an endpoint: DAT_INVALID_STATE", what[i]);
    is_success(dat_ep_free(s.ep), "dat_ep_free: success");
    s.ep = DAT_HANDLE_NULL;
    for (int i = 0; i < 3; i++)
        is_success(dat_evd_free(i == 0 ? s.recv : i == 1 ? s.req : s.conn),
                   "dat_evd_free: took the %s of a freed endpoint: success", what[i]);

    evd = fx_evd(fx, 4, DAT_EVD_CR_FLAG);
    psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    is_code(dat_evd_free(evd), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
            "dat_evd_free: takes requests of a PSP: DAT_INVALID_STATE");
    is_success(dat_psp_free(psp), "dat_psp_free: success");
    is_success(dat_evd_free(evd), "dat_evd_free: took requests of a freed PSP: success");

    evd = fx_evd(fx, 4, SE);
    must_rc(post(evd, NULL), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_evd_free(evd), "dat_evd_free: with an event queued: success");
}

static void modify_cno(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, SE);
    DAT_CNO_HANDLE one = DAT_HANDLE_NULL, two = DAT_HANDLE_NULL, foreign;
    DAT_EVD_PARAM p;
    struct fx other;
    DAT_RETURN rc;

    if (rc_not_implemented(rc = dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &one))) {
        skip_named("dat_evd_modify_cno", "not implemented");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &two), DAT_SUCCESS,
            "dat_cno_create");
    is_success(dat_evd_modify_cno(evd, one), "dat_evd_modify_cno: attach: success");
    is_success(dat_evd_modify_cno(evd, one), "dat_evd_modify_cno: the same again: success");
    dat_evd_query(evd, DAT_EVD_FIELD_CNO, &p);
    is_ptr(p.cno_handle, one, "dat_evd_query: cno_handle: the one attached");
    is_code(dat_cno_free(one), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE,
            "dat_cno_free: an EVD refers to it: DAT_INVALID_STATE");
    is_success(dat_evd_modify_cno(evd, two), "dat_evd_modify_cno: to another: success");
    is_success(dat_cno_free(one), "dat_cno_free: the EVD moved on: success");
    fx_open(&other);
    must_rc(dat_cno_create(other.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &foreign), DAT_SUCCESS,
            "dat_cno_create");
    is_code(dat_evd_modify_cno(evd, foreign), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO,
            "dat_evd_modify_cno: CNO of another open: DAT_INVALID_HANDLE");
    fx_close(&other);
    dat_evd_query(evd, DAT_EVD_FIELD_CNO, &p);
    is_ptr(p.cno_handle, two, "dat_evd_modify_cno: refused: the old one stays");
    is_success(dat_evd_modify_cno(evd, DAT_HANDLE_NULL), "dat_evd_modify_cno: NULL: detaches");
    dat_evd_query(evd, DAT_EVD_FIELD_CNO, &p);
    is_ptr(p.cno_handle, DAT_HANDLE_NULL, "dat_evd_query: cno_handle: none after detaching");
    is_success(dat_cno_free(two), "dat_cno_free: detached: success");

    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &one), DAT_SUCCESS,
            "dat_cno_create");
    must_rc(dat_evd_modify_cno(evd, one), DAT_SUCCESS, "dat_evd_modify_cno");
    is_success(dat_evd_free(evd), "dat_evd_free: attached to a CNO: success");
    is_success(dat_cno_free(one), "dat_cno_free: its EVD is freed: success");
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    handles(&z);
    create_parameters(&z.fx);
    query(&z.fx);
    wait_parameters(&z.fx);
    software_events(&z.fx);
    resize(&z.fx);
    references(&z.fx);
    modify_cno(&z.fx);
    zoo_close(&z);
    return done_testing();
}
