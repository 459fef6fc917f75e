/*
 * redirection.c - the upper-case macros call through the table that the handle points to.
 *
 * The program does not use libdat. Its object is a pointer to a table of its own functions. Each
 * function records its call, and checks that each argument encodes its position.
 */
#include "common/dat.h"
#include "common/env.h"
#include "common/tap.h"

#include <string.h>

/*
 * Pointer argument at a position, which is counted from 1. Other arguments are the position itself.
 */
static char cell[16];
#define PTR(position) ((void *)&cell[position])

/* The object. The macros may use only its first word. */
static DAT_PROVIDER table;
static DAT_PROVIDER *object = &table;
#define OBJECT ((DAT_HANDLE)&object)

/* The last called slot, and the results of its function. */
static const char *called;
#define RIGHT ((DAT_RETURN)0x40424344u)
#define WRONG ((DAT_RETURN)0x80060000u)

static DAT_CONTEXT word(unsigned position)
{
    DAT_CONTEXT context;

    context.as_64 = position;
    return context;
}

static DAT_OS_WAIT_PROXY_AGENT agent(unsigned position)
{
    DAT_OS_WAIT_PROXY_AGENT agent = DAT_OS_WAIT_PROXY_AGENT_NULL;

    agent.instance_data = PTR(position);
    return agent;
}

static DAT_REGION_DESCRIPTION region(unsigned position)
{
    DAT_REGION_DESCRIPTION region;

    region.for_va = PTR(position);
    return region;
}

/* Defines the function of a slot. `right` is a condition on its arguments. */
#define SLOT(name, parameters, right)      \
    static DAT_RETURN on_##name parameters \
    {                                      \
        called = #name;                    \
        return (right) ? RIGHT : WRONG;    \
    }

SLOT(ia_query, (DAT_IA_HANDLE a, DAT_EVD_HANDLE *b, DAT_IA_ATTR_MASK c, DAT_IA_ATTR *d,
     DAT_PROVIDER_ATTR_MASK e, DAT_PROVIDER_ATTR *f),
     a == OBJECT && b == PTR(2) && c == 3 && d == PTR(4) && e == 5 && f == PTR(6))
SLOT(set_consumer_context, (DAT_HANDLE a, DAT_CONTEXT b),
     a == OBJECT && b.as_64 == 2)
SLOT(get_consumer_context, (DAT_HANDLE a, DAT_CONTEXT *b),
     a == OBJECT && b == PTR(2))
SLOT(get_handle_type, (DAT_HANDLE a, DAT_HANDLE_TYPE *b),
     a == OBJECT && b == PTR(2))
SLOT(cno_create, (DAT_IA_HANDLE a, DAT_OS_WAIT_PROXY_AGENT b, DAT_CNO_HANDLE *c),
     a == OBJECT && b.instance_data == PTR(2) && c == PTR(3))
SLOT(cno_modify_agent, (DAT_CNO_HANDLE a, DAT_OS_WAIT_PROXY_AGENT b),
     a == OBJECT && b.instance_data == PTR(2))
