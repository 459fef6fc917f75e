/*
 * modify_common.h - dat_ep_modify(3DAT) as data: every field of DAT_EP_PARAM,
 * its mask bit, and the required return code in each endpoint state.
 */
#ifndef TESTS_C_MODIFY_COMMON_H
#define TESTS_C_MODIFY_COMMON_H

#include "common/fixture.h"
#include "common/stage.h"

/* Two of each object that an endpoint refers to, so that there is always another one. */
struct values {
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz[2];
    DAT_EVD_HANDLE recv[2];
    DAT_EVD_HANDLE request[2];
    DAT_EVD_HANDLE connect[2];
    DAT_SRQ_HANDLE srq;
};

void values_make(struct values *v, struct fx *fx);

struct field {
    const char *title;      /* as the manual page names it */
    const char *bit_name;   /* without DAT_EP_FIELD_ */
    DAT_EP_PARAM_MASK bit;

    /*
     * One letter for each state, in the order of stage_states (common/stage.h):
     * UNCONNECTED, RESERVED, PASSIVE, ACTIVE, TENTATIVE CONNECTION PENDING,
     * COMPLETION_PENDING, CONNECTED, DISCONNECT_PENDING, DISCONNECTED.
     *   A  can be modified
     *   S  DAT_INVALID_STATE
     *   P  cannot be modified: DAT_INVALID_PARAMETER
     */
    char in[STAGE_STATES + 1];

    /* Puts a good value that is not the one in now, where there are two of them. */
    void (*another)(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v);
    bool (*same)(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b);
};

extern const struct field fields[];
extern const int field_count;

/* All that dat_ep_query() says; it must succeed. */
DAT_EP_PARAM ep_param(DAT_EP_HANDLE ep);

/* True when no field of the table differs. Says which ones do. */
bool params_same(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b);
/* A subtest: the query gives exactly what it gave before. */
bool is_same(DAT_EP_HANDLE ep, const DAT_EP_PARAM *before, const char *fmt, ...) TAP_PRINTF(3, 4);

/* A structure full of rubbish: whoever reads a field that the mask does not name, notices. */
void param_rubbish(DAT_EP_PARAM *p);

#endif
