// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

/// Returns the comments of a source text as one unit.
fn comments(source: &str) -> Text {
    Text { unit: "unit".into(), path: "path".into(), paragraphs: paragraphs(&source::split(source)) }
}

#[test]
fn joins_the_lines_of_a_paragraph() {
    let text = comments(
        "//! One\n//! two.\n//!\n//! - three\n//! - four\n//! ```\n//! five\n//! ```\nfn six() {}\n// seven\n",
    );
    let found: Vec<_> = text.paragraphs.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(found, [(1, "One two."), (4, "- three"), (5, "- four"), (10, "seven")]);
}

#[test]
fn finds_phrases_across_lines() {
    let phrases = phrases(&crate::root()).unwrap();
    let text =
        comments("/// Whether nobody is\n/// told.\nfn f() {}\n/* the thread goes\n * on */\nlet s = \"nobody\";\n");
    let found: Vec<_> = with_phrases(&text, &phrases).into_iter().map(|place| place.text).collect();
    assert_eq!(found, ["is told", "nobody", "/// Whether", "goes on"]);
}

#[test]
fn finds_long_sentences() {
    let words = "word ".repeat(20);
    assert!(long_sentences(&comments(&format!("// {words}.\n// {words}.\n"))).is_empty());
    assert_eq!(long_sentences(&comments(&format!("// {words}\n// {words}.\n"))).len(), 1);
}

#[test]
fn ignores_code_and_directives_of_pages() {
    let found = of_page("One\ntwo.\n<!-- three\nfour -->\n```sh\nfive\n```\n\n    six\n\n| seven |\n");
    assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["One two.", "| seven |"]);
}
