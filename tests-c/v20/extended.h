/*
 * extended.h - the extended transfers of uDAPL 2.0, and the events that tell of them.
 */
#ifndef TESTS_C_V20_EXTENDED_H
#define TESTS_C_V20_EXTENDED_H

#include "common/fixture.h"

/* The right to change memory by atomic operations of peers, and all others. */
#define ALL_AND_ATOMIC (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)

/* The value of a named attribute of the adapter, or an empty text. It stands until the next call. */
const char *named_attribute(struct fx *fx, const char *name);

/* Whether the adapter has that ability, by a named attribute that is TRUE or FALSE. */
bool announces(struct fx *fx, const char *name);

/* What an event says beyond the event of an ordinary transfer. */
const DAT_IB_EXTENSION_EVENT_DATA *extension(const DAT_EVENT *event);

/*
 * The next event is the end of an extended transfer of that endpoint, with these words; the status of the
 * extension goes with the other. event may be NULL.
 */
bool wait_extended(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_IB_DTOS operation,
                   DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event);

/* Posts with one local segment, or none when length is 0, and default flags. */
DAT_RETURN post_immediate(struct side *s, struct region *r, size_t off, size_t len, DAT_RMR_TRIPLET to,
                          DAT_UINT32 value, DAT_UINT64 c);
DAT_RETURN post_fetch_add(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 add,
                          DAT_UINT64 c);
DAT_RETURN post_cmp_swap(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 compare,
                         DAT_UINT64 swap, DAT_UINT64 c);

/* The word at that offset. */
DAT_UINT64 *word(struct region *r, size_t off);

#endif
