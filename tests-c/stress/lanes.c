/* lanes.c - messages in pieces that the target polls: see lanes.h. */
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

/* Draws the next message. Both sides draw the same one. */
static void next_message(const struct plan *p, struct lane *lane)
{
    unsigned kind = draw(&lane->chance, 100);

    lane->message.size = p->timed ? 16384u << lane->index % TIMED_SIZES
                                  : draw_size(&lane->chance, p->min_size, p->max_size);
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

/* Returns how many bytes at the end of a piece are written and checked. */
static unsigned checked_len(const struct lanes *l, unsigned len)
{
    return l->plan.timed ? smaller(len, 8) : len;
}

static bool has_turn(const struct lanes *l, const struct connection *c)
{
    unsigned turn = l->plan.turn;

    return turn == 0 || c->in.index >= (c->out.index / turn + l->me) * turn;
}

/* Posts a piece into the next slot. Returns false if no slot or no request is free. */
static bool send_piece(struct lanes *l, struct connection *c, unsigned len, unsigned seed)
{
    struct lane *out = &c->out;
    size_t end = slot_end(l, c, l->me, out->pieces);

    if (out->pieces - word_at(l, c, CREDIT) >= l->plan.slots)
        return false;
    fill(l->memory.mem + end, checked_len(l, len), seed, true);
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

/* Performs one step of the outgoing message. Returns whether it made progress. */
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
        /* The target must have finished the last message in the bulk. */
        if (word_at(l, c, FINISHED) != out->rendezvous || out->pieces - word_at(l, c, CREDIT) >= l->plan.slots)
            return false;
        fill(l->memory.mem + bulk_end(l, c, l->me, m->size), checked_len(l, m->size), m->seed, m->kind == BY_WRITE);
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

/*
 * Returns whether the piece that ends at offset `at` has arrived, and clears its flag. Sets l->trouble for wrong
 * bytes.
 */
static bool has_come(struct lanes *l, struct connection *c, size_t at, unsigned len, unsigned seed)
{
    unsigned char *end = l->memory.mem + at;
    unsigned w = width(end, len);
    uint64_t word;
    long wrong;

    /* Poll the last byte: it appears last, even if the kernel copies byte by byte, as on CPUs with fsrm. */
    if (look(end, 1) == 0)
        return false;
    word = look(end, w);
    if (word != flag_of(seed, w)) {
        TROUBLE(l, "connection %d, message %u, piece %u: the word at the end is %#llx, not %#llx",
                (int)(c - l->connections), c->in.index, c->in.pieces, (unsigned long long)word,
                (unsigned long long)flag_of(seed, w));
        return false;
    }
    wrong = differs(end, checked_len(l, len), seed, true);
    if (wrong >= 0) {
        TROUBLE(l, "connection %d, message %u, piece %u: byte %ld of %u is wrong", (int)(c - l->connections),
                c->in.index, c->in.pieces, wrong, len);
        return false;
    }
    memset(end - smaller(len, 8), 0, smaller(len, 8));
    l->bytes += len;
    return true;
}

static bool take_piece(struct lanes *l, struct connection *c, unsigned len, unsigned seed)
{
    if (!has_come(l, c, slot_end(l, c, 1 - l->me, c->in.pieces), len, seed))
        return false;
    c->in.pieces++;
    l->pieces++;
    return true;
}

/*
 * Finishes an incoming message. In timed plans, it is a reply to the active side, which records the fastest round
 * trip.
 */
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

static bool receive_step(struct lanes *l, struct connection *c)
{
    struct lane *in = &c->in;
    struct message *m = &in->message;
    unsigned len = smaller(l->plan.slot, m->size - in->done);

    if (in->pieces - in->credited >= l->plan.credit_every && write_word(l, c, CREDIT, in->pieces, NULL)) {
        in->credited = in->pieces;
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
        if (m->kind == BY_WRITE ? !write_word(l, c, GO_AHEAD, in->rendezvous + 1, NULL)
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
        if (differs(l->memory.mem + bulk_end(l, c, 1 - l->me, m->size), checked_len(l, m->size), m->seed, false) >= 0) {
            TROUBLE(l, "connection %d, message %u: a read of %u bytes has brought others", (int)(c - l->connections),
                    in->index, m->size);
            return false;
        }
        l->bytes += m->size;
        in->stage = DONE;
        return true;
    default:
        if (!write_word(l, c, FINISHED, in->rendezvous, NULL))
            return false;
        received(l, c);
        return true;
    }
}

/* After all messages, posts a signalled credit. Its completion implies that all earlier requests have completed. */
static bool end_step(struct lanes *l, struct connection *c)
{
    if (c->finished || c->in.index != l->plan.messages[1 - l->me] || c->out.index != l->plan.messages[l->me])
        return false;
    if (c->last == 0)
        return write_word(l, c, CREDIT, c->in.pieces, &c->last);
    c->finished = arrived(l, c, &c->last);
    return c->finished;
}

/* ---- The loop ---- */

enum { STILL_MS = 10000 };

/* Returns whether an unfinished connection is no longer connected. */
static bool has_ended(const struct lanes *l)
{
    for (unsigned i = 0; i < l->plan.connections; i++)
        if (!l->connections[i].finished && ep_state(l->connections[i].side.ep) != DAT_EP_STATE_CONNECTED)
            return true;
    return false;
}

/* Handles a turn without progress. Returns false after STILL_MS without progress. */
static bool idle(struct lanes *l, struct patience *p, pid_t other)
{
    bool lasts = patience_lasts(p, other, STILL_MS);

    if (p->looks % (l->plan.habits[l->me].yield_every / l->plan.connections + 1) == 0)
        sched_yield();
    if (lasts)
        return true;
    /* Check the connections only now, because a call of the library can cause progress. */
    if (has_ended(l))
        TROUBLE(l, "a connection has ended");
    else
        TROUBLE(l, "nothing has moved for %u ms", (unsigned)(now_ms() - p->since));
    return false;
}

/* An activity that temporarily replaces the habits. */
enum spell { NO_SPELL, CALLING, WATCHING, WAITING, COMPUTING, STOPPED, SPELLS };

/* Stops this process for at least 2 ms. A child sends SIGCONT until this process runs again. */
static void stop_self(void)
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

/* Performs the activity. Returns false if the habits must decide whether to dequeue. Sets *moved after a completion. */
static bool run_spell(struct lanes *l, enum spell spell, bool first, bool *moved)
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
            stop_self();
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
    enum spell spell = NO_SPELL;

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
        if (l->lacks_place || l->awaited > 0 || (!run_spell(l, spell, first, &moved) && due))
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

void lanes_print(const struct lanes *l)
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
            fprintf(stderr,
                    "#   %s: message %u of %u: %s, %u of %u bytes, kind %d; pieces %u, credited %u, rendezvous %u\n",
                    k == 0 ? "out" : "in", lanes[k]->index, l->plan.messages[k == 0 ? l->me : 1 - l->me],
                    stages[lanes[k]->stage], lanes[k]->done, lanes[k]->message.size, (int)lanes[k]->message.kind,
                    lanes[k]->pieces, lanes[k]->credited, lanes[k]->rendezvous);
    }
}
