//! Return codes. All have the error class, except three that programs compare as a whole, and that the C libraries
//! return without a class:
//! - `DAT_QUEUE_EMPTY` of dat_evd_dequeue and dat_cno_wait,
//! - `DAT_CONN_QUAL_IN_USE` of dat_psp_create,
//! - `DAT_CONN_QUAL_UNAVAILABLE` of dat_psp_create_any.
//!
//! Versions share the names of the codes, not the values. Only the subtypes of resources and of most handles have the
//! same values, which are the numbers of the core.

/// Defines the function `code` for the version in scope.
#[macro_export]
macro_rules! codes {
    () => {
        use dat_core::ep::EpState;
        use dat_core::error::{Error, Role, StateError};
        use $crate::Fault;

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
                Role::Csp => DAT_INVALID_HANDLE_CSP,
                // A handle whose role has no subtype is always the first argument.
                Role::Evd | Role::Any => DAT_INVALID_HANDLE1,
                role => role as DAT_RETURN_SUBTYPE,
            };
            DAT_ERROR(DAT_INVALID_HANDLE, subtype)
        }

        fn core_error(error: Error) -> DAT_RETURN {
            match error {
                Error::InvalidHandle(role) => invalid_handle(role),
                // Slots convert this error into `Fault::Argument`.
                Error::InvalidParameter(_) => invalid_arg(0),
                Error::InvalidState(error) => DAT_ERROR(DAT_INVALID_STATE, state(error)),
                Error::InsufficientResources(resource) => {
                    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, resource as DAT_RETURN_SUBTYPE)
                }
                Error::ModelNotSupported => DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE),
                Error::LengthError => DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE),
                Error::PrivilegesViolation(access) => {
                    DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ + access as DAT_RETURN_SUBTYPE)
                }
                Error::ProtectionViolation(access) => {
                    DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_READ + access as DAT_RETURN_SUBTYPE)
                }
                Error::QualifierInUse => DAT_CONN_QUAL_IN_USE,
                Error::QualifierUnavailable => DAT_CONN_QUAL_UNAVAILABLE,
                Error::ListenForbidden => DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE),
                Error::PortInUse => DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE),
                Error::CommNotSupported => DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE),
                Error::QueueEmpty => DAT_QUEUE_EMPTY,
                Error::QueueFull => DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE),
                Error::TimeoutExpired => DAT_ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE),
                Error::Interrupted => DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE),
                Error::Aborted => DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE),
                Error::InvalidAddress(fault) => {
                    DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED + fault as DAT_RETURN_SUBTYPE)
                }
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
    };
}
