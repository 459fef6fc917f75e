use super::{Fault, Line, Tokens, parse};
use crate::entry::{Api, Entry, Interface};
use proptest::prelude::*;
use std::ffi::CString;

fn tokens(line: &str) -> Vec<Result<String, Fault>> {
    Tokens::new(line.as_bytes())
        .map(|token| token.map(|bytes| String::from_utf8(bytes.into_owned()).unwrap()))
        .collect()
}

fn ok(list: &[&str]) -> Vec<Result<String, Fault>> {
    list.iter().map(|text| Ok((*text).to_owned())).collect()
}

fn entries(text: &str) -> Vec<(u32, Entry)> {
    parse(text.as_bytes())
        .filter_map(|line| match line {
            Line::Entry(number, entry) => Some((number, entry)),
            Line::Bad(_) => None,
        })
        .collect()
}

fn faults(text: &str) -> Vec<(u32, Fault)> {
    parse(text.as_bytes())
        .filter_map(|line| match line {
            Line::Entry(..) => None,
            Line::Bad(bad) => Some((bad.line, bad.fault)),
        })
        .collect()
}

const GOOD: &str = "ibd0 u1.2 nonthreadsafe default libprov.so.1 ACME.1.0 \"\" \"\"";

fn with_field(index: usize, value: &str) -> String {
    let mut fields: Vec<&str> = GOOD.split(' ').collect();
    fields[index - 1] = value;
    fields.join(" ")
}

#[test]
fn spaces_and_tabs_separate_tokens() {
    assert_eq!(tokens("  a\t\t b c  "), ok(&["a", "b", "c"]));
    assert_eq!(tokens(""), ok(&[]));
    assert_eq!(tokens(" \t "), ok(&[]));
}

#[test]
fn backslash_does_not_continue_a_line() {
    assert_eq!(tokens("a \\"), ok(&["a", "\\"]));
    assert_eq!(faults("ibd0 u1.2 \\\nnonthreadsafe default l A.1.0 \"\" \"\"\n").len(), 2);
}

#[test]
fn comments_start_between_tokens() {
    assert_eq!(tokens("# all of it"), ok(&[]));
    assert_eq!(tokens("a # b"), ok(&["a"]));
    assert_eq!(tokens("a#b c"), ok(&["a#b", "c"]));
    assert_eq!(tokens("\"a\"# b"), ok(&["a"]));
    assert_eq!(tokens("\"# a\" b"), ok(&["# a", "b"]));
}

