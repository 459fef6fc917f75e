/* ia.c - interface adapters: dat_ia_open, dat_ia_query, dat_ia_close. */
#include "common/zoo.h"

#include <stdlib.h>
#include <string.h>

static DAT_RETURN open_ia(DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd,
                          DAT_IA_HANDLE *ia)
{
    return dat_ia_open(name, qlen, evd, ia);
}

static void open_errors(void)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = UNTOUCHED;
    char name[400];
    DAT_RETURN rc;

    is_code(open_ia(NULL, 8, &evd, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
            "dat_ia_open: name NULL: DAT_INVALID_PARAMETER");
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    is_code(open_ia(name, 8, &evd, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
            "dat_ia_open: name of 256 characters: DAT_INVALID_PARAMETER");
    name[255] = '\0';
    is_code(open_ia(name, 8, &evd, &ia), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
            "dat_ia_open: unknown name of 255 characters: DAT_PROVIDER_NOT_FOUND");
    is_code(open_ia((DAT_NAME_PTR) "", 8, &evd, &ia), DAT_PROVIDER_NOT_FOUND,
            DAT_NAME_NOT_REGISTERED, "dat_ia_open: empty name: DAT_PROVIDER_NOT_FOUND");
    is_code(open_ia((DAT_NAME_PTR) "no such adapter", 8, &evd, &ia), DAT_PROVIDER_NOT_FOUND,
            DAT_NAME_NOT_REGISTERED, "dat_ia_open: unknown name: DAT_PROVIDER_NOT_FOUND");
    is_code(open_ia(env_ia(), 8, &evd, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_ia_open: no place for the handle: DAT_INVALID_HANDLE");
    is_code(open_ia(env_ia(), 8, NULL, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ia_open: no place for the EVD: DAT_INVALID_PARAMETER");
    is_code(open_ia(env_ia(), 0, &evd, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ia_open: queue length 0: DAT_INVALID_PARAMETER");
    is_code(open_ia(env_ia(), -1, &evd, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_ia_open: negative queue length: DAT_INVALID_PARAMETER");
    rc = open_ia(env_ia(), 0x7fffffff, &evd, &ia);
    is_either(rc, DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_PARAMETER,
              "dat_ia_open: the largest queue length: refused");
    is_code(dat_ia_openv(env_ia(), 8, &evd, &ia, 9, 2, DAT_FALSE), DAT_PROVIDER_NOT_FOUND,
            DAT_MAJOR_NOT_FOUND, "dat_ia_openv: unknown major version: DAT_PROVIDER_NOT_FOUND");
    is_code(dat_ia_openv(env_ia(), 8, &evd, &ia, DAT_VERSION_MAJOR, 99, DAT_FALSE), DAT_PROVIDER_NOT_FOUND,
            DAT_MINOR_NOT_FOUND, "dat_ia_openv: minor version too high: DAT_PROVIDER_NOT_FOUND");
    ok(ia == UNTOUCHED && evd == DAT_HANDLE_NULL, "dat_ia_open: error: the outputs are untouched");
}

static void asynchronous_evd(struct zoo *z)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL, lent, out;
    DAT_IA_HANDLE ia = UNTOUCHED, second;
    DAT_EVD_PARAM p;
    DAT_EVENT event;
    DAT_COUNT more;

    is_success(open_ia(env_ia(), 10, &evd, &ia), "dat_ia_open: EVD NULL: success");
    must(ia != UNTOUCHED, "no adapter");
    ok(evd != DAT_HANDLE_NULL, "dat_ia_open: EVD NULL: one is made");
    is_success(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p), "dat_evd_query: asynchronous: success");
    ok(p.evd_qlen >= 10, "dat_evd_query: asynchronous: at least the length asked for");
    is_int(p.evd_flags, DAT_EVD_ASYNC_FLAG, "dat_evd_query: asynchronous: evd_flags is ASYNC");
    is_ptr(p.cno_handle, DAT_HANDLE_NULL, "dat_evd_query: asynchronous: no CNO");
    is_ptr(p.ia_handle, ia, "dat_evd_query: asynchronous: ia_handle is true");
    is_type(dat_evd_wait(evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: asynchronous, nothing happened: DAT_TIMEOUT_EXPIRED");
    is_type(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY,
            "dat_evd_dequeue: asynchronous, nothing happened: DAT_QUEUE_EMPTY");
    is_code(dat_evd_free(evd), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
            "dat_evd_free: the EVD that dat_ia_open made: DAT_INVALID_STATE");
    is_success(dat_evd_resize(evd, 40), "dat_evd_resize: asynchronous: success");
    is_success(dat_evd_disable(evd), "dat_evd_disable: asynchronous: success");
    is_success(dat_evd_enable(evd), "dat_evd_enable: asynchronous: success");

    lent = evd;
    is_success(open_ia(env_ia(), -5, &lent, &second),
               "dat_ia_open: EVD of another open, length ignored: success");
    ok(lent == evd, "dat_ia_open: EVD of another open: the handle is unchanged");
    out = UNTOUCHED;
    is_success(dat_ia_query(second, &out, 0, NULL, 0, NULL), "dat_ia_query: borrowed EVD: success");
    is_ptr(out, evd, "dat_ia_query: borrowed EVD: that one");
    is_success(dat_ia_close(second, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful, EVD borrowed: success");
    is_success(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p),
               "dat_evd_query: after the borrower is closed: still there");
    is_success(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful, only its own EVD: success");
    is_type(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p), DAT_INVALID_HANDLE,
            "dat_evd_query: after its adapter is closed: DAT_INVALID_HANDLE");

    lent = z->of[DAT_HANDLE_TYPE_EVD]; /* lacks the ASYNC flag */
    is_code(open_ia(env_ia(), 8, &lent, &second), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC,
            "dat_ia_open: EVD without the ASYNC flag: DAT_INVALID_HANDLE");
    lent = z->of[DAT_HANDLE_TYPE_PZ];
    is_code(open_ia(env_ia(), 8, &lent, &second), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC,
            "dat_ia_open: a PZ for the EVD: DAT_INVALID_HANDLE");

    lent = DAT_EVD_ASYNC_EXISTS;
    if (is_success(open_ia(env_ia(), 8, &lent, &second),
                   "dat_ia_open: DAT_EVD_ASYNC_EXISTS: success")) {
        ok(lent == DAT_EVD_OUT_OF_SCOPE || lent == DAT_EVD_ASYNC_EXISTS,
           "dat_ia_open: DAT_EVD_ASYNC_EXISTS: EVD is OUT_OF_SCOPE or as it was");
        out = UNTOUCHED;
        is_success(dat_ia_query(second, &out, 0, NULL, 0, NULL), "dat_ia_query: no EVD: success");
        is_ptr(out, DAT_EVD_OUT_OF_SCOPE, "dat_ia_query: no EVD: DAT_EVD_OUT_OF_SCOPE");
        is_success(dat_ia_close(second, DAT_CLOSE_GRACEFUL_FLAG),
                   "dat_ia_close: no EVD: success");
    }

    /* An EVD of dat_evd_create with the ASYNC flag cannot be freed while an adapter reports to it. */
    {
        DAT_EVD_HANDLE own = fx_evd(&z->fx, 8, DAT_EVD_ASYNC_FLAG);

        lent = own;
        is_success(open_ia(env_ia(), 8, &lent, &second),
                   "dat_ia_open: EVD made by dat_evd_create: success");
        is_code(dat_evd_free(own), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
                "dat_evd_free: an adapter reports to it: DAT_INVALID_STATE");
        is_success(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ia_close: EVD made by dat_evd_create: success");
        is_success(dat_evd_free(own), "dat_evd_free: no adapter reports to it: success");
    }
}

static DAT_RETURN query(DAT_HANDLE ia, void *arg)
{
    DAT_EVD_HANDLE evd;

    (void)arg;
    return dat_ia_query(ia, &evd, 0, NULL, 0, NULL);
}

static DAT_RETURN close_abrupt(DAT_HANDLE ia, void *arg)
{
    (void)arg;
    return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
}

static void handles(struct zoo *z)
{
    struct fx fx;
    DAT_IA_HANDLE gone;

    fx_open(&fx);
    gone = fx.ia;
    fx_close(&fx);
    zoo_sweep(z, "dat_ia_query", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, gone, 0, query, NULL);
    zoo_sweep(z, "dat_ia_close", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, gone, 0, close_abrupt,
              NULL);
    zoo_intact(z, "dat_ia_close");
}

static void query_parameters(struct fx *fx, DAT_IA_ATTR *ia, DAT_PROVIDER_ATTR *provider)
{
    DAT_IA_HANDLE h = fx->ia;
    DAT_EVD_HANDLE evd = UNTOUCHED;

    memset(ia, 0x5a, sizeof *ia);
    memset((void *)provider, 0x5a, sizeof *provider);
    is_code(dat_ia_query(h, &evd, DAT_IA_FIELD_ALL + 1, ia, 0, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG3, "dat_ia_query: unknown adapter bit: DAT_INVALID_PARAMETER");
    is_code(dat_ia_query(h, &evd, DAT_IA_FIELD_ALL, NULL, 0, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG4, "dat_ia_query: no adapter structure: DAT_INVALID_PARAMETER");
    is_code(dat_ia_query(h, &evd, 0, NULL, DAT_PROVIDER_FIELD_ALL + 1, provider),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_ia_query: unknown provider bit: DAT_INVALID_PARAMETER");
    is_code(dat_ia_query(h, &evd, 0, NULL, DAT_PROVIDER_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG6, "dat_ia_query: no provider structure: DAT_INVALID_PARAMETER");
    is_type(dat_ia_query(h, &evd, DAT_IA_FIELD_ALL, ia, DAT_PROVIDER_FIELD_ALL, NULL),
            DAT_INVALID_PARAMETER, "dat_ia_query: one half good, one bad: DAT_INVALID_PARAMETER");
    ok(evd == UNTOUCHED && all_bytes(ia, sizeof *ia, 0x5a) &&
           all_bytes(provider, sizeof *provider, 0x5a),
       "dat_ia_query: error: the outputs are untouched");

    is_success(dat_ia_query(h, NULL, 0, NULL, 0, NULL), "dat_ia_query: nothing wanted: success");
    is_success(dat_ia_query(h, &evd, 0, NULL, 0, NULL), "dat_ia_query: the EVD alone: success");
    is_ptr(evd, fx->async, "dat_ia_query: the EVD: as dat_ia_open gave it");
    is_success(dat_ia_query(h, NULL, DAT_IA_FIELD_IA_MAX_EPS, ia, 0, NULL),
               "dat_ia_query: one adapter field: success");
    is_success(dat_ia_query(h, NULL, 0, NULL, DAT_PROVIDER_FIELD_EP_CREATOR, provider),
               "dat_ia_query: one provider field: success");
}

static void adapter_attributes(struct fx *fx, DAT_IA_ATTR *a)
{
    memset(a, 0, sizeof *a);
    is_success(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, a, 0, NULL),
               "dat_ia_query: all of the adapter: success");
    if (UDAPL == 12)
        ok(strcmp(a->adapter_name, env_ia()) == 0, "dat_ia_query: adapter_name: the name opened");
    ok(memchr(a->vendor_name, 0, sizeof a->vendor_name) != NULL && a->vendor_name[0] != '\0',
       "dat_ia_query: vendor_name: a string");
    ok(a->ia_address_ptr != NULL &&
           (a->ia_address_ptr->sa_family == AF_INET || a->ia_address_ptr->sa_family == AF_INET6),
       "dat_ia_query: ia_address_ptr: an Internet address");
    ok(a->max_eps >= 100, "dat_ia_query: max_eps: at least 100");
    ok(a->max_dto_per_ep >= 100, "dat_ia_query: max_dto_per_ep: at least 100");
    ok(a->max_rdma_read_per_ep_in > 0 && a->max_rdma_read_per_ep_out > 0,
       "dat_ia_query: max_rdma_read_per_ep_in, _out: positive");
    ok(a->max_rdma_read_in > 0 && a->max_rdma_read_out > 0,
       "dat_ia_query: max_rdma_read_in, _out: positive");
    ok(a->max_evds >= 100 && a->max_evd_qlen >= 1000,
       "dat_ia_query: max_evds, max_evd_qlen: of use");
    ok(a->max_iov_segments_per_dto >= 4, "dat_ia_query: max_iov_segments_per_dto: at least 4");
    ok(a->max_iov_segments_per_rdma_read >= 1 && a->max_iov_segments_per_rdma_write >= 1,
       "dat_ia_query: max_iov_segments_per_rdma_read, _write: at least 1");
    ok(a->max_lmrs >= 100 && a->max_pzs >= 100, "dat_ia_query: max_lmrs, max_pzs: at least 100");
    ok(a->max_lmr_block_size >= 64u << 20, "dat_ia_query: max_lmr_block_size: at least 64 MiB");
    ok(a->max_lmr_virtual_address > (DAT_VADDR)(uintptr_t)&a,
       "dat_ia_query: max_lmr_virtual_address: above this stack");
    ok(a->max_message_size >= 64u << 20, "dat_ia_query: max_message_size: at least 64 MiB");
    ok(a->max_rdma_size >= 64u << 20, "dat_ia_query: max_rdma_size: at least 64 MiB");
    ok(a->max_srqs > 0 && a->max_ep_per_srq > 0 && a->max_recv_per_srq > 0,
       "dat_ia_query: limits of shared receive queues: positive");
    ok(a->num_transport_attr >= 0 && (a->num_transport_attr == 0 || a->transport_attr != NULL),
       "dat_ia_query: transport_attr: as many as num_transport_attr says");
    ok(a->num_vendor_attr >= 0 && (a->num_vendor_attr == 0 || a->vendor_attr != NULL),
       "dat_ia_query: vendor_attr: as many as num_vendor_attr says");
}

static void provider_attributes(struct fx *fx, DAT_PROVIDER_ATTR *p)
{
    int diagonal = 0, symmetric = 0;

    memset((void *)p, 0, sizeof *p);
    is_success(dat_ia_query(fx->ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, p),
               "dat_ia_query: all of the provider: success");
    ok(p->provider_name[0] != '\0' && memchr(p->provider_name, 0, sizeof p->provider_name) != NULL,
       "dat_ia_query: provider_name: a string");
    ok(p->dapl_version_major == DAT_VERSION_MAJOR && p->dapl_version_minor == DAT_VERSION_MINOR,
       "dat_ia_query: dapl_version: " API_VERSION);
    /* rdma_cm leaves 56 bytes of a connection request to its users. */
    ok(p->max_private_data_size >= (env_is_shm() ? 64 : 56),
       "dat_ia_query: max_private_data_size: at least 64, or what rdma_cm leaves");
    ok((unsigned)p->iov_ownership_on_return <= DAT_IOV_PROVIDER_MOD,
       "dat_ia_query: iov_ownership_on_return: a value of its type");
    ok((unsigned)p->ep_creator <= DAT_PSP_CREATES_EP_ALWAYS,
       "dat_ia_query: ep_creator: a value of its type");
    ok((unsigned)p->pz_support <= DAT_PZ_SHAREABLE, "dat_ia_query: pz_support: a value of its type");
    ok(p->optimal_buffer_alignment > 0 && 256 % p->optimal_buffer_alignment == 0,
       "dat_ia_query: optimal_buffer_alignment: divides 256");
    for (int i = 0; i < 6; i++) {
        diagonal += p->evd_stream_merging_supported[i][i] == DAT_TRUE;
        for (int j = 0; j < 6; j++)
            symmetric += p->evd_stream_merging_supported[i][j] ==
                         p->evd_stream_merging_supported[j][i];
    }
    is_int(diagonal, 6, "dat_ia_query: evd_stream_merging_supported: true on the diagonal");
    is_int(symmetric, 36, "dat_ia_query: evd_stream_merging_supported: symmetric");
    ok(p->srq_supported == DAT_TRUE || p->srq_supported == DAT_FALSE,
       "dat_ia_query: srq_supported: a boolean");
    ok(p->num_provider_specific_attr >= 0 &&
           (p->num_provider_specific_attr == 0 || p->provider_specific_attr != NULL),
       "dat_ia_query: provider_specific_attr: as many as num_provider_specific_attr says");
}

static void instances(void)
{
    struct fx one, two;
    DAT_EVD_HANDLE evd = UNTOUCHED;
    struct region r;
    struct side s;

    fx_open(&one);
    fx_open(&two);
    ok(one.ia != two.ia && one.async != two.async, "dat_ia_open: twice: two handles, two EVDs");
    side_make(&s, &one, NULL);
    region_make(&one, &r, 100, MEM_LOCAL);

    is_code(dat_evd_create(two.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS, 0,
            "dat_evd_create: second open: success");
    {
        DAT_EP_HANDLE ep = UNTOUCHED;
        DAT_EP_ATTR attr;

        attr_default(&attr);
        is_code(dat_ep_create(two.ia, one.pz, evd, evd, DAT_HANDLE_NULL, &attr, &ep),
                DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ,
                "dat_ep_create: zone of another open: DAT_INVALID_HANDLE");
        is_code(dat_ep_create(two.ia, two.pz, s.recv, evd, DAT_HANDLE_NULL, &attr, &ep),
                DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV,
                "dat_ep_create: receive EVD of another open: DAT_INVALID_HANDLE");
        is_code(dat_ep_create(two.ia, two.pz, evd, s.req, DAT_HANDLE_NULL, &attr, &ep),
                DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST,
                "dat_ep_create: request EVD of another open: DAT_INVALID_HANDLE");
        ok(ep == UNTOUCHED, "dat_ep_create: error: the handle is untouched");
        is_success(dat_ep_create(two.ia, two.pz, evd, evd, s.conn, &attr, &ep),
                   "dat_ep_create: connection EVD of another open: success");
        is_success(dat_ep_free(ep), "dat_ep_free: with the connection EVD of another open: success");
    }
    fx_close(&one);
    {
        DAT_PZ_PARAM p;

        is_success(dat_pz_query(two.pz, DAT_PZ_FIELD_ALL, &p),
                   "dat_pz_query: after another open was closed: success");
    }
    fx_close(&two);
}

static void graceful(void)
{
    static const char *const names[] = { "PZ", "EVD", "CNO", "LMR", "RMR", "EP", "SRQ", "PSP" };

    for (int k = 0; k < (int)(sizeof names / sizeof names[0]); k++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd = DAT_HANDLE_NULL;
        DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
        DAT_HANDLE h = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia;
        DAT_RETURN rc = DAT_SUCCESS;
        DAT_REGION_DESCRIPTION where;
        DAT_CONN_QUAL qual;
        DAT_SRQ_ATTR srq = { 4, 1, 0 };
        DAT_EP_ATTR attr;
        static char memory[64];

        must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open");
        if (k == 0 || k == 3 || k == 4 || k == 5 || k == 6)
            must_rc(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create");
        if (k == 1 || k == 7)
            must_rc(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &evd), DAT_SUCCESS,
                    "dat_evd_create");
        memset(&where, 0, sizeof where);
        where.for_va = memory;
        attr_default(&attr);
        attr.max_recv_dtos = attr.max_request_dtos = 0;
        switch (k) {
        case 2: rc = dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &h); break;
        case 3:
            rc = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, 64, pz, DAT_MEM_PRIV_ALL_FLAG, &h,
                                NULL, NULL, NULL, NULL);
            break;
        case 4: rc = dat_rmr_create(pz, &h); break;
        case 5:
            rc = dat_ep_create(ia, pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, &attr, &h);
            break;
        case 6: rc = dat_srq_create(ia, pz, &srq, &h); break;
        case 7: rc = dat_psp_create_any(ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &h); break;
        default: break;
        }
        if (is_success(rc, "creation: %s: success", names[k])) {
            is_code(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
                    DAT_INVALID_STATE_IA_IN_USE,
                    "dat_ia_close: graceful with %s left: DAT_INVALID_STATE", names[k]);
            ok(dat_ia_query(ia, NULL, 0, NULL, 0, NULL) == DAT_SUCCESS,
               "dat_ia_close: graceful with %s left: the adapter is still open", names[k]);
        }
        is_code(dat_ia_close(ia, (DAT_CLOSE_FLAGS)2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_ia_close: unknown flag, with %s: DAT_INVALID_PARAMETER", names[k]);
        is_success(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ia_close: abrupt with %s left: success", names[k]);
        is_type(dat_ia_query(ia, NULL, 0, NULL, 0, NULL), DAT_INVALID_HANDLE,
                "dat_ia_query: closed with %s left: DAT_INVALID_HANDLE", names[k]);
    }
}

int main(int argc, char **argv)
{
    struct zoo z;
    DAT_IA_ATTR *ia = calloc(1, sizeof *ia);
    DAT_PROVIDER_ATTR *provider = calloc(1, sizeof *provider);

    env_init(argc, argv, NULL);
    must(ia != NULL && provider != NULL, "out of memory");
    zoo_open(&z);
    open_errors();
    asynchronous_evd(&z);
    handles(&z);
    query_parameters(&z.fx, ia, provider);
    adapter_attributes(&z.fx, ia);
    provider_attributes(&z.fx, provider);
    instances();
    graceful();
    zoo_close(&z); /* abrupt, with one object of each kind */
    free(ia);
    free(provider);
    return done_testing();
}
