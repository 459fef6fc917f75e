use super::*;

#[test]
fn codes_stand_in_the_tags() {
    let page = ".TH X\n.SH RETURN VALUES\n.TP\n.B DAT_SUCCESS\nFine.\n.TP\n\
            .BR DAT_A \" / \" DAT_A_B \", \" DAT_A_C\nNot DAT_D.\nNever from the providers\nof this project.\n.TP\n\
            .BR DAT_INVALID_STATE \" / DAT_INVALID_STATE_EP_...\"\nThe state: \\fBDAT_INVALID_STATE_EP_X\\fP or\n\
            \\fBDAT_INVALID_STATE_EP_Y\\fP.\n.PP\nBut \\fBDAT_INVALID_STATE_EP_Z\\fP.\n.SH NOTES\n";
    let found: Vec<String> = codes(page, "RETURN VALUES").iter().map(Code::to_string).collect();
    let expected = [
        "DAT_A / DAT_A_B, never from the providers of this project",
        "DAT_A / DAT_A_C, never from the providers of this project",
        "DAT_INVALID_STATE / DAT_INVALID_STATE_EP_X",
        "DAT_INVALID_STATE / DAT_INVALID_STATE_EP_Y",
    ];
    assert_eq!(found, expected);
}
