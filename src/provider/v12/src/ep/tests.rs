use dat_core::ep::EpState;
use dat_core::ep::table::{Class, Field, RULES, Rule};

use super::*;
use crate::Udat12;
use dat_provider_common::Version;

dat_provider_common::ep_fields!(names);

/// The fields that this version has.
fn fields() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| rule.field != Field::Comm)
}

#[test]
fn every_field_of_an_endpoint_has_a_mask_bit_of_its_own() {
    let mut seen = 0;
    for rule in fields() {
        let bit = Udat12::ep_field(rule.field);
        assert_eq!(bit.count_ones(), 1, "{:?}", rule.field);
        assert_eq!(seen & bit, 0, "{:?}", rule.field);
        seen |= bit;
    }
    assert_eq!(seen, DAT_EP_FIELD_ALL);
    assert_eq!(seen, 0x7fff_f7ff);
}
/// The row of a field in the manual page: `A` for a state in which it may be modified, `S` for one that refuses it,
/// `P` throughout if the mask is wrong.
fn row(rule: &Rule) -> String {
    let letter = |state| match rule.class {
        Class::Never => " P",
        class if class.admits(state) => " A",
        _ => " S",
    };
    EpState::ALL.into_iter().fold(name(rule.field).to_owned(), |row, state| row + letter(state))
}

#[test]
fn the_manual_page_has_the_table() {
    let page = include_str!("../../../../../docs/man/dat_ep_modify.3");
    let rows = page.lines().filter_map(|line| line.strip_prefix(".EpRow "));
    // The C name of the field is between the bit and the states.
    let rows: Vec<String> = rows
        .map(|row| row.split(' ').enumerate().filter(|(at, _)| *at != 1).map(|(_, word)| word).collect::<Vec<_>>())
        .map(|words| words.join(" "))
        .collect();
    assert_eq!(rows, fields().map(row).collect::<Vec<_>>());
}
