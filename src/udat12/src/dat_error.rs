//! Return codes

use dat_udat::c_members_with_names as c_members;

pub use dat_udat::dat_error::*;

c_members! {
    DAT_RETURN_TYPE {
        /// The provider does not implement the function. The value contains the class bits: compare
        /// the whole code, not DAT_GET_TYPE of it.
        DAT_NOT_IMPLEMENTED = 0xFFFF0000,
    }
}

c_members! {
    DAT_RETURN_SUBTYPE {
        /// The first argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE1 = 26,
        /// The second argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE2 = 27,
        /// The third argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE3 = 28,
        /// The fourth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE4 = 29,
        /// The fifth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE5 = 30,
        /// The sixth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE6 = 31,
        /// The seventh argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE7 = 32,
        /// The eighth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE8 = 33,
        /// The ninth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE9 = 34,
        /// The tenth argument, a handle of no fixed kind.
        DAT_INVALID_HANDLE10 = 35,
        /// The first argument.
        DAT_INVALID_ARG1 = 36,
        /// The second argument.
        DAT_INVALID_ARG2 = 37,
        /// The third argument.
        DAT_INVALID_ARG3 = 38,
        /// The fourth argument.
        DAT_INVALID_ARG4 = 39,
        /// The fifth argument.
        DAT_INVALID_ARG5 = 40,
        /// The sixth argument.
        DAT_INVALID_ARG6 = 41,
        /// The seventh argument.
        DAT_INVALID_ARG7 = 42,
        /// The eighth argument.
        DAT_INVALID_ARG8 = 43,
        /// The ninth argument.
        DAT_INVALID_ARG9 = 44,
        /// The tenth argument.
        DAT_INVALID_ARG10 = 45,
        /// Endpoint unconnected.
        DAT_INVALID_STATE_EP_UNCONNECTED = 46,
        /// Endpoint is connecting.
        DAT_INVALID_STATE_EP_ACTCONNPENDING = 47,
        /// Endpoint of a reserved service point has a request pending.
        DAT_INVALID_STATE_EP_PASSCONNPENDING = 48,
        /// Endpoint was made by the provider for a request not yet answered.
        DAT_INVALID_STATE_EP_TENTCONNPENDING = 49,
        /// Endpoint connected.
        DAT_INVALID_STATE_EP_CONNECTED = 50,
        /// Endpoint disconnected.
        DAT_INVALID_STATE_EP_DISCONNECTED = 51,
        /// Endpoint reserved by a service point.
        DAT_INVALID_STATE_EP_RESERVED = 52,
        /// Endpoint was accepted, its connection is not yet complete.
        DAT_INVALID_STATE_EP_COMPLPENDING = 53,
        /// Endpoint is disconnecting.
        DAT_INVALID_STATE_EP_DISCPENDING = 54,
        /// Endpoint went back to the provider.
        DAT_INVALID_STATE_EP_PROVIDERCONTROL = 55,
        /// Endpoint lacks a protection zone or an event dispatcher.
        DAT_INVALID_STATE_EP_NOTREADY = 56,
        /// Receive watermark of the endpoint.
        DAT_INVALID_STATE_EP_RECV_WATERMARK = 57,
        /// Protection zone of the endpoint.
        DAT_INVALID_STATE_EP_PZ = 58,
        /// Request event dispatcher of the endpoint.
        DAT_INVALID_STATE_EP_EVD_REQUEST = 59,
        /// Receive event dispatcher of the endpoint.
        DAT_INVALID_STATE_EP_EVD_RECV = 60,
        /// Connection event dispatcher of the endpoint.
        DAT_INVALID_STATE_EP_EVD_CONNECT = 61,
        /// Endpoint unconnected and unconfigured.
        DAT_INVALID_STATE_EP_UNCONFIGURED = 62,
        /// Endpoint reserved and unconfigured.
        DAT_INVALID_STATE_EP_UNCONFRESERVED = 63,
        /// Endpoint passive pending and unconfigured.
        DAT_INVALID_STATE_EP_UNCONFPASSIVE = 64,
        /// Endpoint tentative and unconfigured.
        DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 65,
        /// Notification object in use.
        DAT_INVALID_STATE_CNO_IN_USE = 66,
        /// Notification object is being destroyed.
        DAT_INVALID_STATE_CNO_DEAD = 67,
        /// Event dispatcher open.
        DAT_INVALID_STATE_EVD_OPEN = 68,
        /// Event dispatcher enabled.
        DAT_INVALID_STATE_EVD_ENABLED = 69,
        /// Event dispatcher disabled.
        DAT_INVALID_STATE_EVD_DISABLED = 70,
        /// Event dispatcher waitable.
        DAT_INVALID_STATE_EVD_WAITABLE = 71,
        /// Event dispatcher unwaitable.
        DAT_INVALID_STATE_EVD_UNWAITABLE = 72,
        /// Event dispatcher has a stream that feeds it.
        DAT_INVALID_STATE_EVD_IN_USE = 73,
        /// Event dispatcher is fed by a stream that can suppress notification.
        DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 74,
        /// Event dispatcher is fed by a stream of solicited messages.
        DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 75,
        /// Event dispatcher is fed by a stream with threshold.
        DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 76,
        /// A thread waits on the event dispatcher.
        DAT_INVALID_STATE_EVD_WAITER = 77,
        /// Event dispatcher is one of asynchronous events.
        DAT_INVALID_STATE_EVD_ASYNC = 78,
        /// Interface adapter has objects left.
        DAT_INVALID_STATE_IA_IN_USE = 79,
        /// A remote memory region is bound to the region.
        DAT_INVALID_STATE_LMR_IN_USE = 80,
        /// Local memory region is free.
        DAT_INVALID_STATE_LMR_FREE = 81,
        /// Protection zone has objects left.
        DAT_INVALID_STATE_PZ_IN_USE = 82,
        /// Protection zone is free.
        DAT_INVALID_STATE_PZ_FREE = 83,
        /// Shared receive queue operational.
        DAT_INVALID_STATE_SRQ_OPERATIONAL = 84,
        /// Shared receive queue in error.
        DAT_INVALID_STATE_SRQ_ERROR = 85,
        /// Shared receive queue has endpoints.
        DAT_INVALID_STATE_SRQ_IN_USE = 86,
        /// Local read right missing.
        DAT_PRIVILEGES_READ = 87,
        /// Local write right missing.
        DAT_PRIVILEGES_WRITE = 88,
        /// Remote read right missing.
        DAT_PRIVILEGES_RDMA_READ = 89,
        /// Remote write right missing.
        DAT_PRIVILEGES_RDMA_WRITE = 90,
        /// Zone does not allow local read.
        DAT_PROTECTION_READ = 91,
        /// Zone does not allow local write.
        DAT_PROTECTION_WRITE = 92,
        /// Zone does not allow remote read.
        DAT_PROTECTION_RDMA_READ = 93,
        /// Zone does not allow remote write.
        DAT_PROTECTION_RDMA_WRITE = 94,
        /// Kind of address not supported, such as multicast.
        DAT_INVALID_ADDRESS_UNSUPPORTED = 95,
        /// Known not to be reachable.
        DAT_INVALID_ADDRESS_UNREACHABLE = 96,
        /// Never a valid address.
        DAT_INVALID_ADDRESS_MALFORMED = 97,
        /// No provider of that name.
        DAT_NAME_NOT_REGISTERED = 98,
        /// None of that major version.
        DAT_MAJOR_NOT_FOUND = 99,
        /// None of that minor version or a higher one.
        DAT_MINOR_NOT_FOUND = 100,
        /// None of that thread safety.
        DAT_THREAD_SAFETY_NOT_FOUND = 101,
        /// Relaxed ordering was not requested properly. Only the Solaris headers have it; it is
        /// here for their programs, because the value clashes with nothing. Never returned.
        DAT_INVALID_RO_COOKIE = 102,
    }
}
