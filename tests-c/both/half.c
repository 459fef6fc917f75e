/* half.c - see half.h; compiled for each version. */
#include "common/fixture.h"
#include "both/half.h"

#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define BUFFERS 4

static struct fx fx;
static struct side side;
static DAT_SRQ_HANDLE srq;
static struct region mine, buffers;
static DAT_PSP_HANDLE psp;
static DAT_CR_HANDLE cr;
static int asynchronous;

static void init(int argc, char **argv)
{
    env_init(argc, argv, NULL);
}

static bool opens(const char *name)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_RETURN rc = dat_ia_open((DAT_NAME_PTR)name, 8, &evd, &ia);

    if (rc == DAT_SUCCESS)
        rc = dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
    return rc == DAT_SUCCESS;
}

static void post_buffer(DAT_UINT64 number)
{
    DAT_LMR_TRIPLET s = segment(&buffers, number * HALF_MESSAGE, HALF_MESSAGE);

    must_rc(dat_srq_post_recv(srq, 1, &s, cookie(number)), DAT_SUCCESS, "dat_srq_post_recv");
}

static void endpoint(void)
{
    DAT_EP_ATTR attr;

    attr_default(&attr);
    side_make_srq(&side, &fx, srq, &attr);
}

static void half_open(void)
{
    DAT_SRQ_ATTR attr;

    fx_open(&fx);
    region_make(&fx, &mine, HALF_MEMORY, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &buffers, BUFFERS * HALF_MESSAGE, MEM_LOCAL);
    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = BUFFERS;
    attr.max_recv_iov = 1;
    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    for (DAT_UINT64 i = 0; i < BUFFERS; i++)
        post_buffer(i);
    endpoint();
    asynchronous = 0;
    psp = DAT_HANDLE_NULL;
}

static void half_close(void)
{
    fx_close(&fx);
}

static void *async(void)
{
    return fx.async;
}

static void *zone(void)
{
    return fx.pz;
}

static bool is_invalid(DAT_RETURN rc, DAT_UINT32 subtype)
{
    return rc_is(rc, DAT_INVALID_HANDLE) && DAT_GET_SUBTYPE(rc) == subtype;
}

static bool refuses_async(void *evd)
{
    DAT_EVD_HANDLE given = evd;
    DAT_IA_HANDLE ia = UNTOUCHED;
    DAT_RETURN rc = dat_ia_open((DAT_NAME_PTR)env_ia(), 8, &given, &ia);

    return is_invalid(rc, DAT_INVALID_HANDLE_EVD_ASYNC) && given == evd && ia == UNTOUCHED;
}

static bool refuses_zone(void *pz)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 1, .max_recv_iov = 1};
    DAT_SRQ_HANDLE made = UNTOUCHED;

    return is_invalid(dat_pz_free(pz), DAT_INVALID_HANDLE_PZ) &&
           is_invalid(dat_srq_create(fx.ia, pz, &attr, &made), DAT_INVALID_HANDLE_PZ) && made == UNTOUCHED;
}

static struct sockaddr_storage address(void)
{
    return fx.address;
}

static uint64_t half_listen(void)
{
    DAT_CONN_QUAL qual;

    psp = fx_listen(&fx, &qual);
    return qual;
}

static void call(struct sockaddr_storage to, uint64_t qual, const void *data, size_t size)
{
    must_rc(dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)(void *)&to, qual, env_us(SOON_MS), (DAT_COUNT)size,
                           (DAT_PVOID)data, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
}

/* Copies at most `room` bytes. Returns size. */
static size_t copy(void *data, size_t room, const void *from, DAT_COUNT size)
{
    if (size > 0)
        memcpy(data, from, (size_t)size < room ? (size_t)size : room);
    return (size_t)size;
}

static size_t request(void *data, size_t room)
{
    DAT_CR_PARAM param;

    cr = next_request(fx.cr);
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
    return copy(data, room, param.private_data, param.private_data_size);
}

