/* text.c - names of codes, events and states for messages. */
#define _POSIX_C_SOURCE 200809L
#include "tap.h"

#include <stdio.h>

/* Types have a table, because names of subtests contain them, and dat_strerror() is under test. */
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

static const struct name statuses[] = {
    NAME(DAT_DTO_SUCCESS), NAME(DAT_DTO_ERR_FLUSHED), NAME(DAT_DTO_ERR_LOCAL_LENGTH),
    NAME(DAT_DTO_ERR_LOCAL_EP), NAME(DAT_DTO_ERR_LOCAL_PROTECTION), NAME(DAT_DTO_ERR_BAD_RESPONSE),
    NAME(DAT_DTO_ERR_REMOTE_ACCESS), NAME(DAT_DTO_ERR_REMOTE_RESPONDER), NAME(DAT_DTO_ERR_TRANSPORT),
    NAME(DAT_DTO_ERR_RECEIVER_NOT_READY), NAME(DAT_DTO_ERR_PARTIAL_PACKET),
    NAME(DAT_RMR_OPERATION_FAILED),
};

#if UDAPL == 20
static const struct name operations[] = {
    NAME(DAT_DTO_SEND), NAME(DAT_DTO_RDMA_WRITE), NAME(DAT_DTO_RDMA_READ), NAME(DAT_DTO_RECEIVE),
    NAME(DAT_DTO_RECEIVE_WITH_INVALIDATE), NAME(DAT_DTO_BIND_MW), NAME(DAT_IB_DTO_RDMA_WRITE_IMMED),
    NAME(DAT_IB_DTO_RECV_IMMED), NAME(DAT_IB_DTO_FETCH_ADD), NAME(DAT_IB_DTO_CMP_SWAP),
    NAME(DAT_IB_DTO_SEND_UD), NAME(DAT_IB_DTO_RECV_UD), NAME(DAT_IB_DTO_RECV_UD_IMMED),
};
#endif

#define UNKNOWN_SIZE 48

/* Returns the name of a value. If the table lacks it, writes a text with its number to `unknown`. */
static const char *find(const struct name *table, size_t n, unsigned value, const char *kind, char *unknown)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].value == value)
            return table[i].text;
    snprintf(unknown, UNKNOWN_SIZE, "unknown %s 0x%x", kind, value);
    return unknown;
}

#define FIND(table, value, kind, unknown) \
    find(table, sizeof(table) / sizeof((table)[0]), (unsigned)(value), kind, unknown)

const char *rc_text(DAT_RETURN rc)
{
    static __thread char unknown[UNKNOWN_SIZE], text[128];
    const char *type;

    if (rc_not_implemented(rc))
        return "DAT_NOT_IMPLEMENTED";
    type = FIND(types, DAT_GET_TYPE(rc), "type of code", unknown);
    if (DAT_GET_SUBTYPE(rc) == DAT_NO_SUBTYPE)
        return type;
    snprintf(text, sizeof text, "%s, %s", type, subtype_text(DAT_GET_SUBTYPE(rc)));
    return text;
}

/* NULL in programs that load libdat themselves. */
#pragma weak dat_strerror

const char *subtype_text(DAT_UINT32 subtype)
{
    static __thread char unknown[UNKNOWN_SIZE];
    const char *type, *text;

    if (subtype == DAT_NO_SUBTYPE)
        return "DAT_NO_SUBTYPE";
    if (dat_strerror != NULL &&
        dat_strerror((DAT_RETURN)(DAT_CLASS_ERROR | DAT_ABORT | subtype), &type, &text) == DAT_SUCCESS)
        return text;
    snprintf(unknown, sizeof unknown, "subtype %u", (unsigned)subtype);
    return unknown;
}

const char *event_text(DAT_EVENT_NUMBER number)
{
    static __thread char unknown[UNKNOWN_SIZE];

    return FIND(events, number, "event", unknown);
}

const char *state_text(DAT_EP_STATE state)
{
    static __thread char unknown[UNKNOWN_SIZE];

    return FIND(states, state, "state", unknown);
}

const char *status_text(DAT_DTO_COMPLETION_STATUS status)
{
    static __thread char unknown[UNKNOWN_SIZE];

    return FIND(statuses, status, "status", unknown);
}

#if UDAPL == 20
const char *operation_text(int operation)
{
    static __thread char unknown[UNKNOWN_SIZE];

    return FIND(operations, operation, "operation", unknown);
}
#endif
