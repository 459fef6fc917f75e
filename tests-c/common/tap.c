#define _POSIX_C_SOURCE 200809L
#include "tap.h"

#include "peer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum verdict { PASSED, FAILED, SKIPPED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made;
static int failed;

static void line(enum verdict v, const char *name, const char *reason)
{
    char clean[512];
    size_t n = 0;

    /* A '#' in a name would start a directive. */
    for (const char *p = name; *p != '\0' && n + 1 < sizeof clean; p++)
        clean[n++] = (char)(*p == '#' ? '_' : *p == '\n' ? ' ' : *p);
    clean[n] = '\0';

    pthread_mutex_lock(&lock);
    made++;
    if (v == FAILED)
        failed++;
    printf("%sok %d - %s", v == FAILED ? "not " : "", made, clean);
    if (v == SKIPPED)
        printf(" # SKIP %s", reason);
    putchar('\n');
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

void diag(const char *fmt, ...)
{
    FORMAT_NAME(text, fmt);
    pthread_mutex_lock(&lock);
    printf("# %s\n", text);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

bool ok(bool cond, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    line(cond ? PASSED : FAILED, name, NULL);
    return cond;
}

bool fail(const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    line(FAILED, name, NULL);
    return false;
}

bool pass(const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    line(PASSED, name, NULL);
    return true;
}

bool rc_not_implemented(DAT_RETURN rc)
{
    return rc == NOT_IMPLEMENTED;
}

/* Returns whether a code of this type has the right error class bit. */
static bool class_is_right(DAT_RETURN rc, DAT_UINT32 type)
{
    switch (type) {
    case DAT_SUCCESS:
    case DAT_QUEUE_EMPTY:
    case DAT_CONN_QUAL_UNAVAILABLE:
        return rc == (DAT_RETURN)type;
    case DAT_CONN_QUAL_IN_USE:
        /* dat_psp_create returns this type without the bit, dat_rsp_create with it. */
        return true;
    default:
        return (rc & DAT_CLASS_ERROR) != 0;
    }
}

bool rc_is(DAT_RETURN rc, DAT_UINT32 type)
{
    return DAT_GET_TYPE(rc) == DAT_GET_TYPE(type) && class_is_right(rc, type);
}

/*
 * Returns false if the name of a subtest ends with a type other than `type`. codes/complete.sh
 * searches the names for types.
 */
static bool name_is_true(const char *name, DAT_UINT32 type)
{
    const char *end = strrchr(name, ':'), *text = rc_text(type);
    size_t length = strlen(text);

    if (end == NULL || strncmp(end, ": DAT_", 6) != 0)
        return true;
    return strncmp(end + 2, text, length) == 0 && (end[2 + length] == '\0' || end[2 + length] == ',');
}

static bool check_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 other, const char *name)
{
    bool good = rc_is(rc, type) || rc_is(rc, other);

    if (type == other && !name_is_true(name, type)) {
        line(FAILED, name, NULL);
        diag("  the name of the subtest has another type than %s", rc_text(type));
        return false;
    }

    if (!good && rc_not_implemented(rc)) {
        line(SKIPPED, name, "not implemented");
        return false;
    }
    line(good ? PASSED : FAILED, name, NULL);
    if (!good) {
        diag("  got      %s (0x%08x)", rc_text(rc), (unsigned)rc);
        diag("  expected %s", rc_text(type));
        if (other != type)
            diag("  or       %s", rc_text(other));
        if ((DAT_GET_TYPE(rc) == DAT_GET_TYPE(type) || DAT_GET_TYPE(rc) == DAT_GET_TYPE(other)) &&
            DAT_GET_TYPE(rc) != 0)
            diag("  the error class bit is wrong");
    }
    return good;
}

bool is_type(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return check_code(rc, type, type, name);
}

bool is_either(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 other, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return check_code(rc, type, other, name);
}

bool is_success(DAT_RETURN rc, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return check_code(rc, (DAT_UINT32)DAT_SUCCESS, (DAT_UINT32)DAT_SUCCESS, name);
}

bool is_code(DAT_RETURN rc, DAT_UINT32 type, DAT_UINT32 subtype, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    bool good = check_code(rc, type, type, name);

    if (good && DAT_GET_SUBTYPE(rc) != subtype)
        diag("  subtype: got %s, recommended %s (%s)", subtype_text(DAT_GET_SUBTYPE(rc)), subtype_text(subtype), name);
    return good;
}

bool is_int(long long got, long long want, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    line(got == want ? PASSED : FAILED, name, NULL);
    if (got != want)
        diag("  got %lld (0x%llx), expected %lld (0x%llx)", got, (unsigned long long)got, want,
             (unsigned long long)want);
    return got == want;
}

bool is_ptr(const void *got, const void *want, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    line(got == want ? PASSED : FAILED, name, NULL);
    if (got != want)
        diag("  got %p, expected %p", got, want);
    return got == want;
}

static bool same(bool equal, const char *got, const char *want, const char *name)
{
    line(equal ? PASSED : FAILED, name, NULL);
    if (!equal)
        diag("  got %s, expected %s", got, want);
    return equal;
}

bool is_event(DAT_EVENT_NUMBER got, DAT_EVENT_NUMBER want, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return same(got == want, event_text(got), event_text(want), name);
}

bool is_state(DAT_EP_STATE got, DAT_EP_STATE want, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return same(got == want, state_text(got), state_text(want), name);
}

bool is_status(DAT_DTO_COMPLETION_STATUS got, DAT_DTO_COMPLETION_STATUS want, const char *fmt, ...)
{
    FORMAT_NAME(name, fmt);
    return same(got == want, status_text(got), status_text(want), name);
}

void skip(int n, const char *reason, ...)
{
    FORMAT_NAME(text, reason);
    for (int i = 0; i < n; i++)
        line(SKIPPED, "skipped", text);
}

void skip_named(const char *name, const char *reason)
{
    line(SKIPPED, name, reason);
}

void skip_all(const char *reason, ...)
{
    FORMAT_NAME(text, reason);
    peer_end_all();
    printf("1..0 # SKIP %s\n", text);
    fflush(stdout);
    exit(0);
}

void bail(const char *reason, ...)
{
    FORMAT_NAME(text, reason);
    peer_end_all();
    printf("Bail out! %s\n", text);
    fflush(stdout);
    /* exit() could block while another thread is in the library. */
    _Exit(1);
}

int tap_failures(void)
{
    pthread_mutex_lock(&lock);
    int n = failed;
    pthread_mutex_unlock(&lock);
    return n;
}

int done_testing(void)
{
    peer_end_all();
    pthread_mutex_lock(&lock);
    printf("1..%d\n", made);
    fflush(stdout);
    int status = failed == 0 ? 0 : 1;
    pthread_mutex_unlock(&lock);
    return status;
}
