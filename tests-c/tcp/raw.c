/* raw.c - the wire protocol of the transport tcp without the library. */
#define _DEFAULT_SOURCE
#include "tcp/raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Numbers ---- */

static void put(unsigned char *at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

void greeting_make(struct greeting *g, const void *private_data, size_t len)
{
    must(len <= 255, "the length of private data is one byte");
    memset(g, 0, sizeof *g);
    memcpy(g->bytes, HELLO_MAGIC, sizeof HELLO_MAGIC - 1);
    g->bytes[HELLO_READS_IN] = g->bytes[HELLO_READS_OUT] = 4;
    g->bytes[HELLO_LENGTH] = (unsigned char)len;
    if (len > 0)
        memcpy(g->bytes + HELLO_SIZE, private_data, len);
    g->len = HELLO_SIZE + len;
}

struct head head_target(uint64_t address, uint64_t len, uint32_t key)
{
    struct head h;

    memset(&h, 0, sizeof h);
    put(h.bytes, address, 8);
    put(h.bytes + 8, len, 8);
    put(h.bytes + 16, key, 8);
    return h;
}

struct head head_atomic(uint64_t address, uint32_t key, uint32_t operation, uint64_t first, uint64_t second)
{
    struct head h;

    memset(&h, 0, sizeof h);
    put(h.bytes, address, 8);
    put(h.bytes + 8, first, 8);
    put(h.bytes + 16, second, 8);
    put(h.bytes + 24, key, 4);
    put(h.bytes + 28, operation, 4);
    return h;
}

void raw_record(int fd, const struct record *r)
{
    size_t len = r->head_len + r->payload_len;
    unsigned char *all = calloc(1, RECORD_HEADER + len);

    must(all != NULL, "out of memory");
    all[0] = (unsigned char)r->kind;
    all[1] = (unsigned char)r->flags;
    put(all + 4, (uint64_t)((int64_t)len + r->len_error), 4);
    put(all + 8, r->handled, 8);
    put(all + 16, r->window != 0 || r->no_window ? r->window : RECORD_MIN_WINDOW, 4);
    put(all + 24, r->aux, 8);
    if (r->reserved != 0)
        all[r->reserved] = 1;
    if (r->head_len > 0)
        memcpy(all + RECORD_HEADER, r->head, r->head_len);
    if (r->payload != NULL)
        memcpy(all + RECORD_HEADER + r->head_len, r->payload, r->payload_len);
    raw_say(fd, all, RECORD_HEADER + len);
    free(all);
}

/* ---- Sockets ---- */

int raw_connect(struct fx *fx, DAT_CONN_QUAL at)
{
    struct sockaddr_in to = *(struct sockaddr_in *)&fx->address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)at);
    must(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect: %s", strerror(errno));
    return fd;
}

int raw_listen(struct fx *fx, DAT_CONN_QUAL *at)
{
    struct sockaddr_in here = *(struct sockaddr_in *)&fx->address;
    socklen_t len = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    here.sin_port = 0;
    must(fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 8) == 0 &&
             getsockname(fd, (struct sockaddr *)&here, &len) == 0,
         "no listening socket: %s", strerror(errno));
    *at = ntohs(here.sin_port);
    return fd;
}

size_t raw_say(int fd, const void *bytes, size_t len)
{
    struct pollfd f = { fd, POLLOUT, 0 };
    size_t total = 0;

    while (total < len) {
        ssize_t sent = send(fd, (const char *)bytes + total, len - total, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0)
            total += (size_t)sent;
        else if (errno != EAGAIN || poll(&f, 1, (int)env_ms(1000)) <= 0)
            break;
    }
    return total;
}

bool raw_hear(int fd, void *bytes, size_t len)
{
    struct pollfd f = { fd, POLLIN, 0 };

    while (len > 0) {
        ssize_t got = poll(&f, 1, (int)env_ms(SOON_MS)) > 0 ? recv(fd, bytes, len, 0) : -1;

        if (got <= 0)
            return false;
        bytes = (char *)bytes + got;
        len -= (size_t)got;
    }
    return true;
}

bool raw_hear_greeting(int fd, struct greeting *g)
{
    memset(g, 0, sizeof *g);
    if (!raw_hear(fd, g->bytes, HELLO_SIZE) || memcmp(g->bytes, HELLO_MAGIC, sizeof HELLO_MAGIC - 1) != 0)
        return false;
    g->len = HELLO_SIZE + g->bytes[HELLO_LENGTH];
    return raw_hear(fd, g->bytes + HELLO_SIZE, g->len - HELLO_SIZE);
}

bool raw_hear_record(int fd, struct heard *h, void *body, size_t room)
{
    unsigned char header[RECORD_HEADER];
    unsigned char *bytes;
    bool heard;

    if (!raw_hear(fd, header, sizeof header))
        return false;
    h->kind = header[0];
    h->len = (uint32_t)get(header + 4, 4);
    h->handled = get(header + 8, 8);
    h->window = (uint32_t)get(header + 16, 4);
    h->aux = get(header + 24, 8);
    if (h->len > RECORD_MAX_HEAD + RECORD_MAX_PAYLOAD)
        return false;
    bytes = malloc(h->len != 0 ? h->len : 1);
    must(bytes != NULL, "out of memory");
    heard = raw_hear(fd, bytes, h->len);
    if (heard && body != NULL)
        memcpy(body, bytes, h->len < room ? h->len : room);
    free(bytes);
    return heard;
}

bool raw_hear_kind(int fd, unsigned kind, struct heard *h, void *body, size_t room)
{
    do {
        if (!raw_hear_record(fd, h, body, room))
            return false;
    } while (h->kind != kind);
    return true;
}

bool raw_is_ended(int fd)
{
    char bytes[4096];

    while (raw_hear(fd, bytes, 1))
        while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            ;
    return poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) > 0;
}

void raw_reset(int fd)
{
    struct linger abrupt = { 1, 0 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
    close(fd);
}
