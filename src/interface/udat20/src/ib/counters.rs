//! Counters
//!
//! Counters that this project does not maintain are 0.

use dat_udat::names::c_enum;

/// Counters of an interface adapter.
pub type DAT_IA_COUNTERS = c_enum;

named! {
    DAT_IA_COUNTERS;
    pub const DCNT_IA_PZ_CREATE: DAT_IA_COUNTERS = 0;
    pub const DCNT_IA_PZ_FREE: DAT_IA_COUNTERS = 1;
    pub const DCNT_IA_LMR_CREATE: DAT_IA_COUNTERS = 2;
    pub const DCNT_IA_LMR_FREE: DAT_IA_COUNTERS = 3;
    pub const DCNT_IA_RMR_CREATE: DAT_IA_COUNTERS = 4;
    pub const DCNT_IA_RMR_FREE: DAT_IA_COUNTERS = 5;
    pub const DCNT_IA_PSP_CREATE: DAT_IA_COUNTERS = 6;
    pub const DCNT_IA_PSP_CREATE_ANY: DAT_IA_COUNTERS = 7;
    pub const DCNT_IA_PSP_FREE: DAT_IA_COUNTERS = 8;
    pub const DCNT_IA_RSP_CREATE: DAT_IA_COUNTERS = 9;
    pub const DCNT_IA_RSP_FREE: DAT_IA_COUNTERS = 10;
    pub const DCNT_IA_EVD_CREATE: DAT_IA_COUNTERS = 11;
    pub const DCNT_IA_EVD_FREE: DAT_IA_COUNTERS = 12;
    pub const DCNT_IA_EP_CREATE: DAT_IA_COUNTERS = 13;
    pub const DCNT_IA_EP_FREE: DAT_IA_COUNTERS = 14;
    pub const DCNT_IA_SRQ_CREATE: DAT_IA_COUNTERS = 15;
    pub const DCNT_IA_SRQ_FREE: DAT_IA_COUNTERS = 16;
    pub const DCNT_IA_SP_CR: DAT_IA_COUNTERS = 17;
    pub const DCNT_IA_SP_CR_ACCEPTED: DAT_IA_COUNTERS = 18;
    pub const DCNT_IA_SP_CR_REJECTED: DAT_IA_COUNTERS = 19;
    pub const DCNT_IA_MEM_ALLOC: DAT_IA_COUNTERS = 20;
    pub const DCNT_IA_MEM_ALLOC_DATA: DAT_IA_COUNTERS = 21;
    pub const DCNT_IA_MEM_FREE: DAT_IA_COUNTERS = 22;
    pub const DCNT_IA_ASYNC_ERROR: DAT_IA_COUNTERS = 23;
    pub const DCNT_IA_ASYNC_QP_ERROR: DAT_IA_COUNTERS = 24;
    pub const DCNT_IA_ASYNC_CQ_ERROR: DAT_IA_COUNTERS = 25;
    pub const DCNT_IA_CM_LISTEN: DAT_IA_COUNTERS = 26;
    pub const DCNT_IA_CM_REQ_TX: DAT_IA_COUNTERS = 27;
    pub const DCNT_IA_CM_REQ_RX: DAT_IA_COUNTERS = 28;
    pub const DCNT_IA_CM_REP_TX: DAT_IA_COUNTERS = 29;
    pub const DCNT_IA_CM_REP_RX: DAT_IA_COUNTERS = 30;
    pub const DCNT_IA_CM_RTU_TX: DAT_IA_COUNTERS = 31;
    pub const DCNT_IA_CM_RTU_RX: DAT_IA_COUNTERS = 32;
    pub const DCNT_IA_CM_USER_REJ_TX: DAT_IA_COUNTERS = 33;
    pub const DCNT_IA_CM_USER_REJ_RX: DAT_IA_COUNTERS = 34;
    pub const DCNT_IA_CM_ACTIVE_EST: DAT_IA_COUNTERS = 35;
    pub const DCNT_IA_CM_PASSIVE_EST: DAT_IA_COUNTERS = 36;
    pub const DCNT_IA_CM_AH_REQ_TX: DAT_IA_COUNTERS = 37;
    pub const DCNT_IA_CM_AH_REQ_RX: DAT_IA_COUNTERS = 38;
    pub const DCNT_IA_CM_AH_RESOLVED: DAT_IA_COUNTERS = 39;
    pub const DCNT_IA_CM_DREQ_TX: DAT_IA_COUNTERS = 40;
    pub const DCNT_IA_CM_DREQ_RX: DAT_IA_COUNTERS = 41;
    pub const DCNT_IA_CM_DREP_TX: DAT_IA_COUNTERS = 42;
    pub const DCNT_IA_CM_DREP_RX: DAT_IA_COUNTERS = 43;
    pub const DCNT_IA_CM_MRA_TX: DAT_IA_COUNTERS = 44;
    pub const DCNT_IA_CM_MRA_RX: DAT_IA_COUNTERS = 45;
    pub const DCNT_IA_CM_REQ_FULLQ_POLL: DAT_IA_COUNTERS = 46;
    pub const DCNT_IA_CM_ERR: DAT_IA_COUNTERS = 47;
    pub const DCNT_IA_CM_ERR_REQ_FULLQ: DAT_IA_COUNTERS = 48;
    pub const DCNT_IA_CM_ERR_REQ_DUP: DAT_IA_COUNTERS = 49;
    pub const DCNT_IA_CM_ERR_REQ_RETRY: DAT_IA_COUNTERS = 50;
    pub const DCNT_IA_CM_ERR_REP_DUP: DAT_IA_COUNTERS = 51;
    pub const DCNT_IA_CM_ERR_REP_RETRY: DAT_IA_COUNTERS = 52;
    pub const DCNT_IA_CM_ERR_RTU_DUP: DAT_IA_COUNTERS = 53;
    pub const DCNT_IA_CM_ERR_RTU_RETRY: DAT_IA_COUNTERS = 54;
    pub const DCNT_IA_CM_ERR_REFUSED: DAT_IA_COUNTERS = 55;
    pub const DCNT_IA_CM_ERR_RESET: DAT_IA_COUNTERS = 56;
    pub const DCNT_IA_CM_ERR_TIMEOUT: DAT_IA_COUNTERS = 57;
    pub const DCNT_IA_CM_ERR_REJ_TX: DAT_IA_COUNTERS = 58;
    pub const DCNT_IA_CM_ERR_REJ_RX: DAT_IA_COUNTERS = 59;
    pub const DCNT_IA_CM_ERR_DREQ_DUP: DAT_IA_COUNTERS = 60;
    pub const DCNT_IA_CM_ERR_DREQ_RETRY: DAT_IA_COUNTERS = 61;
    pub const DCNT_IA_CM_ERR_DREP_DUP: DAT_IA_COUNTERS = 62;
    pub const DCNT_IA_CM_ERR_DREP_RETRY: DAT_IA_COUNTERS = 63;
    pub const DCNT_IA_CM_ERR_MRA_DUP: DAT_IA_COUNTERS = 64;
    pub const DCNT_IA_CM_ERR_MRA_RETRY: DAT_IA_COUNTERS = 65;
    pub const DCNT_IA_CM_ERR_UNEXPECTED: DAT_IA_COUNTERS = 66;
    pub const DCNT_IA_LNK_ERR_RCV: DAT_IA_COUNTERS = 67;
    pub const DCNT_IA_LNK_ERR_RCV_REM_PHYS: DAT_IA_COUNTERS = 68;
    pub const DCNT_IA_LNK_ERR_RCV_CONSTRAINT: DAT_IA_COUNTERS = 69;
    pub const DCNT_IA_LNK_ERR_XMT_DISCARDS: DAT_IA_COUNTERS = 70;
    pub const DCNT_IA_LNK_ERR_XMT_CONTRAINT: DAT_IA_COUNTERS = 71;
    pub const DCNT_IA_LNK_ERR_INTEGRITY: DAT_IA_COUNTERS = 72;
    pub const DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN: DAT_IA_COUNTERS = 73;
    pub const DCNT_IA_LNK_WARN_RCV_SW_RELAY: DAT_IA_COUNTERS = 74;
    pub const DCNT_IA_LNK_WARN_XMT_WAIT: DAT_IA_COUNTERS = 75;
    pub const DCNT_IA_DIAG_ERR_RQ_RAE: DAT_IA_COUNTERS = 76;
    pub const DCNT_IA_DIAG_ERR_RQ_OOS: DAT_IA_COUNTERS = 77;
    pub const DCNT_IA_DIAG_ERR_RQ_RIRE: DAT_IA_COUNTERS = 78;
    pub const DCNT_IA_DIAG_ERR_RQ_UDSDPRD: DAT_IA_COUNTERS = 79;
    pub const DCNT_IA_DIAG_ERR_SQ_RAE: DAT_IA_COUNTERS = 80;
    pub const DCNT_IA_DIAG_ERR_SQ_OOS: DAT_IA_COUNTERS = 81;
    pub const DCNT_IA_DIAG_ERR_SQ_RIRE: DAT_IA_COUNTERS = 82;
    pub const DCNT_IA_DIAG_ERR_SQ_RREE: DAT_IA_COUNTERS = 83;
    pub const DCNT_IA_DIAG_ERR_SQ_TREE: DAT_IA_COUNTERS = 84;
    /// Selects all counters of an interface adapter, and is their number.
    pub const DCNT_IA_ALL_COUNTERS: DAT_IA_COUNTERS = 85;
}

