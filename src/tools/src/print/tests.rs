use super::*;

#[test]
fn one_is_no_plural() {
    assert_eq!([0, 1, 2].map(|number| counted(number, "round")), ["0 rounds", "1 round", "2 rounds"]);
}

#[test]
fn columns_are_aligned_and_end_without_blanks() {
    let rows = [vec!["shm".to_owned(), "1".to_owned()], vec!["verbs-eth0".to_owned(), "2".to_owned()]];
    let text = anstream::adapter::strip_str(&columns(&["NAME", "N"], rows)).to_string();
    assert_eq!(text, "NAME        N\nshm         1\nverbs-eth0  2");
}
