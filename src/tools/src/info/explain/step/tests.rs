use super::*;

#[test]
fn a_chapter_is_shown_with_what_to_read() {
    let steps = vec![Step::ok("one"), Step::wrong("two\nlines").see(Topic::NoEntry)];
    let chapter = Chapter { title: "Title".to_owned(), steps };
    assert!(chapter.is_wrong());
    let text = anstream::adapter::strip_str(&chapter.text(true).unwrap()).to_string();
    assert_eq!(
        text,
        "Title\n  ok     one\n  WRONG  two\n         lines\n         see: docs/troubleshooting.md#no-entry\n"
    );
    assert!(!chapter.text(false).unwrap().contains("one"));
    assert_eq!(Chapter { steps: vec![Step::ok("one")], ..chapter }.text(false), None);
}
