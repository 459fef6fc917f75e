use super::*;

#[test]
fn names_the_machine_and_the_date() {
    let text = describe();
    assert!(text.contains(" processors; Linux ") && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    let date: Vec<usize> = text.rsplit(' ').next().unwrap_or_default().split('-').map(str::len).collect();
    assert_eq!(date, [4, 2, 2], "{text}");
}
