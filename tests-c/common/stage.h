/*
 * stage.h - an endpoint in any state, brought there by real calls.
 */
#ifndef TESTS_C_STAGE_H
#define TESTS_C_STAGE_H

#include "fixture.h"

struct stage {
    struct fx fx;        /* opened for this stage alone */
    DAT_EP_HANDLE ep;    /* the endpoint in the state asked for */
    struct side side;    /* its EVDs; side.ep is ep, or NULL in TENTATIVE */
    struct side other;   /* the other end, where there is one */
    struct region region;
    DAT_EVD_HANDLE requests;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_RSP_HANDLE rsp;
    DAT_CR_HANDLE cr;    /* PASSIVE, TENTATIVE: the CR of ep. ACTIVE: the request at the other end */
    struct peer peer;    /* COMPLETION_PENDING: the process that has not finished connecting */
};

/* The states that stage_open() knows, for loops. */
#define STAGE_STATES 9
extern const DAT_EP_STATE stage_states[STAGE_STATES];

/*
 * Brings an endpoint into that state. False, with the reason in *why, when this
 * provider does not do what it takes or passes through the state too fast to be
 * seen in it. A program that asks for COMPLETION_PENDING has STAGE_ROLE among
 * its roles.
 */
bool stage_open(struct stage *g, DAT_EP_STATE state, const char **why);
void stage_close(struct stage *g);

/* The role of the second process that COMPLETION_PENDING takes. */
int stage_caller(struct link *up);
#define STAGE_ROLE { "stage-caller", stage_caller }

/* "UNCONNECTED" for DAT_EP_STATE_UNCONNECTED and so on. */
const char *stage_name(DAT_EP_STATE state);

/* DAT_INVALID_STATE_EP_... that goes with a state. */
DAT_UINT32 stage_subtype(DAT_EP_STATE state);

#endif
