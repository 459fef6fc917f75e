//! Parses tokens into entries (uDAPL, dat.conf(4)).

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::CString;
use std::fmt;

use super::lexer::Tokens;
use crate::entry::{Api, Entry, Interface, NAME_MAX};

/// Maximum length of a line in bytes.
pub const LINE_MAX: usize = 64 << 10;

/// The first fault of a line.
#[expect(missing_docs, reason = "`Display` describes them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    LongLine,
    UnterminatedQuote,
    NulByte,
    /// With the number of the field, 2 to 8.
    MissingField(u8),
    TooManyFields,
    EmptyName,
    LongName,
    ApiVersion,
    ThreadSafety,
    DefaultFlag,
    EmptyLibrary,
    ProviderVersion,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::LongLine => "the line is longer than 65536 bytes",
            Fault::UnterminatedQuote => "a quoted string does not end on this line",
            Fault::NulByte => "a field holds a NUL byte",
            Fault::MissingField(field) => return write!(f, "field {field} of 8 is missing"),
            Fault::TooManyFields => "there are more than 8 fields",
            Fault::EmptyName => "field 1, the name, is empty",
            Fault::LongName => "field 1, the name, is longer than 255 bytes",
            Fault::ApiVersion => "field 2, the API version, is not a version such as u1.2 or u2.0",
            Fault::ThreadSafety => "field 3 is neither threadsafe nor nonthreadsafe",
            Fault::DefaultFlag => "field 4 is neither default nor nondefault",
            Fault::EmptyLibrary => "field 5, the library, is empty",
            Fault::ProviderVersion => "field 6, the provider's version, is not of the form ID.1.0",
        })
    }
}

/// A line that is not a valid entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Line in the file, counted from 1.
    pub line: u32,
    /// The name, if it could be read.
    pub name: Option<CString>,
    /// The API version, if it could be read.
    pub api: Option<Api>,
    /// The first fault.
    pub fault: Fault,
}

/// One line that is neither blank nor a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An entry, and its line number, counted from 1.
    Entry(u32, Entry),
    /// A line that is not a valid entry.
    Bad(BadLine),
}

/// Parses a configuration file. Returns all entries, used or not, and bad lines, in order.
pub fn parse(text: &[u8]) -> impl Iterator<Item = Line> + '_ {
    (1u32..).zip(text.split(|byte| *byte == b'\n')).filter_map(|(line, bytes)| parse_line(line, bytes))
}

fn parse_line(line: u32, bytes: &[u8]) -> Option<Line> {
    if bytes.len() > LINE_MAX {
        return Some(Line::Bad(BadLine { line, name: None, api: None, fault: Fault::LongLine }));
    }
    let mut tokens = Tokens::new(bytes);
    let first = tokens.next()?;
    let mut seen = Seen::default();
    Some(match entry(first, tokens, &mut seen) {
        Ok(entry) => Line::Entry(line, entry),
        Err(fault) => Line::Bad(BadLine { line, name: seen.name, api: seen.api, fault }),
    })
}

#[derive(Default)]
struct Seen {
    name: Option<CString>,
    api: Option<Api>,
}

type Token<'a> = Result<Cow<'a, [u8]>, Fault>;

fn entry(first: Token<'_>, mut tokens: Tokens<'_>, seen: &mut Seen) -> Result<Entry, Fault> {
    let name = first?;
    if name.is_empty() {
        return Err(Fault::EmptyName);
    }
    if name.len() > NAME_MAX {
        return Err(Fault::LongName);
    }
    let name = c_string(name)?;
    seen.name = Some(name.clone());

    let mut field = |number| tokens.next().unwrap_or(Err(Fault::MissingField(number)));
    let api = api(&field(2)?).ok_or(Fault::ApiVersion)?;
    seen.api = Some(api);
    let thread_safe = match &*field(3)? {
        b"threadsafe" => true,
        b"nonthreadsafe" => false,
        _ => return Err(Fault::ThreadSafety),
    };
    let default = match &*field(4)? {
        b"default" => true,
        b"nondefault" => false,
        _ => return Err(Fault::DefaultFlag),
    };
    let library = field(5)?;
    if library.is_empty() {
        // dlopen takes an empty name as the program itself.
        return Err(Fault::EmptyLibrary);
    }
    let library = c_string(library)?;
    if !is_provider_version(&field(6)?) {
        return Err(Fault::ProviderVersion);
    }
    let instance_data = c_string(field(7)?)?;
    field(8)?;
    if let Some(more) = tokens.next() {
        return Err(more.err().unwrap_or(Fault::TooManyFields));
    }
    Ok(Entry { name, api, thread_safe, default, library, instance_data })
}

fn api(token: &[u8]) -> Option<Api> {
    let (kind, numbers) = token.split_first()?;
    let interface = match kind {
        b'u' => Interface::User,
        b'k' => Interface::Kernel,
        _ => return None,
    };
    let point = numbers.iter().position(|byte| *byte == b'.')?;
    Some(Api { interface, major: number(&numbers[..point])?, minor: number(&numbers[point + 1..])? })
}

/// Returns whether the token has the form of `ACME.1.0`.
fn is_provider_version(token: &[u8]) -> bool {
    let mut parts = token.rsplitn(3, |byte| *byte == b'.');
    let mut is_number = || parts.next().and_then(number).is_some();
    is_number() && is_number() && parts.next().is_some_and(|id| !id.is_empty())
}

/// Parses decimal digits without a sign, below 2^32.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |value, digit| {
        if digit.is_ascii_digit() { value.checked_mul(10)?.checked_add(u32::from(digit - b'0')) } else { None }
    })
}

fn c_string(token: Cow<'_, [u8]>) -> Result<CString, Fault> {
    CString::new(token.into_owned()).map_err(|_| Fault::NulByte)
}
