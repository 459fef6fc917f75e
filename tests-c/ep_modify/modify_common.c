#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Defines the functions of a field that can have the values x and y. */
#define NUMBER(name, member, x, y)                                                               \
    static void name##_another(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v) \
    {                                                                                            \
        (void)v;                                                                                 \
        p->member = now->member == (x) ? (y) : (x);                                              \
    }                                                                                            \
    SAME(name, member)

/* Defines the functions of a field that can have the two handles of an array in struct values. */
#define HANDLE(name, member, two)                                                                \
    static void name##_another(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v) \
    {                                                                                            \
        p->member = now->member == v->two[0] ? v->two[1] : v->two[0];                            \
    }                                                                                            \
    SAME(name, member)

/* Defines the functions of a field with one valid value. */
#define ONE(name, member, value)                                                                 \
    static void name##_another(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v) \
    {                                                                                            \
        (void)now;                                                                               \
        (void)v;                                                                                 \
        p->member = (value);                                                                     \
    }                                                                                            \
    SAME(name, member)

#define SAME(name, member)                                                 \
    static bool name##_same(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b)  \
    {                                                                      \
        return a->member == b->member;                                     \
    }

static struct sockaddr_storage somewhere;

ONE(ia, ia_handle, v->ia)
ONE(state, ep_state, DAT_EP_STATE_UNCONNECTED)
#if UDAPL == 20

static void communicator_another(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v)
{
    (void)v;
    p->comm.domain = AF_INET;
    p->comm.type = SOCK_STREAM;
    p->comm.protocol = now->comm.protocol == IPPROTO_TCP ? 0 : IPPROTO_TCP;
}

static bool communicator_same(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b)
{
    return memcmp(&a->comm, &b->comm, sizeof a->comm) == 0;
}

#endif

ONE(local_address, local_ia_address_ptr, (DAT_IA_ADDRESS_PTR)&somewhere)
ONE(local_port, local_port_qual, 4711)
ONE(remote_address, remote_ia_address_ptr, (DAT_IA_ADDRESS_PTR)&somewhere)
ONE(remote_port, remote_port_qual, 4711)
HANDLE(pz, pz_handle, pz)
HANDLE(recv_evd, recv_evd_handle, recv)
HANDLE(request_evd, request_evd_handle, request)
HANDLE(connect_evd, connect_evd_handle, connect)
ONE(srq, srq_handle, v->srq)
ONE(service_type, ep_attr.service_type, DAT_SERVICE_TYPE_RC)
NUMBER(message_size, ep_attr.max_message_size, 4096, 8192)
NUMBER(rdma_size, ep_attr.max_rdma_size, 4096, 8192)
ONE(qos, ep_attr.qos, DAT_QOS_BEST_EFFORT)
NUMBER(recv_flags, ep_attr.recv_completion_flags, DAT_COMPLETION_EVD_THRESHOLD_FLAG,
       DAT_COMPLETION_UNSIGNALLED_FLAG)
NUMBER(request_flags, ep_attr.request_completion_flags, DAT_COMPLETION_EVD_THRESHOLD_FLAG,
       DAT_COMPLETION_UNSIGNALLED_FLAG)
NUMBER(recv_dtos, ep_attr.max_recv_dtos, 8, 12)
NUMBER(request_dtos, ep_attr.max_request_dtos, 8, 12)
NUMBER(recv_iov, ep_attr.max_recv_iov, 2, 3)
NUMBER(request_iov, ep_attr.max_request_iov, 2, 3)
NUMBER(read_in, ep_attr.max_rdma_read_in, 1, 2)
NUMBER(read_out, ep_attr.max_rdma_read_out, 1, 2)
ONE(soft_hw, ep_attr.srq_soft_hw, 3)
NUMBER(read_iov, ep_attr.max_rdma_read_iov, read_iov_at_most(2), read_iov_at_most(3))
NUMBER(write_iov, ep_attr.max_rdma_write_iov, 2, 3)
ONE(transport_count, ep_attr.ep_transport_specific_count, 0)
ONE(transport, ep_attr.ep_transport_specific, NULL)
ONE(provider_count, ep_attr.ep_provider_specific_count, 0)
ONE(provider, ep_attr.ep_provider_specific, NULL)