/// Counters of an endpoint.
pub type DAT_EP_COUNTERS = c_enum;

named! {
    DAT_EP_COUNTERS;
    pub const DCNT_EP_CONNECT: DAT_EP_COUNTERS = 0;
    pub const DCNT_EP_DISCONNECT: DAT_EP_COUNTERS = 1;
    pub const DCNT_EP_POST_SEND: DAT_EP_COUNTERS = 2;
    pub const DCNT_EP_POST_SEND_DATA: DAT_EP_COUNTERS = 3;
    pub const DCNT_EP_POST_SEND_UD: DAT_EP_COUNTERS = 4;
    pub const DCNT_EP_POST_SEND_UD_DATA: DAT_EP_COUNTERS = 5;
    pub const DCNT_EP_POST_RECV: DAT_EP_COUNTERS = 6;
    pub const DCNT_EP_POST_RECV_DATA: DAT_EP_COUNTERS = 7;
    pub const DCNT_EP_POST_WRITE: DAT_EP_COUNTERS = 8;
    pub const DCNT_EP_POST_WRITE_DATA: DAT_EP_COUNTERS = 9;
    pub const DCNT_EP_POST_WRITE_IMM: DAT_EP_COUNTERS = 10;
    pub const DCNT_EP_POST_WRITE_IMM_DATA: DAT_EP_COUNTERS = 11;
    pub const DCNT_EP_POST_READ: DAT_EP_COUNTERS = 12;
    pub const DCNT_EP_POST_READ_DATA: DAT_EP_COUNTERS = 13;
    pub const DCNT_EP_POST_CMP_SWAP: DAT_EP_COUNTERS = 14;
    pub const DCNT_EP_POST_FETCH_ADD: DAT_EP_COUNTERS = 15;
    pub const DCNT_EP_RECV: DAT_EP_COUNTERS = 16;
    pub const DCNT_EP_RECV_DATA: DAT_EP_COUNTERS = 17;
    pub const DCNT_EP_RECV_UD: DAT_EP_COUNTERS = 18;
    pub const DCNT_EP_RECV_UD_DATA: DAT_EP_COUNTERS = 19;
    pub const DCNT_EP_RECV_IMM: DAT_EP_COUNTERS = 20;
    pub const DCNT_EP_RECV_IMM_DATA: DAT_EP_COUNTERS = 21;
    pub const DCNT_EP_RECV_RDMA_IMM: DAT_EP_COUNTERS = 22;
    pub const DCNT_EP_RECV_RDMA_IMM_DATA: DAT_EP_COUNTERS = 23;
    /// Selects all counters of an endpoint, and is their number.
    pub const DCNT_EP_ALL_COUNTERS: DAT_EP_COUNTERS = 24;
}

