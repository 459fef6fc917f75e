/* doorbell.c - see doorbell.h. */
#define _GNU_SOURCE
#include "verbs/doorbell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The start of the command IB_USER_VERBS_CMD_POST_SEND. */
struct command {
    uint32_t number;
    uint16_t in_words, out_words;
    uint64_t response;
};

enum { POST_SEND = 28, LONGEST = 64 };

static __thread bool holding;
static __thread int held, device;
static __thread size_t length;
static __thread unsigned char last[LONGEST];

ssize_t write(int fd, const void *bytes, size_t n)
{
    uint32_t number = 0;

    if (holding && n >= sizeof(struct command) && n <= LONGEST) {
        memcpy(&number, bytes, sizeof number);
        if (number == POST_SEND) {
            held++;
            device = fd;
            length = n;
            memcpy(last, bytes, n);
            return (ssize_t)n;
        }
    }
    return syscall(SYS_write, fd, bytes, n);
}

void doorbell_hold(void)
{
    holding = true;
    held = 0;
}

int doorbell_drop(void)
{
    holding = false;
    return held;
}

int doorbell_ring(void)
{
    static __thread uint32_t answer;
    uint64_t response = (uintptr_t)&answer;

    holding = false;
    if (held > 0) {
        /* The caller's response is no longer valid. */
        memcpy(last + offsetof(struct command, response), &response, sizeof response);
        (void)!syscall(SYS_write, device, last, length);
    }
    return held;
}
