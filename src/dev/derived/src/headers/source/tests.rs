use super::*;

fn units(text: &str, defined: &[&str]) -> Result<Vec<Unit>> {
    let defined = defined.iter().map(|name| (*name).to_owned()).collect();
    Source::new(Some(text), None, &defined).map(|source| source.units)
}

#[test]
fn an_enumeration_has_two_names_and_keeps_its_base() {
    let text = "c_enum! { /// Doc.\n dat_x as DAT_X; A = 0x10, \"One.\"; B = 2, \"Two.\"; }";
    let units = units(text, &[]).unwrap();
    assert_eq!(units[0].names, ["dat_x", "A", "B", "DAT_X"]);
    assert_eq!(units[0].literals.texts, ["0x10", "2"]);
    assert!(units[0].rust.contains("repr"), "{}", units[0].rust);
}

#[test]
fn a_mask_of_64_bits_is_written_as_one() {
    let units = units("pub const M: DAT_EP_PARAM_MASK = 0x1;", &[]).unwrap();
    assert_eq!(units[0].literals.restore("LITERAL_0_".to_owned()), "UINT64_C(0x1)");
}

#[test]
fn a_negative_constant_is_in_parentheses() {
    let units = units("pub const M: DAT_COUNT = -1;", &[]).unwrap();
    assert_eq!(units[0].literals.restore("LITERAL_0_".to_owned()), "(-1)");
}

#[test]
fn rejects_constants_without_c_form() {
    let text = "pub const N: DAT_HANDLE = null_mut();";
    assert!(units(text, &[]).is_err());
    assert!(units(text, &["N"]).unwrap().is_empty());
}

#[test]
fn a_structure_and_its_second_name_are_one_unit() {
    let text = "pub struct dat_y { pub a: u32 } pub type DAT_Y = dat_y; pub type DAT_Z = DAT_Y;";
    let units = units(text, &[]).unwrap();
    assert_eq!(units.len(), 2);
    assert!(units[0].second.is_some() && units[1].second.is_none());
}
