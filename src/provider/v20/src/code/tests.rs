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
