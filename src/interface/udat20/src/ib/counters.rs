//! Counters
//!
//! Counters that this project does not maintain are 0.

c_enum_with_names! {
    /// Counters of an interface adapter.
    dat_ia_counters as DAT_IA_COUNTERS;
    DCNT_IA_PZ_CREATE = 0, "Counter of pz create.";
    DCNT_IA_PZ_FREE = 1, "Counter of pz free.";
    DCNT_IA_LMR_CREATE = 2, "Counter of lmr create.";
    DCNT_IA_LMR_FREE = 3, "Counter of lmr free.";
    DCNT_IA_RMR_CREATE = 4, "Counter of rmr create.";
    DCNT_IA_RMR_FREE = 5, "Counter of rmr free.";
    DCNT_IA_PSP_CREATE = 6, "Counter of psp create.";
    DCNT_IA_PSP_CREATE_ANY = 7, "Counter of psp create any.";
    DCNT_IA_PSP_FREE = 8, "Counter of psp free.";
    DCNT_IA_RSP_CREATE = 9, "Counter of rsp create.";
    DCNT_IA_RSP_FREE = 10, "Counter of rsp free.";
    DCNT_IA_EVD_CREATE = 11, "Counter of evd create.";
    DCNT_IA_EVD_FREE = 12, "Counter of evd free.";
    DCNT_IA_EP_CREATE = 13, "Counter of ep create.";
    DCNT_IA_EP_FREE = 14, "Counter of ep free.";
    DCNT_IA_SRQ_CREATE = 15, "Counter of srq create.";
    DCNT_IA_SRQ_FREE = 16, "Counter of srq free.";
    DCNT_IA_SP_CR = 17, "Counter of sp cr.";
    DCNT_IA_SP_CR_ACCEPTED = 18, "Counter of sp cr accepted.";
    DCNT_IA_SP_CR_REJECTED = 19, "Counter of sp cr rejected.";
    DCNT_IA_MEM_ALLOC = 20, "Counter of mem alloc.";
    DCNT_IA_MEM_ALLOC_DATA = 21, "Counter of mem alloc data.";
    DCNT_IA_MEM_FREE = 22, "Counter of mem free.";
    DCNT_IA_ASYNC_ERROR = 23, "Counter of async error.";
    DCNT_IA_ASYNC_QP_ERROR = 24, "Counter of async qp error.";
    DCNT_IA_ASYNC_CQ_ERROR = 25, "Counter of async cq error.";
    DCNT_IA_CM_LISTEN = 26, "Counter of cm listen.";
    DCNT_IA_CM_REQ_TX = 27, "Counter of cm req tx.";
    DCNT_IA_CM_REQ_RX = 28, "Counter of cm req rx.";
    DCNT_IA_CM_REP_TX = 29, "Counter of cm rep tx.";
    DCNT_IA_CM_REP_RX = 30, "Counter of cm rep rx.";
    DCNT_IA_CM_RTU_TX = 31, "Counter of cm rtu tx.";
    DCNT_IA_CM_RTU_RX = 32, "Counter of cm rtu rx.";
    DCNT_IA_CM_USER_REJ_TX = 33, "Counter of cm user rej tx.";
    DCNT_IA_CM_USER_REJ_RX = 34, "Counter of cm user rej rx.";
    DCNT_IA_CM_ACTIVE_EST = 35, "Counter of cm active est.";
    DCNT_IA_CM_PASSIVE_EST = 36, "Counter of cm passive est.";
    DCNT_IA_CM_AH_REQ_TX = 37, "Counter of cm ah req tx.";
    DCNT_IA_CM_AH_REQ_RX = 38, "Counter of cm ah req rx.";
    DCNT_IA_CM_AH_RESOLVED = 39, "Counter of cm ah resolved.";
    DCNT_IA_CM_DREQ_TX = 40, "Counter of cm dreq tx.";
    DCNT_IA_CM_DREQ_RX = 41, "Counter of cm dreq rx.";
    DCNT_IA_CM_DREP_TX = 42, "Counter of cm drep tx.";
    DCNT_IA_CM_DREP_RX = 43, "Counter of cm drep rx.";
    DCNT_IA_CM_MRA_TX = 44, "Counter of cm mra tx.";
    DCNT_IA_CM_MRA_RX = 45, "Counter of cm mra rx.";
    DCNT_IA_CM_REQ_FULLQ_POLL = 46, "Counter of cm req fullq poll.";
    DCNT_IA_CM_ERR = 47, "Counter of cm err.";
    DCNT_IA_CM_ERR_REQ_FULLQ = 48, "Counter of cm err req fullq.";
    DCNT_IA_CM_ERR_REQ_DUP = 49, "Counter of cm err req dup.";
    DCNT_IA_CM_ERR_REQ_RETRY = 50, "Counter of cm err req retry.";
    DCNT_IA_CM_ERR_REP_DUP = 51, "Counter of cm err rep dup.";
    DCNT_IA_CM_ERR_REP_RETRY = 52, "Counter of cm err rep retry.";
    DCNT_IA_CM_ERR_RTU_DUP = 53, "Counter of cm err rtu dup.";
    DCNT_IA_CM_ERR_RTU_RETRY = 54, "Counter of cm err rtu retry.";
    DCNT_IA_CM_ERR_REFUSED = 55, "Counter of cm err refused.";
    DCNT_IA_CM_ERR_RESET = 56, "Counter of cm err reset.";
    DCNT_IA_CM_ERR_TIMEOUT = 57, "Counter of cm err timeout.";
    DCNT_IA_CM_ERR_REJ_TX = 58, "Counter of cm err rej tx.";
    DCNT_IA_CM_ERR_REJ_RX = 59, "Counter of cm err rej rx.";
    DCNT_IA_CM_ERR_DREQ_DUP = 60, "Counter of cm err dreq dup.";
    DCNT_IA_CM_ERR_DREQ_RETRY = 61, "Counter of cm err dreq retry.";
    DCNT_IA_CM_ERR_DREP_DUP = 62, "Counter of cm err drep dup.";
    DCNT_IA_CM_ERR_DREP_RETRY = 63, "Counter of cm err drep retry.";
    DCNT_IA_CM_ERR_MRA_DUP = 64, "Counter of cm err mra dup.";
    DCNT_IA_CM_ERR_MRA_RETRY = 65, "Counter of cm err mra retry.";
    DCNT_IA_CM_ERR_UNEXPECTED = 66, "Counter of cm err unexpected.";
    DCNT_IA_LNK_ERR_RCV = 67, "Counter of lnk err rcv.";
    DCNT_IA_LNK_ERR_RCV_REM_PHYS = 68, "Counter of lnk err rcv rem phys.";
    DCNT_IA_LNK_ERR_RCV_CONSTRAINT = 69, "Counter of lnk err rcv constraint.";
    DCNT_IA_LNK_ERR_XMT_DISCARDS = 70, "Counter of lnk err xmt discards.";
    DCNT_IA_LNK_ERR_XMT_CONTRAINT = 71, "Counter of lnk err xmt contraint.";
    DCNT_IA_LNK_ERR_INTEGRITY = 72, "Counter of lnk err integrity.";
    DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN = 73, "Counter of lnk err exc buf overrun.";
    DCNT_IA_LNK_WARN_RCV_SW_RELAY = 74, "Counter of lnk warn rcv sw relay.";
    DCNT_IA_LNK_WARN_XMT_WAIT = 75, "Counter of lnk warn xmt wait.";
    DCNT_IA_DIAG_ERR_RQ_RAE = 76, "Counter of diag err rq rae.";
    DCNT_IA_DIAG_ERR_RQ_OOS = 77, "Counter of diag err rq oos.";
    DCNT_IA_DIAG_ERR_RQ_RIRE = 78, "Counter of diag err rq rire.";
    DCNT_IA_DIAG_ERR_RQ_UDSDPRD = 79, "Counter of diag err rq udsdprd.";
    DCNT_IA_DIAG_ERR_SQ_RAE = 80, "Counter of diag err sq rae.";
    DCNT_IA_DIAG_ERR_SQ_OOS = 81, "Counter of diag err sq oos.";
    DCNT_IA_DIAG_ERR_SQ_RIRE = 82, "Counter of diag err sq rire.";
    DCNT_IA_DIAG_ERR_SQ_RREE = 83, "Counter of diag err sq rree.";
    DCNT_IA_DIAG_ERR_SQ_TREE = 84, "Counter of diag err sq tree.";
    DCNT_IA_ALL_COUNTERS = 85, "All of them.";
}

