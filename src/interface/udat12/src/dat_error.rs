//! Return codes

pub use dat_udat::dat_error::*;

c_members_with_names! {
    DAT_RETURN_TYPE;
    DAT_NOT_IMPLEMENTED = 0xFFFF0000,
        "The provider does not implement the function. The value contains the class bits: compare"
        "the whole code, not DAT_GET_TYPE of it.";
}

c_members_with_names! {
    DAT_RETURN_SUBTYPE;
    DAT_INVALID_HANDLE1 = 26, "The first argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE2 = 27, "The second argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE3 = 28, "The third argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE4 = 29, "The fourth argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE5 = 30, "The fifth argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE6 = 31, "The sixth argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE7 = 32, "The seventh argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE8 = 33, "The eighth argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE9 = 34, "The ninth argument, a handle of no fixed kind.";
    DAT_INVALID_HANDLE10 = 35, "The tenth argument, a handle of no fixed kind.";
    DAT_INVALID_ARG1 = 36, "The first argument.";
    DAT_INVALID_ARG2 = 37, "The second argument.";
    DAT_INVALID_ARG3 = 38, "The third argument.";
    DAT_INVALID_ARG4 = 39, "The fourth argument.";
    DAT_INVALID_ARG5 = 40, "The fifth argument.";
    DAT_INVALID_ARG6 = 41, "The sixth argument.";
    DAT_INVALID_ARG7 = 42, "The seventh argument.";
    DAT_INVALID_ARG8 = 43, "The eighth argument.";
    DAT_INVALID_ARG9 = 44, "The ninth argument.";
    DAT_INVALID_ARG10 = 45, "The tenth argument.";
    DAT_INVALID_STATE_EP_UNCONNECTED = 46, "Endpoint unconnected.";
    DAT_INVALID_STATE_EP_ACTCONNPENDING = 47, "Endpoint is connecting.";
    DAT_INVALID_STATE_EP_PASSCONNPENDING = 48, "Endpoint of a reserved service point has a request pending.";
    DAT_INVALID_STATE_EP_TENTCONNPENDING = 49, "Endpoint was made by the provider for a request not yet answered.";
    DAT_INVALID_STATE_EP_CONNECTED = 50, "Endpoint connected.";
    DAT_INVALID_STATE_EP_DISCONNECTED = 51, "Endpoint disconnected.";
    DAT_INVALID_STATE_EP_RESERVED = 52, "Endpoint reserved by a service point.";
    DAT_INVALID_STATE_EP_COMPLPENDING = 53, "Endpoint was accepted, its connection is not yet complete.";
    DAT_INVALID_STATE_EP_DISCPENDING = 54, "Endpoint is disconnecting.";
    DAT_INVALID_STATE_EP_PROVIDERCONTROL = 55, "Endpoint went back to the provider.";
    DAT_INVALID_STATE_EP_NOTREADY = 56, "Endpoint lacks a protection zone or an event dispatcher.";
    DAT_INVALID_STATE_EP_RECV_WATERMARK = 57, "Receive watermark of the endpoint.";
    DAT_INVALID_STATE_EP_PZ = 58, "Protection zone of the endpoint.";
    DAT_INVALID_STATE_EP_EVD_REQUEST = 59, "Request event dispatcher of the endpoint.";
    DAT_INVALID_STATE_EP_EVD_RECV = 60, "Receive event dispatcher of the endpoint.";
    DAT_INVALID_STATE_EP_EVD_CONNECT = 61, "Connection event dispatcher of the endpoint.";
    DAT_INVALID_STATE_EP_UNCONFIGURED = 62, "Endpoint unconnected and unconfigured.";
    DAT_INVALID_STATE_EP_UNCONFRESERVED = 63, "Endpoint reserved and unconfigured.";
    DAT_INVALID_STATE_EP_UNCONFPASSIVE = 64, "Endpoint passive pending and unconfigured.";
    DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 65, "Endpoint tentative and unconfigured.";
    DAT_INVALID_STATE_CNO_IN_USE = 66, "Notification object in use.";
    DAT_INVALID_STATE_CNO_DEAD = 67, "Notification object is being destroyed.";
    DAT_INVALID_STATE_EVD_OPEN = 68, "Event dispatcher open.";
    DAT_INVALID_STATE_EVD_ENABLED = 69, "Event dispatcher enabled.";
    DAT_INVALID_STATE_EVD_DISABLED = 70, "Event dispatcher disabled.";
    DAT_INVALID_STATE_EVD_WAITABLE = 71, "Event dispatcher waitable.";
    DAT_INVALID_STATE_EVD_UNWAITABLE = 72, "Event dispatcher unwaitable.";
    DAT_INVALID_STATE_EVD_IN_USE = 73, "Event dispatcher has a stream that feeds it.";
    DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 74, "Event dispatcher is fed by a stream that can suppress notification.";
    DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 75, "Event dispatcher is fed by a stream of solicited messages.";
    DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 76, "Event dispatcher is fed by a stream with threshold.";
    DAT_INVALID_STATE_EVD_WAITER = 77, "A thread waits on the event dispatcher.";
    DAT_INVALID_STATE_EVD_ASYNC = 78, "Event dispatcher is one of asynchronous events.";
    DAT_INVALID_STATE_IA_IN_USE = 79, "Interface adapter has objects left.";
    DAT_INVALID_STATE_LMR_IN_USE = 80, "A remote memory region is bound to the region.";
    DAT_INVALID_STATE_LMR_FREE = 81, "Local memory region is free.";
    DAT_INVALID_STATE_PZ_IN_USE = 82, "Protection zone has objects left.";
    DAT_INVALID_STATE_PZ_FREE = 83, "Protection zone is free.";
    DAT_INVALID_STATE_SRQ_OPERATIONAL = 84, "Shared receive queue operational.";
    DAT_INVALID_STATE_SRQ_ERROR = 85, "Shared receive queue in error.";
    DAT_INVALID_STATE_SRQ_IN_USE = 86, "Shared receive queue has endpoints.";
    DAT_PRIVILEGES_READ = 87, "Local read right missing.";
    DAT_PRIVILEGES_WRITE = 88, "Local write right missing.";
    DAT_PRIVILEGES_RDMA_READ = 89, "Remote read right missing.";
    DAT_PRIVILEGES_RDMA_WRITE = 90, "Remote write right missing.";
    DAT_PROTECTION_READ = 91, "Zone does not allow local read.";
    DAT_PROTECTION_WRITE = 92, "Zone does not allow local write.";
    DAT_PROTECTION_RDMA_READ = 93, "Zone does not allow remote read.";
    DAT_PROTECTION_RDMA_WRITE = 94, "Zone does not allow remote write.";
    DAT_INVALID_ADDRESS_UNSUPPORTED = 95, "Kind of address not supported, such as multicast.";
    DAT_INVALID_ADDRESS_UNREACHABLE = 96, "Known not to be reachable.";
    DAT_INVALID_ADDRESS_MALFORMED = 97, "Never a valid address.";
    DAT_NAME_NOT_REGISTERED = 98, "No provider of that name.";
    DAT_MAJOR_NOT_FOUND = 99, "None of that major version.";
    DAT_MINOR_NOT_FOUND = 100, "None of that minor version or a higher one.";
    DAT_THREAD_SAFETY_NOT_FOUND = 101, "None of that thread safety.";
    DAT_INVALID_RO_COOKIE = 102,
        "Relaxed ordering was not requested properly. Only the Solaris headers have it; it is"
        "here for their programs, because the value clashes with nothing. Never returned.";
}
