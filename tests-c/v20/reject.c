/* reject.c - private data of a rejection: dat_cr_reject of 2.0. */
#include "common/fixture.h"

#include <string.h>

static struct fx fx;
static unsigned char data[1024];

/* Returns a pending request from s. */
static DAT_CR_HANDLE request(struct side *s, DAT_CONN_QUAL qual)
{
    side_make(s, &fx, NULL);
    must_rc(side_connect(s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    return next_request(fx.cr);
}

/* Returns whether the rejected side's next event contains exactly the first `size` bytes of data[]. */
static bool told(struct side *s, DAT_COUNT size)
{
    DAT_EVENT event;
    const DAT_CONNECTION_EVENT_DATA *got = &event.event_data.connect_event_data;

    if (!wait_number(s->conn, DAT_CONNECTION_EVENT_PEER_REJECTED, &event))
        return false;
    if (got->ep_handle == s->ep && got->private_data_size == size &&
        (size == 0 || memcmp(got->private_data, data, (size_t)size) == 0))
        return true;
    diag("size %d, not %d", (int)got->private_data_size, (int)size);
    return false;
}

/* Private data of each size arrive with exactly that size. */
static void sizes(DAT_CONN_QUAL qual)
{
    DAT_COUNT all[] = { 0, 1, 3, 4, 48, 0 };
    struct side s;

    all[sizeof all / sizeof *all - 1] = fx.max_private_data;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        DAT_CR_HANDLE cr = request(&s, qual);

        is_success((dat_cr_reject)(cr, all[i], data), "dat_cr_reject: %d bytes: success", (int)all[i]);
        ok(told(&s, all[i]), "dat_cr_reject: %d bytes: the other side has them", (int)all[i]);
        is_state(ep_state(s.ep), DAT_EP_STATE_DISCONNECTED, "dat_cr_reject: %d bytes: DISCONNECTED", (int)all[i]);
        ok(quiet(s.conn), "dat_cr_reject: %d bytes: one event", (int)all[i]);
        side_free(&s);
    }
}

/* Trailing zeros are not lost. */
static void zeros(DAT_CONN_QUAL qual)
{
    static unsigned char kept[8];
    struct side s;
    DAT_CR_HANDLE cr = request(&s, qual);

    memcpy(kept, data, sizeof kept);
    memset(data, 0, sizeof kept);
    is_success((dat_cr_reject)(cr, sizeof kept, data), "dat_cr_reject: zeros: success");
    ok(told(&s, sizeof kept), "dat_cr_reject: zeros: the other side has them");
    memcpy(data, kept, sizeof kept);
    side_free(&s);
}

/* Errors leave the request unchanged. */
static void refused(DAT_CONN_QUAL qual)
{
    struct side s;
    DAT_CR_HANDLE cr = request(&s, qual);

    is_code((dat_cr_reject)(cr, -1, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cr_reject: size -1: DAT_INVALID_PARAMETER");
    is_code((dat_cr_reject)(cr, 0x7fffffff, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_cr_reject: 2^31 - 1 bytes: DAT_INVALID_PARAMETER");
    is_code((dat_cr_reject)(cr, 8, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cr_reject: NULL with a size: DAT_INVALID_PARAMETER");
    ok(quiet(s.conn), "dat_cr_reject: errors: the other side hears nothing");
    is_success((dat_cr_reject)(cr, 5, data), "dat_cr_reject: after errors: success");
    ok(told(&s, 5), "dat_cr_reject: after errors: the other side has the data");
    is_type((dat_cr_reject)(cr, 0, NULL), DAT_INVALID_HANDLE, "dat_cr_reject: again: DAT_INVALID_HANDLE");
    side_free(&s);
}

int main(int argc, char **argv)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    must(fx.max_private_data <= (DAT_COUNT)sizeof data, "no room for the data");
    pattern_fill(data, sizeof data, 7);
    psp = fx_listen(&fx, &qual);
    sizes(qual);
    zeros(qual);
    refused(qual);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    fx_close(&fx);
    return done_testing();
}
