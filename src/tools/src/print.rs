//! What the tools write. Colours are left out where they do not belong.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use comfy_table::{Table, presets};

/// What is said when standard output cannot be written, for example because a disk is full. A reader that has gone ends the
/// process, as [`tool::main`](crate::tool::main) sets it up.
pub const UNWRITTEN: &str = "standard output cannot be written";

/// Writes a line on standard output.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    let mut output = anstream::stdout().lock();
    writeln!(output, "{text}").and_then(|()| output.flush()).context(UNWRITTEN)
}

/// A number and what it counts, which is in the plural unless there is one.
pub fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Writes a line on standard error. If that fails, there is no place to say so.
pub fn complain(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// The style of headings.
pub const HEADING: Style = Style::new().bold();
/// The style of what is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of what deserves attention.
pub const ATTENTION: Style = AnsiColor::Yellow.on_default();
/// The style of what is wrong.
pub const WRONG: Style = AnsiColor::Red.on_default().bold();

/// A text in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Rows in aligned columns without lines between them, and without a line break behind the last one.
///
/// # Parameters
/// * `heads` - a heading for each column.
/// * `rows` - as many texts a row; they have no colours.
pub fn columns<'a>(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>> + 'a) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(heads.iter().copied()).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let text = table.to_string();
    let mut lines = text.lines().map(str::trim_end);
    let head = styled(HEADING, lines.next().unwrap_or_default());
    lines.fold(head, |text, line| text + "\n" + line)
}

#[cfg(test)]
mod tests;
