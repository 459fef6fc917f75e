/*
 * dispatch.c - calls reach the provider of a handle, through functions of libdat or the upper-case
 * macros of some headers.
 */
#define _POSIX_C_SOURCE 200809L
#include "registry/entries.h"

#include "common/tap.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static DAT_EVENT software_event(void)
{
    DAT_EVENT event;

    memset(&event, 0, sizeof event);
    event.event_number = DAT_SOFTWARE_EVENT;
    return event;
}

/* Calls through the provider's table, like programs that use the macros. */
static void by_macros(void)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE evd = NULL;
    DAT_PZ_HANDLE pz = NULL;
    DAT_IA_ATTR attr;
    DAT_HANDLE_TYPE kind = DAT_HANDLE_TYPE_CR;
    DAT_EVENT event = software_event(), got;
    DAT_COUNT more = -1;
    DAT_CONTEXT in, out;

    scene_opens("a", &ia);
    memset(&attr, 0, sizeof attr);
    scene_type(DAT_IA_QUERY(ia, NULL, DAT_IA_FIELD_IA_ADAPTER_NAME, &attr, 0, NULL), DAT_SUCCESS,
               "DAT_IA_QUERY: success");
    scene_ok(strcmp(attr.adapter_name, "a") == 0, "DAT_IA_QUERY: reaches the provider");
    scene_type(DAT_PZ_CREATE(ia, &pz), DAT_SUCCESS, "DAT_PZ_CREATE: success");
    scene_type(DAT_EVD_CREATE(ia, 4, NULL, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS,
               "DAT_EVD_CREATE: success");
    scene_type(DAT_GET_HANDLE_TYPE(evd, &kind), DAT_SUCCESS, "DAT_GET_HANDLE_TYPE: success");
    scene_ok(kind == DAT_HANDLE_TYPE_EVD, "DAT_GET_HANDLE_TYPE: an EVD");
    in.as_64 = 0x1122334455667788u;
    out.as_64 = 0;
    scene_type(DAT_SET_CONSUMER_CONTEXT(pz, in), DAT_SUCCESS, "DAT_SET_CONSUMER_CONTEXT: success");
    scene_type(dat_get_consumer_context(pz, &out), DAT_SUCCESS,
               "dat_get_consumer_context: success");
    scene_ok(out.as_64 == in.as_64, "macros and functions reach the same object");
    scene_type(DAT_EVD_POST_SE(evd, &event), DAT_SUCCESS, "DAT_EVD_POST_SE: success");
    scene_type(dat_evd_dequeue(evd, &got), DAT_SUCCESS, "dat_evd_dequeue: success");
    scene_ok(got.event_number == DAT_SOFTWARE_EVENT && got.evd_handle == evd,
             "dat_evd_dequeue: the event");
    scene_type(dat_evd_post_se(evd, &event), DAT_SUCCESS, "dat_evd_post_se: success");
    scene_type(DAT_EVD_WAIT(evd, 0, 1, &got, &more), DAT_SUCCESS, "DAT_EVD_WAIT: success");
    scene_ok(more == 0, "DAT_EVD_WAIT: no more events");
    scene_type(DAT_EVD_DEQUEUE(evd, &got), DAT_QUEUE_EMPTY, "DAT_EVD_DEQUEUE: DAT_QUEUE_EMPTY");
    scene_type(DAT_EVD_FREE(evd), DAT_SUCCESS, "DAT_EVD_FREE: success");
    scene_type(DAT_PZ_FREE(pz), DAT_SUCCESS, "DAT_PZ_FREE: success");
    scene_closes(ia);
}

