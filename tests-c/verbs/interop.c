/*
 * interop.c - one end of a connection between this library and another implementation.
 *
 * interop.sh builds it twice: with our headers and library, for uDAPL 1.2 or with -DOTHER for 2.0; and with -DOTHER,
 * with the headers and library of the other implementation, which is uDAPL 2.0.
 *
 * interop serve ADAPTER QUALIFIER BYTES WHAT prints "ready" when it listens interop call ADAPTER QUALIFIER BYTES WHAT
 * ADDRESS interop address ADAPTER
 *
 * BYTES is the length of the private data, both ways. WHAT is the side that disconnects, "caller" or "server"; or
 * "reject"; or "reject-data" if the server uses uDAPL 2.0.
 */
#define _POSIX_C_SOURCE 200809L
#ifdef OTHER
#include <dat2/udat.h>
#define MADE_WITH "2.0"
#else
#include <dat/udat.h>
#define MADE_WITH "1.2"
#endif

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 20000, MESSAGES = 8 };
/* Offsets in memory: messages received and sent, the target of writes, the source and destination of reads. */
enum { HEARD = 0, SAID = SIZE, WRITTEN = 2 * SIZE, OFFERED = 3 * SIZE, FETCHED = 4 * SIZE, ALL = 5 * SIZE };

static const char *role;
static unsigned char *memory;
static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE dtos, connections, requests;
static DAT_EP_HANDLE ep;
static DAT_LMR_CONTEXT lmr_context;
static DAT_RMR_CONTEXT rmr_context;
static DAT_TIMEOUT timeout;

static void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    printf("%s (%s): ", role, MADE_WITH);
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
    exit(1);
}

static void need(DAT_RETURN rc, const char *what)
{
    const char *major = "?", *minor = "?";

    if (rc == DAT_SUCCESS)
        return;
    dat_strerror(rc, &major, &minor);
    die("%s: %s %s", what, major, minor);
}

static unsigned char byte_of(size_t i, unsigned seed)
{
    return (unsigned char)((i * 2654435761u + seed * 40503u) >> 7);
}

static void fill(size_t at, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        memory[at + i] = byte_of(i, seed);
}

static void compare(size_t at, size_t size, unsigned seed, const char *what)
{
    for (size_t i = 0; i < size; i++)
        if (memory[at + i] != byte_of(i, seed))
            die("%s: byte %zu of %zu is wrong", what, i, size);
}

static DAT_EVENT next(DAT_EVD_HANDLE evd, const char *what)
{
    DAT_EVENT e;
    DAT_COUNT more;

    need(dat_evd_wait(evd, timeout, 1, &e, &more), what);
    return e;
}

/* Completions that arrived before the program waited for them. */
static int early_receives, early_requests;

static DAT_DTO_COMPLETION_EVENT_DATA received;

static void completion(int want_receive, const char *what)
{
    int *early = want_receive ? &early_receives : &early_requests;

    while (*early == 0) {
        DAT_EVENT e = next(dtos, what);
        DAT_DTO_COMPLETION_EVENT_DATA d = e.event_data.dto_completion_event_data;

        if (e.event_number != DAT_DTO_COMPLETION_EVENT)
            die("%s: event 0x%x", what, (unsigned)e.event_number);
        if (d.status != DAT_DTO_SUCCESS)
            die("%s: status %d", what, (int)d.status);
        if (d.user_cookie.as_64 == 1) {
            early_receives++;
            received = d;
        } else {
            early_requests++;
        }
    }
    --*early;
}

static DAT_LMR_TRIPLET piece(size_t at, size_t size)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.lmr_context = lmr_context;
    t.virtual_address = (DAT_VADDR)(uintptr_t)(memory + at);
    t.segment_length = size;
    return t;
}

static DAT_DTO_COOKIE number(DAT_UINT64 n)
{
    DAT_DTO_COOKIE c;

    memset(&c, 0, sizeof c);
    c.as_64 = n;
    return c;
}

