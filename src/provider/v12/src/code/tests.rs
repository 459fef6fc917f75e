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
        Fault::Core(Error::NotImplemented),
    ];
    assert_eq!(faults.map(code), [0x800f_0000, 0x8002_0000, 0x800e_0000, 0x8005_001a, 0xffff_0000]);
    let faults = [Error::QueueEmpty, Error::QualifierInUse, Error::QualifierUnavailable].map(Fault::Core);
    assert_eq!(faults.map(code), [0x000d_0000, 0x0002_0000, 0x0014_0000]);
}