#define FIELD(title, bit, states, name) \
    { title, #bit, DAT_EP_FIELD_##bit, states, name##_another, name##_same }

/* clang-format off */
const struct field fields[] = {
    FIELD("Interface Adapter",                        IA_HANDLE,                        "PPPPPPPPP", ia),
    FIELD("Endpoint State",                           EP_STATE,                         "PPPPPPPPP", state),
#if UDAPL == 20
    FIELD("Communicator",                             COMM,                             "ASSSSSSSS", communicator),
#endif
    FIELD("Local IA Address",                         LOCAL_IA_ADDRESS_PTR,             "PPPPPPPPP", local_address),
    FIELD("Local Port Qualifier",                     LOCAL_PORT_QUAL,                  "PPPPPPPPP", local_port),
    FIELD("Remote IA Address",                        REMOTE_IA_ADDRESS_PTR,            "PPPPPPPPP", remote_address),
    FIELD("Remote Port Qualifier",                    REMOTE_PORT_QUAL,                 "PPPPPPPPP", remote_port),
    FIELD("Protection Zone",                          PZ_HANDLE,                        "ASSSASSSS", pz),
    FIELD("In DTO Event Dispatcher",                  RECV_EVD_HANDLE,                  "AAASASSSS", recv_evd),
    FIELD("Out DTO Event Dispatcher",                 REQUEST_EVD_HANDLE,               "AAASASSSS", request_evd),
    FIELD("Connection Event Dispatcher",              CONNECT_EVD_HANDLE,               "AAASASSSS", connect_evd),
    FIELD("shared receive queue",                     SRQ_HANDLE,                       "PPPPPPPPP", srq),
    FIELD("Service Type",                             EP_ATTR_SERVICE_TYPE,             "AAASASSSS", service_type),
    FIELD("Maximum Message Size",                     EP_ATTR_MAX_MESSAGE_SIZE,         "AAASASSSS", message_size),
    FIELD("Maximum RDMA Size",                        EP_ATTR_MAX_RDMA_SIZE,            "AAASASSSS", rdma_size),
    FIELD("Quality of Service",                       EP_ATTR_QOS,                      "AAASASSSS", qos),
    FIELD("Recv Completion Flags",                    EP_ATTR_RECV_COMPLETION_FLAGS,    "AAASASSSS", recv_flags),
    FIELD("Request Completion Flags",                 EP_ATTR_REQUEST_COMPLETION_FLAGS, "AAASASSSS", request_flags),
    FIELD("Maximum Recv DTO",                         EP_ATTR_MAX_RECV_DTOS,            "AAASASSSS", recv_dtos),
    FIELD("Maximum Request DTO",                      EP_ATTR_MAX_REQUEST_DTOS,         "AAASASSSS", request_dtos),
    FIELD("Maximum Recv IOV",                         EP_ATTR_MAX_RECV_IOV,             "AAASASSSS", recv_iov),
    FIELD("Maximum Request IOV",                      EP_ATTR_MAX_REQUEST_IOV,          "AAASASSSS", request_iov),
    FIELD("Maximum outstanding RDMA Read, target",    EP_ATTR_MAX_RDMA_READ_IN,         "AAASASSSS", read_in),
    FIELD("Maximum outstanding RDMA Read, originator", EP_ATTR_MAX_RDMA_READ_OUT,       "AAASASSSS", read_out),
    FIELD("soft high watermark",                      EP_ATTR_SRQ_SOFT_HW,              "PPPPPPPPP", soft_hw),
    FIELD("Maximum RDMA Read IOV",                    EP_ATTR_MAX_RDMA_READ_IOV,        "AAASASSSS", read_iov),
    FIELD("Maximum RDMA Write IOV",                   EP_ATTR_MAX_RDMA_WRITE_IOV,       "AAASASSSS", write_iov),
    FIELD("Num transport-specific attributes",        EP_ATTR_NUM_TRANSPORT_ATTR,       "ASSSSSSSS", transport_count),
    FIELD("Transport-specific endpoint attributes",   EP_ATTR_TRANSPORT_SPECIFIC_ATTR,  "ASSSSSSSS", transport),
    FIELD("Num provider-specific attributes",         EP_ATTR_NUM_PROVIDER_ATTR,        "ASSSSSSSS", provider_count),
    FIELD("Provider-specific endpoint attributes",    EP_ATTR_PROVIDER_SPECIFIC_ATTR,   "ASSSSSSSS", provider),
};
/* clang-format on */

const int field_count = (int)(sizeof fields / sizeof fields[0]);

char letter_unchanged(const struct field *f, int s)
{
    /* It cannot change, but is among the attributes, which a program can pass as a whole. */
    if (f->bit == DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW)
        return "AAASASSSS"[s];
    return f->in[s];
}

DAT_EP_PARAM_MASK fields_unchanged(int s, char letter)
{
    DAT_EP_PARAM_MASK mask = 0;

    for (int i = 0; i < field_count; i++)
        if (letter_unchanged(&fields[i], s) == letter)
            mask |= fields[i].bit;
    return mask;
}

void values_make(struct values *v, struct fx *fx)
{
    DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };

    memset(v, 0, sizeof *v);
    v->ia = fx->ia;
    for (int i = 0; i < 2; i++) {
        must_rc(dat_pz_create(fx->ia, &v->pz[i]), DAT_SUCCESS, "dat_pz_create");
        v->recv[i] = fx_evd(fx, 64, DAT_EVD_DTO_FLAG);
        v->request[i] = fx_evd(fx, 64, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
        v->connect[i] = fx_evd(fx, 8, DAT_EVD_CONNECTION_FLAG);
    }
    must_rc(dat_srq_create(fx->ia, v->pz[0], &attr, &v->srq), DAT_SUCCESS, "dat_srq_create");
}

DAT_EP_PARAM ep_param(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM p;

    memset((void *)&p, 0, sizeof p);
    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    return p;
}

bool params_same(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b)
{
    bool same = true;

    for (int i = 0; i < field_count; i++)
        if (!fields[i].same(a, b)) {
            diag("  %s is not what it was", fields[i].bit_name);
            same = false;
        }
    return same;
}

bool is_same(DAT_EP_HANDLE ep, const DAT_EP_PARAM *before, const char *fmt, ...)
{
    DAT_EP_PARAM now = ep_param(ep);
    char name[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return ok(params_same(before, &now), "%s", name);
}

void param_rubbish(DAT_EP_PARAM *p)
{
    memset((void *)p, 0xa5, sizeof *p);
}
