use super::*;

#[test]
fn finds_codes_in_tags() {
    let section = ".TP\n.B DAT_SUCCESS\nFine.\n.TP\n\
            .BR DAT_A \" / \" DAT_A_B \", \" DAT_A_C\nNot DAT_D.\nOnly other providers\nreturn this code.\n.TP\n\
            .BR DAT_E \" / \" DAT_NO_SUBTYPE\nIt is so.\n.PP\nOnly other providers return this code.\n";
    let found: Vec<String> = codes(section).iter().map(Code::to_string).collect();
    let expected = [
        "DAT_A / DAT_A_B, never from the providers of this project",
        "DAT_A / DAT_A_C, never from the providers of this project",
        "DAT_E / DAT_NO_SUBTYPE",
    ];
    assert_eq!(found, expected);
}

#[test]
fn starts_sentences_on_new_lines() {
    let entry = "`a` is DAT_B_..., or `DAT_C` (-1), of dat_x. See libdat(7), and the peer's";
    let lines = "\\fIa\\fP is DAT_B_..., or \\fBDAT_C\\fP (\\-1), of \\fBdat_x\\fP(3).\n\
            See \\fBlibdat\\fP(7), and the peer\\(aqs.\n";
    assert_eq!(text(entry), lines);
}

#[test]
fn lists_states_in_text() {
    let row = Returned::read("* `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_A`, `..._B`, `..._C` - it is so").unwrap();
    let entry = ".TP\n.BR DAT_INVALID_STATE \" / DAT_INVALID_STATE_EP_...\"\nIt is so.\n\
            The subtype names the state: \\fBDAT_INVALID_STATE_EP_A\\fP,\n\
            \\fBDAT_INVALID_STATE_EP_B\\fP or \\fBDAT_INVALID_STATE_EP_C\\fP.\n";
    assert_eq!(returned(&row), entry);
}

#[test]
fn explains_invalid_handles() {
    let row = |when: &str| returned(&Returned::read(&format!("* `DAT_INVALID_HANDLE` / `X` - {when}")).unwrap());
    assert!(row("`x` is not an endpoint").ends_with("null, misaligned, of another kind, or already\nfreed.\n"));
    assert!(row("`x` is not an endpoint, or so").ends_with("or so.\n"));
}