#[test]
fn quoted_tokens_have_escapes() {
    assert_eq!(tokens(r#""a \"b\" \\ \c""#), ok(&[r#"a "b" \ c"#]));
    assert_eq!(tokens(r#""" " ""#), ok(&["", " "]));
    assert_eq!(tokens(r#""a"b"#), ok(&["a", "b"]));
}

#[test]
fn bare_tokens_have_no_escapes() {
    assert_eq!(tokens(r"a\b \n"), ok(&[r"a\b", r"\n"]));
    assert_eq!(tokens("ab\"c d\"e"), ok(&["ab", "c d", "e"]));
}

#[test]
fn rejects_unterminated_quotes() {
    let fault = || Err(Fault::UnterminatedQuote);
    assert_eq!(tokens("a \"b c"), [Ok("a".to_owned()), fault()]);
    assert_eq!(tokens("\"a\\"), [fault()]);
    assert_eq!(tokens("\"a\\\""), [fault()]);
}

#[test]
fn ignores_carriage_return_at_line_end() {
    assert_eq!(tokens("a b\r"), ok(&["a", "b"]));
    assert_eq!(entries(&format!("{GOOD}\r\n")).len(), 1);
    assert_eq!(entries(&format!("# c\r\n\r\n{GOOD}\r\n"))[0].0, 3);
}

#[test]
fn rejects_nul_byte() {
    assert_eq!(tokens("a\0b c"), [Err(Fault::NulByte)]);
}

#[test]
fn parses_sample_file() {
    let text = r#"# whole-line comment
ibd0  u1.2  nonthreadsafe  default  libprov.so.1  ACME.1.0  "inst \"a\" \\ b"  ""   # trailing
ibd0  u1.2  threadsafe     default  libprov.so.1  ACME.1.0  " "  ""
ibd1  u1.2  nonthreadsafe  nondefault  libprov.so.1  ACME.1.0  ""  ""
ibd2  u1.x  nonthreadsafe  default  libprov.so.1  ACME.1.0  ""  ""
ibd0  u1.2  nonthreadsafe  default  libother.so.1 ACME.1.0  ""  ""
ibd3  k1.2  nonthreadsafe  default  libprov.so.1  ACME.1.0  ""  ""
"#;
    let found = entries(text);
    let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7]);
    assert_eq!(found[0].1.instance_data.to_bytes(), br#"inst "a" \ b"#);
    assert_eq!(found[1].1.instance_data.to_bytes(), b" ");
    assert!(!found[2].1.default);
    assert_eq!(found[4].1.api.interface, Interface::Kernel);
    assert_eq!(faults(text), [(5, Fault::ApiVersion)]);
}

#[test]
fn reports_fault_of_each_field() {
    let cases = [
        (1, "\"\"", Fault::EmptyName),
        (2, "x1.2", Fault::ApiVersion),
        (2, "u1", Fault::ApiVersion),
        (2, "u1.", Fault::ApiVersion),
        (2, "u.2", Fault::ApiVersion),
        (2, "u1.2.3", Fault::ApiVersion),
        (2, "u1.4294967296", Fault::ApiVersion),
        (2, "u+1.2", Fault::ApiVersion),
        (2, "U1.2", Fault::ApiVersion),
        (3, "threadsafely", Fault::ThreadSafety),
        (3, "Threadsafe", Fault::ThreadSafety),
        (3, "thread", Fault::ThreadSafety),
        (4, "def", Fault::DefaultFlag),
        (4, "DEFAULT", Fault::DefaultFlag),
        (5, "\"\"", Fault::EmptyLibrary),
        (6, "ACME", Fault::ProviderVersion),
        (6, "ACME.1", Fault::ProviderVersion),
        (6, ".1.0", Fault::ProviderVersion),
        (6, "ACME.1.x", Fault::ProviderVersion),
        (8, "\"\" extra", Fault::TooManyFields),
        (8, "\"\" \"open", Fault::UnterminatedQuote),
    ];
    for (field, value, fault) in cases {
        assert_eq!(faults(&with_field(field, value)), [(1, fault)], "{value}");
    }
    assert_eq!(faults(GOOD), []);
    assert_eq!(faults(&with_field(6, "mv.dapl.1.2")), []);
}

#[test]
fn reports_missing_field() {
    let fields: Vec<&str> = GOOD.split(' ').collect();
    for have in 1..8 {
        let short = fields[..have].join(" ");
        let missing = Fault::MissingField(have as u8 + 1);
        assert_eq!(faults(&short), [(1, missing)]);
        assert_eq!(faults(&format!("{short} # rest\n")), [(1, missing)]);
    }
}

#[test]
fn rejects_name_above_255_bytes() {
    assert_eq!(entries(&with_field(1, &"n".repeat(255))).len(), 1);
    assert_eq!(faults(&with_field(1, &"n".repeat(256))), [(1, Fault::LongName)]);
}

#[test]
fn accepts_last_line_without_line_end() {
    assert_eq!(entries(&format!("{GOOD}\n{GOOD}")).len(), 2);
}

#[test]
fn bad_line_has_fields_before_the_fault() {
    let Some(Line::Bad(bad)) = parse(b"\n\nibd7 u2.0 maybe\n").next() else {
        panic!("not a bad line");
    };
    assert_eq!(bad.line, 3);
    assert_eq!(bad.name.as_deref(), Some(c"ibd7"));
    assert_eq!(bad.api.map(|api| (api.major, api.minor)), Some((2, 0)));
}

/// Formats an entry as a line, with all strings quoted.
fn rendered(entry: &Entry, version: &[u8], platform_data: &[u8]) -> Vec<u8> {
    fn quoted(out: &mut Vec<u8>, value: &[u8]) {
        out.push(b'"');
        for &byte in value {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.extend_from_slice(b"\"\t ");
    }
    let mut out = Vec::new();
    quoted(&mut out, entry.name.to_bytes());
    let kind = match entry.api.interface {
        Interface::User => 'u',
        Interface::Kernel => 'k',
    };
    let words = format!(
        "{kind}{}.{} {} {} ",
        entry.api.major,
        entry.api.minor,
        ["nonthreadsafe", "threadsafe"][usize::from(entry.thread_safe)],
        ["nondefault", "default"][usize::from(entry.default)],
    );
    out.extend_from_slice(words.as_bytes());
    quoted(&mut out, entry.library.to_bytes());
    quoted(&mut out, version);
    quoted(&mut out, entry.instance_data.to_bytes());
    quoted(&mut out, platform_data);
    out
}

prop_compose! {
    /// Arbitrary bytes that a quoted string can contain.
    fn string(min: usize, max: usize)(
        bytes in prop::collection::vec(
            any::<u8>().prop_filter("line end", |byte| !matches!(byte, 0 | b'\n')),
            min..=max,
        )
    ) -> CString {
        CString::new(bytes).unwrap()
    }
}

prop_compose! {
    fn any_entry()(
        name in string(1, 255),
        user in any::<bool>(),
        major in any::<u32>(),
        minor in any::<u32>(),
        thread_safe in any::<bool>(),
        default in any::<bool>(),
        library in string(1, 40),
        instance_data in string(0, 40),
    ) -> Entry {
        Entry {
            name,
            api: Api {
                interface: if user { Interface::User } else { Interface::Kernel },
                major,
                minor,
            },
            thread_safe,
            default,
            library,
            instance_data,
        }
    }
}

prop_compose! {
    fn any_line()(
        entry in any_entry(),
        id in string(1, 10),
        (major, minor) in any::<(u32, u32)>(),
        platform_data in string(0, 40),
    ) -> (Entry, Vec<u8>) {
        let version = [id.to_bytes(), format!(".{major}.{minor}").as_bytes()].concat();
        let text = rendered(&entry, &version, platform_data.to_bytes());
        (entry, text)
    }
}

proptest! {
    #[test]
    fn accepts_any_bytes(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        let lines = parse(&text).count();
        prop_assert!(lines <= text.split(|byte| *byte == b'\n').count());
    }

    #[test]
    fn accepts_likely_bytes(
        text in "([a-z0-9. \t\"\\\\#\r\n]|u1\\.2|threadsafe|default|ibd0){0,200}"
    ) {
        for line in parse(text.as_bytes()) {
            if let Line::Entry(_, entry) = line {
                prop_assert!(!entry.name.is_empty() && !entry.library.is_empty());
            }
        }
    }

    #[test]
    fn parses_formatted_entry((entry, text) in any_line()) {
        let lines: Vec<Line> = parse(&text).collect();
        prop_assert_eq!(lines, vec![Line::Entry(1, entry)]);
    }

    #[test]
    fn bad_line_does_not_affect_other_lines(
        (before, mut text) in any_line(),
        (after, last) in any_line(),
        between in prop::collection::vec(
            any::<u8>().prop_filter("line end", |byte| *byte != b'\n'), 0..80),
    ) {
        text.push(b'\n');
        text.extend_from_slice(&between);
        text.push(b'\n');
        text.extend_from_slice(&last);
        let lines: Vec<Line> = parse(&text).collect();
        let (before, after) = (Line::Entry(1, before), Line::Entry(3, after));
        prop_assert_eq!(lines.first(), Some(&before));
        prop_assert_eq!(lines.last(), Some(&after));
    }
}
