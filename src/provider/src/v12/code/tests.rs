use dat_core::error::{Access, AddressFault, Resource};

use super::*;

#[test]
fn converts_arguments_to_positions() {
    assert_eq!(code(Fault::Argument(6)), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
    assert_eq!(code(Fault::Argument(10)), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG10));
    assert_eq!(code(Fault::Argument(0)), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE));
}

#[test]
fn every_endpoint_state_has_the_subtype_of_its_name() {
    let subtypes = [46, 52, 48, 47, 49, 53, 50, 54, 51];
    for (state, subtype) in EpState::ALL.into_iter().zip(subtypes) {
        let got = code(Fault::Core(Error::InvalidState(StateError::Endpoint(state))));
        assert_eq!(got, 0x8007_0000 | subtype, "{state:?}");
    }
}

#[test]
fn all_codes_but_three_have_error_class() {
    let faults = [
        Fault::Core(Error::TimeoutExpired),
        Fault::ReservedQualifierInUse,
        Fault::Core(Error::QueueFull),
        Fault::Handle(Role::Evd),
        Fault::Core(Error::ListenForbidden),
        Fault::Core(Error::NotImplemented),
    ];
    assert_eq!(faults.map(code), [0x800f_0000, 0x8002_0000, 0x800e_0000, 0x8005_001a, 0x800b_0000, 0xffff_0000]);
    let faults = [Error::QueueEmpty, Error::QualifierInUse, Error::QualifierUnavailable].map(Fault::Core);
    assert_eq!(faults.map(code), [0x000d_0000, 0x0002_0000, 0x0014_0000]);
}

#[test]
fn subtypes_have_numbers_of_this_version() {
    let roles = [Role::Ia, Role::EvdAsync, Role::Srq, Role::Csp, Role::Any].map(Fault::Handle);
    assert_eq!(roles.map(code), [0x8005_000b, 0x8005_0018, 0x8005_0019, 0x8005_0000, 0x8005_001a]);
    let resources = [Resource::Memory, Resource::Device, Resource::Region, Resource::Srq];
    let resources = resources.map(Error::InsufficientResources).map(Fault::Core);
    assert_eq!(resources.map(code), [0x8003_0002, 0x8003_0003, 0x8003_0007, 0x8003_000a]);
    let accesses = [Access::Read, Access::Write, Access::RemoteRead, Access::RemoteWrite];
    let privileges = accesses.map(Error::PrivilegesViolation).map(Fault::Core);
    assert_eq!(privileges.map(code), [0x800b_0057, 0x800b_0058, 0x800b_0059, 0x800b_005a]);
    let protections = accesses.map(Error::ProtectionViolation).map(Fault::Core);
    assert_eq!(protections.map(code), [0x800c_005b, 0x800c_005c, 0x800c_005d, 0x800c_005e]);
    let faults = [AddressFault::Unsupported, AddressFault::Unreachable, AddressFault::Malformed];
    assert_eq!(faults.map(Error::InvalidAddress).map(Fault::Core).map(code), [0x8012_005f, 0x8012_0060, 0x8012_0061]);
}
