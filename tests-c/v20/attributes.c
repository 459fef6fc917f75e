/* attributes.c - dat_ia_query of uDAPL 2.0: extensions, named attributes, additional fields. */
#include "v20/extended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fx fx;
static DAT_IA_ATTR ia;
static DAT_PROVIDER_ATTR provider;

/* Returns the value of a named attribute, or NULL. */
static const char *named(const char *name)
{
    for (int i = 0; i < provider.num_provider_specific_attr; i++)
        if (strcmp(provider.provider_specific_attr[i].name, name) == 0)
            return provider.provider_specific_attr[i].value;
    return NULL;
}

static void is_named(const char *name, const char *value)
{
    const char *got = named(name);

    ok(got != NULL && strcmp(got, value) == 0, "dat_ia_query: %s is %s, %s", name, value, got != NULL ? got : "none");
}

/* Named attributes in the order of the C implementation of uDAPL 2.0. */
static void names(void)
{
    static const char *const want[] = {
        "DAT_IB_PROVIDER_NAME", "DAT_IB_DEVICE_NAME", "DAT_IB_CONNECTIVITY_MODE", "DAT_IB_RDMA_READ",
        "DAT_IB_NODE_GUID", "DAT_IB_GID", "DAT_IB_TRANSPORT_MTU", "DAT_IB_PORT_STATUS", "DAT_IB_PORT_NUMBER",
        "DAT_EXTENSION_INTERFACE", "DAT_IB_FETCH_AND_ADD", "DAT_IB_CMP_AND_SWAP", "DAT_IB_IMMED_DATA",
        "DAT_IB_UD", "DAT_COUNTERS",
    };
    bool in_order = true;
    int at = 0;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ok(named(want[i]) != NULL && named(want[i])[0] != '\0', "dat_ia_query: %s has a value", want[i]);
        while (at < provider.num_provider_specific_attr &&
               strcmp(provider.provider_specific_attr[at].name, want[i]) != 0)
            at++;
        in_order = in_order && at < provider.num_provider_specific_attr;
    }
    ok(in_order, "dat_ia_query: the named attributes stand in the known order");
    for (int i = 0; i < provider.num_provider_specific_attr; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(provider.provider_specific_attr[i].name, provider.provider_specific_attr[j].name) == 0)
                fail("dat_ia_query: %s stands twice", provider.provider_specific_attr[i].name);
}

static void values(void)
{
    const char *mtu = named("DAT_IB_TRANSPORT_MTU"), *port = named("DAT_IB_PORT_NUMBER");
    char *end;

    is_named("DAT_IB_CONNECTIVITY_MODE", "DIRECT");
    is_named("DAT_IB_RDMA_READ", "TRUE");
    is_named("DAT_COUNTERS", "TRUE");
    ok(mtu != NULL && strtol(mtu, &end, 10) >= 256 && *end == '\0', "dat_ia_query: DAT_IB_TRANSPORT_MTU is a number");
    ok(port != NULL && strtol(port, &end, 10) >= 1 && *end == '\0', "dat_ia_query: DAT_IB_PORT_NUMBER is a number");
    if (env_is_shm()) {
        is_named("DAT_IB_TRANSPORT_MTU", "4096");
        is_named("DAT_IB_NODE_GUID", "0000:0000:0000:0000");
        is_named("DAT_IB_GID", "0000:0000:0000:0000:0000:0000:0000:0000");
    }
    is_named("DAT_EXTENSION_INTERFACE", ia.extension_supported == DAT_EXTENSION_IB ? "TRUE" : "FALSE");
}

