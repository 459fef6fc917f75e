use super::*;

#[test]
fn a_chapter_is_shown_with_what_to_read() {
    let steps = vec![Step::ok("one"), Step::wrong("two\nlines").see(Topic::NoEntry)];
    let chapter = Chapter { title: "Title".to_owned(), steps };
    assert!(chapter.is_wrong());
    let text = anstream::adapter::strip_str(&chapter.text()).to_string();
    assert_eq!(
        text,
        "Title\n  ok     one\n  WRONG  two\n         lines\n         see: docs/troubleshooting.md#no-entry\n"
    );
}
