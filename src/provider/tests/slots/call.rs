//! The frame of slow calls.

use ::dat_provider::Fault;
use ::dat_provider::call::slow;
use dat_core::Error;

use super::*;

#[test]
fn returns_results_and_converts_panics() {
    assert_eq!(slow::<FakeProvider>(|| Ok(())), DAT_SUCCESS);
    assert_eq!(slow::<FakeProvider>(|| Err(Fault::Core(Error::Aborted))), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
    let internal = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
    assert_eq!(slow::<FakeProvider>(|| panic!("on purpose")), internal);
}
