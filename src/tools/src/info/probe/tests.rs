use super::*;

#[test]
fn an_answer_is_found_among_what_a_provider_prints() {
    let (answer, printed) = read("acme: no device\n\n{\"Err\":\"dat_ia_open: X\"}\nacme: bye\n");
    assert_eq!(answer.unwrap().unwrap_err(), "dat_ia_open: X");
    assert_eq!(printed, ["acme: no device", "acme: bye"]);
    let (answer, printed) = read("acme: crash\n");
    assert!(answer.is_none());
    assert_eq!(printed, ["acme: crash"]);
}
