/*
 * half.h - a program of one version of uDAPL, with an interface without types of that version.
 *
 * half.c is compiled for each version into a library, which is linked with that version's libdat, so one process can
 * use both. A half has one adapter, one endpoint on a shared receive queue and one memory region. A failure ends the
 * program.
 */
#ifndef TESTS_C_BOTH_HALF_H
#define TESTS_C_BOTH_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Bytes of the memory region, and of a receive buffer. */
#define HALF_MEMORY 65536u
#define HALF_MESSAGE 1024u

/* Operations of uDAPL 2.0 that peers of 1.2 do not accept. `refuses` takes an index into this list. */
#define HALF_EXTENDED                                                                               \
    {                                                                                               \
        "dat_ib_post_rdma_write_immed", "dat_ib_post_fetch_and_add", "dat_ib_post_cmp_and_swap",    \
            "dat_ep_post_send_with_invalidate"                                                      \
    }

/* The memory of a half, as an RDMA target. */
struct half_memory {
    uint64_t address;
    uint64_t length;
    uint32_t context;
};

struct half {
    const char *version;
    void (*init)(int argc, char **argv);
    /* Opens and closes another adapter. Returns whether that succeeded. */
    bool (*opens)(const char *name);
    void (*open)(void);
    void (*close)(void);

    /* Returns the address for call(). */
    struct sockaddr_storage (*address)(void);
    /* Listens on a qualifier and returns it. */
    uint64_t (*listen)(void);
    void (*call)(struct sockaddr_storage address, uint64_t qual, const void *data, size_t size);
    /* Waits for a connection request and copies its private data. Returns their size. */
    size_t (*request)(void *data, size_t room);
    void (*accept)(const void *data, size_t size);
    /* Rejects the request. 1.2 ignores the private data, because its dat_cr_reject has none. */
    void (*reject)(const void *data, size_t size);
    /*
     * Wait for the connection event that their name specifies. Return the size of its private data, or -1 if
     * another event arrives.
     */
    int (*established)(void *data, size_t room);
    int (*refused)(void *data, size_t room);
    void (*disconnect)(void);
    bool (*disconnected)(void);
    /* Returns the number of asynchronous events since open(). */
    int (*async_events)(void);
    /* Replaces the disconnected endpoint. */
    void (*renew)(void);

    /* The asynchronous event dispatcher and the zone. */
    void *(*async)(void);
    void *(*zone)(void);
    /* Return whether calls with these handles of the other version fail with DAT_INVALID_HANDLE. */
    bool (*refuses_async)(void *evd);
    bool (*refuses_zone)(void *pz);

    struct half_memory (*memory)(void);
    void (*fill)(unsigned seed);
    bool (*holds)(unsigned seed);
    /* Sends the bytes of fill(); receives a message and compares its bytes with fill(seed). */
    bool (*send)(size_t size);
    bool (*received)(size_t size, unsigned seed);
    /* Transfer the complete memory by RDMA. Return whether that succeeded. */
    bool (*write)(struct half_memory to);
    bool (*read)(struct half_memory from);

    /* NULL in 1.2. Returns whether the operation fails with DAT_MODEL_NOT_SUPPORTED and has no effect. */
    bool (*refuses)(size_t operation, struct half_memory to);
    /* NULL in 1.2. Like send(), by dat_ep_post_send_with_invalidate without a context. */
    bool (*send_without_context)(size_t size);
};

extern const struct half *half12(void);
extern const struct half *half20(void);

#endif
