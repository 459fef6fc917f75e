/* text.c - names of codes, events and states for messages. */
#define _POSIX_C_SOURCE 200809L
#include "tap.h"

#include <stdio.h>

/* A separate table, because dat_strerror() is under test. */
#define NAME(x) { (unsigned)(x), #x }

struct name {
    unsigned value;
    const char *text;
};

static const struct name types[] = {
    NAME(DAT_SUCCESS), NAME(DAT_ABORT), NAME(DAT_CONN_QUAL_IN_USE),
    NAME(DAT_INSUFFICIENT_RESOURCES), NAME(DAT_INTERNAL_ERROR), NAME(DAT_INVALID_HANDLE),
    NAME(DAT_INVALID_PARAMETER), NAME(DAT_INVALID_STATE), NAME(DAT_LENGTH_ERROR),
    NAME(DAT_MODEL_NOT_SUPPORTED), NAME(DAT_PROVIDER_NOT_FOUND), NAME(DAT_PRIVILEGES_VIOLATION),
    NAME(DAT_PROTECTION_VIOLATION), NAME(DAT_QUEUE_EMPTY), NAME(DAT_QUEUE_FULL),
    NAME(DAT_TIMEOUT_EXPIRED), NAME(DAT_PROVIDER_ALREADY_REGISTERED), NAME(DAT_PROVIDER_IN_USE),
    NAME(DAT_INVALID_ADDRESS), NAME(DAT_INTERRUPTED_CALL), NAME(DAT_CONN_QUAL_UNAVAILABLE),
#if UDAPL == 20
    NAME(DAT_RESERVED_LMR), NAME(DAT_PORT_IN_USE), NAME(DAT_COMM_NOT_SUPPORTED),
#endif
};

static const struct name events[] = {
    NAME(DAT_DTO_COMPLETION_EVENT), NAME(DAT_RMR_BIND_COMPLETION_EVENT),
    NAME(DAT_CONNECTION_REQUEST_EVENT), NAME(DAT_CONNECTION_EVENT_ESTABLISHED),
    NAME(DAT_CONNECTION_EVENT_PEER_REJECTED), NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
    NAME(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR), NAME(DAT_CONNECTION_EVENT_DISCONNECTED),
    NAME(DAT_CONNECTION_EVENT_BROKEN), NAME(DAT_CONNECTION_EVENT_TIMED_OUT),
    NAME(DAT_CONNECTION_EVENT_UNREACHABLE), NAME(DAT_ASYNC_ERROR_EVD_OVERFLOW),
    NAME(DAT_ASYNC_ERROR_IA_CATASTROPHIC), NAME(DAT_ASYNC_ERROR_EP_BROKEN),
    NAME(DAT_ASYNC_ERROR_TIMED_OUT), NAME(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR),
    NAME(DAT_SOFTWARE_EVENT),
#if UDAPL == 20
    NAME(DAT_IB_DTO_EVENT),
#endif
};

static const struct name states[] = {
    NAME(DAT_EP_STATE_UNCONNECTED), NAME(DAT_EP_STATE_UNCONFIGURED_UNCONNECTED),
    NAME(DAT_EP_STATE_RESERVED), NAME(DAT_EP_STATE_UNCONFIGURED_RESERVED),
    NAME(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING), NAME(DAT_EP_STATE_UNCONFIGURED_PASSIVE),
    NAME(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING), NAME(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING),
    NAME(DAT_EP_STATE_UNCONFIGURED_TENTATIVE), NAME(DAT_EP_STATE_CONNECTED),
    NAME(DAT_EP_STATE_DISCONNECT_PENDING), NAME(DAT_EP_STATE_DISCONNECTED),
    NAME(DAT_EP_STATE_COMPLETION_PENDING),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *find(const struct name *table, size_t n, unsigned value)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].value == value)
            return table[i].text;
    return NULL;
}

const char *rc_text(DAT_RETURN rc)
{
    static __thread char text[96];
    const char *type;

    if (rc_not_implemented(rc))
        return "DAT_NOT_IMPLEMENTED";
    type = find(types, COUNT(types), DAT_GET_TYPE(rc));
    if (type == NULL)
        snprintf(text, sizeof text, "unknown code 0x%08x", (unsigned)rc);
    else if (DAT_GET_SUBTYPE(rc) == 0)
        return type;
    else
        snprintf(text, sizeof text, "%s, subtype %u", type, (unsigned)DAT_GET_SUBTYPE(rc));
    return text;
}

const char *event_text(DAT_EVENT_NUMBER number)
{
    static __thread char text[48];
    const char *name = find(events, COUNT(events), (unsigned)number);

    if (name != NULL)
        return name;
    snprintf(text, sizeof text, "unknown event 0x%05x", (unsigned)number);
    return text;
}

const char *state_text(DAT_EP_STATE state)
{
    static __thread char text[48];
    const char *name = find(states, COUNT(states), (unsigned)state);

    if (name != NULL)
        return name;
    snprintf(text, sizeof text, "unknown state %u", (unsigned)state);
    return text;
}
