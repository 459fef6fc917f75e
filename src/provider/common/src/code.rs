//! Return codes. All have the error class, except three that programs compare as a whole, and that the C libraries
//! return without a class:
//! - `DAT_QUEUE_EMPTY` of dat_evd_dequeue and dat_cno_wait,
//! - `DAT_CONN_QUAL_IN_USE` of dat_psp_create,
//! - `DAT_CONN_QUAL_UNAVAILABLE` of dat_psp_create_any.
//!
//! Versions share the names of the codes, not the values.

/// Defines the function `code` for the version in scope.
#[macro_export]
macro_rules! codes {
    () => {
        use $crate::Fault;
        use $crate::core::ep::EpState;
        use $crate::core::error::{Access, AddressFault, Error, Resource, Role, StateError};

        /// Returns the return code of a fault.
        #[cold]
        pub fn code(fault: Fault) -> DAT_RETURN {
            match fault {
                Fault::Handle(role) => invalid_handle(role),
                Fault::Argument(position) => invalid_arg(position),
                Fault::Core(error) => core_error(error),
                Fault::NotRegistered => DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED),
                Fault::NotTriggered => DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE),
                Fault::ReservedQualifierInUse => DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE),
            }
        }

        const fn invalid_arg(position: u32) -> DAT_RETURN {
            let subtype = match position {
                1..=10 => DAT_INVALID_ARG1 + (position - 1),
                _ => DAT_NO_SUBTYPE,
            };
            DAT_ERROR(DAT_INVALID_PARAMETER, subtype)
        }

        const fn invalid_handle(role: Role) -> DAT_RETURN {
            let subtype = match role {
                Role::Ia => DAT_INVALID_HANDLE_IA,
                Role::Ep => DAT_INVALID_HANDLE_EP,
                Role::Lmr => DAT_INVALID_HANDLE_LMR,
                Role::Rmr => DAT_INVALID_HANDLE_RMR,
                Role::Pz => DAT_INVALID_HANDLE_PZ,
                Role::Psp => DAT_INVALID_HANDLE_PSP,
                Role::Rsp => DAT_INVALID_HANDLE_RSP,
                Role::Csp => DAT_INVALID_HANDLE_CSP,
                Role::Cr => DAT_INVALID_HANDLE_CR,
                Role::Cno => DAT_INVALID_HANDLE_CNO,
                Role::EvdConnectionRequests => DAT_INVALID_HANDLE_EVD_CR,
                Role::EvdRequest => DAT_INVALID_HANDLE_EVD_REQUEST,
                Role::EvdRecv => DAT_INVALID_HANDLE_EVD_RECV,
                Role::EvdConnect => DAT_INVALID_HANDLE_EVD_CONN,
                Role::EvdAsync => DAT_INVALID_HANDLE_EVD_ASYNC,
                Role::Srq => DAT_INVALID_HANDLE_SRQ,
                // A handle whose role has no subtype is always the first argument.
                Role::Evd | Role::Any => DAT_INVALID_HANDLE1,
            };
            DAT_ERROR(DAT_INVALID_HANDLE, subtype)
        }

        fn core_error(error: Error) -> DAT_RETURN {
            match error {
                Error::InvalidHandle(role) => invalid_handle(role),
                // Slots convert this error into `Fault::Argument`.
                Error::InvalidParameter(_) => invalid_arg(0),
                Error::InvalidState(error) => DAT_ERROR(DAT_INVALID_STATE, state(error)),
                Error::InsufficientResources(resource) => DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, lacking(resource)),
                Error::ModelNotSupported => DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE),
                Error::LengthError => DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE),
                Error::PrivilegesViolation(access) => DAT_ERROR(
                    DAT_PRIVILEGES_VIOLATION,
                    match access {
                        Access::Read => DAT_PRIVILEGES_READ,
                        Access::Write => DAT_PRIVILEGES_WRITE,
                        Access::RemoteRead => DAT_PRIVILEGES_RDMA_READ,
                        Access::RemoteWrite => DAT_PRIVILEGES_RDMA_WRITE,
                    },
                ),
                Error::ProtectionViolation(access) => DAT_ERROR(
                    DAT_PROTECTION_VIOLATION,
                    match access {
                        Access::Read => DAT_PROTECTION_READ,
                        Access::Write => DAT_PROTECTION_WRITE,
                        Access::RemoteRead => DAT_PROTECTION_RDMA_READ,
                        Access::RemoteWrite => DAT_PROTECTION_RDMA_WRITE,
                    },
                ),
                Error::QualifierInUse => DAT_CONN_QUAL_IN_USE,
                Error::QualifierUnavailable => DAT_CONN_QUAL_UNAVAILABLE,
                Error::PortInUse => DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE),
                Error::CommNotSupported => DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE),
                Error::QueueEmpty => DAT_QUEUE_EMPTY,
                Error::QueueFull => DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE),
                Error::TimeoutExpired => DAT_ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE),
                Error::Interrupted => DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE),
                Error::Aborted => DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE),
                Error::InvalidAddress(fault) => DAT_ERROR(
                    DAT_INVALID_ADDRESS,
                    match fault {
                        AddressFault::Unsupported => DAT_INVALID_ADDRESS_UNSUPPORTED,
                        AddressFault::Unreachable => DAT_INVALID_ADDRESS_UNREACHABLE,
                        AddressFault::Malformed => DAT_INVALID_ADDRESS_MALFORMED,
                    },
                ),
                Error::NotImplemented => DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
                Error::Internal => DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
            }
        }

        fn state(error: StateError) -> DAT_RETURN_SUBTYPE {
            match error {
                StateError::Endpoint(state) => match state {
                    EpState::Unconnected => DAT_INVALID_STATE_EP_UNCONNECTED,
                    EpState::Reserved => DAT_INVALID_STATE_EP_RESERVED,
                    EpState::PassiveConnectionPending => DAT_INVALID_STATE_EP_PASSCONNPENDING,
                    EpState::ActiveConnectionPending => DAT_INVALID_STATE_EP_ACTCONNPENDING,
                    EpState::TentativeConnectionPending => DAT_INVALID_STATE_EP_TENTCONNPENDING,
                    EpState::Connected => DAT_INVALID_STATE_EP_CONNECTED,
                    EpState::DisconnectPending => DAT_INVALID_STATE_EP_DISCPENDING,
                    EpState::Disconnected => DAT_INVALID_STATE_EP_DISCONNECTED,
                    EpState::CompletionPending => DAT_INVALID_STATE_EP_COMPLPENDING,
                },
                StateError::EndpointNotReady => DAT_INVALID_STATE_EP_NOTREADY,
                StateError::IaInUse => DAT_INVALID_STATE_IA_IN_USE,
                StateError::PzInUse => DAT_INVALID_STATE_PZ_IN_USE,
                StateError::LmrInUse => DAT_INVALID_STATE_LMR_IN_USE,
                StateError::EvdInUse => DAT_INVALID_STATE_EVD_IN_USE,
                StateError::EvdWaiter => DAT_INVALID_STATE_EVD_WAITER,
                StateError::EvdUnwaitable => DAT_INVALID_STATE_EVD_UNWAITABLE,
                StateError::EvdConfigNotify => DAT_INVALID_STATE_EVD_CONFIG_NOTIFY,
                StateError::EvdConfigSolicited => DAT_INVALID_STATE_EVD_CONFIG_SOLICITED,
                StateError::CnoInUse => DAT_INVALID_STATE_CNO_IN_USE,
                StateError::SrqInUse => DAT_INVALID_STATE_SRQ_IN_USE,
                // The interface has no subtypes for these states.
                StateError::EndpointHasSrq
                | StateError::ReceivesPosted
                | StateError::EvdTooShort
                | StateError::SrqTooShort => DAT_NO_SUBTYPE,
            }
        }

        fn lacking(resource: Resource) -> DAT_RETURN_SUBTYPE {
            match resource {
                Resource::Memory => DAT_RESOURCE_MEMORY,
                Resource::Endpoint => DAT_RESOURCE_TEP,
                Resource::Evd => DAT_RESOURCE_TEVD,
                Resource::Zone => DAT_RESOURCE_PROTECTION_DOMAIN,
                Resource::Region => DAT_RESOURCE_MEMORY_REGION,
                Resource::Srq => DAT_RESOURCE_SRQ,
                Resource::Device => DAT_RESOURCE_DEVICE,
            }
        }
    };
}
