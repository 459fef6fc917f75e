use super::*;

fn sources(text: &str) -> Sources {
    let modules = [BTreeMap::from([("a".to_owned(), ("A".to_owned(), items(text).unwrap()))]), BTreeMap::new()];
    let config = cbindgen::Config::from_file(crate::root().join("cbindgen.toml")).unwrap();
    Sources { config, modules }
}

fn section_of(text: &str, defined: &[&str]) -> Result<String> {
    let defined = defined.iter().map(|name| (*name).to_owned()).collect();
    let section = sources(text).section("a", &defined)?.unwrap_or_default();
    Ok(section.replacen("/* ---- A ---- */\n\n", "", 1))
}

#[test]
fn writes_enumerations_with_their_members() {
    let text = "/// One.\npub type DAT_X = c_enum;\nnamed! {\n    DAT_X;\n    /// Two.\n    pub const A: DAT_X = 0x10;\n}\n\
                pub const B: DAT_X = A;\n";
    let expected = "/** One. */\ntypedef enum dat_x {\n    /** Two. */\n    A = 0x10,\n} DAT_X;\n\n#define B A\n";
    assert_eq!(section_of(text, &[]).unwrap(), expected);
}

#[test]
fn rejects_other_items() {
    assert_eq!(items("pub enum E {\n    A,\n}\n").err(), Some("pub enum E {"));
}

#[test]
fn writes_constants_as_macros() {
    let of = |value: &str| section_of(&format!("pub const M: DAT_EP_PARAM_MASK =\n    {value};\n"), &[]);
    assert_eq!(of("0x1").unwrap(), "#define M UINT64_C(0x1)\n");
    assert_eq!(of("-1").unwrap(), "#define M (-1)\n");
    assert_eq!(of("c\"m\"").unwrap(), "#define M \"m\"\n");
    assert!(of("null_mut()").is_err());
    assert_eq!(section_of("pub const N: T = f();\n", &["N"]).unwrap(), "");
}

#[test]
fn writes_structures_with_tag_and_name() {
    let text =
        "/// S.\n#[repr(C)]\npub struct DAT_S {\n    /// F.\n    pub f: u32,\n}\n\npub const fn f() {\n    x\n}\n";
    let expected = "/** S. */\ntypedef struct dat_s {\n    /** F. */\n    uint32_t f;\n} DAT_S;\n";
    assert_eq!(section_of(text, &[]).unwrap(), expected);
}
