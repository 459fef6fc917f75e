use dat_core::ep::EpState;
use dat_core::ep::table::{Class, Field, RULES, Rule};

use super::*;
use crate::Version;
use crate::v12::Udat12;

/// Callback of `ep_fields!`: defines the function `name`, which returns the name of a field's bit.
macro_rules! names {
    ($($plain:ident: $plain_bit:ident, $given:ident($($path:tt)*);)* ; $($other:ident: $other_bit:ident,)*) => {
        fn name(field: Field) -> &'static str {
            match field {
                $(Field::$plain => stringify!($plain_bit),)*
                $(Field::$other => stringify!($other_bit),)*
            }
        }
    };
}

crate::ep_fields!(names);

/// Returns the fields of this version.
fn fields() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| rule.field != Field::Comm)
}

#[test]
fn every_endpoint_field_has_its_own_mask_bit() {
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

/// Returns a field's row of the manual page. Per state: `A` allows the change, `S` rejects the state, `P` rejects the
/// mask.
fn row(rule: &Rule) -> String {
    let letter = |state| match rule.class {
        Class::Never | Class::Constant => " P",
        class if class.admits(state) => " A",
        _ => " S",
    };
    EpState::ALL.into_iter().fold(name(rule.field).to_owned(), |row, state| row + letter(state))
}

#[test]
fn manual_page_contains_table() {
    let page = include_str!("../../../../../docs/man/dat_ep_modify.3");
    let rows = page.lines().filter_map(|line| line.strip_prefix(".EpRow "));
    // Skips the C name of the field, between the bit and the states.
    let rows: Vec<String> = rows
        .map(|row| row.split(' ').enumerate().filter(|(at, _)| *at != 1).map(|(_, word)| word).collect::<Vec<_>>())
        .map(|words| words.join(" "))
        .collect();
    assert_eq!(rows, fields().map(row).collect::<Vec<_>>());
}
