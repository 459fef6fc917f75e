use dat_core::ep::table::RULES;

use super::*;
use crate::Version;
use crate::v20::Udat20;

#[test]
fn gives_each_field_its_own_bit() {
    let mut seen = 0;
    for rule in RULES {
        let bit = Udat20::ep_field(rule.field);
        assert_eq!(bit.count_ones(), 1, "{:?}", rule.field);
        assert_eq!(seen & bit, 0, "{:?}", rule.field);
        seen |= bit;
    }
    assert_eq!(seen, DAT_EP_FIELD_ALL);
}
