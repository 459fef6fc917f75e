/* meeting.c - connections, messages and transfers between both versions in one process. */
#define _DEFAULT_SOURCE
#include "both/meeting.h"

#include "common/env.h"
#include "common/tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ask[] = "from the caller to the server", answer[] = "and back";

/* The versions of the caller and the server, for names of subtests. */
static char who[32];

/* Returns whether the received private data are right. rdma_cm pads them with zeros. */
static bool came(const char *data, long size, const char *sent, size_t length)
{
    bool whole = size >= 0 && (env_is_shm() ? (size_t)size == length : (size_t)size >= length) &&
                 memcmp(data, sent, length) == 0;

    for (size_t i = length; whole && i < (size_t)size; i++)
        whole = data[i] == 0;
    return whole;
}

static void connect_halves(const struct half *caller, const struct half *server)
{
    char data[512];
    uint64_t qual = server->listen();

    caller->call(server->address(), qual, ask, sizeof ask);
    ok(came(data, (long)server->request(data, sizeof data), ask, sizeof ask),
       "%s: the request has its private data", who);
    server->accept(answer, sizeof answer);
    ok(came(data, caller->established(data, sizeof data), answer, sizeof answer),
       "%s: the answer has its private data", who);
    ok(server->established(data, sizeof data) >= 0, "%s: connected", who);
}

static void transfers(const struct half *from, const struct half *to, unsigned seed)
{
    from->fill(seed);
    ok(from->send(HALF_MESSAGE) && to->received(HALF_MESSAGE, seed), "%s: a message of %s", who, from->version);
    ok(from->send(0) && to->received(0, seed), "%s: an empty message of %s", who, from->version);
    ok(from->write(to->memory()) && to->holds(seed), "%s: an RDMA write of %s", who, from->version);
    to->fill(seed + 1);
    ok(from->read(to->memory()) && from->holds(seed + 1), "%s: an RDMA read of %s", who, from->version);
}

/* Tests operations that peers of 1.2 do not accept. Only shm knows the version of the peer. */
static void extended(const struct half *from, const struct half *to, unsigned seed)
{
    static const char *const operations[] = HALF_EXTENDED;

    if (from->refuses == NULL)
        return;
    from->fill(seed);
    to->fill(seed + 1);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (env_is_shm())
            ok(from->refuses(i, to->memory()), "%s: %s: DAT_MODEL_NOT_SUPPORTED", who, operations[i]);
        else
            skip_named(operations[i], "on this adapter the version of the peer is not known");
    }
    ok(from->send_without_context(HALF_MESSAGE) && to->received(HALF_MESSAGE, seed),
       "%s: dat_ep_post_send_with_invalidate without a context: a message", who);
    ok(to->holds(seed + 1) && from->holds(seed), "%s: nothing else came", who);
}

static void end(const struct half *caller, const struct half *server)
{
    caller->disconnect();
    ok(caller->disconnected() && server->disconnected(), "%s: disconnected", who);
    caller->renew();
    server->renew();
}

static void refusal(const struct half *caller, const struct half *server)
{
    char data[512];
    uint64_t qual = server->listen();
    /* 1.2 rejects without private data. */
    int size = strcmp(server->version, "2.0") == 0 ? (int)sizeof answer : 0;

    caller->call(server->address(), qual, NULL, 0);
    ok(came(data, (long)server->request(data, sizeof data), "", 0), "%s: a request without private data", who);
    server->reject(answer, sizeof answer);
    ok(caller->refused(data, sizeof data) == size && memcmp(data, answer, (size_t)size) == 0,
       "%s: refused, with %d bytes", who, size);
    caller->renew();
}

/* Forks, because each library has its own fork handlers. */
static void fork_once(void)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(7);
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0 && now_ms() < end)
        usleep(1000);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: a child of both", who);
    if (status == -1 && child > 0)
        kill(child, SIGKILL);
}

/* Only 2.0 reports the end of an endpoint on a shared receive queue as an asynchronous event. */
static void asynchronous(const struct half *half, int ends)
{
    int expected = strcmp(half->version, "2.0") == 0 ? ends : 0;

    is_int(half->async_events(), expected, "%s: asynchronous events", half->version);
}

void meet(const struct half *one, const struct half *other, int argc, char **argv)
{
    const struct half *halves[2] = { one, other };

    for (int i = 0; i < 2; i++) {
        halves[i]->init(argc, argv);
        halves[i]->open();
    }
    for (int i = 0; i < 2; i++) {
        const struct half *caller = halves[i], *server = halves[1 - i];

        snprintf(who, sizeof who, "%s calls %s", caller->version, server->version);
        connect_halves(caller, server);
        fork_once();
        transfers(caller, server, 10);
        transfers(server, caller, 20);
        extended(caller, server, 30);
        extended(server, caller, 30);
        end(caller, server);
        refusal(caller, server);
    }
    for (int i = 0; i < 2; i++) {
        asynchronous(halves[i], 2);
        ok(halves[i]->refuses_async(halves[1 - i]->async()), "%s: dat_ia_open with an EVD of %s",
           halves[i]->version, halves[1 - i]->version);
        ok(halves[i]->refuses_zone(halves[1 - i]->zone()), "%s: a zone of %s", halves[i]->version,
           halves[1 - i]->version);
    }
    for (int i = 0; i < 2; i++)
        halves[i]->close();
}