/// Counters of an event dispatcher.
pub type DAT_EVD_COUNTERS = c_enum;

named! {
    DAT_EVD_COUNTERS;
    pub const DCNT_EVD_WAIT: DAT_EVD_COUNTERS = 0;
    pub const DCNT_EVD_WAIT_BLOCKED: DAT_EVD_COUNTERS = 1;
    pub const DCNT_EVD_WAIT_NOTIFY: DAT_EVD_COUNTERS = 2;
    pub const DCNT_EVD_DEQUEUE: DAT_EVD_COUNTERS = 3;
    pub const DCNT_EVD_DEQUEUE_FOUND: DAT_EVD_COUNTERS = 4;
    pub const DCNT_EVD_DEQUEUE_NOT_FOUND: DAT_EVD_COUNTERS = 5;
    pub const DCNT_EVD_DEQUEUE_POLL: DAT_EVD_COUNTERS = 6;
    pub const DCNT_EVD_DEQUEUE_POLL_FOUND: DAT_EVD_COUNTERS = 7;
    pub const DCNT_EVD_CONN_CALLBACK: DAT_EVD_COUNTERS = 8;
    pub const DCNT_EVD_DTO_CALLBACK: DAT_EVD_COUNTERS = 9;
    /// Selects all counters of an event dispatcher, and is their number.
    pub const DCNT_EVD_ALL_COUNTERS: DAT_EVD_COUNTERS = 10;
}

/// Groups of counters of an interface adapter.
pub type DAT_IA_COUNTER_TYPE = c_enum;
/// Counters of connections.
pub const DCNT_IA_CM: DAT_IA_COUNTER_TYPE = 0;
/// Counters of the link, which the device maintains.
pub const DCNT_IA_LNK: DAT_IA_COUNTER_TYPE = 1;
/// Diagnostic counters of the device.
pub const DCNT_IA_DIAG: DAT_IA_COUNTER_TYPE = 2;
