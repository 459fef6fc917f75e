use super::*;

fn declare(text: &str, defined: &[&str]) -> Result<String> {
    let (_, items) = super::super::source::module(Some(text), None)?;
    Ok(declarations(items, |name| defined.contains(&name), &["sockaddr"])?.trim().to_owned())
}

#[test]
fn an_enumeration_has_two_names_and_keeps_its_base() {
    let text = "c_enum! { /// Doc.\n pub enum dat_x as DAT_X { A = 0x10, B = 2, } }";
    assert_eq!(declare(text, &[]).unwrap(), "/** Doc. */\ntypedef enum dat_x {\n    A = 0x10,\n    B = 2,\n} DAT_X;");
}

#[test]
fn constants_are_written_as_c_has_them() {
    for (constant, wanted) in [
        ("M: DAT_EP_PARAM_MASK = 0x1", "UINT64_C(0x1)"),
        ("M: DAT_COUNT = -1", "(-1)"),
        ("M: u32 = A | B", "(A | B)"),
        ("M: &CStr = c\"x\"", "\"x\""),
    ] {
        assert_eq!(declare(&format!("pub const {constant};"), &[]).unwrap(), format!("#define M {wanted}"));
    }
}

#[test]
fn what_c_cannot_express_must_be_a_macro() {
    let text = "pub const N: DAT_HANDLE = null_mut();";
    assert!(declare(text, &[]).is_err());
    assert_eq!(declare(text, &["N"]).unwrap(), "");
}

#[test]
fn a_structure_and_its_second_name_are_one_declaration() {
    let text = "pub struct dat_y { pub a: [[u32; 3]; 2], pub b: *const c_char, } pub type DAT_Y = dat_y; pub type Z = *mut sockaddr;";
    let wanted =
        "typedef struct dat_y {\n    uint32_t a[2][3];\n    const char *b;\n} DAT_Y;\n\ntypedef struct sockaddr *Z;";
    assert_eq!(declare(text, &[]).unwrap(), wanted);
}

#[test]
fn arguments_of_a_long_function_stand_below_each_other() {
    let text = "pub type SHORT = Option<unsafe extern \"C\" fn(a: c_int)>;";
    assert_eq!(declare(text, &[]).unwrap(), "typedef void (*SHORT)(int a);");
    let arguments = ["unsigned long ".to_owned() + &"L".repeat(80), "DAT_X *b".to_owned()];
    assert_eq!(call("extern x", &arguments, 0), format!("extern x({},\n         {})", arguments[0], arguments[1]));
}

#[test]
fn short_comments_are_in_one_line() {
    let comment = |lines: &[&str]| comment(&lines.iter().map(ToString::to_string).collect::<Vec<_>>(), "");
    assert_eq!(comment(&["A word."]), "/** A word. */\n");
    assert_eq!(comment(&["One.", "", "Two."]), "/**\n * One.\n *\n * Two.\n */\n");
}
