/*
 * tap.h - results of a test program in the Test Anything Protocol.
 *
 * Every check prints its line at once, so the output of a program that hangs
 * or crashes shows its progress. The plan ("1..N") is the last line: a
 * program that dies before done_testing() has none and counts as failed.
 *
 * A check may be made from any thread of the main process. A peer process
 * (peer.h) makes none; it reports to the process that started it.
 *
 * DAT_NOT_IMPLEMENTED, that exact code, turns a check made by is_type(),
 * is_code() or is_success() into a skip with the reason "not implemented",
 * unless it is the code that was asked for.
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

/* char name[]: the text of a format and of the arguments behind it. */
#define FORMAT_NAME(name, fmt)                        \
    char name[512];                                   \
    do {                                              \
        va_list ap_;                                  \
        va_start(ap_, fmt);                           \
        vsnprintf(name, sizeof name, fmt, ap_);       \
        va_end(ap_);                                  \
    } while (0)

/* A subtest: passes when cond is true. Returns cond. */
bool ok(bool cond, const char *fmt, ...) TAP_PRINTF(2, 3);

/* A subtest that failed, or that passed, without a condition at hand. */
bool fail(const char *fmt, ...) TAP_PRINTF(1, 2);
bool pass(const char *fmt, ...) TAP_PRINTF(1, 2);

/*
 * A subtest: passes when rc has the given type, whatever its subtype. An
 * error without the error class bit, and a success with any bit, fail.
 * DAT_QUEUE_EMPTY and DAT_CONN_QUAL_UNAVAILABLE have no class bit.
 */
bool is_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) TAP_PRINTF(3, 4);

/* As is_type(); another subtype than the expected one is only remarked upon. */
bool is_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
    TAP_PRINTF(4, 5);

/* A subtest: passes when rc is DAT_SUCCESS. */
bool is_success(DAT_RETURN rc, const char *fmt, ...) TAP_PRINTF(2, 3);

/* As is_type() where the specification leaves two outcomes open. */
bool is_either(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 other, const char *fmt, ...)
    TAP_PRINTF(4, 5);

/* Equality, with both values in the diagnostics. */
bool is_int(long long got, long long want, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_ptr(const void *got, const void *want, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Counts n subtests as skipped for a reason (printf style). */
void skip(int n, const char *reason, ...) TAP_PRINTF(2, 3);

/* As skip() for one subtest that has a name: "name # SKIP reason". */
void skip_named(const char *name, const char *reason);

/* The whole program does not apply here: prints "1..0 # SKIP reason", exits 0. */
void skip_all(const char *reason, ...) TAP_PRINTF(1, 2) TAP_NORETURN;

/* Nothing further makes sense: prints "Bail out!", ends the peers, exits 1. */
void bail(const char *reason, ...) TAP_PRINTF(1, 2) TAP_NORETURN;

/* A comment line. */
void diag(const char *fmt, ...) TAP_PRINTF(1, 2);

/* Prints the plan. Returns the exit status for main(): 0 when nothing failed. */
int done_testing(void);

/* How many subtests have failed so far. */
int tap_failures(void);

/* True when rc has that type, and the error class bit where the type has it. */
bool rc_is(DAT_RETURN rc, DAT_UINT32 type);

/* True for DAT_NOT_IMPLEMENTED, exactly. */
bool rc_not_implemented(DAT_RETURN rc);

/* Name of a code's type and subtype, for messages. Uses a static buffer a thread. */
const char *rc_text(DAT_RETURN rc);

/* Name of an event number or an endpoint state, for messages. */
const char *event_text(DAT_EVENT_NUMBER number);
const char *state_text(DAT_EP_STATE state);

#endif
