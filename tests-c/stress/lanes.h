/*
 * lanes.h - connections whose two directions are lanes: what one side writes by RDMA the other one watches in its memory.
 *
 * A lane is a ring of slots in the memory of the target, each of which gets one piece of a message. The last bytes of
 * a piece are its flag: the target looks at them, checks all bytes, clears the flag, and gives the slot back by a write
 * of 4 B into a word that the sender watches. A large message goes by rendezvous instead: the sender announces it in a
 * slot, and the target answers by a word that the bytes may come, or reads them, and by another one that they are there.
 *
 * Both processes draw the same messages from the same plan. They watch memory alone; each dequeues when it has to, and
 * as often as its habits say.
 */
#ifndef TESTS_C_LANES_H
#define TESTS_C_LANES_H

#include "common/chance.h"
#include "common/fixture.h"

#include <stddef.h>
#include <stdint.h>

enum { MOST_CONNECTIONS = 40 };

/* How one side behaves. */
struct habits {
    unsigned dequeue_every; /* looks at memory between two dequeues; 0: it dequeues only when it has to */
    unsigned signal_every;  /* requests of which one is signalled */
    unsigned fenced;        /* of 100 requests */
    unsigned yield_every;   /* looks in vain between two that give the processor away */
    unsigned segments;      /* of a write, at most */
    unsigned spell;         /* turns after which it takes to something else (lanes.c), or 0 */
};

enum dispatchers { ONE_FOR_ALL, ONE_EACH, TWO_EACH };

/* What the two processes do in one epoch. */
struct plan {
    uint64_t seed;
    unsigned connections;
    unsigned requests;       /* max_request_dtos */
    bool unsignalled;        /* request_completion_flags */
    enum dispatchers dispatchers;
    unsigned slots, slot;    /* of a lane; bytes of the largest piece */
    unsigned skew;           /* bytes by which the ends of slots miss a multiple of 8 */
    unsigned credit_every;   /* pieces for which one credit is written */
    unsigned turn;           /* messages before it is the other side's turn; 0: both at once */
    unsigned messages[2];    /* of each connection, by the active and by the passive side */
    unsigned least, most;    /* their bytes */
    unsigned by_write, by_read; /* of 100 messages, those that go by rendezvous */
    unsigned cut;            /* bytes of one write of a rendezvous */
    struct habits habits[2]; /* of the active and of the passive side */
    bool timed;              /* sizes are powers of two, in turn, and flags alone are made and checked */
};

/* How far a request to another side, and an answer, are. */
enum stage { NEXT, PIECES, ANNOUNCE, GO, BULK, READING, DONE };

struct message {
    enum { EAGER, BY_WRITE, BY_READ } kind;
    unsigned size;
    unsigned seed;
};

/* One direction, as the side sees it that sends, or that receives. */
struct lane {
    struct chance chance;
    enum stage stage;
    struct message message;
    unsigned index;      /* messages that are finished */
    unsigned done;       /* bytes of the message */
    uint32_t pieces;     /* posted, or taken */
    uint32_t told;       /* of these, what the other side was told */
    uint32_t rendezvous; /* announced */
    uint64_t began;      /* the time in ns, of the message */
};

struct connection {
    struct side side;
    struct lane out, in;
    size_t base;               /* of its part of the memory */
    uint32_t posted, retired;  /* requests */
    uint32_t signalled;        /* the last request that was */
    uint32_t read, last;       /* the requests that are waited for, or 0 */
    unsigned char *will_come;  /* which requests have a completion */
    bool finished;
};

enum { TIMED_SIZES = 7 }; /* 16 KiB to 1 MiB */

struct lanes {
    struct plan plan;
    unsigned me; /* 0: the active side */
    struct fx *fx;
    struct region memory;
    DAT_RMR_TRIPLET there; /* that of the other side */
    DAT_EVD_HANDLE evds[2 * MOST_CONNECTIONS];
    unsigned evd_count;
    struct connection connections[MOST_CONNECTIONS];
    struct chance chance;
    bool lacks_place;      /* a request found no place */
    unsigned awaited;      /* requests that are waited for */
    uint64_t pieces, bytes;
    uint64_t fastest[TIMED_SIZES]; /* ns of a message and its answer */
    char trouble[240];     /* what was wrong, or empty */
};

/* Makes memory and endpoints, and connects. */
void lanes_open(struct lanes *l, struct fx *fx, const struct plan *plan, unsigned me, struct link *link);

/*
 * Exchanges all messages. False if something is wrong, which l->trouble says: bytes that differ, a completion that nobody
 * asked for, or nothing that moves, while this process and `other` have had the processor.
 */
bool lanes_run(struct lanes *l, pid_t other);

/* Ends the connections. The other side does the same. */
void lanes_close(struct lanes *l);

/* Prints how far each connection is that is not finished. */
void lanes_tell(const struct lanes *l);

/* ---- What the files of it share ---- */

#define TROUBLE(l, ...) snprintf((l)->trouble, sizeof(l)->trouble, __VA_ARGS__)

/* Bytes that end there: how many of the last ones are one word, and that word, of which no byte is 0. */
unsigned width(const unsigned char *end, size_t len);
uint64_t flag_of(unsigned seed, unsigned w);
/* That word as it is now; 0 while nothing has come. */
uint64_t look(const unsigned char *end, unsigned w);
/* Makes the bytes, with the flag, if there is one; the first that is wrong, or -1. */
void fill(unsigned char *end, size_t len, unsigned seed, bool with_flag);
long differs(const unsigned char *end, size_t len, unsigned seed, bool with_flag);

/* The words of a connection's part of the memory that the other side writes. */
enum { CREDIT = 0, GO_AHEAD = 20, FINISHED = 40, WORDS = 64 };

uint32_t word_at(const struct lanes *l, const struct connection *c, unsigned which);

/* The ends of a slot and of the bulk in the lane of that sender. */
size_t slot_end(const struct lanes *l, const struct connection *c, unsigned sender, uint32_t piece);
size_t bulk_end(const struct lanes *l, const struct connection *c, unsigned sender, unsigned size);

/* Posts a write or a read, if there is a place for it; `awaited` gets its number if it is waited for. */
bool post(struct lanes *l, struct connection *c, bool read, size_t at, size_t len, size_t to, uint32_t *awaited);
/* Writes a word of the other side. */
bool tell(struct lanes *l, struct connection *c, unsigned which, uint32_t value, uint32_t *awaited);
/* Takes all completions off that are there; true if there were some. */
bool reap(struct lanes *l);
/* The same, and waits for one first, for a moment. */
bool reap_waiting(struct lanes *l);
/* True if the request that is waited for has completed; then it is so no longer. */
bool arrived(struct lanes *l, const struct connection *c, uint32_t *awaited);

#endif
