// SPDX-License-Identifier: MIT OR Apache-2.0

use std::path::Path;

use super::measure::{is_test, names_any, package_name, patterns};
use super::source::{Function, comment_words, functions, split, trait_members, unsafe_sites};
use super::*;

fn measured(name: &str, value: u64) -> Measurement {
    Measurement { name: name.to_owned(), value, place: None }
}

fn judged(row: &str, value: u64) -> Test {
    let table = Table::parse(row).unwrap();
    let name = table.rows().next().unwrap().name.clone();
    judge(table.row(&name), &measured(&name, value))
}

#[test]
fn parses_rows_and_sentences() {
    let table = Table::parse("# head\n\nlines:a  120 100\nunsafe:a 5 4  One more buys speed.\n").unwrap();
    let rows: Vec<_> = table.rows().collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].limit, rows[0].best, rows[0].sentence.as_str()), (120, 100, ""));
    assert_eq!(rows[1].sentence, "One more buys speed.");
}

#[test]
fn rejects_bad_rows() {
    assert!(Table::parse("lines:a 120\n").is_err());
    assert!(Table::parse("lines:a many 100\n").is_err());
    assert!(Table::parse("lines:a 1 1\nlines:a 1 1\n").is_err());
}

#[test]
fn fails_above_limit() {
    assert!(judged("lines:a 120 100", 120).passed);
    let test = judged("lines:a 120 100", 1121);
    assert!(!test.passed);
    assert!(test.text.starts_with("lines:a: 1,121 of at most 120: remove lines, or raise LIMIT"), "{}", test.text);
}

#[test]
fn requires_sentence_beyond_slack() {
    assert!(!judged("lines:a 121 100", 100).passed);
    assert!(judged("lines:a 121 100 The lines buy speed.", 100).passed);
    assert!(judged("lines:a 10100 10000", 10000).passed);
    assert!(!judged("lines:a 10101 10000", 10000).passed);
    assert!(!judged("unsafe:a 5 4", 4).passed);
    assert!(judged("instructions:send 1211 1204", 1204).passed);
    assert!(!judged("instructions:send 1212 1204", 1204).passed);
}

#[test]
fn rejects_best_above_limit() {
    assert!(!judged("unsafe:a 4 5 A sentence.", 4).passed);
}

#[test]
fn fails_if_row_or_value_is_missing() {
    let table = Table::parse("unsafe:old 1 1\n").unwrap();
    let tests = compare(&table, &[measured("unsafe:new", 2)]);
    assert_eq!(tests.iter().filter(|test| !test.passed).count(), 2);
    assert!(tests[0].text.starts_with("unsafe:new: 2 without a limit"));
    assert!(tests[1].text.starts_with("unsafe:old: no longer measured"));
}

#[test]
fn update_lowers_and_never_raises() {
    let text = "# head\nlines:a 120 100\nlines:b 120 100  Kept sentence.\n# end\nunsafe:old 1 1\n";
    let mut table = Table::parse(text).unwrap();
    table.update(&[measured("lines:a", 50), measured("lines:b", 500), measured("lines:c", 10)]);
    let rows: Vec<_> = table.rows().map(|row| (row.name.as_str(), row.limit, row.best)).collect();
    assert_eq!(rows, [("lines:a", 70, 50), ("lines:b", 120, 100), ("lines:c", 30, 10)]);
    let text = table.render();
    assert!(text.starts_with("# head\nlines:a "));
    assert!(text.contains("Kept sentence.\nlines:c") && text.ends_with("\n# end\n"), "{text}");
    let mut again = Table::parse(&text).unwrap();
    again.update(&[measured("lines:a", 50), measured("lines:b", 100), measured("lines:c", 10)]);
    assert_eq!(again.render(), text);
}

#[test]
fn update_lowers_limit_to_value_above_best() {
    let mut table = Table::parse("instructions:send 1316 1204  Speed.\n").unwrap();
    table.update(&[measured("instructions:send", 1290)]);
    let row = table.row("instructions:send").unwrap();
    assert_eq!((row.limit, row.best), (1297, 1204));
}

