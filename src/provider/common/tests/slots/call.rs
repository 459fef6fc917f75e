//! The frame around slow calls.

use dat_core::Error;
use dat_provider_common::Fault;
use dat_provider_common::call::slow;

use super::*;

#[test]
fn results_come_through_and_panics_become_codes() {
    assert_eq!(slow::<FakeFace>(|| Ok(())), DAT_SUCCESS);
    assert_eq!(slow::<FakeFace>(|| Err(Fault::Core(Error::Aborted))), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
    let internal = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
    assert_eq!(slow::<FakeFace>(|| panic!("on purpose")), internal);
}
