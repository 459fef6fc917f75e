/*
 * raw.h - a raw peer: the wire protocol of the transport tcp without the library. The constants come from the library's
 * sources (protocol.sh).
 */
#ifndef TESTS_C_RAW_H
#define TESTS_C_RAW_H

#include "common/fixture.h"
#include "tcp/protocol.h"

/* Offsets in a greeting. */
enum { HELLO_KIND = 4, HELLO_FLAGS = 5, HELLO_READS_IN = 6, HELLO_READS_OUT = 7, HELLO_LENGTH = 8, HELLO_RESERVED = 9 };
/* Offsets of reserved bytes in the header of a record. */
enum { RESERVED_LOW = 2, RESERVED_HIGH = 20 };

struct greeting {
    unsigned char bytes[HELLO_SIZE + 256];
    size_t len;
};

/* Builds a greeting that requests or accepts a connection. */
void greeting_make(struct greeting *g, const void *private_data, size_t len);

/* A record to send. Omitted fields are 0, except the window. */
struct record {
    unsigned kind, flags;
    uint64_t handled, aux;
    uint64_t window;       /* RECORD_MIN_WINDOW if 0 */
    bool no_window;        /* sends a window of 0 */
    unsigned reserved;     /* offset of a header byte to set to 1, unless 0 */
    int64_t len_error;     /* added to the length in the header */
    const void *head;
    size_t head_len;
    const void *payload;   /* zeros if NULL */
    size_t payload_len;
};

/* Sends a record, as in RAW_RECORD(fd, .kind = KIND_HANDLED). */
#define RAW_RECORD(fd, ...) raw_record((fd), &(struct record){ __VA_ARGS__ })
void raw_record(int fd, const struct record *r);

int raw_connect(struct fx *fx, DAT_CONN_QUAL at);
/* Returns a listening socket at the adapter's address, and stores its port in *at. */
int raw_listen(struct fx *fx, DAT_CONN_QUAL *at);

/* Sends bytes. Stops if the connection ends or the socket is full for 1 s. Returns the number of sent bytes. */
size_t raw_say(int fd, const void *bytes, size_t len);
/* Receives exactly len bytes. Returns false at the deadline and at the end of the stream. */
bool raw_hear(int fd, void *bytes, size_t len);
bool raw_hear_greeting(int fd, struct greeting *g);

/* A received header. len is the number of bytes that follow. */
struct heard {
    unsigned kind;
    uint64_t handled, aux;
    uint32_t window, len;
};

/*
 * Receives a record. Stores up to `room` of the bytes after the header in body, unless NULL. Returns false at the
 * deadline, at the end of the stream, or if the length in the header is invalid.
 */
bool raw_hear_record(int fd, struct heard *h, void *body, size_t room);
/* Receives records as raw_hear_record() does, and discards them until a record has this kind. */
bool raw_hear_kind(int fd, unsigned kind, struct heard *h, void *body, size_t room);

/* Returns whether the peer closes the connection before the deadline. */
bool raw_is_ended(int fd);
/* Closes the socket so that the peer receives an RST. */
void raw_reset(int fd);

/* The head of a record: the bytes between its header and its payload. */
struct head {
    unsigned char bytes[RECORD_TARGET + RECORD_ATOMIC];
};
struct head head_target(uint64_t address, uint64_t len, uint32_t key);
struct head head_atomic(uint64_t address, uint32_t key, uint32_t operation, uint64_t first, uint64_t second);

#endif
