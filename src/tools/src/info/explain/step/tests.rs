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

#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let text = Chapter { title: "x\ry".to_owned(), steps: vec![Step::wrong("a\u{1b}[31mb")] }.text();
    let text = anstream::adapter::strip_str(&text).to_string();
    assert_eq!(text, "x\\ry\n  WRONG  a\\u{1b}[31mb\n");
}

#[test]
fn too_few_descriptors_are_a_matter_of_their_own() {
    let step = Step::wrong("x: Too many open files").see(Topic::NoEntry);
    assert_eq!(step.see, Some(Topic::OpenFiles.place()));
}
