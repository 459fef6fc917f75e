/*
 * wait.h - waits for expected events, up to SOON_MS (scaled) or a given time. Other events are printed
 * on diagnostic lines.
 */
#ifndef TESTS_C_WAIT_H
#define TESTS_C_WAIT_H

#include "dat.h"

#include <stdbool.h>

/*
 * Get the next event with dat_evd_wait(). Return false if there is none before the deadline, or if a
 * field that 2.0 adds to the event is wrong.
 */
bool wait_event(DAT_EVD_HANDLE evd, DAT_EVENT *event);
bool wait_event_ms(DAT_EVD_HANDLE evd, unsigned ms, DAT_EVENT *event);

/* Gets the next event by polling dat_evd_dequeue(). */
bool poll_event(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/* Gets the next event, and checks its number. */
bool wait_number(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event);

/* Same as wait_number(), without the event's data. */
bool wait_connection(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);

/*
 * Gets the next event, which must be a DTO completion with this cookie and status. event may be
 * NULL.
 */
bool wait_dto(DAT_EVD_HANDLE evd, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
              DAT_EVENT *event);

/* Gets the next event, which must be a DTO completion with this cookie. Returns its status, otherwise -1. */
int wait_status(DAT_EVD_HANDLE evd, DAT_UINT64 cookie);

/* Takes up to n DTO completions with any status. Returns their number. */
int drain_dtos(DAT_EVD_HANDLE evd, int n);

/* Returns whether no event arrives within QUIET_MS. */
bool quiet(DAT_EVD_HANDLE evd);

/* Takes all queued events. Returns their number. */
int drain(DAT_EVD_HANDLE evd);

bool wait_state(DAT_EP_HANDLE ep, DAT_EP_STATE state);

/* Returns the state of the endpoint, or 99 if the query fails. */
DAT_EP_STATE ep_state(DAT_EP_HANDLE ep);

bool wait_until(bool (*done)(void *arg), void *arg, unsigned ms);

/* Yields the CPU between two checks of a condition. */
void breathe(void);

#endif
