/*
 * extended.h - the extended transfers of uDAPL 2.0, and their completion events.
 */
#ifndef TESTS_C_V20_EXTENDED_H
#define TESTS_C_V20_EXTENDED_H

#include "common/fixture.h"

/* All privileges, including atomic operations by peers. */
#define ALL_AND_ATOMIC (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)

/* Returns the value of a named attribute of the adapter, or "". The text is valid until the next call. */
const char *named_attribute(struct fx *fx, const char *name);

/* Returns whether the named attribute of the adapter is TRUE, which announces an operation. */
bool announces(struct fx *fx, const char *name);

/* Returns the extension data of an event. */
const DAT_IB_EXTENSION_EVENT_DATA *extension(const DAT_EVENT *event);

/*
 * Returns whether the next event completes an extended transfer of ep with these values, and the status in its
 * extension data matches. event may be NULL.
 */
bool wait_extended(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_IB_DTOS operation,
                   DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event);

/* Post with one local segment and default flags. post_immediate() posts no segment if len is 0. */
DAT_RETURN post_immediate(struct side *s, struct region *r, size_t off, size_t len, DAT_RMR_TRIPLET to,
                          DAT_UINT32 value, DAT_UINT64 c);
DAT_RETURN post_fetch_add(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 add,
                          DAT_UINT64 c);
DAT_RETURN post_cmp_swap(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 compare,
                         DAT_UINT64 swap, DAT_UINT64 c);

/* Returns the word at the offset. */
DAT_UINT64 *word(struct region *r, size_t off);

#endif
