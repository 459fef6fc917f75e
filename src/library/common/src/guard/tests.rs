use dat_udat12::{DAT_ABORT, DAT_GET_TYPE, DAT_INTERNAL_ERROR};

use super::*;
use crate::testing::Udat;

#[test]
fn returns_result_of_body() {
    assert_eq!(slow::<Udat>(|| Ok(())), DAT_SUCCESS);
    assert_eq!(slow::<Udat>(|| Err(DAT_ABORT)), DAT_ABORT);
}

#[test]
fn panic_returns_internal_error() {
    let code = slow::<Udat>(|| panic!("on purpose"));
    assert_eq!(DAT_GET_TYPE(code), DAT_INTERNAL_ERROR);
}