/* An operation is announced if and only if the adapter supports it. */
static void extensions(void)
{
    struct region r;
    struct pair p;
    DAT_RETURN rc;

    ok(ia.extension_supported == DAT_EXTENSION_IB || ia.extension_supported == DAT_EXTENSION_NONE,
       "dat_ia_query: extension_supported: IB or none");
    is_int(ia.extension_version, ia.extension_supported == DAT_EXTENSION_IB ? 209 : 0,
           "dat_ia_query: extension_version");
    if (env_is_shm())
        is_int(ia.extension_supported, DAT_EXTENSION_IB, "dat_ia_query: shm: extension_supported");
    region_make(&fx, &r, 4096, ALL_AND_ATOMIC);
    pair_open(&p, &fx, NULL);
    for (int i = 0; i < 3; i++) {
        static const char *const name[] = { "DAT_IB_IMMED_DATA", "DAT_IB_FETCH_AND_ADD", "DAT_IB_CMP_AND_SWAP" };
        bool announced = named(name[i]) != NULL && strcmp(named(name[i]), "TRUE") == 0;

        must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        rc = i == 0   ? post_immediate(&p.a, &r, 0, 8, target(&r, 64, 8), 1, 1)
             : i == 1 ? post_fetch_add(&p.a, &r, 0, target(&r, 64, 8), 1, 1)
                      : post_cmp_swap(&p.a, &r, 0, target(&r, 64, 8), 1, 1, 1);
        if (announced)
            is_success(rc, "dat_extension_op: %s is TRUE: success", name[i]);
        else
            is_either(rc, DAT_MODEL_NOT_SUPPORTED, DAT_NOT_IMPLEMENTED, "dat_extension_op: %s is not TRUE: refused",
                      name[i]);
        if (env_is_shm())
            ok(announced, "dat_ia_query: shm: %s is TRUE", name[i]);
    }
    pair_close(&p);
    region_free(&r);
}

static void fields(void)
{
    ok(ia.zb_supported == DAT_TRUE || ia.zb_supported == DAT_FALSE, "dat_ia_query: zb_supported: a boolean");
    ok(provider.rdma_read_lmr_rmr_context_exposure == DAT_FALSE,
       "dat_ia_query: rdma_read_lmr_rmr_context_exposure: false");
    ok((unsigned)provider.rmr_scope_supported <= DAT_RMR_SCOPE_ANY, "dat_ia_query: rmr_scope_supported: of its type");
    ok(provider.is_signal_safe == DAT_FALSE, "dat_ia_query: is_signal_safe: false");
    ok(provider.ha_supported == DAT_FALSE && provider.ha_loadbalancing == DAT_HA_LB_NONE,
       "dat_ia_query: ha_supported, ha_loadbalancing: none");
    ok(strcmp(provider.provider_name, env_ia()) == 0, "dat_ia_query: provider_name: the name of the adapter");
    ok(named("DAT_IB_DEVICE_NAME") != NULL && strcmp(named("DAT_IB_DEVICE_NAME"), ia.adapter_name) == 0,
       "dat_ia_query: adapter_name: the device");
    ok(ia.vendor_name[0] != '\0', "dat_ia_query: vendor_name: not empty");
    ok(provider.provider_version_major > 0 || provider.provider_version_minor > 0, "dat_ia_query: provider_version: set");
    if (env_is_shm()) {
        ok(ia.zb_supported == DAT_TRUE, "dat_ia_query: shm: zb_supported");
        is_int(provider.rmr_scope_supported, DAT_RMR_SCOPE_ANY, "dat_ia_query: shm: rmr_scope_supported");
    }
}

/*
 * is_thread_safe is the value in the registry's entry, because registries use it to find the entry of an open
 * adapter.
 */
static void thread_safety(void)
{
    DAT_PROVIDER_INFO list[64], *entries[64];
    DAT_COUNT count = 0;
    int same = 0;

    for (int i = 0; i < 64; i++)
        entries[i] = &list[i];
    must_rc(dat_registry_list_providers(64, &count, entries), DAT_SUCCESS, "dat_registry_list_providers");
    for (int i = 0; i < count; i++)
        same += strcmp(list[i].ia_name, env_ia()) == 0 && list[i].dapl_version_major == 2 &&
                list[i].is_thread_safe == provider.is_thread_safe;
    ok(same > 0, "dat_ia_query: is_thread_safe: as in the list of providers, whatever the program asked for");
}