#[test]
fn slack_of_longest_ends_at_style_limit() {
    assert_eq!(slack("longest:file", 605), 0);
    assert_eq!(slack("longest:file", 590), 10);
    assert_eq!(slack("longest:function", 75), 5);
}

#[test]
fn separates_comments_from_code() {
    let lines = split("let a = \"// no\"; // yes\nlet c = '\"'; /* two\nlines */ let d: &'a u8;\n");
    assert_eq!(lines[0].code, "let a = \"\"; ");
    assert_eq!(lines[0].comment, "// yes");
    assert_eq!(lines[1].code, "let c = ''; ");
    assert_eq!(lines[2].code, " let d: &'a u8;");
    assert_eq!(lines[2].comment, "lines */");
    assert_eq!(split("f(r#\"a \" // b\"#, br\"\\\", r#fn, '\\'', '\\u{41}'); // c")[0].comment, "// c");
}

#[test]
fn counts_words_of_comments() {
    let text = "//! One two.\n///\n/// Three `four`.\nfn f() {} // five\nconst URL: &str = \"https://six\";\n";
    assert_eq!(comment_words(&split(text)), 5);
}

#[test]
fn counts_unsafe_sites() {
    let text = "unsafe fn f() { unsafe { g() } }\n// unsafe { }\nunsafe impl Send for A {}\n\
                pub unsafe extern \"C\" fn h() {}\nunsafe extern \"C\" {}\nlet s = \"unsafe {\";\n\
                #[unsafe(no_mangle)]\nlet unsafe_fn = not_unsafe{};\n";
    assert_eq!(unsafe_sites(&split(text)), 5);
}

#[test]
fn measures_functions() {
    let text = "pub(crate) fn a() {\n    one();\n    let s = \"\n}\n\";\n}\nimpl A {\n    \
                unsafe extern \"C\" fn b(\n        x: u8,\n    ) -> u8\n    where\n        B: C,\n    {\n        \
                fn inner() {\n        }\n        x\n    }\n    fn c(&self) {}\n}\ntrait T {\n    fn d();\n}\n";
    let found: Vec<_> = functions(&split(text)).into_iter().map(|Function { name, lines }| (name, lines)).collect();
    let expected = [("a", 6), ("b", 10), ("c", 1), ("d", 1)];
    assert_eq!(found, expected.map(|(name, lines)| (name.to_owned(), lines)));
}

#[test]
fn counts_members_of_traits() {
    let text = "pub trait Transports {\n    fn no();\n}\npub trait Transport: Send {\n    /// fn no();\n    \
                const A: u64 = 0;\n    type B;\n    fn c(&self) {\n        fn no() {}\n    }\n    unsafe fn d(\n        \
                x: u8,\n    );\n}\nfn no() {}\n";
    assert_eq!(trait_members(&split(text), "Transport"), Some((2, 1)));
    assert_eq!(trait_members(&split(text), "Other"), None);
}

#[test]
fn finds_package_names() {
    assert_eq!(package_name("[package]\nname = \"dat-core\"\n[lib]\nname = \"core\"\n"), Some("dat-core"));
    assert_eq!(package_name("[workspace]\nmembers = []\n"), None);
}

#[test]
fn recognises_test_modules() {
    assert!(is_test(Path::new("ep/tests.rs")));
    assert!(is_test(Path::new("testing/fake.rs")));
    assert!(!is_test(Path::new("ep/attested.rs")));
}

#[test]
fn recognises_names_of_transports() {
    let patterns = patterns("tape", ["src/tape".to_owned()].into_iter());
    for text in ["libdapltape.so.1", "dat-tape12", "use dat_tape::Tape;", "src/tape20/src"] {
        assert!(names_any(text, &patterns), "{text}");
    }
    for text in ["libtape", "dat_tapes", "tapestry"] {
        assert!(!names_any(text, &patterns), "{text}");
    }
}

#[test]
fn groups_digits() {
    assert_eq!(["7", "123", "1,234", "73,876"], [7, 123, 1234, 73876].map(grouped).each_ref().map(String::as_str));
}
