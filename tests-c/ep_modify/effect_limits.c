/* effect_limits.c - dat_ep_modify: a connection can use the raised limits. */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct fx fx;
static DAT_IA_ATTR ia_attr;
static DAT_PROVIDER_ATTR provider_attr;

/* Sets default attributes with small limits. */
static void small(DAT_EP_ATTR *attr)
{
    attr_default(attr);
    attr->max_recv_dtos = 4;
    attr->max_request_dtos = 4;
    attr->max_recv_iov = 1;
    attr->max_request_iov = 1;
    attr->max_rdma_read_in = 1;
    attr->max_rdma_read_out = 1;
    attr->max_rdma_read_iov = 1;
    attr->max_rdma_write_iov = 1;
    attr->max_message_size = 4096;
    attr->max_rdma_size = 4096;
}

static DAT_COUNT least(DAT_COUNT a, DAT_COUNT b)
{
    return a < b ? a : b;
}

/* Creates an endpoint with small limits and large EVDs. */
static void small_side(struct side *s)
{
    DAT_EP_ATTR attr;

    small(&attr);
    side_make(s, &fx, &attr);
    must_rc(dat_evd_resize(s->recv, 600), DAT_SUCCESS, "dat_evd_resize");
    must_rc(dat_evd_resize(s->req, 600), DAT_SUCCESS, "dat_evd_resize");
}

/* ---- outstanding work ---- */

