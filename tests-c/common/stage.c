#define _POSIX_C_SOURCE 200809L
#include "stage.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

const DAT_EP_STATE stage_states[STAGE_STATES] = {
    DAT_EP_STATE_UNCONNECTED,
    DAT_EP_STATE_RESERVED,
    DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
    DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
    DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
    DAT_EP_STATE_COMPLETION_PENDING,
    DAT_EP_STATE_CONNECTED,
    DAT_EP_STATE_DISCONNECT_PENDING,
    DAT_EP_STATE_DISCONNECTED,
};

const char *stage_name(DAT_EP_STATE state)
{
    return state_text(state) + strlen("DAT_EP_STATE_");
}

DAT_UINT32 stage_subtype(DAT_EP_STATE state)
{
    switch (state) {
    case DAT_EP_STATE_UNCONNECTED: return DAT_INVALID_STATE_EP_UNCONNECTED;
    case DAT_EP_STATE_RESERVED: return DAT_INVALID_STATE_EP_RESERVED;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING: return DAT_INVALID_STATE_EP_PASSCONNPENDING;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING: return DAT_INVALID_STATE_EP_ACTCONNPENDING;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING: return DAT_INVALID_STATE_EP_TENTCONNPENDING;
    case DAT_EP_STATE_COMPLETION_PENDING: return DAT_INVALID_STATE_EP_COMPLPENDING;
    case DAT_EP_STATE_CONNECTED: return DAT_INVALID_STATE_EP_CONNECTED;
    case DAT_EP_STATE_DISCONNECT_PENDING: return DAT_INVALID_STATE_EP_DISCPENDING;
    case DAT_EP_STATE_DISCONNECTED: return DAT_INVALID_STATE_EP_DISCONNECTED;
    default: return DAT_NO_SUBTYPE;
    }
}

