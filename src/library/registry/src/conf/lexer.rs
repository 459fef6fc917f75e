//! Divides one line into tokens (uDAPL, dat.conf(4)).

#![forbid(unsafe_code)]

use std::borrow::Cow;

use super::Fault;

/// The tokens of one line, given without its line end.
///
/// * Blanks and tabs separate tokens; leading ones are skipped.
/// * `#` where a token could begin makes the rest of the line a comment; inside a token it is an
///   ordinary character.
/// * A token that begins with `"` runs to the next `"` that no backslash precedes; in it a
///   backslash takes the next character as it is. The quotes are not part of the token.
/// * In any other token a backslash is ordinary, and a `"` ends the token and begins the next.
///
/// After a fault the iterator is at its end.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// The tokens of `line`. A carriage return at the very end of the line is a blank.
    pub fn new(line: &'a [u8]) -> Self {
        Tokens { rest: line.strip_suffix(b"\r").unwrap_or(line) }
    }

    fn quoted(&mut self) -> Result<Cow<'a, [u8]>, Fault> {
        let body = &self.rest[1..];
        let mut plain = Vec::new();
        let mut bytes = body.iter().enumerate();
        while let Some((at, &byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.rest = &body[at + 1..];
                    // Without an escape the token is a part of the line as it stands.
                    return Ok(if plain.len() == at { Cow::Borrowed(&body[..at]) } else { Cow::Owned(plain) });
                }
                b'\\' => match bytes.next() {
                    Some((_, &escaped)) => plain.push(escaped),
                    None => break,
                },
                _ => plain.push(byte),
            }
        }
        Err(Fault::UnterminatedQuote)
    }

    fn bare(&mut self) -> Cow<'a, [u8]> {
        let end = self.rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'"')).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Cow::Borrowed(token)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Cow<'a, [u8]>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        self.rest = &self.rest[start..];
        let token = match self.rest[0] {
            b'#' => {
                self.rest = &[];
                return None;
            }
            b'"' => self.quoted(),
            _ => Ok(self.bare()),
        };
        let token = token.and_then(|token| if token.contains(&0) { Err(Fault::NulByte) } else { Ok(token) });
        if token.is_err() {
            self.rest = &[];
        }
        Some(token)
    }
}
