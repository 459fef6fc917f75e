/* lanes.c - messages in pieces that the target watches: see lanes.h. */
#define _GNU_SOURCE
#include "lanes.h"

#include "common/patience.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Messages ---- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What either side draws for the next message. */
static void next_message(const struct plan *p, struct lane *lane)
{
    unsigned kind = draw(&lane->chance, 100);

    lane->message.size = p->timed ? 16384u << lane->index % TIMED_SIZES : draw_size(&lane->chance, p->least, p->most);
    lane->message.seed = draw(&lane->chance, 1u << 30) * 2u + 1;
    lane->message.kind = lane->message.size < 16 ? EAGER
                         : kind < p->by_write    ? BY_WRITE
                         : kind < p->by_write + p->by_read ? BY_READ
                                                           : EAGER;
    lane->done = 0;
    lane->stage = lane->message.kind == EAGER ? PIECES : ANNOUNCE;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The bytes at the end of so many that are made and checked. */
static unsigned looked_at(const struct lanes *l, unsigned len)
{
    return l->plan.timed ? smaller(len, 8) : len;
}

/* Whether this side may send its next message now. */
static bool has_turn(const struct lanes *l, const struct connection *c)
{
    unsigned turn = l->plan.turn;

    return turn == 0 || c->in.index >= (c->out.index / turn + l->me) * turn;
}

/* Puts a piece into the next slot; false if there is none, or no place for the request. */
static bool send_piece(struct lanes *l, struct connection *c, unsigned len, unsigned seed)
{
    struct lane *out = &c->out;
    size_t end = slot_end(l, c, l->me, out->pieces);

    if (out->pieces - word_at(l, c, CREDIT) >= l->plan.slots)
        return false;
    fill(l->memory.mem + end, looked_at(l, len), seed, true);
    if (!post(l, c, false, end - len, len, end - len, NULL))
        return false;
    out->pieces++;
    return true;
}

static void finish(struct lane *lane)
{
    lane->stage = NEXT;
    lane->index++;
}

/* One step of the message that goes out; true if something was done. */
static bool send_step(struct lanes *l, struct connection *c)
{
    struct lane *out = &c->out;
    struct message *m = &out->message;
    unsigned len = smaller(l->plan.slot, m->size - out->done);

    switch (out->stage) {
    case NEXT:
        if (out->index == l->plan.messages[l->me] || !has_turn(l, c))
            return false;
        next_message(&l->plan, out);
        out->began = l->plan.timed ? now_ns() : 0;
        return true;
    case PIECES:
        if (!send_piece(l, c, len, m->seed + out->done))
            return false;
        out->done += len;
        if (out->done == m->size)
            finish(out);
        return true;
    case ANNOUNCE:
        /* The bulk is free when the one before is there. */
        if (word_at(l, c, FINISHED) != out->rendezvous || out->pieces - word_at(l, c, CREDIT) >= l->plan.slots)
            return false;
        fill(l->memory.mem + bulk_end(l, c, l->me, m->size), looked_at(l, m->size), m->seed, m->kind == BY_WRITE);
        if (!send_piece(l, c, smaller(l->plan.slot, 16), m->seed))
            return false;
        out->rendezvous++;
        out->stage = m->kind == BY_READ ? DONE : GO;
        return true;
    case GO:
        if (word_at(l, c, GO_AHEAD) != out->rendezvous)
            return false;
        out->stage = BULK;
        return true;
    case BULK: {
        size_t at = bulk_end(l, c, l->me, m->size) - m->size + out->done;

        len = smaller(l->plan.cut, m->size - out->done);
        if (!post(l, c, false, at, len, at, NULL))
            return false;
        out->done += len;
        if (out->done == m->size)
            finish(out);
        return true;
    }
    default:
        if (word_at(l, c, FINISHED) != out->rendezvous)
            return false;
        finish(out);
        return true;
    }
}

/* Looks for bytes that end there; true if they have come, all of them, and right. */
static bool has_come(struct lanes *l, struct connection *c, size_t at, unsigned len, unsigned seed)
{
    unsigned char *end = l->memory.mem + at;
    unsigned w = width(end, len);
    uint64_t word;
    long wrong;

    /* Kernels that copy bytes in their order, as on processors with a fast instruction for that, show the last one last. */
    if (look(end, 1) == 0)
        return false;
    word = look(end, w);
    if (word != flag_of(seed, w)) {
        TROUBLE(l, "connection %d, message %u, piece %u: the word at the end is %#llx, not %#llx",
                (int)(c - l->connections), c->in.index, c->in.pieces, (unsigned long long)word,
                (unsigned long long)flag_of(seed, w));
        return false;
    }
    wrong = differs(end, looked_at(l, len), seed, true);
    if (wrong >= 0) {
        TROUBLE(l, "connection %d, message %u, piece %u: byte %ld of %u is wrong", (int)(c - l->connections),
                c->in.index, c->in.pieces, wrong, len);
        return false;
    }
    memset(end - smaller(len, 8), 0, smaller(len, 8));
    l->bytes += len;
    return true;
}

/* Takes the next piece, and gives credit back when it is time. */
static bool take_piece(struct lanes *l, struct connection *c, unsigned len, unsigned seed)
{
    if (!has_come(l, c, slot_end(l, c, 1 - l->me, c->in.pieces), len, seed))
        return false;
    c->in.pieces++;
    l->pieces++;
    return true;
}

/* The answer to a message of this side is there. */
static void received(struct lanes *l, struct connection *c)
{
    unsigned size = c->in.index % TIMED_SIZES;
    uint64_t took;

    finish(&c->in);
    if (l->plan.timed && l->me == 0) {
        took = now_ns() - c->out.began;
        if (l->fastest[size] == 0 || took < l->fastest[size])
            l->fastest[size] = took;
    }
}

/* One step of what comes in; true if something was done. */
static bool receive_step(struct lanes *l, struct connection *c)
{
    struct lane *in = &c->in;
    struct message *m = &in->message;
    unsigned len = smaller(l->plan.slot, m->size - in->done);

    if (in->pieces - in->told >= l->plan.credit_every && tell(l, c, CREDIT, in->pieces, NULL)) {
        in->told = in->pieces;
        return true;
    }
    switch (in->stage) {
    case NEXT:
        if (in->index == l->plan.messages[1 - l->me])
            return false;
        next_message(&l->plan, in);
        return true;
    case PIECES:
        if (!take_piece(l, c, len, m->seed + in->done))
            return false;
        in->done += len;
        if (in->done == m->size)
            received(l, c);
        return true;
    case ANNOUNCE:
        if (!take_piece(l, c, smaller(l->plan.slot, 16), m->seed))
            return false;
        in->stage = GO;
        return true;
    case GO: {
        size_t end = bulk_end(l, c, 1 - l->me, m->size);

        memset(l->memory.mem + end - 8, 0, 8);
        if (m->kind == BY_WRITE ? !tell(l, c, GO_AHEAD, in->rendezvous + 1, NULL)
                                : !post(l, c, true, end - m->size, m->size, end - m->size, &c->read))
            return false;
        in->rendezvous++;
        in->stage = m->kind == BY_WRITE ? BULK : READING;
        return true;
    }
    case BULK:
        if (!has_come(l, c, bulk_end(l, c, 1 - l->me, m->size), m->size, m->seed))
            return false;
        in->stage = DONE;
        return true;
    case READING:
        if (!arrived(l, c, &c->read))
            return false;
        if (differs(l->memory.mem + bulk_end(l, c, 1 - l->me, m->size), looked_at(l, m->size), m->seed, false) >= 0) {
            TROUBLE(l, "connection %d, message %u: a read of %u bytes has brought others", (int)(c - l->connections),
                    in->index, m->size);
            return false;
        }
        l->bytes += m->size;
        in->stage = DONE;
        return true;
    default:
        if (!tell(l, c, FINISHED, in->rendezvous, NULL))
            return false;
        received(l, c);
        return true;
    }
}

/* Behind all messages one more credit, which is signalled: when it has completed so has all before. */
static bool end_step(struct lanes *l, struct connection *c)
{
    if (c->finished || c->in.index != l->plan.messages[1 - l->me] || c->out.index != l->plan.messages[l->me])
        return false;
    if (c->last == 0)
        return tell(l, c, CREDIT, c->in.pieces, &c->last);
    c->finished = arrived(l, c, &c->last);
    return c->finished;
}

/* ---- All of it ---- */

enum { STILL_MS = 10000 };

/* A connection that is not finished has ended. */
static bool has_ended(const struct lanes *l)
{
    for (unsigned i = 0; i < l->plan.connections; i++)
        if (!l->connections[i].finished && ep_state(l->connections[i].side.ep) != DAT_EP_STATE_CONNECTED)
            return true;
    return false;
}

/* Nothing has moved in this look. False if that has been so for too long. */
static bool idle(struct lanes *l, struct patience *p, pid_t other)
{
    bool lasts = patience_lasts(p, other, STILL_MS);

    if (p->looks % (l->plan.habits[l->me].yield_every / l->plan.connections + 1) == 0)
        sched_yield();
    if (lasts)
        return true;
    /* Not before, since a call of the library may get it going again. */
    if (has_ended(l))
        TROUBLE(l, "a connection has ended");
    else
        TROUBLE(l, "nothing has moved for %u ms", (unsigned)(now_ms() - p->since));
    return false;
}

/* What a side takes to for a spell beside its messages, instead of what its other habits say. */
enum spell { AS_EVER, CALLING, WATCHING, WAITING, COMPUTING, STOPPED, SPELLS };

/* Is stopped for some milliseconds: a child continues it, and ends when it has gone on. */
static void be_stopped(void)
{
    static const struct timespec nap = { 0, 2000000 };
    struct pollfd gone;
    pid_t child;
    int fds[2];

    if (pipe(fds) != 0)
        return;
    child = fork();
    if (child == 0) {
        close(fds[1]);
        gone = (struct pollfd){ fds[0], 0, 0 };
        do {
            nanosleep(&nap, NULL);
            kill(getppid(), SIGCONT);
        } while (poll(&gone, 1, 0) == 0);
        _exit(0);
    }
    close(fds[0]);
    if (child > 0)
        raise(SIGSTOP);
    close(fds[1]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Does that; false if what the other habits say is to be done. Sets `moved` if a completion was taken off. */
static bool in_a_spell(struct lanes *l, enum spell spell, bool first, bool *moved)
{
    static const struct timespec nap = { 0, 50000 };

    switch (spell) {
    case CALLING:
        *moved = reap(l) || *moved;
        return true;
    case WATCHING:
        return true;
    case WAITING:
        *moved = reap_waiting(l) || *moved;
        return true;
    case COMPUTING:
        if (first)
            nanosleep(&nap, NULL);
        return false;
    case STOPPED:
        if (first)
            be_stopped();
        return false;
    default:
        return false;
    }
}

bool lanes_run(struct lanes *l, pid_t other)
{
    const struct habits *h = &l->plan.habits[l->me];
    struct patience patience = { 0, 0, { 0, 0 }, { 0, 0 } };
    unsigned left = l->plan.connections, turns = 0;
    enum spell spell = AS_EVER;

    while (left > 0) {
        bool moved = false, first, due;

        left = 0;
        for (unsigned i = 0; i < l->plan.connections; i++) {
            struct connection *c = &l->connections[i];

            moved = receive_step(l, c) || moved;
            moved = send_step(l, c) || moved;
            moved = end_step(l, c) || moved;
            left += !c->finished;
        }
        turns++;
        first = h->spell != 0 && turns % h->spell == 0;
        if (first)
            spell = (enum spell)draw(&l->chance, SPELLS);
        due = h->dequeue_every != 0 && turns % h->dequeue_every == 0;
        if (l->lacks_place || l->awaited > 0 || (!in_a_spell(l, spell, first, &moved) && due))
            moved = reap(l) || moved;
        if (moved)
            patience_renew(&patience);
        else if (!idle(l, &patience, other))
            return false;
        if (l->trouble[0] != '\0')
            return false;
    }
    return true;
}

void lanes_tell(const struct lanes *l)
{
    static const char *const stages[] = { "next", "pieces", "announce", "go", "bulk", "reading", "done" };

    for (unsigned i = 0; i < l->plan.connections; i++) {
        const struct connection *c = &l->connections[i];
        const struct lane *lanes[2] = { &c->out, &c->in };

        if (c->finished)
            continue;
        fprintf(stderr, "# side %u, connection %u: %s, requests posted %u, retired %u; words: credit %u go %u finished %u\n",
                l->me, i, state_text(ep_state(c->side.ep)), c->posted, c->retired, word_at(l, c, CREDIT),
                word_at(l, c, GO_AHEAD), word_at(l, c, FINISHED));
        for (int k = 0; k < 2; k++)
            fprintf(stderr, "#   %s: message %u of %u: %s, %u of %u bytes, kind %d; pieces %u, told %u, rendezvous %u\n",
                    k == 0 ? "out" : "in", lanes[k]->index, l->plan.messages[k == 0 ? l->me : 1 - l->me],
                    stages[lanes[k]->stage], lanes[k]->done, lanes[k]->message.size, (int)lanes[k]->message.kind,
                    lanes[k]->pieces, lanes[k]->told, lanes[k]->rendezvous);
    }
}