/* Requests a connection. The first process stops this process with SIGSTOP before it accepts. */
int stage_caller(struct link *up)
{
    struct fx fx;
    struct side s;
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual = 0;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    must(LINK_RECV(up, address) && LINK_RECV(up, qual), "nothing to connect to");
    must_rc(side_connect(&s, (DAT_IA_ADDRESS_PTR)&address, qual), DAT_SUCCESS, "dat_ep_connect");
    link_say(up, "called");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

/* Starts a connection to g->qual from the other endpoint. */
static void call(struct stage *g)
{
    side_make(&g->other, &g->fx, NULL);
    must_rc(dat_ep_connect(g->other.ep, fx_address(&g->fx), g->qual, DAT_TIMEOUT_INFINITE, 0, NULL,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
}

static bool reserve(struct stage *g, const char **why)
{
    DAT_RETURN rc;

    do {
        g->qual = unique_qual(false);
        rc = dat_rsp_create(g->fx.ia, g->qual, g->ep, g->requests, &g->rsp);
    } while (rc_is(rc, DAT_CONN_QUAL_IN_USE));
    if (rc_not_implemented(rc)) {
        *why = "dat_rsp_create: not implemented";
        return false;
    }
    must_rc(rc, DAT_SUCCESS, "dat_rsp_create");
    return true;
}

static bool tentative(struct stage *g, const char **why)
{
    DAT_CR_PARAM p;
    DAT_RETURN rc =
        dat_psp_create_any(g->fx.ia, &g->qual, g->requests, DAT_PSP_PROVIDER_FLAG, &g->psp);

    if (rc_not_implemented(rc) || rc_is(rc, DAT_MODEL_NOT_SUPPORTED)) {
        *why = "the provider creates no endpoints";
        return false;
    }
    must_rc(rc, DAT_SUCCESS, "dat_psp_create_any");
    call(g);
    g->cr = next_request(g->requests);
    must_rc(dat_cr_query(g->cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
    g->ep = p.local_ep_handle;
    must(g->ep != DAT_HANDLE_NULL, "dat_cr_query: no endpoint in provider mode");
    return true;
}

static bool accepted(struct stage *g, const char **why)
{
    DAT_CR_HANDLE cr;

    if (env_is_iwarp()) {
        *why = "an iWARP connection stands for the passive side once it has accepted";
        return false;
    }
    g->psp = fx_listen_on(&g->fx, g->requests, DAT_PSP_CONSUMER_FLAG, &g->qual);
    peer_start(&g->peer, "stage-caller");
    must(LINK_SEND(&g->peer.link, g->fx.address) && LINK_SEND(&g->peer.link, g->qual) &&
             link_hear(&g->peer.link, "called"),
         "the peer has exited");
    cr = next_request(g->requests);
    must(kill(g->peer.pid, SIGSTOP) == 0 && waitpid(g->peer.pid, NULL, WUNTRACED) == g->peer.pid,
         "the peer cannot be stopped");
    must_rc(dat_cr_accept(cr, g->ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    if (ep_state(g->ep) == DAT_EP_STATE_COMPLETION_PENDING)
        return true;
    *why = "the transport completes before the peer has run";
    return false;
}

static void make_ep(struct stage *g, bool shared)
{
    DAT_SRQ_ATTR attr = { 8, 4, DAT_SRQ_LW_DEFAULT };

    if (shared) {
        must_rc(dat_srq_create(g->fx.ia, g->fx.pz, &attr, &g->srq), DAT_SUCCESS, "dat_srq_create");
        side_make_srq(&g->side, &g->fx, g->srq, NULL);
    } else {
        side_make(&g->side, &g->fx, NULL);
    }
    g->ep = g->side.ep;
}

static bool open_with(struct stage *g, DAT_EP_STATE state, bool shared, const char **why)
{
    const char *unused;
    bool reached = true;

    if (why == NULL)
        why = &unused;
    *why = "";
    memset(g, 0, sizeof *g);
    fx_open(&g->fx);
    g->requests = fx_evd(&g->fx, 8, DAT_EVD_CR_FLAG);
    region_make(&g->fx, &g->region, 4096, DAT_MEM_PRIV_ALL_FLAG);
    make_ep(g, shared);

    switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
        break;
    case DAT_EP_STATE_RESERVED:
        reached = reserve(g, why);
        break;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
        reached = reserve(g, why);
        if (reached) {
            call(g);
            g->cr = next_request(g->requests);
        }
        break;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
        g->psp = fx_listen_on(&g->fx, g->requests, DAT_PSP_CONSUMER_FLAG, &g->qual);
        must_rc(dat_ep_connect(g->ep, fx_address(&g->fx), g->qual, DAT_TIMEOUT_INFINITE, 0, NULL,
                               DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_connect");
        g->cr = next_request(g->requests);
        break;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
        if (shared) {
            *why = "the provider creates endpoints without a shared receive queue";
            reached = false;
            break;
        }
        must_rc(dat_ep_free(g->side.ep), DAT_SUCCESS, "dat_ep_free");
        g->side.ep = g->ep = DAT_HANDLE_NULL;
        reached = tentative(g, why);
        break;
    case DAT_EP_STATE_COMPLETION_PENDING:
        reached = accepted(g, why);
        break;
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_DISCONNECT_PENDING:
    case DAT_EP_STATE_DISCONNECTED:
        if (state == DAT_EP_STATE_DISCONNECT_PENDING && env_is_iwarp()) {
            *why = "no message waits on iWARP";
            reached = false;
            break;
        }
        side_make(&g->other, &g->fx, NULL);
        sides_connect(&g->side, &g->other);
        if (state == DAT_EP_STATE_DISCONNECT_PENDING) {
            /* A message without a posted receive keeps the endpoint in this state. */
            must_rc(post_send(&g->side, &g->region, 0, 64, 0x5e4d), DAT_SUCCESS,
                    "dat_ep_post_send");
            must_rc(dat_ep_disconnect(g->ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS,
                    "dat_ep_disconnect");
        } else if (state == DAT_EP_STATE_DISCONNECTED) {
            must_rc(dat_ep_disconnect(g->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS,
                    "dat_ep_disconnect");
            must(wait_connection(g->side.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
                 "no DISCONNECTED");
            must(wait_connection(g->other.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
                 "no DISCONNECTED at the other end");
        }
        break;
    default:
        reached = false;
        *why = "no such state";
        break;
    }
    if (reached && ep_state(g->ep) != state) {
        *why = "the state could not be reached";
        diag("endpoint is in %s", state_text(ep_state(g->ep)));
        reached = false;
    }
    if (!reached)
        stage_close(g);
    return reached;
}

bool stage_open(struct stage *g, DAT_EP_STATE state, const char **why)
{
    return open_with(g, state, false, why);
}

bool stage_open_srq(struct stage *g, DAT_EP_STATE state, const char **why)
{
    return open_with(g, state, true, why);
}

void stage_close(struct stage *g)
{
    peer_kill(&g->peer);
    fx_close(&g->fx);
}