SLOT(cno_query, (DAT_CNO_HANDLE a, DAT_CNO_PARAM_MASK b, DAT_CNO_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(cno_free, (DAT_CNO_HANDLE a),
     a == OBJECT)
SLOT(cno_wait, (DAT_CNO_HANDLE a, DAT_TIMEOUT b, DAT_EVD_HANDLE *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(cr_query, (DAT_CR_HANDLE a, DAT_CR_PARAM_MASK b, DAT_CR_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(cr_accept, (DAT_CR_HANDLE a, DAT_EP_HANDLE b, DAT_COUNT c, const DAT_PVOID d),
     a == OBJECT && b == PTR(2) && c == 3 && d == PTR(4))
#if UDAPL == 12
SLOT(cr_reject, (DAT_CR_HANDLE a),
     a == OBJECT)
#else
SLOT(cr_reject, (DAT_CR_HANDLE a, DAT_COUNT b, const DAT_PVOID c),
     a == OBJECT && b == 2 && c == PTR(3))
#endif
SLOT(cr_handoff, (DAT_CR_HANDLE a, DAT_CONN_QUAL b),
     a == OBJECT && b == 2)
SLOT(evd_create, (DAT_IA_HANDLE a, DAT_COUNT b, DAT_CNO_HANDLE c, DAT_EVD_FLAGS d,
     DAT_EVD_HANDLE *e),
     a == OBJECT && b == 2 && c == PTR(3) && d == 4 && e == PTR(5))
SLOT(evd_query, (DAT_EVD_HANDLE a, DAT_EVD_PARAM_MASK b, DAT_EVD_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(evd_modify_cno, (DAT_EVD_HANDLE a, DAT_CNO_HANDLE b),
     a == OBJECT && b == PTR(2))
SLOT(evd_enable, (DAT_EVD_HANDLE a),
     a == OBJECT)
SLOT(evd_disable, (DAT_EVD_HANDLE a),
     a == OBJECT)
SLOT(evd_wait, (DAT_EVD_HANDLE a, DAT_TIMEOUT b, DAT_COUNT c, DAT_EVENT *d, DAT_COUNT *e),
     a == OBJECT && b == 2 && c == 3 && d == PTR(4) && e == PTR(5))
SLOT(evd_resize, (DAT_EVD_HANDLE a, DAT_COUNT b),
     a == OBJECT && b == 2)
SLOT(evd_post_se, (DAT_EVD_HANDLE a, const DAT_EVENT *b),
     a == OBJECT && b == PTR(2))
SLOT(evd_dequeue, (DAT_EVD_HANDLE a, DAT_EVENT *b),
     a == OBJECT && b == PTR(2))
SLOT(evd_free, (DAT_EVD_HANDLE a),
     a == OBJECT)
SLOT(ep_create, (DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c, DAT_EVD_HANDLE d,
     DAT_EVD_HANDLE e, const DAT_EP_ATTR *f, DAT_EP_HANDLE *g),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == PTR(4) && e == PTR(5) &&
     f == PTR(6) && g == PTR(7))
SLOT(ep_query, (DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, DAT_EP_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(ep_modify, (DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, const DAT_EP_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(ep_connect, (DAT_EP_HANDLE a, DAT_IA_ADDRESS_PTR b, DAT_CONN_QUAL c, DAT_TIMEOUT d,
     DAT_COUNT e, const DAT_PVOID f, DAT_QOS g, DAT_CONNECT_FLAGS h),
     a == OBJECT && b == PTR(2) && c == 3 && d == 4 && e == 5 && f == PTR(6) && g == 7 &&
     h == 8)
SLOT(ep_dup_connect, (DAT_EP_HANDLE a, DAT_EP_HANDLE b, DAT_TIMEOUT c, DAT_COUNT d,
     const DAT_PVOID e, DAT_QOS f),
     a == OBJECT && b == PTR(2) && c == 3 && d == 4 && e == PTR(5) && f == 6)
SLOT(ep_disconnect, (DAT_EP_HANDLE a, DAT_CLOSE_FLAGS b),
     a == OBJECT && b == 2)
SLOT(ep_post_send, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
     DAT_COMPLETION_FLAGS e),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4 && e == 5)
SLOT(ep_post_recv, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
     DAT_COMPLETION_FLAGS e),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4 && e == 5)
SLOT(ep_post_rdma_read, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
     const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4 && e == PTR(5) && f == 6)
SLOT(ep_post_rdma_write, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c,
     DAT_DTO_COOKIE d, const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4 && e == PTR(5) && f == 6)
SLOT(ep_get_status, (DAT_EP_HANDLE a, DAT_EP_STATE *b, DAT_BOOLEAN *c, DAT_BOOLEAN *d),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == PTR(4))
SLOT(ep_free, (DAT_EP_HANDLE a),
     a == OBJECT)
#if UDAPL == 12
SLOT(lmr_create, (DAT_IA_HANDLE a, DAT_MEM_TYPE b, DAT_REGION_DESCRIPTION c, DAT_VLEN d,
     DAT_PZ_HANDLE e, DAT_MEM_PRIV_FLAGS f, DAT_LMR_HANDLE *g, DAT_LMR_CONTEXT *h,
     DAT_RMR_CONTEXT *i, DAT_VLEN *j, DAT_VADDR *k),
     a == OBJECT && b == 2 && c.for_va == PTR(3) && d == 4 && e == PTR(5) && f == 6 &&
     g == PTR(7) && h == PTR(8) && i == PTR(9) && j == PTR(10) && k == PTR(11))
#else
SLOT(lmr_create, (DAT_IA_HANDLE a, DAT_MEM_TYPE b, DAT_REGION_DESCRIPTION c, DAT_VLEN d,
     DAT_PZ_HANDLE e, DAT_MEM_PRIV_FLAGS f, DAT_VA_TYPE g, DAT_LMR_HANDLE *h, DAT_LMR_CONTEXT *i,
     DAT_RMR_CONTEXT *j, DAT_VLEN *k, DAT_VADDR *l),
     a == OBJECT && b == 2 && c.for_va == PTR(3) && d == 4 && e == PTR(5) && f == 6 && g == 7 &&
     h == PTR(8) && i == PTR(9) && j == PTR(10) && k == PTR(11) && l == PTR(12))
#endif
SLOT(lmr_query, (DAT_LMR_HANDLE a, DAT_LMR_PARAM_MASK b, DAT_LMR_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(lmr_free, (DAT_LMR_HANDLE a),
     a == OBJECT)
SLOT(rmr_create, (DAT_PZ_HANDLE a, DAT_RMR_HANDLE *b),
     a == OBJECT && b == PTR(2))
SLOT(rmr_query, (DAT_RMR_HANDLE a, DAT_RMR_PARAM_MASK b, DAT_RMR_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
#if UDAPL == 12
SLOT(rmr_bind, (DAT_RMR_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_MEM_PRIV_FLAGS c,
     DAT_EP_HANDLE d, DAT_RMR_COOKIE e, DAT_COMPLETION_FLAGS f, DAT_RMR_CONTEXT *g),
     a == OBJECT && b == PTR(2) && c == 3 && d == PTR(4) && e.as_64 == 5 && f == 6 &&
     g == PTR(7))
#else
SLOT(rmr_bind, (DAT_RMR_HANDLE a, DAT_LMR_HANDLE b, const DAT_LMR_TRIPLET *c, DAT_MEM_PRIV_FLAGS d,
     DAT_VA_TYPE e, DAT_EP_HANDLE f, DAT_RMR_COOKIE g, DAT_COMPLETION_FLAGS h, DAT_RMR_CONTEXT *i),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == 4 && e == 5 && f == PTR(6) &&
     g.as_64 == 7 && h == 8 && i == PTR(9))
#endif
SLOT(rmr_free, (DAT_RMR_HANDLE a),
     a == OBJECT)
SLOT(psp_create, (DAT_IA_HANDLE a, DAT_CONN_QUAL b, DAT_EVD_HANDLE c, DAT_PSP_FLAGS d,
     DAT_PSP_HANDLE *e),
     a == OBJECT && b == 2 && c == PTR(3) && d == 4 && e == PTR(5))
SLOT(psp_query, (DAT_PSP_HANDLE a, DAT_PSP_PARAM_MASK b, DAT_PSP_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(psp_free, (DAT_PSP_HANDLE a),
     a == OBJECT)
SLOT(rsp_create, (DAT_IA_HANDLE a, DAT_CONN_QUAL b, DAT_EP_HANDLE c, DAT_EVD_HANDLE d,
     DAT_RSP_HANDLE *e),
     a == OBJECT && b == 2 && c == PTR(3) && d == PTR(4) && e == PTR(5))
SLOT(rsp_query, (DAT_RSP_HANDLE a, DAT_RSP_PARAM_MASK b, DAT_RSP_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(rsp_free, (DAT_RSP_HANDLE a),
     a == OBJECT)
SLOT(pz_create, (DAT_IA_HANDLE a, DAT_PZ_HANDLE *b),
     a == OBJECT && b == PTR(2))
SLOT(pz_query, (DAT_PZ_HANDLE a, DAT_PZ_PARAM_MASK b, DAT_PZ_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(pz_free, (DAT_PZ_HANDLE a),
     a == OBJECT)
SLOT(psp_create_any, (DAT_IA_HANDLE a, DAT_CONN_QUAL *b, DAT_EVD_HANDLE c, DAT_PSP_FLAGS d,
     DAT_PSP_HANDLE *e),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == 4 && e == PTR(5))
SLOT(ep_reset, (DAT_EP_HANDLE a),
     a == OBJECT)
SLOT(evd_set_unwaitable, (DAT_EVD_HANDLE a),
     a == OBJECT)
SLOT(evd_clear_unwaitable, (DAT_EVD_HANDLE a),
     a == OBJECT)
SLOT(lmr_sync_rdma_read, (DAT_IA_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_VLEN c),
     a == OBJECT && b == PTR(2) && c == 3)
SLOT(lmr_sync_rdma_write, (DAT_IA_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_VLEN c),
     a == OBJECT && b == PTR(2) && c == 3)
SLOT(ep_create_with_srq, (DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c,
     DAT_EVD_HANDLE d, DAT_EVD_HANDLE e, DAT_SRQ_HANDLE f, const DAT_EP_ATTR *g,
     DAT_EP_HANDLE *h),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == PTR(4) && e == PTR(5) &&
     f == PTR(6) && g == PTR(7) && h == PTR(8))
SLOT(ep_recv_query, (DAT_EP_HANDLE a, DAT_COUNT *b, DAT_COUNT *c),
     a == OBJECT && b == PTR(2) && c == PTR(3))
SLOT(ep_set_watermark, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_COUNT c),
     a == OBJECT && b == 2 && c == 3)
SLOT(srq_create, (DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_SRQ_ATTR *c, DAT_SRQ_HANDLE *d),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == PTR(4))
SLOT(srq_free, (DAT_SRQ_HANDLE a),
     a == OBJECT)
SLOT(srq_post_recv, (DAT_SRQ_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4)
SLOT(srq_query, (DAT_SRQ_HANDLE a, DAT_SRQ_PARAM_MASK b, DAT_SRQ_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(srq_resize, (DAT_SRQ_HANDLE a, DAT_COUNT b),
     a == OBJECT && b == 2)
SLOT(srq_set_lw, (DAT_SRQ_HANDLE a, DAT_COUNT b),
     a == OBJECT && b == 2)

#if UDAPL == 20
SLOT(csp_create, (DAT_IA_HANDLE a, DAT_COMM *b, DAT_IA_ADDRESS_PTR c, DAT_EVD_HANDLE d,
     DAT_CSP_HANDLE *e),
     a == OBJECT && b == PTR(2) && c == PTR(3) && d == PTR(4) && e == PTR(5))
SLOT(csp_query, (DAT_CSP_HANDLE a, DAT_CSP_PARAM_MASK b, DAT_CSP_PARAM *c),
     a == OBJECT && b == 2 && c == PTR(3))
SLOT(csp_free, (DAT_CSP_HANDLE a),
     a == OBJECT)
SLOT(ep_common_connect, (DAT_EP_HANDLE a, DAT_IA_ADDRESS_PTR b, DAT_TIMEOUT c, DAT_COUNT d,
     const DAT_PVOID e),
     a == OBJECT && b == PTR(2) && c == 3 && d == 4 && e == PTR(5))
SLOT(rmr_create_for_ep, (DAT_PZ_HANDLE a, DAT_RMR_HANDLE *b),
     a == OBJECT && b == PTR(2))
SLOT(ep_post_send_with_invalidate, (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c,
     DAT_DTO_COOKIE d, DAT_COMPLETION_FLAGS e, DAT_BOOLEAN f, DAT_RMR_CONTEXT g),
     a == OBJECT && b == 2 && c == PTR(3) && d.as_64 == 4 && e == 5 && f == 6 && g == 7)
SLOT(ep_post_rdma_read_to_rmr, (DAT_EP_HANDLE a, const DAT_RMR_TRIPLET *b, DAT_DTO_COOKIE c,
     const DAT_RMR_TRIPLET *d, DAT_COMPLETION_FLAGS e),
     a == OBJECT && b == PTR(2) && c.as_64 == 3 && d == PTR(4) && e == 5)
SLOT(cno_fd_create, (DAT_IA_HANDLE a, DAT_FD *b, DAT_CNO_HANDLE *c),
     a == OBJECT && b == PTR(2) && c == PTR(3))
SLOT(cno_trigger, (DAT_CNO_HANDLE a, DAT_EVD_HANDLE *b),
     a == OBJECT && b == PTR(2))
SLOT(ia_ha_related, (DAT_IA_HANDLE a, const DAT_NAME_PTR b, DAT_BOOLEAN *c),
     a == OBJECT && b == PTR(2) && c == PTR(3))
SLOT(handle_extendedop, (DAT_HANDLE a, DAT_EXTENDED_OP b, va_list c),
     a == OBJECT && b == 2 && va_arg(c, void *) == PTR(3))

static DAT_RETURN extended(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
    DAT_RETURN answer;
    va_list args;

    va_start(args, op);
    answer = DAT_HANDLE_EXTENDEDOP(handle, op, args);
    va_end(args);
    return answer;
}
#endif

/*
 * Checks that a macro called the right function with the right arguments and returned its result.
 */
static void check(const char *slot, DAT_RETURN answer)
{
    ok(called != NULL && strcmp(called, slot) == 0 && answer == RIGHT,
       "%s: by macro: the slot is called, with the arguments in order", slot);
    called = NULL;
}

#define CHECK(slot, call) check(#slot, call)

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);

    table.ia_query_func = on_ia_query;
    table.set_consumer_context_func = on_set_consumer_context;
    table.get_consumer_context_func = on_get_consumer_context;
    table.get_handle_type_func = on_get_handle_type;
    table.cno_create_func = on_cno_create;
    table.cno_modify_agent_func = on_cno_modify_agent;
    table.cno_query_func = on_cno_query;
    table.cno_free_func = on_cno_free;
    table.cno_wait_func = on_cno_wait;
    table.cr_query_func = on_cr_query;
    table.cr_accept_func = on_cr_accept;
    table.cr_reject_func = on_cr_reject;
    table.cr_handoff_func = on_cr_handoff;
    table.evd_create_func = on_evd_create;
    table.evd_query_func = on_evd_query;
    table.evd_modify_cno_func = on_evd_modify_cno;
    table.evd_enable_func = on_evd_enable;
    table.evd_disable_func = on_evd_disable;
    table.evd_wait_func = on_evd_wait;
    table.evd_resize_func = on_evd_resize;
    table.evd_post_se_func = on_evd_post_se;
    table.evd_dequeue_func = on_evd_dequeue;
    table.evd_free_func = on_evd_free;
    table.ep_create_func = on_ep_create;
    table.ep_query_func = on_ep_query;
    table.ep_modify_func = on_ep_modify;
    table.ep_connect_func = on_ep_connect;
    table.ep_dup_connect_func = on_ep_dup_connect;
    table.ep_disconnect_func = on_ep_disconnect;
    table.ep_post_send_func = on_ep_post_send;
    table.ep_post_recv_func = on_ep_post_recv;
    table.ep_post_rdma_read_func = on_ep_post_rdma_read;
    table.ep_post_rdma_write_func = on_ep_post_rdma_write;
    table.ep_get_status_func = on_ep_get_status;
    table.ep_free_func = on_ep_free;
    table.lmr_create_func = on_lmr_create;
    table.lmr_query_func = on_lmr_query;
    table.lmr_free_func = on_lmr_free;
    table.rmr_create_func = on_rmr_create;
    table.rmr_query_func = on_rmr_query;
    table.rmr_bind_func = on_rmr_bind;
    table.rmr_free_func = on_rmr_free;
    table.psp_create_func = on_psp_create;
    table.psp_query_func = on_psp_query;
    table.psp_free_func = on_psp_free;
    table.rsp_create_func = on_rsp_create;
    table.rsp_query_func = on_rsp_query;
    table.rsp_free_func = on_rsp_free;
    table.pz_create_func = on_pz_create;
    table.pz_query_func = on_pz_query;
    table.pz_free_func = on_pz_free;
    table.psp_create_any_func = on_psp_create_any;
    table.ep_reset_func = on_ep_reset;
    table.evd_set_unwaitable_func = on_evd_set_unwaitable;
    table.evd_clear_unwaitable_func = on_evd_clear_unwaitable;
    table.lmr_sync_rdma_read_func = on_lmr_sync_rdma_read;
    table.lmr_sync_rdma_write_func = on_lmr_sync_rdma_write;
    table.ep_create_with_srq_func = on_ep_create_with_srq;
    table.ep_recv_query_func = on_ep_recv_query;
    table.ep_set_watermark_func = on_ep_set_watermark;
    table.srq_create_func = on_srq_create;
    table.srq_free_func = on_srq_free;
    table.srq_post_recv_func = on_srq_post_recv;
    table.srq_query_func = on_srq_query;
    table.srq_resize_func = on_srq_resize;
    table.srq_set_lw_func = on_srq_set_lw;
#if UDAPL == 20
    table.csp_create_func = on_csp_create;
    table.csp_query_func = on_csp_query;
    table.csp_free_func = on_csp_free;
    table.ep_common_connect_func = on_ep_common_connect;
    table.rmr_create_for_ep_func = on_rmr_create_for_ep;
    table.ep_post_send_with_invalidate_func = on_ep_post_send_with_invalidate;
    table.ep_post_rdma_read_to_rmr_func = on_ep_post_rdma_read_to_rmr;
    table.cno_fd_create_func = on_cno_fd_create;
    table.cno_trigger_func = on_cno_trigger;
    table.ia_ha_related_func = on_ia_ha_related;
    table.handle_extendedop_func = on_handle_extendedop;
#endif

    CHECK(ia_query, DAT_IA_QUERY(OBJECT, PTR(2), 3, PTR(4), 5, PTR(6)));
    CHECK(set_consumer_context, DAT_SET_CONSUMER_CONTEXT(OBJECT, word(2)));
    CHECK(get_consumer_context, DAT_GET_CONSUMER_CONTEXT(OBJECT, PTR(2)));
    CHECK(get_handle_type, DAT_GET_HANDLE_TYPE(OBJECT, PTR(2)));
    CHECK(cno_create, DAT_CNO_CREATE(OBJECT, agent(2), PTR(3)));
    CHECK(cno_modify_agent, DAT_CNO_MODIFY_AGENT(OBJECT, agent(2)));
    CHECK(cno_query, DAT_CNO_QUERY(OBJECT, 2, PTR(3)));
    CHECK(cno_free, DAT_CNO_FREE(OBJECT));
    CHECK(cno_wait, DAT_CNO_WAIT(OBJECT, 2, PTR(3)));
    CHECK(cr_query, DAT_CR_QUERY(OBJECT, 2, PTR(3)));
    CHECK(cr_accept, DAT_CR_ACCEPT(OBJECT, PTR(2), 3, PTR(4)));
#if UDAPL == 12
    CHECK(cr_reject, DAT_CR_REJECT(OBJECT));
#else
    CHECK(cr_reject, DAT_CR_REJECT(OBJECT, 2, PTR(3)));
#endif
    CHECK(cr_handoff, DAT_CR_HANDOFF(OBJECT, 2));
    CHECK(evd_create, DAT_EVD_CREATE(OBJECT, 2, PTR(3), 4, PTR(5)));
    CHECK(evd_query, DAT_EVD_QUERY(OBJECT, 2, PTR(3)));
    CHECK(evd_modify_cno, DAT_EVD_MODIFY_CNO(OBJECT, PTR(2)));
    CHECK(evd_enable, DAT_EVD_ENABLE(OBJECT));
    CHECK(evd_disable, DAT_EVD_DISABLE(OBJECT));
    CHECK(evd_wait, DAT_EVD_WAIT(OBJECT, 2, 3, PTR(4), PTR(5)));
    CHECK(evd_resize, DAT_EVD_RESIZE(OBJECT, 2));
    CHECK(evd_post_se, DAT_EVD_POST_SE(OBJECT, PTR(2)));
    CHECK(evd_dequeue, DAT_EVD_DEQUEUE(OBJECT, PTR(2)));
    CHECK(evd_free, DAT_EVD_FREE(OBJECT));
    CHECK(ep_create, DAT_EP_CREATE(OBJECT, PTR(2), PTR(3), PTR(4), PTR(5), PTR(6), PTR(7)));
    CHECK(ep_query, DAT_EP_QUERY(OBJECT, 2, PTR(3)));
    CHECK(ep_modify, DAT_EP_MODIFY(OBJECT, 2, PTR(3)));
    CHECK(ep_connect, DAT_EP_CONNECT(OBJECT, PTR(2), 3, 4, 5, PTR(6), 7, 8));
    CHECK(ep_dup_connect, DAT_EP_DUP_CONNECT(OBJECT, PTR(2), 3, 4, PTR(5), 6));
    CHECK(ep_disconnect, DAT_EP_DISCONNECT(OBJECT, 2));
    CHECK(ep_post_send, DAT_EP_POST_SEND(OBJECT, 2, PTR(3), word(4), 5));
    CHECK(ep_post_recv, DAT_EP_POST_RECV(OBJECT, 2, PTR(3), word(4), 5));
    CHECK(ep_post_rdma_read, DAT_EP_POST_RDMA_READ(OBJECT, 2, PTR(3), word(4), PTR(5), 6));
    CHECK(ep_post_rdma_write, DAT_EP_POST_RDMA_WRITE(OBJECT, 2, PTR(3), word(4), PTR(5),
          6));
    CHECK(ep_get_status, DAT_EP_GET_STATUS(OBJECT, PTR(2), PTR(3), PTR(4)));
    CHECK(ep_free, DAT_EP_FREE(OBJECT));
#if UDAPL == 12
    CHECK(lmr_create, DAT_LMR_CREATE(OBJECT, 2, region(3), 4, PTR(5), 6, PTR(7), PTR(8),
          PTR(9), PTR(10), PTR(11)));
#else
    CHECK(lmr_create, DAT_LMR_CREATE(OBJECT, 2, region(3), 4, PTR(5), 6, 7, PTR(8), PTR(9),
          PTR(10), PTR(11), PTR(12)));
#endif
    CHECK(lmr_query, DAT_LMR_QUERY(OBJECT, 2, PTR(3)));
    CHECK(lmr_free, DAT_LMR_FREE(OBJECT));
    CHECK(rmr_create, DAT_RMR_CREATE(OBJECT, PTR(2)));
    CHECK(rmr_query, DAT_RMR_QUERY(OBJECT, 2, PTR(3)));
#if UDAPL == 12
    CHECK(rmr_bind, DAT_RMR_BIND(OBJECT, PTR(2), 3, PTR(4), word(5), 6, PTR(7)));
#else
    CHECK(rmr_bind, DAT_RMR_BIND(OBJECT, PTR(2), PTR(3), 4, 5, PTR(6), word(7), 8, PTR(9)));
#endif
    CHECK(rmr_free, DAT_RMR_FREE(OBJECT));
    CHECK(psp_create, DAT_PSP_CREATE(OBJECT, 2, PTR(3), 4, PTR(5)));
    CHECK(psp_query, DAT_PSP_QUERY(OBJECT, 2, PTR(3)));
    CHECK(psp_free, DAT_PSP_FREE(OBJECT));
    CHECK(rsp_create, DAT_RSP_CREATE(OBJECT, 2, PTR(3), PTR(4), PTR(5)));
    CHECK(rsp_query, DAT_RSP_QUERY(OBJECT, 2, PTR(3)));
    CHECK(rsp_free, DAT_RSP_FREE(OBJECT));
    CHECK(pz_create, DAT_PZ_CREATE(OBJECT, PTR(2)));
    CHECK(pz_query, DAT_PZ_QUERY(OBJECT, 2, PTR(3)));
    CHECK(pz_free, DAT_PZ_FREE(OBJECT));
    CHECK(psp_create_any, DAT_PSP_CREATE_ANY(OBJECT, PTR(2), PTR(3), 4, PTR(5)));
    CHECK(ep_reset, DAT_EP_RESET(OBJECT));
    CHECK(evd_set_unwaitable, DAT_EVD_SET_UNWAITABLE(OBJECT));
    CHECK(evd_clear_unwaitable, DAT_EVD_CLEAR_UNWAITABLE(OBJECT));
    CHECK(lmr_sync_rdma_read, DAT_LMR_SYNC_RDMA_READ(OBJECT, PTR(2), 3));
    CHECK(lmr_sync_rdma_write, DAT_LMR_SYNC_RDMA_WRITE(OBJECT, PTR(2), 3));
    CHECK(ep_create_with_srq, DAT_EP_CREATE_WITH_SRQ(OBJECT, PTR(2), PTR(3), PTR(4), PTR(5),
          PTR(6), PTR(7), PTR(8)));
    CHECK(ep_recv_query, DAT_EP_RECV_QUERY(OBJECT, PTR(2), PTR(3)));
    CHECK(ep_set_watermark, DAT_EP_SET_WATERMARK(OBJECT, 2, 3));
    CHECK(srq_create, DAT_SRQ_CREATE(OBJECT, PTR(2), PTR(3), PTR(4)));
    CHECK(srq_free, DAT_SRQ_FREE(OBJECT));
    CHECK(srq_post_recv, DAT_SRQ_POST_RECV(OBJECT, 2, PTR(3), word(4)));
    CHECK(srq_query, DAT_SRQ_QUERY(OBJECT, 2, PTR(3)));
    CHECK(srq_resize, DAT_SRQ_RESIZE(OBJECT, 2));
    CHECK(srq_set_lw, DAT_SRQ_SET_LW(OBJECT, 2));
#if UDAPL == 20
    CHECK(csp_create, DAT_CSP_CREATE(OBJECT, PTR(2), PTR(3), PTR(4), PTR(5)));
    CHECK(csp_query, DAT_CSP_QUERY(OBJECT, 2, PTR(3)));
    CHECK(csp_free, DAT_CSP_FREE(OBJECT));
    CHECK(ep_common_connect, DAT_EP_COMMON_CONNECT(OBJECT, PTR(2), 3, 4, PTR(5)));
    CHECK(rmr_create_for_ep, DAT_RMR_CREATE_FOR_EP(OBJECT, PTR(2)));
    CHECK(ep_post_send_with_invalidate,
          DAT_EP_POST_SEND_WITH_INVALIDATE(OBJECT, 2, PTR(3), word(4), 5, 6, 7));
    CHECK(ep_post_rdma_read_to_rmr,
          DAT_EP_POST_RDMA_READ_TO_RMR(OBJECT, PTR(2), word(3), PTR(4), 5));
    CHECK(cno_fd_create, DAT_CNO_FD_CREATE(OBJECT, PTR(2), PTR(3)));
    CHECK(cno_trigger, DAT_CNO_TRIGGER(OBJECT, PTR(2)));
    CHECK(ia_ha_related, DAT_IA_HA_RELATED(OBJECT, PTR(2), PTR(3)));
    CHECK(handle_extendedop, extended(OBJECT, 2, PTR(3)));
#endif
    return done_testing();
}
