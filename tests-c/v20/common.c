/* common.c - connections by network address: dat_csp_create, _query, _free, dat_ep_common_connect. */
#include "common/zoo.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

static struct fx fx;

/* Returns the communicator of an IPv4 stream. */
static DAT_COMM stream(void)
{
    DAT_COMM c;

    memset(&c, 0, sizeof c);
    c.domain = AF_INET;
    c.type = SOCK_STREAM;
    c.protocol = IPPROTO_TCP;
    return c;
}

/* Returns the adapter's address with the port. */
static struct sockaddr_in at_port(unsigned port)
{
    struct sockaddr_in a;

    memcpy(&a, fx_address(&fx), sizeof a);
    a.sin_port = htons((uint16_t)port);
    return a;
}

static DAT_RETURN csp_at(struct sockaddr_in a, DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp)
{
    DAT_COMM c = stream();

    return dat_csp_create(fx.ia, &c, (DAT_IA_ADDRESS_PTR)&a, evd, csp);
}

/* Creates a CSP at an unused port. */
static DAT_CSP_HANDLE csp_make(DAT_EVD_HANDLE evd, unsigned *port)
{
    DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
    DAT_RETURN rc;

    do
        *port = (unsigned)unique_qual(false);
    while (rc_is(rc = csp_at(at_port(*port), evd, &csp), DAT_PORT_IN_USE));
    must_rc(rc, DAT_SUCCESS, "dat_csp_create");
    return csp;
}

static DAT_RETURN common_connect(struct side *s, struct sockaddr_in to)
{
    return dat_ep_common_connect(s->ep, (DAT_IA_ADDRESS_PTR)&to, env_us(SOON_MS), 5, (DAT_PVOID) "hello");
}

