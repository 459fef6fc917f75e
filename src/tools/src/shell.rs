//! Quotes words of the shell commands that the tools show to the user.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Quotes a path or name for the shell if necessary. A word with invalid UTF-8 or control characters becomes the
/// substitution of a `printf` command, in which all bytes except letters and digits are octal.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => {
            let octal = |byte: &u8| match byte {
                byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
                byte => format!("\\0{byte:03o}"),
            };
            format!("\"$(printf %b '{}')\"", bytes.iter().map(octal).collect::<String>())
        }
    }
}

/// Returns an adapter's name as a quoted operand of a command, after `--` if the name begins with a hyphen.
pub fn operand(name: impl AsRef<[u8]>) -> String {
    let word = quoted(OsStr::from_bytes(name.as_ref()));
    if name.as_ref().starts_with(b"-") { format!("-- {word}") } else { word }
}

#[cfg(test)]
mod tests;
