/*
 * dat2/dat_error.h: return codes.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_DAT_ERROR_H
#define DAT2_DAT_ERROR_H

#include "dat_platform_specific.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Return codes ---- */

/** Return code of every function: class, type and subtype, combined by bitwise or. 0: success. */
typedef DAT_UINT32 DAT_RETURN;

/** Class of a return code: error. */
#define DAT_CLASS_ERROR 0x80000000

/** Class of a return code: warning. */
#define DAT_CLASS_WARNING 0x40000000

/** Class of a return code: success. */
#define DAT_CLASS_SUCCESS 0x00000000

/** The bits of the type in a return code. */
#define DAT_TYPE_MASK 0x3FFF0000

/** The bits of the subtype in a return code. */
#define DAT_SUBTYPE_MASK 0x0000FFFF

/** Type of a return code, bits 16 to 29: the kind of result. */
typedef enum dat_return_type {
    /** The call succeeded. */
    DAT_SUCCESS = 0x00000000,
    /** The object was destroyed during the call. */
    DAT_ABORT = 0x00010000,
    /** Another service point listens on the connection qualifier. */
    DAT_CONN_QUAL_IN_USE = 0x00020000,
    /** A resource ran out; the subtype names the resource. */
    DAT_INSUFFICIENT_RESOURCES = 0x00030000,
    /** An error in the library or in the provider. */
    DAT_INTERNAL_ERROR = 0x00040000,
    /** A handle is NULL, stale, or of the wrong kind; the subtype identifies the handle. */
    DAT_INVALID_HANDLE = 0x00050000,
    /** An argument is invalid; the subtype identifies the argument. */
    DAT_INVALID_PARAMETER = 0x00060000,
    /** The state of the object does not allow the call; the subtype identifies the state. */
    DAT_INVALID_STATE = 0x00070000,
    /** A transfer is too long for the adapter, or for the memory at its destination. */
    DAT_LENGTH_ERROR = 0x00080000,
    /** The provider does not support the request. */
    DAT_MODEL_NOT_SUPPORTED = 0x00090000,
    /** No provider of that name, version and thread safety is registered or could be loaded. */
    DAT_PROVIDER_NOT_FOUND = 0x000A0000,
    /** A memory region, or the process, lacks a privilege that the operation needs. */
    DAT_PRIVILEGES_VIOLATION = 0x000B0000,
    /** Objects belong to different protection zones. */
    DAT_PROTECTION_VIOLATION = 0x000C0000,
    /** No event is queued. */
    DAT_QUEUE_EMPTY = 0x000D0000,
    /** The queue of the event dispatcher is full. */
    DAT_QUEUE_FULL = 0x000E0000,
    /** The timeout expired. */
    DAT_TIMEOUT_EXPIRED = 0x000F0000,
    /** A provider with this identity is already registered. */
    DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000,
    /** An adapter of the provider is open. */
    DAT_PROVIDER_IN_USE = 0x00110000,
    /** An address cannot be used; the subtype gives the reason. */
    DAT_INVALID_ADDRESS = 0x00120000,
    /** A signal interrupted the call. */
    DAT_INTERRUPTED_CALL = 0x00130000,
    /** No connection qualifier is free. */
    DAT_CONN_QUAL_UNAVAILABLE = 0x00140000,
    /** Only in the kernel-level interface. */
    DAT_RESERVED_LMR = 0x00150000,
    /** Another service point listens on the port. */
    DAT_PORT_IN_USE = 0x00160000,
    /** The kind of communication is not supported. */
    DAT_COMM_NOT_SUPPORTED = 0x00170000,
    /** First type that extensions define. */
    DAT_EXTENSION_BASE = 0x10000000,
    /** The provider does not implement the function. */
    DAT_NOT_IMPLEMENTED = 0x3FFF0000,
} DAT_RETURN_TYPE;

/** Older name of DAT_PROVIDER_NOT_FOUND. */
#define DAT_NAME_NOT_FOUND DAT_PROVIDER_NOT_FOUND