/* Accepts the next request, which must be for the service point. Returns whether both sides are connected then. */
static bool met(struct side *active, DAT_EVD_HANDLE evd, DAT_HANDLE point, unsigned port, const char *what)
{
    const DAT_CR_ARRIVAL_EVENT_DATA *d;
    struct side passive;
    DAT_CR_PARAM p;
    DAT_EVENT e;
    bool good;

    if (!ok(wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &e), "%s: a request", what))
        return false;
    d = &e.event_data.cr_arrival_event_data;
    is_ptr(d->sp_handle.csp_handle, point, "%s: the service point", what);
    is_int((long long)d->conn_qual, port, "%s: its port", what);
    memset(&p, 0, sizeof p);
    is_success(dat_cr_query(d->cr_handle, DAT_CR_FIELD_ALL, &p), "%s: dat_cr_query: success", what);
    ok(p.private_data_size >= 5 && memcmp(p.private_data, "hello", 5) == 0, "%s: the private data", what);
    side_make(&passive, &fx, NULL);
    is_success(dat_cr_accept(d->cr_handle, passive.ep, 0, NULL), "%s: dat_cr_accept: success", what);
    good = ok(wait_connection(active->conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                  wait_connection(passive.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
              "%s: ESTABLISHED", what) &&
           ok(sides_talk(active, &passive), "%s: messages both ways", what);
    side_free(&passive);
    return good;
}

static void connections(void)
{
    DAT_EVD_HANDLE evd = fx_evd(&fx, 8, DAT_EVD_CR_FLAG);
    struct sockaddr_in other;
    DAT_CSP_HANDLE csp;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    struct side s;
    unsigned port;

    csp = csp_make(evd, &port);
    side_make(&s, &fx, NULL);
    is_success(common_connect(&s, at_port(port)), "dat_ep_common_connect: success");
    met(&s, evd, csp, port, "dat_ep_common_connect to a CSP");
    side_free(&s);

    /* PSPs and CSPs are interoperable: a qualifier is a port. */
    side_make(&s, &fx, NULL);
    is_success(dat_ep_connect(s.ep, fx_address(&fx), port, env_us(SOON_MS), 5, (DAT_PVOID) "hello",
                              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
               "dat_ep_connect: to the port of a CSP: success");
    met(&s, evd, csp, port, "dat_ep_connect to a CSP");
    side_free(&s);
    psp = fx_listen_on(&fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    if (qual <= 65535) {
        side_make(&s, &fx, NULL);
        is_success(common_connect(&s, at_port((unsigned)qual)), "dat_ep_common_connect: to the qualifier of a PSP: success");
        met(&s, evd, psp, (unsigned)qual, "dat_ep_common_connect to a PSP");
        side_free(&s);
    } else {
        skip_named("dat_ep_common_connect to a PSP", "the provider chose a qualifier that is no port");
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");

    /* A rejection with private data. */
    side_make(&s, &fx, NULL);
    must_rc(common_connect(&s, at_port(port)), DAT_SUCCESS, "dat_ep_common_connect");
    {
        DAT_EVENT e;
        DAT_CR_HANDLE cr = next_request(evd);

        is_success((dat_cr_reject)(cr, 3, (DAT_PVOID) "no!"), "dat_cr_reject: request of a CSP: success");
        ok(wait_number(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED, &e) &&
               e.event_data.connect_event_data.private_data_size == 3 &&
               memcmp(e.event_data.connect_event_data.private_data, "no!", 3) == 0,
           "dat_cr_reject: request of a CSP: PEER_REJECTED, with the data");
    }
    side_free(&s);

    /* dat_cr_handoff is not supported. */
    side_make(&s, &fx, NULL);
    must_rc(common_connect(&s, at_port(port)), DAT_SUCCESS, "dat_ep_common_connect");
    {
        DAT_CR_HANDLE cr = next_request(evd);

        is_type(dat_cr_handoff(cr, unique_qual(false)), DAT_MODEL_NOT_SUPPORTED,
                "dat_cr_handoff: request of a CSP: DAT_MODEL_NOT_SUPPORTED");
        is_success((dat_cr_reject)(cr, 0, NULL), "dat_cr_reject: without data: success");
        ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED), "dat_cr_reject: without data: PEER_REJECTED");
    }
    side_free(&s);

    /* A request outlives its service point. Later requests have no listener. */
    side_make(&s, &fx, NULL);
    must_rc(common_connect(&s, at_port(port)), DAT_SUCCESS, "dat_ep_common_connect");
    {
        DAT_CR_HANDLE cr = next_request(evd);
        struct side passive;

        is_success(dat_csp_free(csp), "dat_csp_free: a request is pending: success");
        side_make(&passive, &fx, NULL);
        is_success(dat_cr_accept(cr, passive.ep, 0, NULL), "dat_cr_accept: the CSP is freed: success");
        ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "dat_cr_accept: the CSP is freed: ESTABLISHED");
        side_free(&passive);
    }
    side_free(&s);
    side_make(&s, &fx, NULL);
    other = at_port(port);
    is_success(common_connect(&s, other), "dat_ep_common_connect: nobody listens: success");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_ep_common_connect: nobody listens: NON_PEER_REJECTED");
    side_free(&s);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void ports(void)
{
    DAT_EVD_HANDLE evd = fx_evd(&fx, 8, DAT_EVD_CR_FLAG);
    DAT_CSP_HANDLE csp, second = UNTOUCHED;
    DAT_PSP_HANDLE psp = UNTOUCHED;
    struct sockaddr_in any;
    DAT_CONN_QUAL qual;
    DAT_CSP_PARAM p;
    unsigned port;
    struct side s;

    csp = csp_make(evd, &port);
    is_type(csp_at(at_port(port), evd, &second), DAT_PORT_IN_USE, "dat_csp_create: the port has a CSP: DAT_PORT_IN_USE");
    ok(second == UNTOUCHED, "dat_csp_create: DAT_PORT_IN_USE: the handle is untouched");
    is_type(dat_psp_create(fx.ia, port, evd, DAT_PSP_CONSUMER_FLAG, &psp), DAT_CONN_QUAL_IN_USE,
            "dat_psp_create: the qualifier is the port of a CSP: DAT_CONN_QUAL_IN_USE");
    is_code(dat_evd_free(evd), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
            "dat_evd_free: a CSP uses it: DAT_INVALID_STATE");
    must_rc(dat_csp_free(csp), DAT_SUCCESS, "dat_csp_free");
    psp = fx_listen_on(&fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    if (qual <= 65535)
        is_type(csp_at(at_port((unsigned)qual), evd, &second), DAT_PORT_IN_USE,
                "dat_csp_create: the port is the qualifier of a PSP: DAT_PORT_IN_USE");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");

    /* Port 0: the provider selects a port, which the query returns. */
    csp = UNTOUCHED;
    is_success(csp_at(at_port(0), evd, &csp), "dat_csp_create: port 0: success");
    memset(&p, 0, sizeof p);
    is_success(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &p), "dat_csp_query: success");
    ok(p.ia_handle == fx.ia && p.evd_handle == evd, "dat_csp_query: the adapter and the EVD");
    ok(p.comm != NULL && p.comm->domain == AF_INET && p.comm->type == SOCK_STREAM, "dat_csp_query: the communicator");
    port = p.address_ptr != NULL ? ntohs(((struct sockaddr_in *)(void *)p.address_ptr)->sin_port) : 0;
    ok(port != 0, "dat_csp_query: port 0 was asked for: the port that was chosen");
    side_make(&s, &fx, NULL);
    is_success(common_connect(&s, at_port(port)), "dat_ep_common_connect: to a port that was chosen: success");
    met(&s, evd, csp, port, "a port that was chosen");
    side_free(&s);
    must_rc(dat_csp_free(csp), DAT_SUCCESS, "dat_csp_free");

    /* The wildcard address. */
    any = at_port(0);
    any.sin_addr.s_addr = htonl(INADDR_ANY);
    csp = UNTOUCHED;
    if (is_success(csp_at(any, evd, &csp), "dat_csp_create: 0.0.0.0: success"))
        must_rc(dat_csp_free(csp), DAT_SUCCESS, "dat_csp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static DAT_RETURN do_create(DAT_HANDLE ia, void *arg)
{
    DAT_COMM c = stream();
    struct sockaddr_in a = at_port(0);
    DAT_CSP_HANDLE csp;

    return dat_csp_create(ia, &c, (DAT_IA_ADDRESS_PTR)&a, arg, &csp);
}

static DAT_RETURN do_create_evd(DAT_HANDLE evd, void *arg)
{
    DAT_COMM c = stream();
    struct sockaddr_in a = at_port(0);
    DAT_CSP_HANDLE csp;

    return dat_csp_create(arg, &c, (DAT_IA_ADDRESS_PTR)&a, evd, &csp);
}

static DAT_RETURN do_query(DAT_HANDLE csp, void *arg)
{
    DAT_CSP_PARAM p;

    (void)arg;
    return dat_csp_query(csp, DAT_CSP_FIELD_ALL, &p);
}

static DAT_RETURN do_free(DAT_HANDLE csp, void *arg)
{
    (void)arg;
    return dat_csp_free(csp);
}

static DAT_RETURN do_connect(DAT_HANDLE ep, void *arg)
{
    struct sockaddr_in a = at_port(5);

    (void)arg;
    return dat_ep_common_connect(ep, (DAT_IA_ADDRESS_PTR)&a, 1000000, 0, NULL);
}

static void handles(void)
{
    struct zoo z;
    DAT_EVD_HANDLE evd;
    DAT_CSP_HANDLE freed = DAT_HANDLE_NULL;
    struct sockaddr_in a = at_port(0);
    DAT_COMM c = stream();

    zoo_open(&z);
    must_rc(dat_csp_create(z.fx.ia, &c, (DAT_IA_ADDRESS_PTR)&a, z.fx.cr, &freed), DAT_SUCCESS, "dat_csp_create");
    must_rc(dat_csp_free(freed), DAT_SUCCESS, "dat_csp_free");
    evd = fx_evd(&z.fx, 4, DAT_EVD_CR_FLAG);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    zoo_sweep(&z, "dat_csp_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_create, z.fx.cr);
    zoo_sweep(&z, "dat_csp_create, evd_handle", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_CR, evd, 0, do_create_evd,
              z.fx.ia);
    zoo_sweep(&z, "dat_csp_query", DAT_HANDLE_TYPE_CSP, DAT_INVALID_HANDLE_CSP, freed, 0, do_query, NULL);
    zoo_sweep(&z, "dat_csp_free", DAT_HANDLE_TYPE_CSP, DAT_INVALID_HANDLE_CSP, freed, 0, do_free, NULL);
    zoo_sweep(&z, "dat_ep_common_connect", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, do_connect, NULL);
    zoo_intact(&z, "dat_csp_free");
    zoo_close(&z);
}

static void parameters(void)
{
    static const struct {
        DAT_COMM comm;
        const char *what;
    } unknown[] = {
        { { AF_UNIX, SOCK_STREAM, 0 }, "another family" },
        { { AF_INET, SOCK_DGRAM, 0 }, "datagrams" },
        { { AF_INET, SOCK_STREAM, IPPROTO_UDP }, "another protocol" },
        { { -1, -1, -1 }, "no values at all" },
    };
    struct sockaddr_in a = at_port(0), away;
    struct sockaddr_in6 six;
    DAT_CSP_HANDLE csp = UNTOUCHED;
    DAT_CSP_PARAM p;
    DAT_COMM c = stream();
    unsigned port;

    is_code(dat_csp_create(fx.ia, NULL, (DAT_IA_ADDRESS_PTR)&a, fx.cr, &csp), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_csp_create: no communicator: DAT_INVALID_PARAMETER");
    is_code(dat_csp_create(fx.ia, &c, NULL, fx.cr, &csp), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_csp_create: no address: DAT_INVALID_PARAMETER");
    is_code(dat_csp_create(fx.ia, &c, (DAT_IA_ADDRESS_PTR)&a, fx.cr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_csp_create: no place for the handle: DAT_INVALID_PARAMETER");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        DAT_COMM odd = unknown[i].comm;

        is_type(dat_csp_create(fx.ia, &odd, (DAT_IA_ADDRESS_PTR)&a, fx.cr, &csp), DAT_COMM_NOT_SUPPORTED,
                "dat_csp_create: %s: DAT_COMM_NOT_SUPPORTED", unknown[i].what);
    }
    away = a;
    inet_pton(AF_INET, "192.0.2.1", &away.sin_addr);
    is_type(dat_csp_create(fx.ia, &c, (DAT_IA_ADDRESS_PTR)&away, fx.cr, &csp), DAT_INVALID_ADDRESS,
            "dat_csp_create: an address of another host: DAT_INVALID_ADDRESS");
    memset(&six, 0, sizeof six);
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    is_type(dat_csp_create(fx.ia, &c, (DAT_IA_ADDRESS_PTR)&six, fx.cr, &csp), DAT_INVALID_ADDRESS,
            "dat_csp_create: an address of another family than the communicator's: DAT_INVALID_ADDRESS");
    six.sin6_family = AF_UNIX;
    is_type(dat_csp_create(fx.ia, &c, (DAT_IA_ADDRESS_PTR)&six, fx.cr, &csp), DAT_INVALID_ADDRESS,
            "dat_csp_create: an address that is neither IPv4 nor IPv6: DAT_INVALID_ADDRESS");
    ok(csp == UNTOUCHED, "dat_csp_create: error: the handle is untouched");

    csp = csp_make(fx.cr, &port);
    is_code(dat_csp_query(csp, DAT_CSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_csp_query: no structure: DAT_INVALID_PARAMETER");
    is_code(dat_csp_query(csp, (DAT_CSP_PARAM_MASK)(DAT_CSP_FIELD_ALL + 1), &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_csp_query: unknown mask bit: DAT_INVALID_PARAMETER");
    must_rc(dat_csp_free(csp), DAT_SUCCESS, "dat_csp_free");
}

static void connect_parameters(void)
{
    struct sockaddr_in to = at_port(9);
    struct sockaddr_in6 six;
    static unsigned char data[4096];
    struct side s;

    side_make(&s, &fx, NULL);
#define CONNECT(address, timeout, size, data) \
    dat_ep_common_connect(s.ep, (DAT_IA_ADDRESS_PTR)(address), timeout, size, data)
    is_code(CONNECT(NULL, 1000, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ep_common_connect: no address: DAT_INVALID_PARAMETER");
    is_code(CONNECT(&to, 0, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ep_common_connect: timeout 0: DAT_INVALID_PARAMETER");
    is_code(CONNECT(&to, 1000, -1, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_ep_common_connect: negative size: DAT_INVALID_PARAMETER");
    is_code(CONNECT(&to, 1000, fx.max_private_data + 1, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_ep_common_connect: more private data than the limit: DAT_INVALID_PARAMETER");
    is_code(CONNECT(&to, 1000, 8, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_ep_common_connect: private data NULL with a size: DAT_INVALID_PARAMETER");
    memset(&six, 0, sizeof six);
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    six.sin6_port = htons(9);
    is_type(CONNECT(&six, 1000, 0, NULL), DAT_INVALID_ADDRESS,
            "dat_ep_common_connect: another family than the communicator's: DAT_INVALID_ADDRESS");
    to = at_port(0);
    is_type(CONNECT(&to, 1000, 0, NULL), DAT_INVALID_ADDRESS, "dat_ep_common_connect: port 0: DAT_INVALID_ADDRESS");
#undef CONNECT
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED, "dat_ep_common_connect: error: UNCONNECTED");
    ok(quiet(s.conn), "dat_ep_common_connect: error: no event");
    side_free(&s);

    {
        struct pair p;

        pair_open(&p, &fx, NULL);
        is_code(common_connect(&p.a, at_port(9)), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED,
                "dat_ep_common_connect: CONNECTED: DAT_INVALID_STATE");
        pair_close(&p);
    }
}

/* Checks the query and the change of an endpoint's communicator. */
static void communicator(void)
{
    DAT_EP_PARAM p, got;
    struct side s;

    side_make(&s, &fx, NULL);
    memset(&got, 0x5a, sizeof got);
    is_success(dat_ep_query(s.ep, DAT_EP_FIELD_COMM, &got), "dat_ep_query: communicator: success");
    ok(got.comm.domain == 0 && got.comm.type == 0 && got.comm.protocol == 0, "dat_ep_query: communicator: zero at first");
    memset(&p, 0, sizeof p);
    p.comm = stream();
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_COMM, &p), "dat_ep_modify: communicator: success");
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &got), DAT_SUCCESS, "dat_ep_query");
    ok(memcmp(&got.comm, &p.comm, sizeof p.comm) == 0, "dat_ep_query: communicator: as it was set");
    p.comm.type = SOCK_DGRAM;
    is_either(dat_ep_modify(s.ep, DAT_EP_FIELD_COMM, &p), DAT_COMM_NOT_SUPPORTED, DAT_INVALID_PARAMETER,
              "dat_ep_modify: a communicator that is none: refused");
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_COMM, &got), DAT_SUCCESS, "dat_ep_query");
    is_int(got.comm.type, SOCK_STREAM, "dat_ep_modify: refused: the communicator is as it was");
    side_free(&s);
    {
        struct pair pair;

        pair_open(&pair, &fx, NULL);
        p.comm = stream();
        is_code(dat_ep_modify(pair.a.ep, DAT_EP_FIELD_COMM, &p), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED,
                "dat_ep_modify: communicator, CONNECTED: DAT_INVALID_STATE");
        pair_close(&pair);
    }
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    if (fx_address(&fx)->sa_family != AF_INET)
        skip_all("the adapter has no IPv4 address");
    connections();
    ports();
    handles();
    parameters();
    connect_parameters();
    communicator();
    fx_close(&fx);
    return done_testing();
}