c_enum_with_names! {
    /// Counters of an endpoint.
    dat_ep_counters as DAT_EP_COUNTERS;
    DCNT_EP_CONNECT = 0, "Counter of connect.";
    DCNT_EP_DISCONNECT = 1, "Counter of disconnect.";
    DCNT_EP_POST_SEND = 2, "Counter of post send.";
    DCNT_EP_POST_SEND_DATA = 3, "Counter of post send data.";
    DCNT_EP_POST_SEND_UD = 4, "Counter of post send ud.";
    DCNT_EP_POST_SEND_UD_DATA = 5, "Counter of post send ud data.";
    DCNT_EP_POST_RECV = 6, "Counter of post recv.";
    DCNT_EP_POST_RECV_DATA = 7, "Counter of post recv data.";
    DCNT_EP_POST_WRITE = 8, "Counter of post write.";
    DCNT_EP_POST_WRITE_DATA = 9, "Counter of post write data.";
    DCNT_EP_POST_WRITE_IMM = 10, "Counter of post write imm.";
    DCNT_EP_POST_WRITE_IMM_DATA = 11, "Counter of post write imm data.";
    DCNT_EP_POST_READ = 12, "Counter of post read.";
    DCNT_EP_POST_READ_DATA = 13, "Counter of post read data.";
    DCNT_EP_POST_CMP_SWAP = 14, "Counter of post cmp swap.";
    DCNT_EP_POST_FETCH_ADD = 15, "Counter of post fetch add.";
    DCNT_EP_RECV = 16, "Counter of recv.";
    DCNT_EP_RECV_DATA = 17, "Counter of recv data.";
    DCNT_EP_RECV_UD = 18, "Counter of recv ud.";
    DCNT_EP_RECV_UD_DATA = 19, "Counter of recv ud data.";
    DCNT_EP_RECV_IMM = 20, "Counter of recv imm.";
    DCNT_EP_RECV_IMM_DATA = 21, "Counter of recv imm data.";
    DCNT_EP_RECV_RDMA_IMM = 22, "Counter of recv rdma imm.";
    DCNT_EP_RECV_RDMA_IMM_DATA = 23, "Counter of recv rdma imm data.";
    DCNT_EP_ALL_COUNTERS = 24, "All of them.";
}

