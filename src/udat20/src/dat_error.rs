//! Return codes

pub use dat_udat::dat_error::*;

c_members_with_names! {
    DAT_RETURN_TYPE {
        DAT_RESERVED_LMR = 0x00150000, "Of the kernel-level interface alone.";
        DAT_PORT_IN_USE = 0x00160000, "Another service point has the port.";
        DAT_COMM_NOT_SUPPORTED = 0x00170000, "The kind of communication is not supported.";
        DAT_EXTENSION_BASE = 0x10000000, "First type that extensions define.";
        DAT_NOT_IMPLEMENTED = 0x3FFF0000, "The provider does not implement the function.";
    }
}

c_members_with_names! {
    DAT_RETURN_SUBTYPE {
        DAT_INVALID_HANDLE_CSP = 26, "Common service point.";
        DAT_INVALID_HANDLE1 = 27, "The first argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE2 = 28, "The second argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE3 = 29, "The third argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE4 = 30, "The fourth argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE5 = 31, "The fifth argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE6 = 32, "The sixth argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE7 = 33, "The seventh argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE8 = 34, "The eighth argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE9 = 35, "The ninth argument, a handle of no fixed kind.";
        DAT_INVALID_HANDLE10 = 36, "The tenth argument, a handle of no fixed kind.";
        DAT_INVALID_ARG1 = 37, "The first argument.";
        DAT_INVALID_ARG2 = 38, "The second argument.";
        DAT_INVALID_ARG3 = 39, "The third argument.";
        DAT_INVALID_ARG4 = 40, "The fourth argument.";
        DAT_INVALID_ARG5 = 41, "The fifth argument.";
        DAT_INVALID_ARG6 = 42, "The sixth argument.";
        DAT_INVALID_ARG7 = 43, "The seventh argument.";
        DAT_INVALID_ARG8 = 44, "The eighth argument.";
        DAT_INVALID_ARG9 = 45, "The ninth argument.";
        DAT_INVALID_ARG10 = 46, "The tenth argument.";
        DAT_INVALID_STATE_EP_UNCONNECTED = 47, "Endpoint unconnected.";
        DAT_INVALID_STATE_EP_ACTCONNPENDING = 48, "Endpoint is connecting.";
        DAT_INVALID_STATE_EP_PASSCONNPENDING = 49, "Endpoint of a reserved service point has a request pending.";
        DAT_INVALID_STATE_EP_TENTCONNPENDING = 50, "Endpoint was made by the provider for a request not yet answered.";
        DAT_INVALID_STATE_EP_CONNECTED = 51, "Endpoint connected.";
        DAT_INVALID_STATE_EP_DISCONNECTED = 52, "Endpoint disconnected.";
        DAT_INVALID_STATE_EP_RESERVED = 53, "Endpoint reserved by a service point.";
        DAT_INVALID_STATE_EP_COMPLPENDING = 54, "Endpoint was accepted, its connection is not yet complete.";
        DAT_INVALID_STATE_EP_DISCPENDING = 55, "Endpoint is disconnecting.";
        DAT_INVALID_STATE_EP_PROVIDERCONTROL = 56, "Endpoint went back to the provider.";
        DAT_INVALID_STATE_EP_NOTREADY = 57, "Endpoint lacks a protection zone or an event dispatcher.";
        DAT_INVALID_STATE_EP_RECV_WATERMARK = 58, "Receive watermark of the endpoint.";
        DAT_INVALID_STATE_EP_PZ = 59, "Protection zone of the endpoint.";
        DAT_INVALID_STATE_EP_EVD_REQUEST = 60, "Request event dispatcher of the endpoint.";
        DAT_INVALID_STATE_EP_EVD_RECV = 61, "Receive event dispatcher of the endpoint.";
        DAT_INVALID_STATE_EP_EVD_CONNECT = 62, "Connection event dispatcher of the endpoint.";
        DAT_INVALID_STATE_EP_UNCONFIGURED = 63, "Endpoint unconnected and unconfigured.";
        DAT_INVALID_STATE_EP_UNCONFRESERVED = 64, "Endpoint reserved and unconfigured.";
        DAT_INVALID_STATE_EP_UNCONFPASSIVE = 65, "Endpoint passive pending and unconfigured.";
        DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 66, "Endpoint tentative and unconfigured.";
        DAT_INVALID_STATE_CNO_IN_USE = 67, "Notification object in use.";
        DAT_INVALID_STATE_CNO_DEAD = 68, "Notification object is being destroyed.";
        DAT_INVALID_STATE_EVD_OPEN = 69, "Event dispatcher open.";
        DAT_INVALID_STATE_EVD_ENABLED = 70, "Event dispatcher enabled.";
        DAT_INVALID_STATE_EVD_DISABLED = 71, "Event dispatcher disabled.";
        DAT_INVALID_STATE_EVD_WAITABLE = 72, "Event dispatcher waitable.";
        DAT_INVALID_STATE_EVD_UNWAITABLE = 73, "Event dispatcher unwaitable.";
        DAT_INVALID_STATE_EVD_IN_USE = 74, "Event dispatcher has a stream that feeds it.";
        DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 75, "Event dispatcher is fed by a stream that can suppress notification.";
        DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 76, "Event dispatcher is fed by a stream of solicited messages.";
        DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 77, "Event dispatcher is fed by a stream with threshold.";
        DAT_INVALID_STATE_EVD_WAITER = 78, "A thread waits on the event dispatcher.";
        DAT_INVALID_STATE_EVD_ASYNC = 79, "Event dispatcher is one of asynchronous events.";
        DAT_INVALID_STATE_IA_IN_USE = 80, "Interface adapter has objects left.";
        DAT_INVALID_STATE_LMR_IN_USE = 81, "A remote memory region is bound to the region.";
        DAT_INVALID_STATE_LMR_FREE = 82, "Local memory region is free.";
        DAT_INVALID_STATE_PZ_IN_USE = 83, "Protection zone has objects left.";
        DAT_INVALID_STATE_PZ_FREE = 84, "Protection zone is free.";
        DAT_INVALID_STATE_SRQ_OPERATIONAL = 85, "Shared receive queue operational.";
        DAT_INVALID_STATE_SRQ_ERROR = 86, "Shared receive queue in error.";
        DAT_INVALID_STATE_SRQ_IN_USE = 87, "Shared receive queue has endpoints.";
        DAT_INVALID_STATE_SRQ_SHUTDOWN = 88, "Shared receive queue is being destroyed.";
        DAT_PRIVILEGES_READ = 89, "Local read right missing.";
        DAT_PRIVILEGES_WRITE = 90, "Local write right missing.";
        DAT_PRIVILEGES_RDMA_READ = 91, "Remote read right missing.";
        DAT_PRIVILEGES_RDMA_WRITE = 92, "Remote write right missing.";
        DAT_PROTECTION_READ = 93, "Zone does not allow local read.";
        DAT_PROTECTION_WRITE = 94, "Zone does not allow local write.";
        DAT_PROTECTION_RDMA_READ = 95, "Zone does not allow remote read.";
        DAT_PROTECTION_RDMA_WRITE = 96, "Zone does not allow remote write.";
        DAT_INVALID_ADDRESS_UNSUPPORTED = 97, "Kind of address not supported, such as multicast.";
        DAT_INVALID_ADDRESS_UNREACHABLE = 98, "Known not to be reachable.";
        DAT_INVALID_ADDRESS_MALFORMED = 99, "Never a valid address.";
        DAT_NAME_NOT_REGISTERED = 100, "No provider of that name.";
        DAT_MAJOR_NOT_FOUND = 101, "None of that major version.";
        DAT_MINOR_NOT_FOUND = 102, "None of that minor version or a higher one.";
        DAT_THREAD_SAFETY_NOT_FOUND = 103, "None of that thread safety.";
    }
}