static void empty_slots(void)
{
    DAT_IA_HANDLE ia, same = NULL;
    DAT_EVD_HANDLE evd = NULL;
    DAT_SRQ_HANDLE srq = NULL;
    DAT_COUNT more;
    DAT_CONTEXT word;

    memset(&word, 0, sizeof word);
    scene_opens("a", &ia);
    scene_type(dat_evd_create(ia, 4, NULL, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS,
               "dat_evd_create: success");
    scene_ok(dat_evd_resize(evd, 8) == NOT_IMPLEMENTED,
             "a slot that is NULL: DAT_NOT_IMPLEMENTED");
    scene_ok(dat_srq_create(ia, NULL, NULL, &srq) == NOT_IMPLEMENTED,
             "dat_srq_create: by the table of the IA: DAT_NOT_IMPLEMENTED");
    scene_ok(dat_ep_post_send(evd, 0, NULL, word, DAT_COMPLETION_DEFAULT_FLAG) ==
                 NOT_IMPLEMENTED,
             "dat_ep_post_send: DAT_NOT_IMPLEMENTED");
    scene_ok(dat_cno_wait(evd, 0, &evd) == NOT_IMPLEMENTED,
             "dat_cno_wait: DAT_NOT_IMPLEMENTED");
    scene_type(dat_evd_wait(evd, 1000, 1, NULL, &more), DAT_TIMEOUT_EXPIRED,
               "dat_evd_wait: DAT_TIMEOUT_EXPIRED");
    scene_type(dats_get_ia_handle(AS_IA(ia), &same), DAT_SUCCESS,
               "dats_get_ia_handle: success");
    scene_ok(same == ia, "dats_get_ia_handle: gives back what it got");
    scene_code(dats_get_ia_handle(AS_IA(ia), NULL), DAT_INVALID_PARAMETER,
               DAT_INVALID_ARG2, "dats_get_ia_handle: NULL: DAT_INVALID_PARAMETER");
    scene_code(dats_get_ia_handle(AS_IA(8), &same), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
               "dats_get_ia_handle: a number: DAT_INVALID_HANDLE");
    scene_closes(ia);
}

static void two_providers(void)
{
    DAT_IA_HANDLE first, second;
    DAT_IA_ATTR attr;

    scene_opens("a", &first);
    scene_opens("b", &second);
    scene_ok(*(void **)first != *(void **)second, "they have two tables");
    for (int i = 0; i < 2; i++) {
        DAT_IA_HANDLE ia = i == 0 ? first : second;

        memset(&attr, 0, sizeof attr);
        scene_type(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADAPTER_NAME, &attr, 0, NULL),
                   DAT_SUCCESS, "dat_ia_query: success");
        scene_ok(strcmp(attr.adapter_name, i == 0 ? "a" : "b") == 0, "each answers for itself");
    }
    scene_closes(first);
    scene_type(dat_ia_query(second, NULL, 0, NULL, 0, NULL), DAT_SUCCESS,
               "one is gone, the other answers");
    scene_type(dat_ia_query(first, NULL, 0, NULL, 0, NULL), DAT_INVALID_HANDLE,
               "the one that is gone: DAT_INVALID_HANDLE");
    scene_closes(second);
}

struct waiting {
    DAT_EVD_HANDLE evd;
    volatile int begun;
};

static void *wait_for_ever(void *arg)
{
    struct waiting *w = arg;
    DAT_EVENT event;
    DAT_COUNT more;

    w->begun = 1;
    dat_evd_wait(w->evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
    return NULL;
}

static void cancelled(void)
{
    struct waiting w = { NULL, 0 };
    struct timespec pause = { 0, 1000000 };
    DAT_IA_HANDLE ia;
    pthread_t thread;
    void *result = NULL;

    scene_opens("a", &ia);
    scene_type(dat_evd_create(ia, 4, NULL, DAT_EVD_SOFTWARE_FLAG, &w.evd), DAT_SUCCESS,
               "dat_evd_create: success");
    for (int i = 0; i < 20; i++) {
        w.begun = 0;
        if (pthread_create(&thread, NULL, wait_for_ever, &w) != 0) {
            scene_skip("no thread can be made");
            return;
        }
        /* In every second round, cancel without waiting: the thread may not have called yet. */
        while (i % 2 == 0 && !w.begun)
            nanosleep(&pause, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            break;
    }
    scene_ok(result == PTHREAD_CANCELED, "a thread can be cancelled in dat_evd_wait");
    scene_type(dat_evd_free(w.evd), DAT_SUCCESS, "afterwards everything goes on");
    scene_closes(ia);
}

static void *open_and_close(void *arg)
{
    DAT_IA_HANDLE ia;

    (void)arg;
    for (;;) {
        if (open_named("a", &ia) != DAT_SUCCESS)
            return NULL;
        dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
        pthread_testcancel();
    }
}

static void cancelled_in_open(void)
{
    struct timespec pause = { 0, 300000 };
    pthread_t thread;
    DAT_IA_HANDLE ia;
    void *result = NULL;

    for (int i = 0; i < 50; i++) {
        if (pthread_create(&thread, NULL, open_and_close, NULL) != 0) {
            scene_skip("no thread can be made");
            return;
        }
        pause.tv_nsec = 20000 * i;
        nanosleep(&pause, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            break;
    }
    scene_ok(result == PTHREAD_CANCELED, "a thread can be cancelled around dat_ia_open");
    scene_log_clear();
    scene_opens("a", &ia);
    scene_log("init a " API_VERSION " 0 data\nadd 0x00000000\nopen a\n",
              "afterwards nothing is left open or locked");
    scene_closes(ia);
}

static const struct scene scenes[] = {
    { "macros", by_macros },
    { "empty slots", empty_slots },
    { "two providers", two_providers },
    { "cancelled", cancelled },
    { "cancelled in open", cancelled_in_open },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting two = { .conf = ENTRY("a")
                                     ENTRY_BY("b", "%S/libstub-other.so", "data") };

    scene_enter(argc, argv, scenes);
    for (const struct scene *s = scenes; s->name != NULL; s++)
        scene_play(s->name, &two);
    return done_testing();
}
