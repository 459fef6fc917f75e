use dat_core::error::{Access, AddressFault, Resource};

use super::*;

#[test]
fn returns_codes_of_this_version() {
    assert_eq!(code(Fault::Argument(1)), 0x8006_0025);
    assert_eq!(code(Fault::Argument(10)), 0x8006_002e);
    assert_eq!(code(Fault::Handle(Role::Ia)), 0x8005_000b);
    assert_eq!(code(Fault::Handle(Role::Any)), 0x8005_001b);
    assert_eq!(code(Fault::NotRegistered), 0x800a_0064);
    let subtypes = [47, 53, 49, 48, 50, 54, 51, 55, 52];
    for (state, subtype) in EpState::ALL.into_iter().zip(subtypes) {
        let got = code(Fault::Core(Error::InvalidState(StateError::Endpoint(state))));
        assert_eq!(got, 0x8007_0000 | subtype, "{state:?}");
    }
}

#[test]
fn sets_error_class_except_for_three() {
    let faults = [Error::NotImplemented, Error::ModelNotSupported, Error::TimeoutExpired].map(Fault::Core);
    assert_eq!(faults.map(code), [0xbfff_0000, 0x8009_0000, 0x800f_0000]);
    assert_eq!([Fault::ReservedQualifierInUse, Fault::NotTriggered].map(code), [0x8002_0000, 0x800d_0000]);
    let faults = [Error::QueueEmpty, Error::QualifierInUse, Error::QualifierUnavailable].map(Fault::Core);
    assert_eq!(faults.map(code), [0x000d_0000, 0x0002_0000, 0x0014_0000]);
}

#[test]
fn subtypes_have_numbers_of_interface() {
    let roles = [
        (Role::Ia, DAT_INVALID_HANDLE_IA),
        (Role::Ep, DAT_INVALID_HANDLE_EP),
        (Role::Lmr, DAT_INVALID_HANDLE_LMR),
        (Role::Rmr, DAT_INVALID_HANDLE_RMR),
        (Role::Pz, DAT_INVALID_HANDLE_PZ),
        (Role::Psp, DAT_INVALID_HANDLE_PSP),
        (Role::Rsp, DAT_INVALID_HANDLE_RSP),
        (Role::Csp, DAT_INVALID_HANDLE_CSP),
        (Role::Cr, DAT_INVALID_HANDLE_CR),
        (Role::Cno, DAT_INVALID_HANDLE_CNO),
        (Role::EvdConnectionRequests, DAT_INVALID_HANDLE_EVD_CR),
        (Role::EvdRequest, DAT_INVALID_HANDLE_EVD_REQUEST),
        (Role::EvdRecv, DAT_INVALID_HANDLE_EVD_RECV),
        (Role::EvdConnect, DAT_INVALID_HANDLE_EVD_CONN),
        (Role::EvdAsync, DAT_INVALID_HANDLE_EVD_ASYNC),
        (Role::Srq, DAT_INVALID_HANDLE_SRQ),
        (Role::Evd, DAT_INVALID_HANDLE1),
        (Role::Any, DAT_INVALID_HANDLE1),
    ];
    for (role, subtype) in roles {
        assert_eq!(code(Fault::Handle(role)), DAT_ERROR(DAT_INVALID_HANDLE, subtype), "{role:?}");
    }
    let resources = [
        (Resource::Memory, DAT_RESOURCE_MEMORY),
        (Resource::Device, DAT_RESOURCE_DEVICE),
        (Resource::Endpoint, DAT_RESOURCE_TEP),
        (Resource::Evd, DAT_RESOURCE_TEVD),
        (Resource::Zone, DAT_RESOURCE_PROTECTION_DOMAIN),
        (Resource::Region, DAT_RESOURCE_MEMORY_REGION),
        (Resource::Srq, DAT_RESOURCE_SRQ),
    ];
    for (resource, subtype) in resources {
        let got = code(Fault::Core(Error::InsufficientResources(resource)));
        assert_eq!(got, DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, subtype), "{resource:?}");
    }
    let accesses = [
        (Access::Read, DAT_PRIVILEGES_READ, DAT_PROTECTION_READ),
        (Access::Write, DAT_PRIVILEGES_WRITE, DAT_PROTECTION_WRITE),
        (Access::RemoteRead, DAT_PRIVILEGES_RDMA_READ, DAT_PROTECTION_RDMA_READ),
        (Access::RemoteWrite, DAT_PRIVILEGES_RDMA_WRITE, DAT_PROTECTION_RDMA_WRITE),
    ];
    for (access, privilege, protection) in accesses {
        let got = [Error::PrivilegesViolation(access), Error::ProtectionViolation(access)].map(Fault::Core).map(code);
        let expected = [(DAT_PRIVILEGES_VIOLATION, privilege), (DAT_PROTECTION_VIOLATION, protection)];
        assert_eq!(got, expected.map(|(kind, subtype)| DAT_ERROR(kind, subtype)), "{access:?}");
    }
    let faults = [
        (AddressFault::Unsupported, DAT_INVALID_ADDRESS_UNSUPPORTED),
        (AddressFault::Unreachable, DAT_INVALID_ADDRESS_UNREACHABLE),
        (AddressFault::Malformed, DAT_INVALID_ADDRESS_MALFORMED),
    ];
    for (fault, subtype) in faults {
        let got = code(Fault::Core(Error::InvalidAddress(fault)));
        assert_eq!(got, DAT_ERROR(DAT_INVALID_ADDRESS, subtype), "{fault:?}");
    }
}
