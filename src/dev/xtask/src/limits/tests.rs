// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

fn hits(path: &str, text: &str) -> Vec<String> {
    let phrases = "# head\nnobody\tone\n(goes|go) on\ttwo\n(?-i:/// (Whether|Has))\\b\tthree\n";
    find(&Files::from([(path.to_owned(), text.to_owned())]), phrases).unwrap()
}

#[test]
fn fails_above_limit_and_without_value() {
    let values = table("a 5 more\nb 6\nc 1\nd 0\n").unwrap();
    let tests = compare(&table("# head\n\na 5\nb 5\nold 1\n").unwrap(), &values);
    let passes: Vec<_> = tests.iter().map(|(passes, _)| *passes).collect();
    assert_eq!(passes, [true, false, false, true, false]);
    assert_eq!(tests[1].1, "b: 6 of at most 5");
    assert!(table("a many\n").is_err() && table("a\n").is_err() && table("a 1\na 1\n").is_err());
}

#[test]
fn counts_unsafe_sites() {
    let text = "unsafe fn f() { unsafe { g() } }\n// unsafe { }\nunsafe impl Send for A {}\n\
                pub unsafe extern \"C\" fn h() {}\nunsafe extern \"C\" {}\nlet s = \"unsafe {\";\n\
                f('\"', '\\'', r#\"\" unsafe { \"#); /* unsafe {\n*/ #[unsafe(no_mangle)]\nlet s = not_unsafe{};\n";
    let files = ["Cargo.toml", "src/a.rs", "src/a/tests.rs", "tests/b.rs"].map(|path| format!("src/dat/{path}"));
    let texts = ["[package]\nname = \"dat\"\n", text, text, text].map(str::to_owned);
    let mut values = Values::new();
    assert_eq!(sources(&files.into_iter().zip(texts).collect(), &mut values).unwrap(), 9);
    assert_eq!(values, table("unsafe:dat 5").unwrap());
}

#[test]
fn recognises_names_of_transports() {
    let name = names("tape").unwrap();
    let all = ["libdapltape.so.1", "dat-tape12", "use dat_tape::Tape;", "src/transport/tape"];
    assert!(all.iter().all(|text| name.is_match(text)));
    assert!(!["libtape", "dat_tapes", "tapestry"].iter().any(|text| name.is_match(text)));
}

#[test]
fn finds_phrases_of_comments_across_lines() {
    let text = "//! It goes\n//! on.\n/* Nobody\n * goes\n *\n * on. */\nlet s = \"nobody\";\n/// Whether it has.\n";
    let expected = ["a.c:3: \"Nobody\": one", "a.c:1: \"goes\\n//! on\": two", "a.c:8: \"/// Whether\": three"];
    assert_eq!(hits("a.c", text), expected);
}

#[test]
fn ignores_code_and_directives_of_pages() {
    let page = "```sh\nnobody\n```\n<!-- nobody\n-->\nIt goes\non. `nobody`\n";
    assert_eq!(hits("a.md", page), ["a.md:7: \"nobody\": one", "a.md:6: \"goes\\non\": two"]);
}
