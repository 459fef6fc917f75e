use super::*;

#[test]
fn parses_type_and_subtypes() {
    let row = Returned::read("* `DAT_A` / `DAT_A_B_C`, `..._D` - it happens").unwrap();
    assert_eq!(
        (row.kind.as_str(), &row.subtypes[..]),
        ("DAT_A", &["DAT_A_B_C".to_owned(), "DAT_A_B_D".to_owned()][..])
    );
    assert!(!row.foreign && row.when == "it happens");
    let row = Returned::read("* `DAT_A` - rare; never from the providers of this project").unwrap();
    assert!(row.subtypes.is_empty() && row.foreign && row.when == "rare");
    assert!(Returned::read("* `DAT_A` / - empty").is_none());
    assert!(Returned::read("* `DAT_A`, `DAT_B` - two types").is_none());
}

#[test]
fn selects_rows_of_version() {
    let list = ["* `DAT_A` - a: b", "* `DAT_B` - 2.0: c"];
    let list: Vec<String> = list.iter().map(|line| (*line).to_owned()).collect();
    let kinds = |version| rows(&list, version).unwrap().into_iter().map(|row| row.kind).collect::<Vec<_>>();
    assert_eq!(kinds("1.2"), ["DAT_A"]);
    assert_eq!(kinds("2.0"), ["DAT_A", "DAT_B"]);
}
