/*
 * aliases_reach.c - adapters on several addresses of one device: only the listener of the destination address gets a
 * connection.
 *
 *   aliases_reach ADAPTER ALIAS...    aliases.sh has created each ALIAS, "at-ADDRESS", on ADAPTER's device
 */
#define _DEFAULT_SOURCE
#include "adapters.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PLACES = 5, NAME = 48 };

struct place {
    const char *name;
    struct fx fx;
    DAT_PSP_HANDLE psp;
};

static struct place places[MAX_PLACES];
static int count;
static DAT_CONN_QUAL qual; /* of all listeners */

/* Takes the next event. Returns false if there is none. */
static bool taken(DAT_EVD_HANDLE evd, DAT_EVENT *e)
{
    return dat_evd_dequeue(evd, e) == DAT_SUCCESS;
}

static void listen_at(struct place *p)
{
    must_rc(dat_psp_create(p->fx.ia, qual, p->fx.cr, DAT_PSP_CONSUMER_FLAG, &p->psp), DAT_SUCCESS, "dat_psp_create");
}

static void deaf(struct place *p)
{
    must_rc(dat_psp_free(p->psp), DAT_SUCCESS, "dat_psp_free");
}

static DAT_RETURN call(struct side *s, const char *told, const struct sockaddr *to)
{
    return dat_ep_connect(s->ep, (DAT_IA_ADDRESS_PTR)to, qual, env_us(SOON_MS), NAME, (DAT_PVOID)told,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* Rejects requests at places other than `to`. Returns whether there were none. */
static bool nobody_else(const struct place *to)
{
    bool none = true;
    DAT_EVENT e;

    for (int i = 0; i < count; i++)
        while (&places[i] != to && taken(places[i].fx.cr, &e)) {
            diag("the request went to %s", places[i].name);
            must_rc(dat_cr_reject(e.event_data.cr_arrival_event_data.cr_handle), DAT_SUCCESS, "dat_cr_reject");
            none = false;
        }
    return none;
}

struct arrival {
    struct place *to;
    DAT_EVD_HANDLE caller;
    DAT_EVENT request, answer;
    bool asked, answered;
};

static bool decided(void *arg)
{
    struct arrival *a = arg;

    a->asked = taken(a->to->fx.cr, &a->request);
    a->answered = !a->asked && taken(a->caller, &a->answer);
    return a->asked || a->answered || !nobody_else(a->to);
}

/* Returns whether a connection from `from` to the address `at` reaches only `to`, and works. */
static bool reaches(struct place *from, struct place *to, const struct sockaddr *at)
{
    struct side active, passive;
    struct arrival a = { .to = to };
    char told[NAME] = { 0 };
    DAT_CR_PARAM param;
    bool good = false;

    side_make(&active, &from->fx, NULL);
    side_make(&passive, &to->fx, NULL);
    snprintf(told, sizeof told, "from %s", from->name);
    must_rc(call(&active, told, at), DAT_SUCCESS, "dat_ep_connect");
    a.caller = active.conn;
    if (wait_until(decided, &a, SOON_MS) && a.asked) {
        DAT_CR_HANDLE cr = a.request.event_data.cr_arrival_event_data.cr_handle;

        must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
        good = a.request.event_data.cr_arrival_event_data.conn_qual == qual && param.private_data_size >= NAME &&
               memcmp(param.private_data, told, NAME) == 0;
        must_rc(dat_cr_accept(cr, passive.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        good = wait_connection(active.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
               wait_connection(passive.conn, DAT_CONNECTION_EVENT_ESTABLISHED) && sides_talk(&active, &passive) && good;
    } else if (a.answered) {
        diag("the caller gets %s", event_text(a.answer.event_number));
    }
    side_free(&active);
    side_free(&passive);
    return nobody_else(to) && good;
}

static bool refused(struct place *from, struct place *to)
{
    struct arrival a = { .to = to };
    struct side active;
    bool good;

    side_make(&active, &from->fx, NULL);
    a.caller = active.conn;
    must_rc(call(&active, "nobody should read this.........................", (struct sockaddr *)&to->fx.address),
            DAT_SUCCESS, "dat_ep_connect");
    good = wait_until(decided, &a, SOON_MS) && a.answered &&
           a.answer.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    if (a.answered)
        diag("the caller gets %s", event_text(a.answer.event_number));
    side_free(&active);
    return nobody_else(NULL) && good;
}

static bool other_family(struct place *from, struct place *to)
{
    struct side active;
    bool good;

    side_make(&active, &from->fx, NULL);
    good = rc_is(call(&active, "nobody should read this.........................", (struct sockaddr *)&to->fx.address),
                 DAT_INVALID_ADDRESS);
    side_free(&active);
    return good;
}

static void addressed(struct sockaddr_storage *to, int family, const char *text)
{
    memset(to, 0, sizeof *to);
    to->ss_family = (sa_family_t)family;
    must(inet_pton(family, text,
                   family == AF_INET ? (void *)&((struct sockaddr_in *)to)->sin_addr
                                     : (void *)&((struct sockaddr_in6 *)to)->sin6_addr) == 1,
         "inet_pton");
}

int main(int argc, char **argv)
{
    static const char *const own[] = { "127.0.0.1", "0.0.0.0", "::1" };

    env_init(argc, argv, NULL);
    must(argc > 2 && argc <= MAX_PLACES + 1, "aliases_reach ADAPTER ALIAS...");
    qual = unique_qual(false);
    for (; count < argc - 1; count++) {
        places[count].name = argv[count + 1];
        fx_open_on(&places[count].fx, argv[count + 1]);
        listen_at(&places[count]);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (places[i].fx.address.ss_family == places[j].fx.address.ss_family)
                ok(reaches(&places[i], &places[j], (struct sockaddr *)&places[j].fx.address),
                   "dat_ep_connect: %s, address of %s: its listener gets the request, and no other", places[i].name,
                   places[j].name);
            else
                ok(other_family(&places[i], &places[j]),
                   "dat_ep_connect: %s, address of %s, of another family: DAT_INVALID_ADDRESS", places[i].name,
                   places[j].name);

    for (int i = 0; i < count; i++)
        for (size_t o = 0; o < sizeof own / sizeof own[0]; o++) {
            struct sockaddr_storage at;

            addressed(&at, strchr(own[o], ':') == NULL ? AF_INET : AF_INET6, own[o]);
            ok(reaches(&places[i], &places[i], (struct sockaddr *)&at), "dat_ep_connect: %s, %s: its own listener",
               places[i].name, own[o]);
        }

    for (int j = 0; j < count; j++) {
        deaf(&places[j]);
        for (int i = 0; i < count; i++)
            if (places[i].fx.address.ss_family == places[j].fx.address.ss_family)
                ok(refused(&places[i], &places[j]),
                   "dat_ep_connect: %s, address of %s, where nobody listens: NON_PEER_REJECTED", places[i].name,
                   places[j].name);
        listen_at(&places[j]);
    }
    for (int i = 0; i < count; i++)
        fx_close(&places[i].fx);
    return done_testing();
}
