use super::*;

#[test]
fn converts_arguments_to_positions() {
    let positions: Positions = &[(Arg::Attributes, 6), (Arg::Flags, 10)];
    let at = |arg| Fault::new(Error::InvalidParameter(arg), positions);
    assert_eq!(at(Arg::Attributes), Fault::Argument(6));
    assert_eq!(at(Arg::Flags), Fault::Argument(10));
    assert_eq!(at(Arg::Length), Fault::Argument(0));
}

#[test]
fn a_fault_fits_into_a_register() {
    assert!(size_of::<Answer<()>>() <= size_of::<usize>());
}
