/*
 * tap.h - prints test results in the Test Anything Protocol.
 *
 * Each check prints its line immediately. done_testing() prints the plan ("1..N") last, so a program
 * that ends earlier has no plan and fails. All threads can make checks, but not second processes
 * (peer.h).
 *
 * A check of a return code is skipped with the reason "not implemented" if the call returned exactly
 * DAT_NOT_IMPLEMENTED and the check expects another code.
 */
#ifndef TESTS_C_TAP_H
#define TESTS_C_TAP_H

#include "dat.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define TAP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TAP_NORETURN __attribute__((noreturn))
#else
#define TAP_PRINTF(fmt, args)
#define TAP_NORETURN
#endif

/* Declares char name[] with the formatted text. */
#define FORMAT_NAME(name, fmt)                        \
    char name[512];                                   \
    do {                                              \
        va_list ap_;                                  \
        va_start(ap_, fmt);                           \
        vsnprintf(name, sizeof name, fmt, ap_);       \
        va_end(ap_);                                  \
    } while (0)

/* Returns cond. */
bool ok(bool cond, const char *fmt, ...) TAP_PRINTF(2, 3);

bool fail(const char *fmt, ...) TAP_PRINTF(1, 2);
bool pass(const char *fmt, ...) TAP_PRINTF(1, 2);

/*
 * Checks the type and the error class bit of rc, not the subtype. Errors have the bit; success,
 * DAT_QUEUE_EMPTY and DAT_CONN_QUAL_UNAVAILABLE do not. For DAT_CONN_QUAL_IN_USE, both values of the
 * bit pass.
 */
bool is_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Checks as is_type(). If the subtype differs from the recommended one, prints a line and passes. */
bool is_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
    TAP_PRINTF(4, 5);

bool is_success(DAT_RETURN rc, const char *fmt, ...) TAP_PRINTF(2, 3);

/* Checks as is_type(), with two allowed types. */
bool is_either(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 other, const char *fmt, ...)
    TAP_PRINTF(4, 5);

/* Check that both values are equal. On failure, print them. */
bool is_int(long long got, long long want, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_ptr(const void *got, const void *want, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_event(DAT_EVENT_NUMBER got, DAT_EVENT_NUMBER want, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_state(DAT_EP_STATE got, DAT_EP_STATE want, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_status(DAT_DTO_COMPLETION_STATUS got, DAT_DTO_COMPLETION_STATUS want, const char *fmt, ...) TAP_PRINTF(3, 4);

void skip(int n, const char *reason, ...) TAP_PRINTF(2, 3);

/* Prints "name # SKIP reason". */
void skip_named(const char *name, const char *reason);

/* Skips the whole program: prints "1..0 # SKIP reason" and exits with 0. */
void skip_all(const char *reason, ...) TAP_PRINTF(1, 2) TAP_NORETURN;

/* Prints "Bail out!", kills all second processes and exits with 1. */
void bail(const char *reason, ...) TAP_PRINTF(1, 2) TAP_NORETURN;

void diag(const char *fmt, ...) TAP_PRINTF(1, 2);

/* Prints the plan. Returns the exit status: 0 if no subtest failed. */
int done_testing(void);

int tap_failures(void);

/* Returns whether rc has this type and the right error class bit. */
bool rc_is(DAT_RETURN rc, DAT_UINT32 type);

bool rc_not_implemented(DAT_RETURN rc);

/* Returns the name of a code's type, with its subtype, in one static buffer per thread. */
const char *rc_text(DAT_RETURN rc);

const char *subtype_text(DAT_UINT32 subtype);

/*
 * Return the name of a value. operation_text() also knows the values of DAT_IB_DTOS. Each function writes unknown
 * values to one static buffer per thread.
 */
const char *event_text(DAT_EVENT_NUMBER number);
const char *state_text(DAT_EP_STATE state);
const char *status_text(DAT_DTO_COMPLETION_STATUS status);
#if UDAPL == 20
const char *operation_text(int operation);
#endif

#endif