static void end_listening(void)
{
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

static void half_accept(const void *data, size_t size)
{
    must_rc(dat_cr_accept(cr, side.ep, (DAT_COUNT)size, (DAT_PVOID)data), DAT_SUCCESS, "dat_cr_accept");
    end_listening();
}

static void reject(const void *data, size_t size)
{
#if UDAPL == 20
    must_rc((dat_cr_reject)(cr, (DAT_COUNT)size, (DAT_PVOID)data), DAT_SUCCESS, "dat_cr_reject");
#else
    (void)data;
    (void)size;
    must_rc(dat_cr_reject(cr), DAT_SUCCESS, "dat_cr_reject");
#endif
    end_listening();
}

static int connection(DAT_EVENT_NUMBER number, void *data, size_t room)
{
    DAT_EVENT e;
    const DAT_CONNECTION_EVENT_DATA *c = &e.event_data.connect_event_data;

    if (!wait_number(side.conn, number, &e))
        return -1;
    return (int)copy(data, room, c->private_data, c->private_data_size);
}

static int established(void *data, size_t room)
{
    return connection(DAT_CONNECTION_EVENT_ESTABLISHED, data, room);
}

static int refused(void *data, size_t room)
{
    return connection(DAT_CONNECTION_EVENT_PEER_REJECTED, data, room);
}

static void disconnect(void)
{
    must_rc(dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
}

static bool disconnected(void)
{
    return wait_connection(side.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static int async_events(void)
{
    asynchronous += drain(fx.async);
    return asynchronous;
}

static void renew(void)
{
    side_free(&side);
    endpoint();
}

static struct half_memory memory(void)
{
    struct half_memory m = { (uint64_t)(uintptr_t)mine.mem, mine.size, mine.rmr_context };

    return m;
}

static void fill(unsigned seed)
{
    pattern_fill(mine.mem, mine.size, seed);
}

static bool holds(unsigned seed)
{
    return pattern_check(mine.mem, mine.size, seed) < 0;
}

static bool half_send(size_t size)
{
    must_rc(post_send(&side, &mine, 0, size, 7), DAT_SUCCESS, "dat_ep_post_send");
    return wait_dto(side.req, 7, DAT_DTO_SUCCESS, NULL);
}

static bool received(size_t size, unsigned seed)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
    DAT_UINT64 number;
    bool good;

    if (!wait_number(side.recv, DAT_DTO_COMPLETION_EVENT, &e) || d->status != DAT_DTO_SUCCESS ||
        d->ep_handle != side.ep || d->transfered_length != size)
        return false;
    number = d->user_cookie.as_64;
    good = pattern_check(buffers.mem + number * HALF_MESSAGE, size, seed) < 0;
    post_buffer(number);
    return good;
}

static DAT_RMR_TRIPLET triplet(struct half_memory m)
{
    DAT_RMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.target_address = m.address;
    t.segment_length = (DAT_SEG_LENGTH)m.length;
    t.rmr_context = m.context;
    return t;
}

static bool half_write(struct half_memory to)
{
    must_rc(post_write(&side, &mine, 0, mine.size, triplet(to), 8), DAT_SUCCESS, "dat_ep_post_rdma_write");
    return wait_dto(side.req, 8, DAT_DTO_SUCCESS, NULL);
}

static bool half_read(struct half_memory from)
{
    must_rc(post_read(&side, &mine, 0, mine.size, triplet(from), 9), DAT_SUCCESS, "dat_ep_post_rdma_read");
    return wait_dto(side.req, 9, DAT_DTO_SUCCESS, NULL);
}

#if UDAPL == 20
static DAT_RETURN extended(size_t operation, DAT_RMR_TRIPLET *to)
{
    DAT_LMR_TRIPLET local = segment(&mine, 0, sizeof(DAT_UINT64));

    to->segment_length = sizeof(DAT_UINT64);
    switch (operation) {
    case 0:
        return dat_ib_post_rdma_write_immed(side.ep, 1, &local, cookie(10), to, 11, DAT_COMPLETION_DEFAULT_FLAG);
    case 1: return dat_ib_post_fetch_and_add(side.ep, 1, &local, cookie(10), to, DAT_COMPLETION_DEFAULT_FLAG);
    case 2: return dat_ib_post_cmp_and_swap(side.ep, 0, 1, &local, cookie(10), to, DAT_COMPLETION_DEFAULT_FLAG);
    default:
        return dat_ep_post_send_with_invalidate(side.ep, 1, &local, cookie(10), DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE,
                                                to->rmr_context);
    }
}

static bool half_refuses(size_t operation, struct half_memory to)
{
    DAT_RMR_TRIPLET t = triplet(to);

    return DAT_GET_TYPE(extended(operation, &t)) == DAT_MODEL_NOT_SUPPORTED && drain(side.req) == 0;
}

static bool half_send_without_context(size_t size)
{
    DAT_LMR_TRIPLET local = segment(&mine, 0, size);

    must_rc(dat_ep_post_send_with_invalidate(side.ep, 1, &local, cookie(12), DAT_COMPLETION_DEFAULT_FLAG, DAT_FALSE, 0),
            DAT_SUCCESS, "dat_ep_post_send_with_invalidate");
    return wait_dto(side.req, 12, DAT_DTO_SUCCESS, NULL);
}
#endif

static const struct half half = {
    .version = API_VERSION,
    .init = init,
    .opens = opens,
    .open = half_open,
    .close = half_close,
    .address = address,
    .listen = half_listen,
    .call = call,
    .request = request,
    .accept = half_accept,
    .reject = reject,
    .established = established,
    .refused = refused,
    .disconnect = disconnect,
    .disconnected = disconnected,
    .async_events = async_events,
    .renew = renew,
    .async = async,
    .zone = zone,
    .refuses_async = refuses_async,
    .refuses_zone = refuses_zone,
    .memory = memory,
    .fill = fill,
    .holds = holds,
    .send = half_send,
    .received = received,
    .write = half_write,
    .read = half_read,
#if UDAPL == 20
    .refuses = half_refuses,
    .send_without_context = half_send_without_context,
#endif
};

#if UDAPL == 20
PUBLIC const struct half *half20(void)
#else
PUBLIC const struct half *half12(void)
#endif
{
    return &half;
}
