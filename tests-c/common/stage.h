/* stage.h - an endpoint in any state, reached by real calls. */
#ifndef TESTS_C_STAGE_H
#define TESTS_C_STAGE_H

#include "fixture.h"

struct stage {
    struct fx fx;
    DAT_EP_HANDLE ep;    /* the endpoint in the requested state */
    struct side side;    /* has the EVDs of ep; side.ep is ep, or NULL in TENTATIVE */
    struct side other;   /* the endpoint at the other end, if it is in this process */
    struct region region;
    DAT_SRQ_HANDLE srq;  /* the queue of ep, or NULL */
    DAT_EVD_HANDLE requests;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_RSP_HANDLE rsp;
    DAT_CR_HANDLE cr;    /* PASSIVE, TENTATIVE: the CR of ep. ACTIVE: the CR at the listener */
    struct peer peer;    /* COMPLETION_PENDING: the stopped process that connects */
};

#define STAGE_STATES 9
extern const DAT_EP_STATE stage_states[STAGE_STATES];

/*
 * Brings an endpoint into this state. If the provider lacks a feature or leaves the state too fast,
 * closes the stage and returns false, with the reason in *why unless why is NULL. For
 * COMPLETION_PENDING, the program needs STAGE_ROLE.
 */
bool stage_open(struct stage *g, DAT_EP_STATE state, const char **why);
/* Does the same with an endpoint on a shared receive queue. */
bool stage_open_srq(struct stage *g, DAT_EP_STATE state, const char **why);
void stage_close(struct stage *g);

int stage_caller(struct link *up);
#define STAGE_ROLE { "stage-caller", stage_caller }

/* Returns the name of the state without its prefix, such as "UNCONNECTED". */
const char *stage_name(DAT_EP_STATE state);

DAT_UINT32 stage_subtype(DAT_EP_STATE state);

#endif
