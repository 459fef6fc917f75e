#define _POSIX_C_SOURCE 200809L
#include "wait.h"

#include "env.h"
#include "peer.h"
#include "tap.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

void breathe(void)
{
    sched_yield();
}

#if UDAPL == 20

/*
 * Returns whether a completion is on the right EVD of its endpoint, or the endpoint has been freed.
 */
static bool of_that_evd(const DAT_EVENT *event, const DAT_DTO_COMPLETION_EVENT_DATA *d)
{
    bool receive = d->operation == DAT_DTO_RECEIVE || d->operation == DAT_DTO_RECEIVE_WITH_INVALIDATE;
    DAT_EP_PARAM p;

    if (dat_ep_query(d->ep_handle, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE, &p) !=
        DAT_SUCCESS)
        return true;
    return event->evd_handle == (receive ? p.recv_evd_handle : p.request_evd_handle);
}

/* Checks the fields that 2.0 adds to events. */
static bool event_true(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event->event_data.dto_completion_event_data;

    if (event->evd_handle != evd) {
        REMARK("%s: evd_handle is another EVD", event_text(event->event_number));
        return false;
    }
    switch (event->event_number) {
    case DAT_DTO_COMPLETION_EVENT:
        if ((unsigned)d->operation > DAT_DTO_RECEIVE_WITH_INVALIDATE || !of_that_evd(event, d)) {
            REMARK("completion: cookie %llu %s has %s",
                   (unsigned long long)d->user_cookie.as_64, status_text(d->status), operation_text(d->operation));
            return false;
        }
        if (d->operation != DAT_DTO_RECEIVE_WITH_INVALIDATE && d->rmr_context != 0) {
            REMARK("completion: %s has rmr_context 0x%x", operation_text(d->operation),
                   (unsigned)d->rmr_context);
            return false;
        }
        return true;
    case DAT_CONNECTION_REQUEST_EVENT:
        if (event->event_data.cr_arrival_event_data.truncate_flag != DAT_FALSE) {
            REMARK("connection request: truncate_flag is set");
            return false;
        }
        return true;
    default:
        return true;
    }
}

#else

static bool event_true(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
    (void)evd;
    (void)event;
    return true;
}

#endif

bool wait_event_ms(DAT_EVD_HANDLE evd, unsigned ms, DAT_EVENT *event)
{
    uint64_t end = now_ms() + env_ms(ms);
    DAT_COUNT more;

    for (;;) {
        uint64_t now = now_ms();
        DAT_TIMEOUT us = now >= end ? 0 : (DAT_TIMEOUT)(end - now) * 1000u;
        DAT_RETURN rc = dat_evd_wait(evd, us, 1, event, &more);

        if (rc == DAT_SUCCESS)
            return event_true(evd, event);
        if (rc_is(rc, DAT_INTERRUPTED_CALL) && now < end)
            continue;
        if (!rc_is(rc, DAT_TIMEOUT_EXPIRED))
            REMARK("dat_evd_wait: %s", rc_text(rc));
        return false;
    }
}

bool wait_event(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (wait_event_ms(evd, SOON_MS, event))
        return true;
    REMARK("no event before the deadline");
    return false;
}

bool poll_event(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    for (;;) {
        DAT_RETURN rc = dat_evd_dequeue(evd, event);

        if (rc == DAT_SUCCESS)
            return event_true(evd, event);
        if (!rc_is(rc, DAT_QUEUE_EMPTY)) {
            REMARK("dat_evd_dequeue: %s", rc_text(rc));
            return false;
        }
        if (now_ms() > end) {
            REMARK("no event before the deadline");
            return false;
        }
        breathe();
    }
}

bool wait_number(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
    if (!wait_event(evd, event)) {
        REMARK("waited for %s", event_text(number));
        return false;
    }
    if (event->event_number == number)
        return true;
    REMARK("got event %s, waited for", event_text(event->event_number));
    REMARK("  %s", event_text(number));
    return false;
}

bool wait_connection(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
    DAT_EVENT event;

    return wait_number(evd, number, &event);
}

bool wait_dto(DAT_EVD_HANDLE evd, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
              DAT_EVENT *event)
{
    DAT_EVENT own;
    DAT_DTO_COMPLETION_EVENT_DATA *d;

    if (event == NULL)
        event = &own;
    if (!wait_number(evd, DAT_DTO_COMPLETION_EVENT, event)) {
        REMARK("  the completion of cookie %llu", (unsigned long long)cookie);
        return false;
    }
    d = &event->event_data.dto_completion_event_data;
    if (d->user_cookie.as_64 == cookie && d->status == status)
        return true;
    REMARK("completion: cookie %llu %s, expected cookie %llu %s",
           (unsigned long long)d->user_cookie.as_64, status_text(d->status), (unsigned long long)cookie,
           status_text(status));
    return false;
}

int wait_status(DAT_EVD_HANDLE evd, DAT_UINT64 cookie)
{
    DAT_EVENT event;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;

    if (!wait_number(evd, DAT_DTO_COMPLETION_EVENT, &event))
        return -1;
    if (d->user_cookie.as_64 == cookie)
        return (int)d->status;
    REMARK("completion: cookie %llu %s, expected cookie %llu", (unsigned long long)d->user_cookie.as_64,
           status_text(d->status), (unsigned long long)cookie);
    return -1;
}

int drain_dtos(DAT_EVD_HANDLE evd, int n)
{
    DAT_EVENT event;

    for (int i = 0; i < n; i++)
        if (!wait_number(evd, DAT_DTO_COMPLETION_EVENT, &event))
            return i;
    return n;
}

bool quiet(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN rc = dat_evd_wait(evd, QUIET_MS * 1000u, 1, &event, &more);

    if (rc_is(rc, DAT_TIMEOUT_EXPIRED))
        return true;
    if (rc == DAT_SUCCESS)
        REMARK("unexpected event %s", event_text(event.event_number));
    else
        REMARK("dat_evd_wait: %s", rc_text(rc));
    return false;
}

int drain(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    int n = 0;

    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
        n++;
    return n;
}

DAT_EP_STATE ep_state(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state = (DAT_EP_STATE)99;

    if (dat_ep_get_status(ep, &state, NULL, NULL) != DAT_SUCCESS)
        return (DAT_EP_STATE)99;
    return state;
}

bool wait_state(DAT_EP_HANDLE ep, DAT_EP_STATE state)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (ep_state(ep) != state) {
        if (now_ms() > end) {
            REMARK("endpoint is in state %s, waited for", state_text(ep_state(ep)));
            REMARK("  %s", state_text(state));
            return false;
        }
        breathe();
    }
    return true;
}

bool wait_until(bool (*done)(void *arg), void *arg, unsigned ms)
{
    uint64_t end = now_ms() + env_ms(ms);

    while (!done(arg)) {
        struct timespec tick = { 0, 1000000 };

        if (now_ms() > end)
            return false;
        nanosleep(&tick, NULL);
    }
    return true;
}