static void expect(void)
{
    DAT_LMR_TRIPLET t = piece(HEARD, SIZE);

    need(dat_ep_post_recv(ep, 1, &t, number(1), DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
}

static void say(size_t size)
{
    DAT_LMR_TRIPLET t = piece(SAID, size);

    need(dat_ep_post_send(ep, 1, &t, number(2), DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
    completion(0, "Send");
}

/* The first message: the sender's memory. */
struct place {
    uint64_t address;
    uint32_t context, size;
};

static DAT_RMR_TRIPLET remote(const struct place *p, size_t at, size_t size)
{
    DAT_RMR_TRIPLET t;

    memset(&t, 0, sizeof t);
#ifdef OTHER
    t.virtual_address = p->address + at;
#else
    t.target_address = p->address + at;
#endif
    t.rmr_context = p->context;
    t.segment_length = size;
    return t;
}

/* Writes to the peer's memory by RDMA, reads from it, and compares the bytes of the read. */
static void reach(const struct place *p, unsigned seed)
{
    DAT_LMR_TRIPLET from = piece(SAID, SIZE), to = piece(FETCHED, SIZE);
    DAT_RMR_TRIPLET target = remote(p, WRITTEN, SIZE), source = remote(p, OFFERED, SIZE);

    fill(SAID, SIZE, seed);
    need(dat_ep_post_rdma_write(ep, 1, &from, number(3), &target, DAT_COMPLETION_DEFAULT_FLAG),
         "dat_ep_post_rdma_write");
    completion(0, "RDMA write");
    need(dat_ep_post_rdma_read(ep, 1, &to, number(4), &source, DAT_COMPLETION_DEFAULT_FLAG),
         "dat_ep_post_rdma_read");
    completion(0, "RDMA read");
    compare(FETCHED, SIZE, seed + 1000, "RDMA read");
}

static void converse(int calling)
{
    struct place mine, theirs;

    memset(&mine, 0, sizeof mine);
    mine.address = (uint64_t)(uintptr_t)memory;
    mine.context = rmr_context;
    mine.size = ALL;
    /* The source of the peer's reads has the peer's seed. */
    fill(OFFERED, SIZE, (calling ? 20u : 10u) + 1000);
    memcpy(memory + SAID, &mine, sizeof mine);
    if (calling)
        say(sizeof mine);
    completion(1, "the first message");
    memcpy(&theirs, memory + HEARD, sizeof theirs);
    if (received.transfered_length != sizeof theirs || theirs.size != ALL)
        die("the first message has %llu bytes", (unsigned long long)received.transfered_length);
    expect();
    if (!calling) {
        memcpy(memory + SAID, &mine, sizeof mine);
        say(sizeof mine);
    }
    /* Messages of growing length, both ways. */
    for (unsigned i = 0; i < MESSAGES; i++) {
        size_t size = i == MESSAGES - 1 ? SIZE : (size_t)1 << (2 * i);

        if (calling) {
            fill(SAID, size, i);
            say(size);
        }
        completion(1, "a message");
        if (received.transfered_length != size)
            die("a message has %llu bytes, not %zu", (unsigned long long)received.transfered_length, size);
        compare(HEARD, size, calling ? 500 + i : i, "a message");
        expect();
        if (!calling) {
            fill(SAID, size, 500 + i);
            say(size);
        }
    }
    /* RDMA by the caller, then by the server; each sends a message afterwards. */
    if (calling) {
        reach(&theirs, 10);
        say(4);
        completion(1, "the server's turn is over");
        compare(WRITTEN, SIZE, 20, "RDMA write");
    } else {
        completion(1, "the caller's turn is over");
        compare(WRITTEN, SIZE, 10, "RDMA write");
        expect();
        reach(&theirs, 20);
        say(4);
    }
}

static void connected(const char *what)
{
    DAT_EVENT e = next(connections, what);

    if (e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        die("%s: event 0x%x, not ESTABLISHED", what, (unsigned)e.event_number);
}

/* Checks private data, to which the transport may append zeros. */
static void private_right(const void *data, DAT_COUNT size, DAT_COUNT want, unsigned seed)
{
    const unsigned char *p = data;

    printf("%s (%s): %d bytes of private data for %d\n", role, MADE_WITH, (int)size, (int)want);
    if (size < want)
        die("private data: %d bytes of %d", (int)size, (int)want);
    for (DAT_COUNT i = 0; i < size; i++)
        if (p[i] != (i < want ? byte_of((size_t)i, seed) : 0))
            die("private data: byte %d of %d is wrong", (int)i, (int)size);
}

static void open_all(char *adapter)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_HANDLE lmr;
    DAT_VLEN length;
    DAT_VADDR address;
    const DAT_MEM_PRIV_FLAGS all = DAT_MEM_PRIV_ALL_FLAG;

    need(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
    need(dat_pz_create(ia, &pz), "dat_pz_create");
    need(dat_evd_create(ia, 32, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dtos), "dat_evd_create");
    need(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections),
         "dat_evd_create");
    need(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests), "dat_evd_create");
    if (posix_memalign((void **)&memory, 4096, ALL) != 0)
        die("out of memory");
    memset(memory, 0, ALL);
    memset(&where, 0, sizeof where);
    where.for_va = memory;
#ifdef OTHER
    need(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, ALL, pz, all, DAT_VA_TYPE_VA, &lmr,
                        &lmr_context, &rmr_context, &length, &address),
         "dat_lmr_create");
#else
    need(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, ALL, pz, all, &lmr, &lmr_context,
                        &rmr_context, &length, &address),
         "dat_lmr_create");
#endif
    need(dat_ep_create(ia, pz, dtos, dtos, connections, NULL, &ep), "dat_ep_create");
    expect();
}

static void print_address(char *adapter)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    static DAT_IA_ATTR attr;
    char text[INET_ADDRSTRLEN];

    need(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
    need(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL), "dat_ia_query");
    if (((struct sockaddr *)attr.ia_address_ptr)->sa_family != AF_INET)
        die("the adapter has no IPv4 address");
    printf("%s\n", inet_ntop(AF_INET, &((struct sockaddr_in *)attr.ia_address_ptr)->sin_addr, text,
                             sizeof text));
    need(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
}

int main(int argc, char **argv)
{
    static unsigned char own[256];
    const char *scale = getenv("DAT_TEST_SCALE"), *what;
    DAT_CONN_QUAL qual;
    DAT_COUNT bytes;
    DAT_EVENT e;
    int calling, rejects, data;

    role = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    timeout = (DAT_TIMEOUT)(20e6 * (scale != NULL && atof(scale) > 0 ? atof(scale) : 1));
    if (argc == 3 && strcmp(role, "address") == 0) {
        print_address(argv[2]);
        return 0;
    }
    calling = strcmp(role, "call") == 0;
    if (argc != (calling ? 7 : 6))
        return 2;
    qual = strtoull(argv[3], NULL, 0);
    bytes = atoi(argv[4]);
    what = argv[5];
    data = strcmp(what, "reject-data") == 0;
    rejects = data || strcmp(what, "reject") == 0;
    for (size_t i = 0; i < sizeof own; i++)
        own[i] = byte_of(i, calling ? 1 : 2);
    open_all(argv[2]);
    if (calling) {
        struct sockaddr_in to;

        memset(&to, 0, sizeof to);
        to.sin_family = AF_INET;
        if (inet_pton(AF_INET, argv[6], &to.sin_addr) != 1)
            return 2;
        need(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&to, qual, timeout, bytes, own,
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
             "dat_ep_connect");
        if (rejects) {
            DAT_CONNECTION_EVENT_DATA *told = &e.event_data.connect_event_data;

            e = next(connections, "the rejection");
            if (e.event_number != DAT_CONNECTION_EVENT_PEER_REJECTED)
                die("event 0x%x, not PEER_REJECTED", (unsigned)e.event_number);
#ifdef OTHER
            /* The other implementation can report more bytes than the server has sent. */
            if (told->private_data_size > bytes)
                told->private_data_size = bytes;
#endif
            if (data)
                private_right(told->private_data, told->private_data_size, bytes, 2);
        } else {
            e = next(connections, "the connection");
            if (e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
                die("event 0x%x, not ESTABLISHED", (unsigned)e.event_number);
            private_right(e.event_data.connect_event_data.private_data,
                          e.event_data.connect_event_data.private_data_size, bytes, 2);
        }
    } else {
        DAT_PSP_HANDLE psp;
        DAT_CR_PARAM param;
        DAT_CR_HANDLE cr;

        need(dat_psp_create(ia, qual, requests, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
        printf("ready\n");
        e = next(requests, "a request");
        cr = e.event_data.cr_arrival_event_data.cr_handle;
        if (e.event_data.cr_arrival_event_data.conn_qual != qual)
            die("a request for %llu, not %llu",
                (unsigned long long)e.event_data.cr_arrival_event_data.conn_qual,
                (unsigned long long)qual);
        need(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
        private_right(param.private_data, param.private_data_size, bytes, 1);
        if (rejects) {
#ifdef OTHER
            need(dat_cr_reject(cr, data ? bytes : 0, data ? own : NULL), "dat_cr_reject");
#else
            need(dat_cr_reject(cr), "dat_cr_reject");
#endif
        } else {
            need(dat_cr_accept(cr, ep, bytes, own), "dat_cr_accept");
            connected("the connection");
        }
    }
    if (!rejects) {
        int ending = strcmp(what, calling ? "caller" : "server") == 0;

        converse(calling);
        if (ending)
            need(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
        e = next(connections, "the end");
        if (e.event_number != DAT_CONNECTION_EVENT_DISCONNECTED)
            die("event 0x%x, not DISCONNECTED", (unsigned)e.event_number);
    }
    need(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
    return 0;
}
