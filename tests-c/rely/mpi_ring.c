/* mpi_ring.c - rings of slots, their credits, and work requests. */
#define _POSIX_C_SOURCE 200809L
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

/*
 * The last word of a slot: the size of its contents, and the number of its use. The last byte of the
 * word is never 0, and becomes visible last if the word is not written atomically.
 */
struct footer {
    uint32_t size, number;
};

enum { FULL = 0x80 };

static uint32_t number_of(uint32_t slot)
{
    return (slot + 1) | (uint32_t)FULL << 24;
}

uint32_t mpi_post(struct mpi *m, struct vc *v, bool read, DAT_LMR_CONTEXT local, const void *mem, size_t size,
                  DAT_RMR_CONTEXT remote, uint64_t there, bool signalled)
{
    uint32_t places = REQUESTS - (v->posted - __atomic_load_n(&v->retired, __ATOMIC_ACQUIRE));
    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
    DAT_LMR_TRIPLET from;
    DAT_RMR_TRIPLET to;
    DAT_DTO_COOKIE number;
    DAT_RETURN rc;

    if (places == 0)
        return 0;
    memset(&from, 0, sizeof from);
    from.lmr_context = local;
    from.virtual_address = (DAT_VADDR)(uintptr_t)mem;
    from.segment_length = size;
    memset(&to, 0, sizeof to);
    to.rmr_context = remote;
    to.target_address = there;
    to.segment_length = size;
    v->posted++;
    /* Signal the request that fills the queue: otherwise the queue would stay full. */
    if (signalled || places == 1 || v->posted - v->signalled >= SIGNAL_EVERY)
        v->signalled = v->posted;
    else
        flags = DAT_COMPLETION_SUPPRESS_FLAG;
    number = cookie((DAT_UINT64)(unsigned)(v->peer * RAILS + v->rail) << 32 | v->posted);
    rc = read ? dat_ep_post_rdma_read(v->ep, 1, &from, number, &to, flags)
              : dat_ep_post_rdma_write(v->ep, 1, &from, number, &to, flags);
    if (rc != DAT_SUCCESS) {
        mpi_break(m, "a post to rank %d: %s", v->peer, rc_text(rc));
        v->posted--;
        return 0;
    }
    return v->posted;
}

bool mpi_has_retired(const struct vc *v, uint32_t number)
{
    return (int32_t)(__atomic_load_n(&v->retired, __ATOMIC_ACQUIRE) - number) >= 0;
}

void mpi_queue(struct vc *v, const struct header *h, struct request *small)
{
    struct item *i = calloc(1, sizeof *i);

    must(i != NULL, "out of memory");
    i->header = *h;
    i->small = small;
    *v->items_end = i;
    v->items_end = &i->next;
}

/* Return the end of a slot, in the receive ring and in the send slots. */
static unsigned char *ring_end(const struct mpi *m, const struct vc *v, uint32_t slot)
{
    return v->memory.mem + RING_AT + (slot % m->slots + 1) * SLOT;
}

static unsigned char *out_end(const struct mpi *m, const struct vc *v, uint32_t slot)
{
    return ring_end(m, v, slot) + m->slots * SLOT;
}

/* Returns the number of slots that the other rank has released. */
static uint32_t granted(struct vc *v)
{
    uint32_t word = __atomic_load_n((uint32_t *)(void *)(v->memory.mem + CREDIT_AT), __ATOMIC_ACQUIRE);

    if ((int32_t)(word - v->granted) > 0)
        v->granted = word;
    return v->granted;
}

/* Sends the first item. Returns false if no slot or request is free. */
static bool send_item(struct mpi *m, struct vc *v)
{
    struct item *i = v->items;
    size_t bytes = i->small != NULL ? i->small->size : 0, all = sizeof(struct header) + (bytes + 7) / 8 * 8;
    unsigned char *end = out_end(m, v, v->sent);
    struct footer footer = { (uint32_t)all, number_of(v->sent) };
    uint64_t there = v->there.target_address + (uint64_t)(ring_end(m, v, v->sent) - v->memory.mem);

    if (v->sent - granted(v) >= m->slots)
        return false;
    i->header.credit = v->taken;
    memcpy(end - 8 - all, &i->header, sizeof i->header);
    if (bytes != 0)
        memcpy(end - 8 - all + sizeof i->header, i->small->mem, bytes);
    memcpy(end - 8, &footer, 8);
    if (mpi_post(m, v, false, v->memory.lmr_context, end - 8 - all, all + 8, v->there.rmr_context, there - 8 - all,
                 false) == 0)
        return false;
    v->sent++;
    v->told = v->taken;
    v->items = i->next;
    if (v->items == NULL)
        v->items_end = &v->items;
    if (i->small != NULL)
        i->small->done = true;
    free(i);
    return true;
}

/* Handles the next slot of the ring. Returns false if the slot is empty or invalid. */
static bool take_slot(struct mpi *m, struct vc *v)
{
    unsigned char *end = ring_end(m, v, v->taken);
    uint64_t word;
    struct footer footer;
    struct header h;

    if (__atomic_load_n(end - 1, __ATOMIC_ACQUIRE) == 0)
        return false;
    word = __atomic_load_n((uint64_t *)(void *)(end - 8), __ATOMIC_ACQUIRE);
    memcpy(&footer, &word, 8);
    if (footer.number != number_of(v->taken) || footer.size < sizeof h || footer.size > SLOT - 8) {
        mpi_break(m, "slot %u from rank %d has the footer %u, %u", v->taken, v->peer, footer.number, footer.size);
        return false;
    }
    memcpy(&h, end - 8 - footer.size, sizeof h);
    if ((int32_t)(h.credit - v->granted) > 0)
        v->granted = h.credit;
    mpi_arrived(m, v, &h, end - 8 - footer.size + sizeof h);
    memset(end - 8, 0, 8);
    v->taken++;
    return true;
}

/* Reports the released slots by a write, because no message reports them. Returns false if the post fails. */
static bool give_credit(struct mpi *m, struct vc *v)
{
    unsigned char *word = v->memory.mem + CREDITS_OUT + v->posted % (REQUESTS + 1) * 4;

    memcpy(word, &v->taken, 4);
    if (mpi_post(m, v, false, v->memory.lmr_context, word, 4, v->there.rmr_context, v->there.target_address + CREDIT_AT,
                 false) == 0)
        return false;
    v->told = v->taken;
    return true;
}

bool mpi_progress(struct mpi *m, struct vc *v)
{
    bool moved = false;

    switch (PHASE(v)) {
    case UNUSED:
        if (v->items != NULL)
            mpi_connect(m, v);
        return false;
    case UP:
        break;
    default:
        return false;
    }
    moved = take_slot(m, v);
    if (v->taken - v->told >= m->slots / 2)
        moved = give_credit(m, v) || moved;
    while (v->items != NULL && send_item(m, v))
        moved = true;
    return mpi_bulk(m, v) || moved;
}
