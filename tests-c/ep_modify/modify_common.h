/*
 * modify_common.h - all fields of DAT_EP_PARAM, with the mask bit and the expected result of
 * dat_ep_modify in each endpoint state.
 */
#ifndef TESTS_C_MODIFY_COMMON_H
#define TESTS_C_MODIFY_COMMON_H

#include "common/fixture.h"
#include "common/stage.h"

/* Objects for the fields: two for each handle that can be modified, one for the others. */
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
    const char *title;      /* in the manual page */
    const char *bit_name;   /* without DAT_EP_FIELD_ */
    DAT_EP_PARAM_MASK bit;

    /*
     * One letter per state, in the order of stage_states:
     *   A  can be modified
     *   S  DAT_INVALID_STATE
     *   P  cannot be modified: DAT_INVALID_PARAMETER
     */
    char in[STAGE_STATES + 1];

    /* Sets the field in *p to a valid value, which differs from *now if the field has two valid values. */
    void (*another)(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v);
    bool (*same)(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b);
};

extern const struct field fields[];
extern const int field_count;

/* Returns the letter of a field in state stage_states[s] for the value that dat_ep_query returned. */
char letter_unchanged(const struct field *f, int s);
/* Returns the fields with this letter. */
DAT_EP_PARAM_MASK fields_unchanged(int s, char letter);

/* Queries all fields. The query must succeed. */
DAT_EP_PARAM ep_param(DAT_EP_HANDLE ep);

/* Returns whether all fields are equal. Prints the fields that differ. */
bool params_same(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b);
/* Checks that dat_ep_query() returns the values of `before`. */
bool is_same(DAT_EP_HANDLE ep, const DAT_EP_PARAM *before, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Fills the structure with garbage, so that reading a field outside the mask has an effect. */
void param_rubbish(DAT_EP_PARAM *p);

#endif
