/*
 * half.h - what a program does with one of the two versions of uDAPL, in words without the types of either.
 *
 * half.c is compiled for each version into a library of its own, which is linked with that version's libdat. So
 * one process can have both. A half has one adapter, one endpoint on a shared receive queue and one piece of
 * memory. What cannot be done ends the program.
 */
#ifndef TESTS_C_BOTH_HALF_H
#define TESTS_C_BOTH_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Bytes of memory of a half, and of its buffers for messages. */
#define HALF_MEMORY 65536u
#define HALF_MESSAGE 1024u

/* The operations that 1.2 does not have and that its programs do not take, by their numbers. */
#define HALF_EXTENDED                                                                               \
    {                                                                                               \
        "dat_ib_post_rdma_write_immed", "dat_ib_post_fetch_and_add", "dat_ib_post_cmp_and_swap",    \
            "dat_ep_post_send_with_invalidate"                                                      \
    }

/* The memory of a half, as the other one reaches it. */
struct half_memory {
    uint64_t address;
    uint64_t length;
    uint32_t context;
};

struct half {
    const char *version;
    void (*init)(int argc, char **argv);
    /* Opens another adapter and closes it again. */
    bool (*opens)(const char *name);
    void (*open)(void);
    void (*close)(void);

    /* Where the other half finds this one. */
    struct sockaddr_storage (*address)(void);
    /* Listens on a qualifier, which it returns. */
    uint64_t (*listen)(void);
    void (*call)(struct sockaddr_storage address, uint64_t qual, const void *data, size_t size);
    /* Takes the request that comes, and copies its data. Returns their size. */
    size_t (*request)(void *data, size_t room);
    void (*accept)(const void *data, size_t size);
    /* 1.2 has no data for a refusal and takes none. */
    void (*reject)(const void *data, size_t size);
    /* Waits for the connection event; -1 if it is another one. Otherwise copies the data that came with it and
     * returns their size. */
    int (*established)(void *data, size_t room);
    int (*refused)(void *data, size_t room);
    void (*disconnect)(void);
    bool (*disconnected)(void);
    /* The number of asynchronous events that came since it was opened. */
    int (*async_events)(void);
    /* Another endpoint, after the connection of the last one has ended. */
    void (*renew)(void);

    struct half_memory (*memory)(void);
    void (*fill)(unsigned seed);
    bool (*holds)(unsigned seed);
    /* A message of the bytes that fill() made; one that came has those of the seed. */
    bool (*send)(size_t size);
    bool (*received)(size_t size, unsigned seed);
    /* All of the memory to, or from, the other half's. */
    bool (*write)(struct half_memory to);
    bool (*read)(struct half_memory from);

    /* NULL in 1.2. Whether the operation of HALF_EXTENDED on the other half's memory is refused for its peer, and nothing
     * comes of it. */
    bool (*refuses)(size_t operation, struct half_memory to);
    /* NULL in 1.2. A message as of send(), by dat_ep_post_send_with_invalidate without a context. */
    bool (*send_without_context)(size_t size);
};

/* The one function of each library. */
extern const struct half *half12(void);
extern const struct half *half20(void);

#endif
