/* segments.c - transfers with several segments. */
#include "common/fixture.h"

#include <string.h>

/* Splits total bytes into n segments of unequal length with gaps. Returns the end offset. */
static size_t cut(struct region *r, size_t base, size_t total, int n, DAT_LMR_TRIPLET *iov)
{
    size_t at = base, left = total;

    for (int i = 0; i < n; i++) {
        size_t len = i == n - 1 ? left : left / 3 + (size_t)(i & 1);

        if (len > left)
            len = left;
        iov[i] = segment(r, at, len);
        at += len + 17;
        left -= len;
    }
    return at;
}

static void gather(const DAT_LMR_TRIPLET *iov, int n, unsigned char *to)
{
    for (int i = 0; i < n; i++) {
        memcpy(to, (void *)(uintptr_t)iov[i].virtual_address, iov[i].segment_length);
        to += iov[i].segment_length;
    }
}

static void scatter(const DAT_LMR_TRIPLET *iov, int n, const unsigned char *from)
{
    for (int i = 0; i < n; i++) {
        memcpy((void *)(uintptr_t)iov[i].virtual_address, from, iov[i].segment_length);
        from += iov[i].segment_length;
    }
}

static unsigned char bytes[128 * 1024];

int main(int argc, char **argv)
{
    static const size_t totals[] = { 10, 100, 1000, 5000, 40000, 100000 };
    struct fx fx;
    struct pair p;
    struct region src, dst;
    DAT_LMR_TRIPLET from[4], to[4];
    DAT_EVENT e;
    DAT_RETURN rc;
    DAT_COUNT of_read;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    of_read = read_iov_at_most(4);
    region_make(&fx, &src, 256 * 1024, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &dst, 256 * 1024, DAT_MEM_PRIV_ALL_FLAG);

    for (size_t t = 0; t < sizeof totals / sizeof totals[0]; t++) {
        size_t n = totals[t];
        int sends = 0, writes = 0, reads = 0;

        for (int x = 1; x <= 4; x++)
            for (int y = 1; y <= 4; y++) {
                unsigned seed = (unsigned)(t * 16 + (size_t)x * 4 + (size_t)y);

                cut(&src, 5, n, x, from);
                cut(&dst, 9, n, y, to);
                pattern_fill(bytes, n, seed);
                scatter(from, x, bytes);
                memset(dst.mem, 0xee, dst.size);
                must_rc(dat_ep_post_recv(p.b.ep, y, to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                        DAT_SUCCESS, "dat_ep_post_recv");
                must_rc(dat_ep_post_send(p.a.ep, x, from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
                        DAT_SUCCESS, "dat_ep_post_send");
                if (wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, &e) &&
                    wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
                    e.event_data.dto_completion_event_data.transfered_length == n) {
                    gather(to, y, bytes);
                    sends += pattern_check(bytes, n, seed) < 0;
                    /* The gaps are unchanged. */
                    for (int i = 0; i + 1 < y; i++)
                        if (!all_bytes((void *)(uintptr_t)(to[i].virtual_address +
                                                           to[i].segment_length),
                                       17, 0xee))
                            sends = -100;
                }
            }
        for (int x = 1; x <= 4; x++) {
            DAT_RMR_TRIPLET remote = target(&dst, 3, n);

            cut(&src, 5, n, x, from);
            pattern_fill(bytes, n, (unsigned)x);
            scatter(from, x, bytes);
            must_rc(dat_ep_post_rdma_write(p.a.ep, x, from, cookie(3), &remote,
                                           DAT_COMPLETION_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_post_rdma_write");
            writes += wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL) &&
                      pattern_check(dst.mem + 3, n, (unsigned)x) < 0;
            if (x > of_read)
                continue;
            pattern_fill(dst.mem + 3, n, (unsigned)x + 50);
            must_rc(dat_ep_post_rdma_read(p.a.ep, x, from, cookie(4), &remote,
                                          DAT_COMPLETION_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_post_rdma_read");
            if (wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL)) {
                gather(from, x, bytes);
                reads += pattern_check(bytes, n, (unsigned)x + 50) < 0;
            }
        }
        is_int(sends, 16, "dat_ep_post_send: %zu bytes, 1 to 4 segments to 1 to 4 segments", n);
        is_int(writes, 4, "dat_ep_post_rdma_write: %zu bytes from 1 to 4 segments", n);
        is_int(reads, of_read, "dat_ep_post_rdma_read: %zu bytes into 1 to %d segments", n, (int)of_read);
    }

    memset(dst.mem, 0xee, dst.size);
    for (int i = 0; i < 4; i++)
        to[i] = segment(&dst, (size_t)i * 1000, 100);
    must_rc(dat_ep_post_recv(p.b.ep, 4, to, cookie(5), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
    pattern_fill(src.mem, 150, 7);
    must_rc(post_send(&p.a, &src, 0, 150, 6), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(p.b.recv, 5, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.transfered_length == 150,
       "dat_ep_post_recv: 150 bytes for 4 segments of 100: transfered_length");
    drain_dtos(p.a.req, 1);
    gather(to, 2, bytes);
    ok(pattern_check(bytes, 150, 7) < 0, "dat_ep_post_recv: filled in the order of the list");
    ok(all_bytes(dst.mem + 1050, 50, 0xee) && all_bytes(dst.mem + 2000, 100, 0xee) &&
           all_bytes(dst.mem + 3000, 100, 0xee),
       "dat_ep_post_recv: segments beyond the message are untouched");

    memset(from, 0xff, sizeof from);
    from[0].segment_length = from[2].segment_length = 0;
    from[1] = segment(&src, 0, 30);
    from[3] = segment(&src, 100, 20);
    pattern_fill(src.mem, 120, 8);
    memset(dst.mem, 0xee, 100);
    must_rc(post_recv(&p.b, &dst, 0, 64, 7), DAT_SUCCESS, "dat_ep_post_recv");
    rc = dat_ep_post_send(p.a.ep, 4, from, cookie(8), DAT_COMPLETION_DEFAULT_FLAG);
    if (is_success(rc, "dat_ep_post_send: rubbish segments of length 0: success")) {
        ok(wait_dto(p.b.recv, 7, DAT_DTO_SUCCESS, &e) &&
               e.event_data.dto_completion_event_data.transfered_length == 50 &&
               memcmp(dst.mem, src.mem, 30) == 0 && memcmp(dst.mem + 30, src.mem + 100, 20) == 0,
           "dat_ep_post_send: rubbish segments of length 0: the others are sent");
        drain_dtos(p.a.req, 1);
    }

    /* The program can reuse the segment list when the call has returned. */
    {
        DAT_PROVIDER_ATTR a;

        must_rc(dat_ia_query(fx.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &a), DAT_SUCCESS,
                "dat_ia_query");
        if (a.iov_ownership_on_return == DAT_IOV_CONSUMER) {
            int good = 1;

            for (unsigned i = 0; i < 20; i++) {
                to[0] = segment(&dst, i * 64, 64);
                must_rc(dat_ep_post_recv(p.b.ep, 1, to, cookie(i), DAT_COMPLETION_DEFAULT_FLAG),
                        DAT_SUCCESS, "dat_ep_post_recv");
                memset(to, 0xff, sizeof to);
            }
            for (unsigned i = 0; i < 20; i++) {
                pattern_fill(src.mem + i * 64, 64, i);
                from[0] = segment(&src, i * 64, 64);
                must_rc(dat_ep_post_send(p.a.ep, 1, from, cookie(i), DAT_COMPLETION_DEFAULT_FLAG),
                        DAT_SUCCESS, "dat_ep_post_send");
                memset(from, 0xff, sizeof from);
            }
            for (unsigned i = 0; i < 20; i++)
                good &= wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, NULL) &&
                        wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL) &&
                        pattern_check(dst.mem + i * 64, 64, i) < 0;
            ok(good, "posting: the list is overwritten after the call: no harm");
        }
    }
    pair_close(&p);
    region_free(&src);
    region_free(&dst);
    fx_close(&fx);
    return done_testing();
}
