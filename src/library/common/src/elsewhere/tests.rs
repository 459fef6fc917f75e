use super::*;
use crate::testing::Udat;

#[test]
fn there_is_no_other_library_here() {
    for major in [0, 1, 2, 3] {
        assert!(function_of::<Udat>(c"dat_registry_add_provider", major).is_none());
    }
}