static void receives(void)
{
    const DAT_COUNT many = least(500, ia_attr.max_dto_per_ep);
    struct side a, b;
    DAT_EP_PARAM p;
    DAT_COUNT i;
    bool good = true;

    small_side(&b);
    side_make(&a, &fx, NULL);
    for (i = 0; i < 4; i++)
        must_rc(post_recv(&b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    if (ep_param(b.ep).ep_attr.max_recv_dtos == 4)
        is_type(post_recv(&b, NULL, 0, 0, 4), DAT_INSUFFICIENT_RESOURCES,
                "dat_ep_post_recv: max_recv_dtos 4: the fifth: DAT_INSUFFICIENT_RESOURCES");
    else
        skip(1, "the endpoint holds more than it was asked for");
    param_rubbish(&p);
    p.ep_attr.max_recv_dtos = many;
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p),
               "dat_ep_modify: max_recv_dtos from 4 to %d, four posted: success", (int)many);
    for (i = 4; i < many; i++)
        if (post_recv(&b, NULL, 0, 0, (DAT_UINT64)i) != DAT_SUCCESS)
            break;
    is_int(i, many, "dat_ep_post_recv: that many can be posted");
    is_type(post_recv(&b, NULL, 0, 0, 9999), DAT_INSUFFICIENT_RESOURCES,
            "dat_ep_post_recv: one more: DAT_INSUFFICIENT_RESOURCES");
    sides_connect(&a, &b);
    for (i = 0; good && i < many; i++)
        good = post_send(&a, NULL, 0, 0, (DAT_UINT64)i) == DAT_SUCCESS &&
               wait_dto(a.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    for (i = 0; good && i < many; i++)
        good = wait_dto(b.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    ok(good, "max_recv_dtos enlarged: each receives a message, in order");
    side_free(&a);
    side_free(&b);
}

/* Tests max_request_dtos. The peer has posted no receive, so all sends stay outstanding. */
static void requests(void)
{
    const DAT_COUNT many = least(500, ia_attr.max_dto_per_ep);
    struct side a, b;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    DAT_COUNT i;
    bool good = true;

    small_side(&a);
    attr_default(&attr);
    attr.max_recv_dtos = many;
    side_make(&b, &fx, &attr);
    must_rc(dat_evd_resize(b.recv, 600), DAT_SUCCESS, "dat_evd_resize");
    param_rubbish(&p);
    p.ep_attr.max_request_dtos = many;
    is_success(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &p),
               "dat_ep_modify: max_request_dtos from 4 to %d: success", (int)many);
    sides_connect(&a, &b);
    for (i = 0; i < many; i++)
        if (post_send(&a, NULL, 0, 0, (DAT_UINT64)i) != DAT_SUCCESS)
            break;
    is_int(i, many, "dat_ep_post_send: that many can be outstanding");
    is_type(post_send(&a, NULL, 0, 0, 9999), DAT_INSUFFICIENT_RESOURCES,
            "dat_ep_post_send: one more: DAT_INSUFFICIENT_RESOURCES");
    for (i = 0; i < many; i++)
        must_rc(post_recv(&b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    for (i = 0; good && i < many; i++)
        good = wait_dto(a.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(b.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    ok(good, "max_request_dtos enlarged: each Send arrives, in order");
    side_free(&a);
    side_free(&b);
}

/* ---- segments ---- */

/* Sets n segments of size bytes each, with gaps. */
static void segments_of(DAT_LMR_TRIPLET *t, const struct region *r, DAT_COUNT n, size_t size)
{
    for (DAT_COUNT i = 0; i < n; i++)
        t[i] = segment(r, (size_t)i * 2 * size, size);
}

/* Returns whether `whole` has the bytes of the parts. On iWARP, waits for them, as written() does. */
static bool gathered(const unsigned char *whole, const struct region *parts, DAT_COUNT n, size_t size)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    for (DAT_COUNT i = 0; i < n; i++)
        while (memcmp(whole + (size_t)i * size, parts->mem + (size_t)i * 2 * size, size) != 0) {
            if (!env_is_iwarp() || now_ms() > end)
                return false;
            breathe();
        }
    return true;
}

static void segments(void)
{
    const DAT_COUNT most = 64;
    DAT_COUNT recv_iov = least(ia_attr.max_iov_segments_per_dto, most);
    DAT_COUNT read_iov = least(ia_attr.max_iov_segments_per_rdma_read, most);
    DAT_COUNT write_iov = least(ia_attr.max_iov_segments_per_rdma_write, most);
    struct side a, b;
    struct region in, out;
    DAT_LMR_TRIPLET t[65];
    DAT_RMR_TRIPLET to;
    DAT_EP_PARAM p;
    DAT_EP_ATTR now;

    small_side(&a);
    small_side(&b);
    region_make(&fx, &in, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &out, 4096, DAT_MEM_PRIV_ALL_FLAG);
    segments_of(t, &in, 2, 16);
    now = ep_param(b.ep).ep_attr;
    if (now.max_recv_iov == 1)
        is_type(dat_ep_post_recv(b.ep, 2, t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_INVALID_PARAMETER,
                "dat_ep_post_recv: max_recv_iov 1: two segments: DAT_INVALID_PARAMETER");
    else
        skip(1, "the endpoint takes more segments than it was asked for");
    param_rubbish(&p);
    p.ep_attr.max_recv_iov = p.ep_attr.max_request_iov = recv_iov;
    p.ep_attr.max_rdma_read_iov = read_iov;
    p.ep_attr.max_rdma_write_iov = write_iov;
    is_success(dat_ep_modify(a.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV,
                             &p),
               "dat_ep_modify: request, RDMA read and write IOV from 1 to %d, %d, %d: success",
               (int)recv_iov, (int)read_iov, (int)write_iov);
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &p),
               "dat_ep_modify: max_recv_iov from 1 to %d: success", (int)recv_iov);

    sides_connect(&a, &b);
    pattern_fill(out.mem, 4096, 1);
    must_rc(post_recv(&b, &in, 0, 2048, 1), DAT_SUCCESS, "dat_ep_post_recv");
    segments_of(t, &out, recv_iov, 16);
    is_success(dat_ep_post_send(a.ep, recv_iov, t, cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_send: %d segments: success", (int)recv_iov);
    ok(wait_dto(a.req, 2, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) &&
           gathered(in.mem, &out, recv_iov, 16),
       "max_request_iov enlarged: the segments arrive as one message");
    t[recv_iov] = t[0];
    is_type(dat_ep_post_send(a.ep, recv_iov + 1, t, cookie(3), DAT_COMPLETION_DEFAULT_FLAG),
            DAT_INVALID_PARAMETER, "dat_ep_post_send: one segment more: DAT_INVALID_PARAMETER");

    memset(in.mem, 0, in.size);
    segments_of(t, &in, recv_iov, 16);
    is_success(dat_ep_post_recv(b.ep, recv_iov, t, cookie(4), DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_recv: %d segments: success", (int)recv_iov);
    must_rc(post_send(&a, &out, 0, (size_t)recv_iov * 16, 5), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(a.req, 5, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 4, DAT_DTO_SUCCESS, NULL) &&
           gathered(out.mem, &in, recv_iov, 16),
       "max_recv_iov enlarged: the message lies in the segments");

    memset(in.mem, 0, in.size);
    segments_of(t, &out, write_iov, 16);
    to = target(&in, 0, (size_t)write_iov * 16);
    is_success(dat_ep_post_rdma_write(a.ep, write_iov, t, cookie(6), &to,
                                      DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_rdma_write: %d segments: success", (int)write_iov);
    ok(wait_dto(a.req, 6, DAT_DTO_SUCCESS, NULL) && gathered(in.mem, &out, write_iov, 16),
       "max_rdma_write_iov enlarged: the segments are written as one");

    pattern_fill(in.mem, in.size, 2);
    memset(out.mem, 0, out.size);
    segments_of(t, &out, read_iov, 16);
    to = target(&in, 0, (size_t)read_iov * 16);
    is_success(dat_ep_post_rdma_read(a.ep, read_iov, t, cookie(7), &to,
                                     DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_rdma_read: %d segments: success", (int)read_iov);
    ok(wait_dto(a.req, 7, DAT_DTO_SUCCESS, NULL) && gathered(in.mem, &out, read_iov, 16),
       "max_rdma_read_iov enlarged: what was read lies in the segments");
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

/* ---- RDMA reads in flight ---- */

static void reads(void)
{
    DAT_COUNT out_limit = ia_attr.max_rdma_read_per_ep_out, in_limit = ia_attr.max_rdma_read_per_ep_in;
    DAT_COUNT n = least(least(out_limit, in_limit), 16);
    struct side a, b;
    struct region in, out;
    DAT_EP_PARAM p;
    bool good = true;

    if (n < 2) {
        skip(3, "the adapter allows one RDMA read at a time");
        return;
    }
    small_side(&a);
    small_side(&b);
    region_make(&fx, &in, 64u << 10, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &out, 64u << 10, DAT_MEM_PRIV_ALL_FLAG);
    param_rubbish(&p);
    p.ep_attr.max_rdma_read_out = p.ep_attr.max_rdma_read_in = n;
    p.ep_attr.max_request_dtos = n;
    is_success(dat_ep_modify(a.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT |
                                 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                             &p),
               "dat_ep_modify: max_rdma_read_out from 1 to %d: success", (int)n);
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &p),
               "dat_ep_modify: max_rdma_read_in from 1 to %d: success", (int)n);
    sides_connect(&a, &b);
    pattern_fill(out.mem, out.size, 8);
    for (DAT_COUNT i = 0; good && i < n; i++) {
        size_t at = (size_t)i * 4096;

        good = post_read(&a, &in, at, 4096, target(&out, at, 4096), (DAT_UINT64)i) == DAT_SUCCESS;
    }
    ok(good, "dat_ep_post_rdma_read: %d in a row: success", (int)n);
    for (DAT_COUNT i = 0; good && i < n; i++)
        good = wait_dto(a.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    ok(good && pattern_check(in.mem, (size_t)n * 4096, 8) < 0,
       "RDMA read limits enlarged: all of them succeed");
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

/*
 * Reads succeed on each transport, even if the target or both ends intend none. The limits are from the creation or from
 * dat_ep_modify.
 */
static void no_reads(bool reader_connects, bool modified, DAT_COUNT out_limit)
{
    enum { READS = 8 };
    struct side a, b;
    struct region in, out;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    bool good = true;
    char what[160];

    snprintf(what, sizeof what, "RDMA read limits 0 at the target and %d at the originator, %s, %s connects",
             (int)out_limit, modified ? "modified" : "from the creation",
             reader_connects ? "the originator" : "the target");
    attr_default(&attr);
    attr.max_rdma_read_out = modified ? 2 : out_limit;
    side_make(&a, &fx, &attr);
    attr.max_rdma_read_in = modified ? 2 : 0;
    side_make(&b, &fx, &attr);
    if (modified) {
        param_rubbish(&p);
        p.ep_attr.max_rdma_read_in = 0;
        p.ep_attr.max_rdma_read_out = out_limit;
        is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &p),
                   "dat_ep_modify: max_rdma_read_in from 2 to 0: success");
        is_success(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &p),
                   "dat_ep_modify: max_rdma_read_out from 2 to %d: success", (int)out_limit);
    }
    region_make(&fx, &in, READS * 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &out, READS * 4096, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(out.mem, out.size, 9);
    sides_connect(reader_connects ? &a : &b, reader_connects ? &b : &a);
    for (size_t i = 0; good && i < READS; i++)
        good = post_read(&a, &in, i * 4096, 4096, target(&out, i * 4096, 4096), i) == DAT_SUCCESS;
    for (DAT_UINT64 i = 0; good && i < READS; i++)
        good = wait_dto(a.req, i, DAT_DTO_SUCCESS, NULL);
    ok(good && pattern_check(in.mem, in.size, 9) < 0, "%s: the reads succeed", what);
    ok(sides_talk(&a, &b), "%s: the connection stands", what);
    is_int(ep_param(b.ep).ep_attr.max_rdma_read_in, 0, "dat_ep_query: %s: max_rdma_read_in 0", what);
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

/* ---- sizes ---- */

/* Tests a value of max_message_size and max_rdma_size. 0 is the default, which is the adapter's limit. */
static void sizes(DAT_VLEN asked)
{
    const size_t large = 1u << 20;
    const char *text = asked == 0 ? "0, the default" : "1048576";
    struct side a, b;
    struct region in, out;
    DAT_EP_PARAM p;

    small_side(&a);
    small_side(&b);
    region_make(&fx, &in, large, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &out, large, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(out.mem, large, 1);
    param_rubbish(&p);
    p.ep_attr.max_message_size = asked;
    p.ep_attr.max_rdma_size = asked;
    is_success(dat_ep_modify(a.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
                             &p),
               "dat_ep_modify: message and RDMA size from 4096 to %s: success", text);
    is_success(dat_ep_modify(b.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
                             &p),
               "dat_ep_modify: the other end, %s: success", text);
    is_success(post_recv(&b, &in, 0, large, 1), "dat_ep_post_recv: 1048576 bytes, %s: success",
               text);
    sides_connect(&a, &b);
    is_success(post_send(&a, &out, 0, large, 2), "dat_ep_post_send: 1048576 bytes, %s: success",
               text);
    ok(wait_dto(a.req, 2, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(in.mem, large, 1) < 0,
       "max_message_size %s: 1048576 bytes arrive", text);
    memset(in.mem, 0, large);
    is_success(post_write(&a, &out, 0, large, target(&in, 0, large), 3),
               "dat_ep_post_rdma_write: 1048576 bytes, %s: success", text);
    ok(wait_dto(a.req, 3, DAT_DTO_SUCCESS, NULL) && written(in.mem, large, 1),
       "max_rdma_size %s: 1048576 bytes are written", text);
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia_attr, DAT_PROVIDER_FIELD_ALL,
                         &provider_attr),
            DAT_SUCCESS, "dat_ia_query");
    receives();
    if (!none_waits("max_request_dtos enlarged"))
        requests();
    segments();
    reads();
    for (int i = 0; i < 8; i++)
        no_reads((i & 1) != 0, (i & 2) != 0, (i & 4) != 0 ? 4 : 0);
    sizes(1u << 20);
    sizes(0);
    fx_close(&fx);
    return done_testing();
}
