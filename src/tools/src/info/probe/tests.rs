use super::*;

#[test]
fn finds_the_answer_in_the_output_of_a_provider() {
    let (answer, printed) = read("acme: no device\n\n{\"Err\":\"dat_ia_open: X\"}\nacme: bye\n");
    assert_eq!(answer.unwrap().unwrap_err(), "dat_ia_open: X");
    assert_eq!(printed, ["acme: no device", "acme: bye"]);
    let (answer, printed) = read("acme: crash\n");
    assert!(answer.is_none());
    assert_eq!(printed, ["acme: crash"]);
}
