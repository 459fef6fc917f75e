//! Return codes

pub use dat_udat::dat_error::*;

named! {
    DAT_RETURN_TYPE;
    /// The provider does not implement the function. The value contains the class bits: compare the whole code, not
    /// DAT_GET_TYPE of it.
    pub const DAT_NOT_IMPLEMENTED: DAT_RETURN_TYPE = 0xFFFF0000;
}

named! {
    DAT_RETURN_SUBTYPE;
    pub const DAT_INVALID_HANDLE1: DAT_RETURN_SUBTYPE = 26;
    pub const DAT_INVALID_HANDLE2: DAT_RETURN_SUBTYPE = 27;
    pub const DAT_INVALID_HANDLE3: DAT_RETURN_SUBTYPE = 28;
    pub const DAT_INVALID_HANDLE4: DAT_RETURN_SUBTYPE = 29;
    pub const DAT_INVALID_HANDLE5: DAT_RETURN_SUBTYPE = 30;
    pub const DAT_INVALID_HANDLE6: DAT_RETURN_SUBTYPE = 31;
    pub const DAT_INVALID_HANDLE7: DAT_RETURN_SUBTYPE = 32;
    pub const DAT_INVALID_HANDLE8: DAT_RETURN_SUBTYPE = 33;
    pub const DAT_INVALID_HANDLE9: DAT_RETURN_SUBTYPE = 34;
    pub const DAT_INVALID_HANDLE10: DAT_RETURN_SUBTYPE = 35;
    pub const DAT_INVALID_ARG1: DAT_RETURN_SUBTYPE = 36;
    pub const DAT_INVALID_ARG2: DAT_RETURN_SUBTYPE = 37;
    pub const DAT_INVALID_ARG3: DAT_RETURN_SUBTYPE = 38;
    pub const DAT_INVALID_ARG4: DAT_RETURN_SUBTYPE = 39;
    pub const DAT_INVALID_ARG5: DAT_RETURN_SUBTYPE = 40;
    pub const DAT_INVALID_ARG6: DAT_RETURN_SUBTYPE = 41;
    pub const DAT_INVALID_ARG7: DAT_RETURN_SUBTYPE = 42;
    pub const DAT_INVALID_ARG8: DAT_RETURN_SUBTYPE = 43;
    pub const DAT_INVALID_ARG9: DAT_RETURN_SUBTYPE = 44;
    pub const DAT_INVALID_ARG10: DAT_RETURN_SUBTYPE = 45;
    pub const DAT_INVALID_STATE_EP_UNCONNECTED: DAT_RETURN_SUBTYPE = 46;
    /// Endpoint has requested a connection, which is not yet established.
    pub const DAT_INVALID_STATE_EP_ACTCONNPENDING: DAT_RETURN_SUBTYPE = 47;
    /// Endpoint of a reserved service point has a request pending.
    pub const DAT_INVALID_STATE_EP_PASSCONNPENDING: DAT_RETURN_SUBTYPE = 48;
    /// Endpoint that the provider created for a request, which is neither accepted nor rejected.
    pub const DAT_INVALID_STATE_EP_TENTCONNPENDING: DAT_RETURN_SUBTYPE = 49;
    pub const DAT_INVALID_STATE_EP_CONNECTED: DAT_RETURN_SUBTYPE = 50;
    pub const DAT_INVALID_STATE_EP_DISCONNECTED: DAT_RETURN_SUBTYPE = 51;
    /// Endpoint reserved by a service point.
    pub const DAT_INVALID_STATE_EP_RESERVED: DAT_RETURN_SUBTYPE = 52;
    /// Endpoint was accepted, its connection is not yet complete.
    pub const DAT_INVALID_STATE_EP_COMPLPENDING: DAT_RETURN_SUBTYPE = 53;
    /// Endpoint is disconnecting.
    pub const DAT_INVALID_STATE_EP_DISCPENDING: DAT_RETURN_SUBTYPE = 54;
    /// Endpoint that the provider created was rejected or handed off, and belongs to the provider.
    pub const DAT_INVALID_STATE_EP_PROVIDERCONTROL: DAT_RETURN_SUBTYPE = 55;
    /// Endpoint lacks a protection zone or an event dispatcher.
    pub const DAT_INVALID_STATE_EP_NOTREADY: DAT_RETURN_SUBTYPE = 56;
    /// Receive watermark of the endpoint.
    pub const DAT_INVALID_STATE_EP_RECV_WATERMARK: DAT_RETURN_SUBTYPE = 57;
    pub const DAT_INVALID_STATE_EP_PZ: DAT_RETURN_SUBTYPE = 58;
    pub const DAT_INVALID_STATE_EP_EVD_REQUEST: DAT_RETURN_SUBTYPE = 59;
    /// Receive event dispatcher of the endpoint.
    pub const DAT_INVALID_STATE_EP_EVD_RECV: DAT_RETURN_SUBTYPE = 60;
    /// Connection event dispatcher of the endpoint.
    pub const DAT_INVALID_STATE_EP_EVD_CONNECT: DAT_RETURN_SUBTYPE = 61;
    /// Endpoint unconnected and unconfigured.
    pub const DAT_INVALID_STATE_EP_UNCONFIGURED: DAT_RETURN_SUBTYPE = 62;
    /// Endpoint reserved and unconfigured.
    pub const DAT_INVALID_STATE_EP_UNCONFRESERVED: DAT_RETURN_SUBTYPE = 63;
    /// Endpoint passive pending and unconfigured.
    pub const DAT_INVALID_STATE_EP_UNCONFPASSIVE: DAT_RETURN_SUBTYPE = 64;
    /// Endpoint tentative and unconfigured.
    pub const DAT_INVALID_STATE_EP_UNCONFTENTATIVE: DAT_RETURN_SUBTYPE = 65;
    pub const DAT_INVALID_STATE_CNO_IN_USE: DAT_RETURN_SUBTYPE = 66;
    /// Notification object is being destroyed.
    pub const DAT_INVALID_STATE_CNO_DEAD: DAT_RETURN_SUBTYPE = 67;
    pub const DAT_INVALID_STATE_EVD_OPEN: DAT_RETURN_SUBTYPE = 68;
    pub const DAT_INVALID_STATE_EVD_ENABLED: DAT_RETURN_SUBTYPE = 69;
    pub const DAT_INVALID_STATE_EVD_DISABLED: DAT_RETURN_SUBTYPE = 70;
    pub const DAT_INVALID_STATE_EVD_WAITABLE: DAT_RETURN_SUBTYPE = 71;
    pub const DAT_INVALID_STATE_EVD_UNWAITABLE: DAT_RETURN_SUBTYPE = 72;
    /// An endpoint, a service point or the adapter feeds the event dispatcher.
    pub const DAT_INVALID_STATE_EVD_IN_USE: DAT_RETURN_SUBTYPE = 73;
    /// Event dispatcher has the state DAT_EVD_STATE_CONFIG_NOTIFY.
    pub const DAT_INVALID_STATE_EVD_CONFIG_NOTIFY: DAT_RETURN_SUBTYPE = 74;
    /// Event dispatcher has the state DAT_EVD_STATE_CONFIG_SOLICITED.
    pub const DAT_INVALID_STATE_EVD_CONFIG_SOLICITED: DAT_RETURN_SUBTYPE = 75;
    /// Event dispatcher has the state DAT_EVD_STATE_CONFIG_THRESHOLD.
    pub const DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD: DAT_RETURN_SUBTYPE = 76;
    /// A thread waits on the event dispatcher.
    pub const DAT_INVALID_STATE_EVD_WAITER: DAT_RETURN_SUBTYPE = 77;
    /// Event dispatcher for asynchronous events.
    pub const DAT_INVALID_STATE_EVD_ASYNC: DAT_RETURN_SUBTYPE = 78;
    /// Interface adapter still has objects.
    pub const DAT_INVALID_STATE_IA_IN_USE: DAT_RETURN_SUBTYPE = 79;
    /// A remote memory region is bound to the region.
    pub const DAT_INVALID_STATE_LMR_IN_USE: DAT_RETURN_SUBTYPE = 80;
    pub const DAT_INVALID_STATE_LMR_FREE: DAT_RETURN_SUBTYPE = 81;
    /// An object still uses the protection zone.
    pub const DAT_INVALID_STATE_PZ_IN_USE: DAT_RETURN_SUBTYPE = 82;
    pub const DAT_INVALID_STATE_PZ_FREE: DAT_RETURN_SUBTYPE = 83;
    pub const DAT_INVALID_STATE_SRQ_OPERATIONAL: DAT_RETURN_SUBTYPE = 84;
    pub const DAT_INVALID_STATE_SRQ_ERROR: DAT_RETURN_SUBTYPE = 85;
    /// An endpoint still uses the shared receive queue.
    pub const DAT_INVALID_STATE_SRQ_IN_USE: DAT_RETURN_SUBTYPE = 86;
    /// Memory region lacks the local read privilege.
    pub const DAT_PRIVILEGES_READ: DAT_RETURN_SUBTYPE = 87;
    /// Memory region lacks the local write privilege.
    pub const DAT_PRIVILEGES_WRITE: DAT_RETURN_SUBTYPE = 88;
    /// Memory region lacks the remote read privilege.
    pub const DAT_PRIVILEGES_RDMA_READ: DAT_RETURN_SUBTYPE = 89;
    /// Memory region lacks the remote write privilege.
    pub const DAT_PRIVILEGES_RDMA_WRITE: DAT_RETURN_SUBTYPE = 90;
    /// Protection zone does not allow the local read.
    pub const DAT_PROTECTION_READ: DAT_RETURN_SUBTYPE = 91;
    /// Protection zone does not allow the local write.
    pub const DAT_PROTECTION_WRITE: DAT_RETURN_SUBTYPE = 92;
    /// Protection zone does not allow the remote read.
    pub const DAT_PROTECTION_RDMA_READ: DAT_RETURN_SUBTYPE = 93;
    /// Protection zone does not allow the remote write.
    pub const DAT_PROTECTION_RDMA_WRITE: DAT_RETURN_SUBTYPE = 94;
    /// Kind of address is not supported, such as multicast.
    pub const DAT_INVALID_ADDRESS_UNSUPPORTED: DAT_RETURN_SUBTYPE = 95;
    /// Address is known to be unreachable.
    pub const DAT_INVALID_ADDRESS_UNREACHABLE: DAT_RETURN_SUBTYPE = 96;
    /// Address is never valid.
    pub const DAT_INVALID_ADDRESS_MALFORMED: DAT_RETURN_SUBTYPE = 97;
    /// No provider has the name.
    pub const DAT_NAME_NOT_REGISTERED: DAT_RETURN_SUBTYPE = 98;
    /// No provider of this name has the major version.
    pub const DAT_MAJOR_NOT_FOUND: DAT_RETURN_SUBTYPE = 99;
    /// No provider of this name and major version has the minor version or a higher one.
    pub const DAT_MINOR_NOT_FOUND: DAT_RETURN_SUBTYPE = 100;
    /// No provider of this name and version has the thread safety.
    pub const DAT_THREAD_SAFETY_NOT_FOUND: DAT_RETURN_SUBTYPE = 101;
    /// Never returned. From the Solaris headers, for programs that use the name; no other subtype has this value.
    pub const DAT_INVALID_RO_COOKIE: DAT_RETURN_SUBTYPE = 102;
}
