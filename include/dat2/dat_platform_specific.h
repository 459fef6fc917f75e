/*
 * dat2/dat_platform_specific.h: types that depend on the platform.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_DAT_PLATFORM_SPECIFIC_H
#define DAT2_DAT_PLATFORM_SPECIFIC_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types that depend on the platform ---- */

/** Unsigned integer of 32 bits. */
typedef uint32_t DAT_UINT32;

/** Unsigned integer of 64 bits. */
typedef uint64_t DAT_UINT64;

/** The longest unsigned integer of the platform. */
typedef unsigned long long DAT_UVERYLONG;

/** Pointer to data of any type. */
typedef void *DAT_PVOID;

/** A count; -1 is "infinite", -2 is "unknown". */
typedef int DAT_COUNT;

/** Physical address. */
typedef DAT_UINT64 DAT_PADDR;

/** Address of an interface adapter: the socket address of the system. */
typedef struct sockaddr DAT_SOCK_ADDR;

/** IPv6 form of DAT_SOCK_ADDR. */
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

/** Alignment in bytes that is best for buffers on every provider. Advice only. */
#define DAT_OPTIMAL_ALIGNMENT 256

/** Family of IPv4 addresses. */
#define DAT_AF_INET AF_INET

/** Family of IPv6 addresses. */
#define DAT_AF_INET6 AF_INET6

/** File descriptor. */
typedef int DAT_FD;

/** Communicator of an endpoint or a common service point, with the values of socket(2). */
typedef struct dat_comm {
    /** Address family: DAT_AF_INET or DAT_AF_INET6. */
    int domain;
    /** Type of socket: SOCK_STREAM. */
    int type;
    /** Protocol: 0 or IPPROTO_TCP. */
    int protocol;
} DAT_COMM;

/* ---- Macros ---- */

/** Creates a constant of 64 bits, on platforms that do not define UINT64_C. */
#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

/* Marks of the direction of an argument, for programs that use them. The library ignores them. */

/** Marks an argument that the function reads. */
#ifndef IN
#define IN
#endif

/** Marks an argument that the function writes. */
#ifndef OUT
#define OUT
#endif

/** Marks an argument that the function reads and writes. */
#ifndef INOUT
#define INOUT
#endif

/* Marks of declarations, for programs that use them. */

/** Precedes the name of a function. */
#ifndef DAT_API
#define DAT_API
#endif

/** Precedes a declaration. */
#ifndef DAT_EXPORT
#define DAT_EXPORT extern
#endif

/** Converts the handle of an interface adapter to a number. */
#define DAT_IA_HANDLE_TO_UL(a) ((unsigned long)(a))

/** Converts a number from DAT_IA_HANDLE_TO_UL back to the handle. */
#define DAT_UL_TO_IA_HANDLE(a) ((DAT_IA_HANDLE)(a))

#ifdef __cplusplus
}
#endif

#endif /* DAT2_DAT_PLATFORM_SPECIFIC_H */