/* The strings belong to the adapter, and are valid until it is closed. */
static void lifetime(void)
{
    DAT_NAMED_ATTR *attr = provider.provider_specific_attr;
    DAT_PROVIDER_ATTR again, other;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE second;
    char before[64];

    snprintf(before, sizeof before, "%s", attr[0].value);
    memset(&again, 0, sizeof again);
    is_success(dat_ia_query(fx.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &again),
               "dat_ia_query: the provider's attributes alone: success");
    ok(again.num_provider_specific_attr == provider.num_provider_specific_attr &&
           strcmp(again.provider_specific_attr[0].value, before) == 0,
       "dat_ia_query: again: the same named attributes");
    must_rc(dat_ia_open(env_ia(), 8, &evd, &second), DAT_SUCCESS, "dat_ia_open");
    memset(&other, 0, sizeof other);
    must_rc(dat_ia_query(second, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &other), DAT_SUCCESS, "dat_ia_query");
    must_rc(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    ok(strcmp(attr[0].value, before) == 0 && strcmp(again.provider_specific_attr[0].value, before) == 0,
       "dat_ia_query: another adapter is closed: the named attributes stand");
}

/* Checks privileges and flags that only 2.0 has. */
static void additions(void)
{
    DAT_REGION_DESCRIPTION where;
    static unsigned char memory[64];
    DAT_LMR_HANDLE lmr = UNTOUCHED;
    DAT_LMR_PARAM p;
    DAT_EVD_HANDLE evd = UNTOUCHED;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep = UNTOUCHED;

    where.for_va = memory;
    is_success(dat_lmr_create(fx.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, fx.pz,
                              (DAT_MEM_PRIV_FLAGS)ALL_AND_ATOMIC, &lmr, NULL, NULL, NULL, NULL),
               "dat_lmr_create: with the right to atomic operations: success");
    is_success(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &p), "dat_lmr_query: success");
    is_int((int)p.mem_priv, ALL_AND_ATOMIC, "dat_lmr_query: the right to atomic operations is told");
    must_rc(dat_lmr_free(lmr), DAT_SUCCESS, "dat_lmr_free");
    for (unsigned bit = 0x80; bit != 0; bit <<= 1)
        if (!rc_is(dat_lmr_create(fx.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, fx.pz, (DAT_MEM_PRIV_FLAGS)bit,
                                  &lmr, NULL, NULL, NULL, NULL),
                   DAT_INVALID_PARAMETER))
            fail("dat_lmr_create: privilege 0x%x: is not refused", bit);
    is_code(dat_lmr_create(fx.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, fx.pz, (DAT_MEM_PRIV_FLAGS)0x80, &lmr,
                           NULL, NULL, NULL, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG6, "dat_lmr_create: unknown privilege: DAT_INVALID_PARAMETER");

    is_success(dat_evd_create(fx.ia, 8, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)DAT_IB_EVD_EXTENSION_FLAG, &evd),
               "dat_evd_create: for extensions alone: success");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_evd_create(fx.ia, 8, DAT_HANDLE_NULL,
                              (DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_IB_EVD_EXTENSION_FLAG), &evd),
               "dat_evd_create: for transfers and extensions: success");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");

    attr_default(&attr);
    attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    if (named("DAT_IB_UD") != NULL && strcmp(named("DAT_IB_UD"), "TRUE") == 0)
        return;
    is_type(dat_ep_create(fx.ia, fx.pz, NULL, NULL, NULL, &attr, &ep), DAT_MODEL_NOT_SUPPORTED,
            "dat_ep_create: datagrams: DAT_MODEL_NOT_SUPPORTED");
    ok(ep == UNTOUCHED, "dat_ep_create: datagrams: the handle is untouched");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    memset(&ia, 0x5a, sizeof ia);
    memset(&provider, 0x5a, sizeof provider);
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider), DAT_SUCCESS,
            "dat_ia_query");
    names();
    values();
    extensions();
    fields();
    thread_safety();
    lifetime();
    additions();
    fx_close(&fx);
    return done_testing();
}