c_enum_with_names! {
    /// Counters of an event dispatcher.
    dat_evd_counters as DAT_EVD_COUNTERS;
    DCNT_EVD_WAIT = 0, "Counter of wait.";
    DCNT_EVD_WAIT_BLOCKED = 1, "Counter of wait blocked.";
    DCNT_EVD_WAIT_NOTIFY = 2, "Counter of wait notify.";
    DCNT_EVD_DEQUEUE = 3, "Counter of dequeue.";
    DCNT_EVD_DEQUEUE_FOUND = 4, "Counter of dequeue found.";
    DCNT_EVD_DEQUEUE_NOT_FOUND = 5, "Counter of dequeue not found.";
    DCNT_EVD_DEQUEUE_POLL = 6, "Counter of dequeue poll.";
    DCNT_EVD_DEQUEUE_POLL_FOUND = 7, "Counter of dequeue poll found.";
    DCNT_EVD_CONN_CALLBACK = 8, "Counter of conn callback.";
    DCNT_EVD_DTO_CALLBACK = 9, "Counter of dto callback.";
    DCNT_EVD_ALL_COUNTERS = 10, "All of them.";
}

c_enum! {
    /// Groups of counters of an interface adapter.
    dat_ia_counter_type as DAT_IA_COUNTER_TYPE;
    DCNT_IA_CM = 0, "Those of connections.";
    DCNT_IA_LNK = 1, "Those of the link.";
    DCNT_IA_DIAG = 2, "Those of the device.";
}
