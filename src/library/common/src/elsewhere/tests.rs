use super::*;
use crate::testing::Udat;

#[test]
fn finds_no_library_of_other_version() {
    for major in [0, 1, 2, 3] {
        assert!(function_of::<Udat>(c"dat_registry_add_provider", major).is_none());
    }
}
