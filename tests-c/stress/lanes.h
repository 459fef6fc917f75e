/*
 * lanes.h - connections whose directions are lanes: one side writes by RDMA, and the other polls its memory.
 *
 * A lane is a ring of slots in the target's memory. A slot holds one piece of a message. The last bytes of a piece are
 * its flag. The target polls the flag, checks all bytes and clears the flag. It frees slots by a credit: a write of 4
 * bytes into a word that the sender polls. Large messages use a rendezvous: the sender announces the message in a slot.
 * The target either writes a word that permits the write of the bytes, or reads them. A last word confirms the receipt.
 *
 *     sender                            target
 *     pieces with flags        ──►      slots
 *                              ◄──      CREDIT: pieces taken
 *     announcement             ──►      slot
 *                              ◄──      GO_AHEAD, only before a write
 *     bytes                    ──►      bulk, by a write or a read
 *                              ◄──      FINISHED
 *
 * Both processes derive the same messages from the plan. They dequeue as often as their habits require, and while they
 * need the completion of a request.
 */
#ifndef TESTS_C_LANES_H
#define TESTS_C_LANES_H

#include "common/chance.h"
#include "common/fixture.h"

#include <stddef.h>
#include <stdint.h>

enum { MAX_CONNECTIONS = 40 };

/* Behaviour of one side. A turn is one pass over all connections. */
struct habits {
    unsigned dequeue_every; /* turns between two dequeues; 0: dequeues only if it must */
    unsigned signal_every;  /* requests for each signalled request */
    unsigned fenced;        /* percentage of fenced requests */
    unsigned yield_every;   /* polls of connections without progress between two yields */
    unsigned segments;      /* maximum segments of a request. */
    unsigned spell;         /* turns between changes of the activity (lanes.c), or 0 */
};

enum dispatchers { ONE_FOR_ALL, ONE_EACH, TWO_EACH };

/* The work of the two processes in one epoch. */
struct plan {
    uint64_t seed;
    unsigned connections;
    unsigned requests;       /* max_request_dtos */
    bool unsignalled;        /* request_completion_flags */
    enum dispatchers dispatchers;
    unsigned slots, slot;    /* number per lane; bytes of the largest piece */
    unsigned skew;           /* offset of the ends of slots from a multiple of 8, in bytes */
    unsigned credit_every;   /* pieces per credit */
    unsigned turn;           /* messages before the other side sends; 0: both send concurrently */
    unsigned messages[2];    /* per connection, by the active and by the passive side */
    unsigned min_size, max_size; /* of messages, in bytes */
    unsigned by_write, by_read;  /* percentages of messages by rendezvous, with writes and with a read */
    unsigned cut;            /* bytes of one write of a rendezvous */
    struct habits habits[2];
    bool timed;              /* sizes are powers of two in turn, and only flags are written and checked */
};

/* Progress of a message, at the sender or at the target. */
enum stage { NEXT, PIECES, ANNOUNCE, GO, BULK, READING, DONE };

struct message {
    enum { EAGER, BY_WRITE, BY_READ } kind;
    unsigned size;
    unsigned seed;
};

/* One direction, seen by the sender or by the target. */
struct lane {
    struct chance chance;
    enum stage stage;
    struct message message;
    unsigned index;      /* finished messages */
    unsigned done;       /* bytes of the current message */
    uint32_t pieces;     /* posted or taken */
    uint32_t credited;   /* taken pieces that a credit has reported */
    uint32_t rendezvous; /* announced messages */
    uint64_t began;      /* start of the current message in ns */
};

struct connection {
    struct side side;
    struct lane out, in;
    size_t base;               /* offset of the connection's part of the memory */
    uint32_t posted, retired;  /* requests */
    uint32_t signalled;        /* the last signalled request */
    uint32_t read, last;       /* numbers of requests whose completion is awaited, or 0 */
    unsigned char *will_come;  /* 1 for each request with a completion */
    bool finished;
};

enum { TIMED_SIZES = 7 }; /* 16 KiB to 1 MiB */

struct lanes {
    struct plan plan;
    unsigned me; /* 0: the active side */
    struct fx *fx;
    struct region memory;
    DAT_RMR_TRIPLET there; /* the other side's memory */
    DAT_EVD_HANDLE evds[2 * MAX_CONNECTIONS];
    unsigned evd_count;
    struct connection connections[MAX_CONNECTIONS];
    struct chance chance;
    bool lacks_place;      /* a post has found no free request */
    unsigned awaited;      /* requests whose completion is awaited */
    uint64_t pieces, bytes;
    uint64_t fastest[TIMED_SIZES]; /* shortest time in ns of a message and its reply */
    char trouble[240];     /* first error, or empty */
};

/* Allocates the memory, creates the endpoints and connects them. */
void lanes_open(struct lanes *l, struct fx *fx, const struct plan *plan, unsigned me, struct link *link);

/*
 * Exchanges all messages. Returns false and sets l->trouble after wrong bytes, an unexpected completion, or too long
 * without progress. That time counts only while this process and `other` have CPUs.
 */
bool lanes_run(struct lanes *l, pid_t other);

/* Closes the connections. The other side must do the same. */
void lanes_close(struct lanes *l);

void lanes_print(const struct lanes *l);

/* ---- Shared by lanes*.c ---- */

#define TROUBLE(l, ...) snprintf((l)->trouble, sizeof(l)->trouble, __VA_ARGS__)

/* Returns the size of the word that ends at `end`. */
unsigned width(const unsigned char *end, size_t len);
/* Returns the flag for a seed: a word of w nonzero bytes. */
uint64_t flag_of(unsigned seed, unsigned w);
/* Loads the word of w bytes before `end`. It is 0 before a piece has arrived. */
uint64_t look(const unsigned char *end, unsigned w);
/* Writes `len` bytes before `end`, with a flag if with_flag. */
void fill(unsigned char *end, size_t len, unsigned seed, bool with_flag);
/* Returns the offset of the 8 bytes with the first wrong byte, or -1. Does not check the flag. */
long differs(const unsigned char *end, size_t len, unsigned seed, bool with_flag);

/* Offsets of the words that the other side writes, in a connection's part of the memory. */
enum { CREDIT = 0, GO_AHEAD = 20, FINISHED = 40, WORDS = 64 };

uint32_t word_at(const struct lanes *l, const struct connection *c, unsigned which);

/* Return the end of a slot and of the bulk in the lane of `sender`. */
size_t slot_end(const struct lanes *l, const struct connection *c, unsigned sender, uint32_t piece);
size_t bulk_end(const struct lanes *l, const struct connection *c, unsigned sender, unsigned size);

/* Posts a write or a read. Returns false if no request is free. Stores the request's number in *awaited unless NULL. */
bool post(struct lanes *l, struct connection *c, bool read, size_t at, size_t len, size_t to, uint32_t *awaited);
bool write_word(struct lanes *l, struct connection *c, unsigned which, uint32_t value, uint32_t *awaited);
/* Dequeues all available completions. Returns whether there were any. */
bool reap(struct lanes *l);
/* Waits up to 300 us for a completion on the first EVD, then calls reap(). */
bool reap_waiting(struct lanes *l);
/* Returns whether an awaited request has completed, and resets `awaited` if so. */
bool arrived(struct lanes *l, const struct connection *c, uint32_t *awaited);

#endif
