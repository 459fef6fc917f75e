/*
 * wait.h - waiting for expected events, with a deadline.
 *
 * The deadline is SOON_MS, scaled, if none is given. The functions that fetch
 * an event print a wrong event on a comment line.
 */
#ifndef TESTS_C_WAIT_H
#define TESTS_C_WAIT_H

#include "dat.h"

#include <stdbool.h>

/* The next event, by dat_evd_wait(). False at the deadline or on an error. */
bool wait_event(DAT_EVD_HANDLE evd, DAT_EVENT *event);
bool wait_event_ms(DAT_EVD_HANDLE evd, unsigned ms, DAT_EVENT *event);

/* The next event, by dat_evd_dequeue() again and again. */
bool poll_event(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/* The next event, which must have that number. */
bool wait_number(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event);

/* The next event is that connection event; nobody is interested in its data. */
bool wait_connection(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);

/*
 * The next event is a DTO completion with that cookie and status. event may be
 * NULL. The length is not compared.
 */
bool wait_dto(DAT_EVD_HANDLE evd, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
              DAT_EVENT *event);

/* n DTO completions, whatever they say, are taken off. Returns how many came. */
int drain_dtos(DAT_EVD_HANDLE evd, int n);

/* True when no event comes within QUIET_MS. */
bool quiet(DAT_EVD_HANDLE evd);

/* Takes off all that is queued now. Returns how many there were. */
int drain(DAT_EVD_HANDLE evd);

/* Waits until the endpoint is in that state. */
bool wait_state(DAT_EP_HANDLE ep, DAT_EP_STATE state);

/* The endpoint's state now; a value outside the enumeration when the query fails. */
DAT_EP_STATE ep_state(DAT_EP_HANDLE ep);

/* Waits until done(arg) is true. */
bool wait_until(bool (*done)(void *arg), void *arg, unsigned ms);

/* Lets other threads run between two looks at a condition. */
void breathe(void);

#endif