/** Subtype of a return code, bits 0 to 15: the argument, handle, state or resource concerned. */
typedef enum dat_return_subtype {
    /** No further information. */
    DAT_NO_SUBTYPE = 0,
    /** The operation was interrupted. */
    DAT_SUB_INTERRUPTED = 1,
    DAT_RESOURCE_MEMORY = 2,
    /** Resources of the device. */
    DAT_RESOURCE_DEVICE = 3,
    /** Transport endpoints. */
    DAT_RESOURCE_TEP = 4,
    /** Transport event queues. */
    DAT_RESOURCE_TEVD = 5,
    /** Protection domains. */
    DAT_RESOURCE_PROTECTION_DOMAIN = 6,
    /** Memory regions, or memory that may be registered. */
    DAT_RESOURCE_MEMORY_REGION = 7,
    /** Error handlers. */
    DAT_RESOURCE_ERROR_HANDLER = 8,
    DAT_RESOURCE_CREDITS = 9,
    /** Shared receive queues. */
    DAT_RESOURCE_SRQ = 10,
    DAT_INVALID_HANDLE_IA = 11,
    DAT_INVALID_HANDLE_EP = 12,
    DAT_INVALID_HANDLE_LMR = 13,
    DAT_INVALID_HANDLE_RMR = 14,
    DAT_INVALID_HANDLE_PZ = 15,
    DAT_INVALID_HANDLE_PSP = 16,
    DAT_INVALID_HANDLE_RSP = 17,
    DAT_INVALID_HANDLE_CR = 18,
    DAT_INVALID_HANDLE_CNO = 19,
    /** Event dispatcher for connection requests. */
    DAT_INVALID_HANDLE_EVD_CR = 20,
    /** Event dispatcher for request completions. */
    DAT_INVALID_HANDLE_EVD_REQUEST = 21,
    /** Event dispatcher for receive completions. */
    DAT_INVALID_HANDLE_EVD_RECV = 22,
    /** Event dispatcher for connection events. */
    DAT_INVALID_HANDLE_EVD_CONN = 23,
    /** Event dispatcher for asynchronous events. */
    DAT_INVALID_HANDLE_EVD_ASYNC = 24,
    DAT_INVALID_HANDLE_SRQ = 25,
    DAT_INVALID_HANDLE_CSP = 26,
    DAT_INVALID_HANDLE1 = 27,
    DAT_INVALID_HANDLE2 = 28,
    DAT_INVALID_HANDLE3 = 29,
    DAT_INVALID_HANDLE4 = 30,
    DAT_INVALID_HANDLE5 = 31,
    DAT_INVALID_HANDLE6 = 32,
    DAT_INVALID_HANDLE7 = 33,
    DAT_INVALID_HANDLE8 = 34,
    DAT_INVALID_HANDLE9 = 35,
    DAT_INVALID_HANDLE10 = 36,
    DAT_INVALID_ARG1 = 37,
    DAT_INVALID_ARG2 = 38,
    DAT_INVALID_ARG3 = 39,
    DAT_INVALID_ARG4 = 40,
    DAT_INVALID_ARG5 = 41,
    DAT_INVALID_ARG6 = 42,
    DAT_INVALID_ARG7 = 43,
    DAT_INVALID_ARG8 = 44,
    DAT_INVALID_ARG9 = 45,
    DAT_INVALID_ARG10 = 46,
    DAT_INVALID_STATE_EP_UNCONNECTED = 47,
    /** Endpoint has requested a connection, which is not yet established. */
    DAT_INVALID_STATE_EP_ACTCONNPENDING = 48,
    /** Endpoint of a reserved service point has a request pending. */
    DAT_INVALID_STATE_EP_PASSCONNPENDING = 49,
    /** Endpoint that the provider created for a request, which is neither accepted nor rejected. */
    DAT_INVALID_STATE_EP_TENTCONNPENDING = 50,
    DAT_INVALID_STATE_EP_CONNECTED = 51,
    DAT_INVALID_STATE_EP_DISCONNECTED = 52,
    /** Endpoint reserved by a service point. */
    DAT_INVALID_STATE_EP_RESERVED = 53,
    /** Endpoint was accepted, its connection is not yet complete. */
    DAT_INVALID_STATE_EP_COMPLPENDING = 54,
    /** Endpoint is disconnecting. */
    DAT_INVALID_STATE_EP_DISCPENDING = 55,
    /** Endpoint that the provider created was rejected or handed off, and belongs to the provider. */
    DAT_INVALID_STATE_EP_PROVIDERCONTROL = 56,
    /** Endpoint lacks a protection zone or an event dispatcher. */
    DAT_INVALID_STATE_EP_NOTREADY = 57,
    /** Receive watermark of the endpoint. */
    DAT_INVALID_STATE_EP_RECV_WATERMARK = 58,
    DAT_INVALID_STATE_EP_PZ = 59,
    DAT_INVALID_STATE_EP_EVD_REQUEST = 60,
    /** Receive event dispatcher of the endpoint. */
    DAT_INVALID_STATE_EP_EVD_RECV = 61,
    /** Connection event dispatcher of the endpoint. */
    DAT_INVALID_STATE_EP_EVD_CONNECT = 62,
    /** Endpoint unconnected and unconfigured. */
    DAT_INVALID_STATE_EP_UNCONFIGURED = 63,
    /** Endpoint reserved and unconfigured. */
    DAT_INVALID_STATE_EP_UNCONFRESERVED = 64,
    /** Endpoint passive pending and unconfigured. */
    DAT_INVALID_STATE_EP_UNCONFPASSIVE = 65,
    /** Endpoint tentative and unconfigured. */
    DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 66,
    DAT_INVALID_STATE_CNO_IN_USE = 67,
    /** Notification object is being destroyed. */
    DAT_INVALID_STATE_CNO_DEAD = 68,
    DAT_INVALID_STATE_EVD_OPEN = 69,
    DAT_INVALID_STATE_EVD_ENABLED = 70,
    DAT_INVALID_STATE_EVD_DISABLED = 71,
    DAT_INVALID_STATE_EVD_WAITABLE = 72,
    DAT_INVALID_STATE_EVD_UNWAITABLE = 73,
    /** An endpoint, a service point or the adapter feeds the event dispatcher. */
    DAT_INVALID_STATE_EVD_IN_USE = 74,
    /** Event dispatcher has the state DAT_EVD_STATE_CONFIG_NOTIFY. */
    DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 75,
    /** Event dispatcher has the state DAT_EVD_STATE_CONFIG_SOLICITED. */
    DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 76,
    /** Event dispatcher has the state DAT_EVD_STATE_CONFIG_THRESHOLD. */
    DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 77,
    /** A thread waits on the event dispatcher. */
    DAT_INVALID_STATE_EVD_WAITER = 78,
    /** Event dispatcher for asynchronous events. */
    DAT_INVALID_STATE_EVD_ASYNC = 79,
    /** Interface adapter still has objects. */
    DAT_INVALID_STATE_IA_IN_USE = 80,
    /** A remote memory region is bound to the region. */
    DAT_INVALID_STATE_LMR_IN_USE = 81,
    DAT_INVALID_STATE_LMR_FREE = 82,
    /** An object still uses the protection zone. */
    DAT_INVALID_STATE_PZ_IN_USE = 83,
    DAT_INVALID_STATE_PZ_FREE = 84,
    DAT_INVALID_STATE_SRQ_OPERATIONAL = 85,
    DAT_INVALID_STATE_SRQ_ERROR = 86,
    /** An endpoint still uses the shared receive queue. */
    DAT_INVALID_STATE_SRQ_IN_USE = 87,
    /** Shared receive queue is being destroyed. */
    DAT_INVALID_STATE_SRQ_SHUTDOWN = 88,
    /** Memory region lacks the local read privilege. */
    DAT_PRIVILEGES_READ = 89,
    /** Memory region lacks the local write privilege. */
    DAT_PRIVILEGES_WRITE = 90,
    /** Memory region lacks the remote read privilege. */
    DAT_PRIVILEGES_RDMA_READ = 91,
    /** Memory region lacks the remote write privilege. */
    DAT_PRIVILEGES_RDMA_WRITE = 92,
    /** Protection zone does not allow the local read. */
    DAT_PROTECTION_READ = 93,
    /** Protection zone does not allow the local write. */
    DAT_PROTECTION_WRITE = 94,
    /** Protection zone does not allow the remote read. */
    DAT_PROTECTION_RDMA_READ = 95,
    /** Protection zone does not allow the remote write. */
    DAT_PROTECTION_RDMA_WRITE = 96,
    /** Kind of address is not supported, such as multicast. */
    DAT_INVALID_ADDRESS_UNSUPPORTED = 97,
    /** Address is known to be unreachable. */
    DAT_INVALID_ADDRESS_UNREACHABLE = 98,
    /** Address is never valid. */
    DAT_INVALID_ADDRESS_MALFORMED = 99,
    /** No provider has the name. */
    DAT_NAME_NOT_REGISTERED = 100,
    /** No provider of this name has the major version. */
    DAT_MAJOR_NOT_FOUND = 101,
    /** No provider of this name and major version has the minor version or a higher one. */
    DAT_MINOR_NOT_FOUND = 102,
    /** No provider of this name and version has the thread safety. */
    DAT_THREAD_SAFETY_NOT_FOUND = 103,
} DAT_RETURN_SUBTYPE;

/* ---- Macros ---- */

/** Returns the class bit of a warning: not 0 for a warning. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status) & DAT_CLASS_WARNING)

/** Returns the type of a return code, one of the values of DAT_RETURN_TYPE. */
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status) & DAT_TYPE_MASK)

/** Returns the subtype of a return code, one of the values of DAT_RETURN_SUBTYPE. */
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status) & DAT_SUBTYPE_MASK)

#ifdef __cplusplus
}
#endif

#endif /* DAT2_DAT_ERROR_H */
