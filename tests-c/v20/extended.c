/* extended.c - see extended.h. */
#include "v20/extended.h"

#include <stdio.h>
#include <string.h>

const char *named_attribute(struct fx *fx, const char *name)
{
    static DAT_PROVIDER_ATTR attr;

    memset(&attr, 0, sizeof attr);
    must_rc(dat_ia_query(fx->ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr), DAT_SUCCESS, "dat_ia_query");
    for (int i = 0; i < attr.num_provider_specific_attr; i++)
        if (strcmp(attr.provider_specific_attr[i].name, name) == 0 && attr.provider_specific_attr[i].value != NULL)
            return attr.provider_specific_attr[i].value;
    return "";
}

const DAT_IB_EXTENSION_EVENT_DATA *extension(const DAT_EVENT *event)
{
    return (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event->event_extension_data;
}

/* Returns the type of extension data for an operation. */
static DAT_IB_EXT_TYPE type_of(DAT_IB_DTOS operation)
{
    switch (operation) {
    case DAT_IB_DTO_RDMA_WRITE_IMMED: return DAT_IB_RDMA_WRITE_IMMED;
    case DAT_IB_DTO_RECV_IMMED: return DAT_IB_RDMA_WRITE_IMMED_DATA;
    case DAT_IB_DTO_FETCH_ADD: return DAT_IB_FETCH_AND_ADD;
    default: return DAT_IB_CMP_AND_SWAP;
    }
}

bool wait_extended(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_IB_DTOS operation,
                   DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event)
{
    DAT_EVENT own;
    const DAT_DTO_COMPLETION_EVENT_DATA *d;
    const DAT_IB_EXTENSION_EVENT_DATA *x;

    if (event == NULL)
        event = &own;
    if (!wait_number(evd, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, event)) {
        REMARK("  the completion of cookie %llu", (unsigned long long)cookie);
        return false;
    }
    d = &event->event_data.dto_completion_event_data;
    x = extension(event);
    if (d->ep_handle == ep && d->user_cookie.as_64 == cookie && d->status == status &&
        (int)d->operation == (int)operation && x->type == type_of(operation) &&
        x->status == (status == DAT_DTO_SUCCESS ? DAT_OP_SUCCESS : DAT_IB_OP_ERR))
        return true;
    REMARK("got endpoint %p cookie %llu %s %s type %d extension status %d", d->ep_handle,
           (unsigned long long)d->user_cookie.as_64, status_text(d->status), operation_text(d->operation),
           (int)x->type, (int)x->status);
    REMARK("expected %p cookie %llu %s %s", ep, (unsigned long long)cookie, status_text(status),
           operation_text(operation));
    return false;
}

bool announces(struct fx *fx, const char *name)
{
    return strcmp(named_attribute(fx, name), "TRUE") == 0;
}

DAT_RETURN post_immediate(struct side *s, struct region *r, size_t off, size_t len, DAT_RMR_TRIPLET to,
                          DAT_UINT32 value, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET local = segment(r, off, len);

    return dat_ib_post_rdma_write_immed(s->ep, len > 0 ? 1 : 0, &local, cookie(c), &to, value,
                                        DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN post_fetch_add(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 add,
                          DAT_UINT64 c)
{
    DAT_LMR_TRIPLET local = segment(r, off, sizeof(DAT_UINT64));

    return dat_ib_post_fetch_and_add(s->ep, add, &local, cookie(c), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN post_cmp_swap(struct side *s, struct region *r, size_t off, DAT_RMR_TRIPLET to, DAT_UINT64 compare,
                         DAT_UINT64 swap, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET local = segment(r, off, sizeof(DAT_UINT64));

    return dat_ib_post_cmp_and_swap(s->ep, compare, swap, &local, cookie(c), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_UINT64 *word(struct region *r, size_t off)
{
    return (DAT_UINT64 *)(void *)(r->mem + off);
}
