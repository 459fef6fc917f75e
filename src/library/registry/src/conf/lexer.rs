//! Splits a line into tokens (uDAPL, dat.conf(4)).

#![forbid(unsafe_code)]

use std::borrow::Cow;

use super::Fault;

/// An iterator over the tokens of a line.
///
/// * Spaces and tabs separate tokens.
/// * `#` at the start of a token makes the rest of the line a comment.
/// * A token that starts with `"` extends to the next unescaped `"`. A backslash escapes the next character. The quotes
///   are not part of the token.
/// * In any other token, a backslash is an ordinary character, and `"` starts the next token.
///
/// After a fault the iterator is at its end.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Creates an iterator over `line`, which does not contain its line end. Ignores a carriage return at the end.
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
                    // Without an escape, the token is a slice of the line.
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
