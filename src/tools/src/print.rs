//! Output of the tools. Colours appear only on terminals.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use comfy_table::{Table, presets};

/// The message of an error if standard output cannot be written, for example to a full disk.
pub const UNWRITTEN: &str = "cannot write to standard output";

pub fn line(text: impl Display) -> anyhow::Result<()> {
    let mut output = anstream::stdout().lock();
    writeln!(output, "{text}").and_then(|()| output.flush()).context(UNWRITTEN)
}

/// Returns a number and a noun, in the plural unless the number is 1.
pub fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Writes a line to standard error. Ignores failures, which it could not report.
pub fn complain(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

pub const HEADING: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const ATTENTION: Style = AnsiColor::Yellow.on_default();
pub const WRONG: Style = AnsiColor::Red.on_default().bold();

pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns a table with aligned columns under `heads`, without a newline at its end. Cells must not contain colour
/// codes.
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
