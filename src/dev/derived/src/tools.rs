//! The manual pages of the tools, and the files with which shells complete the arguments of the tools.

use clap::{Command, CommandFactory, Id};
use clap_complete::Shell;
use clap_mangen::Man;
use dat_tools::tool::{self, Section, Tool};
use dat_tools::{info, perf, ping};
use roff::{Roff, roman};

use crate::{Derived, Result};

/// The date on the pages. Update it when more than the text of one option changes.
const DATE: &str = "2026-11-29";
/// A command for all three shells, which prints the names of the adapters that open.
const NAMES: &str = r#"dat-info --json 2>/dev/null | awk -F\" "\$2 == \"name\" { name = \$4 } \$2 == \"opens\" && /true/ { print name }""#;

/// Returns the manual page and the completions of each tool.
pub fn all() -> Result<Vec<Derived>> {
    Ok([of::<info::Arguments>()?, of::<ping::Arguments>()?, of::<perf::Arguments>()?].into_iter().flatten().collect())
}

fn of<T: Tool>() -> Result<Vec<Derived>> {
    let command = <T as CommandFactory>::command();
    let name = command.get_name().to_owned();
    let mut files =
        vec![Derived { path: format!("docs/man/{name}.1"), text: page(command, &tool::sections(T::MANUAL))? }];
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut shown(&tool::command::<T>()), &name, &mut text);
        let text = String::from_utf8(text)?;
        let (file, text) = match shell {
            Shell::Bash => (name.clone(), text.replacen("${opts}\"", &format!("${{opts}} $({NAMES})\""), 1)),
            Shell::Zsh => {
                let (options, names) = text.split_at(text.find(":name -- ").unwrap_or(0));
                (format!("_{name}"), options.to_owned() + &names.replacen(":_default'", &format!(":($({NAMES}))'"), 1))
            }
            _ => (format!("{name}.fish"), format!("{text}complete -c {name} -n __fish_is_first_arg -fa '({NAMES})'\n")),
        };
        files.push(Derived { path: format!("docs/completions/{shell}/{file}"), text });
    }
    Ok(files)
}

/// Returns `command` without its hidden arguments, which completions would otherwise offer. It has a version, so that
/// they offer `--version`.
fn shown(command: &Command) -> Command {
    let arguments: Vec<_> = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned().collect();
    // Keep the groups that have only shown arguments. This drops the group of all arguments, which has hidden
    // arguments.
    let is_shown = |id: &Id| arguments.iter().any(|argument| argument.get_id() == id);
    let groups: Vec<_> = command.get_groups().filter(|group| group.get_args().all(is_shown)).cloned().collect();
    Command::new("tool").version("any").args(arguments).groups(groups)
}

fn page(command: Command, sections: &[Section]) -> Result<String> {
    let version = command.get_version().unwrap_or_default().to_owned();
    let title = command.get_name().to_uppercase();
    let man = Man::new(command).title(title).date(DATE).source(format!("libdat {version}")).manual("uDAPL Tools");
    let mut text = b".\\\" SPDX-License-Identifier: MIT OR Apache-2.0\n.\\\" Written by `make derived`.\n".to_vec();
    man.render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text))?;
    let mut roff = Roff::new();
    for section in sections {
        render(&mut roff, section);
    }
    // Before a list of values, clap_mangen writes an empty line between two breaks, of which checkers of pages warn.
    let text = String::from_utf8(text)?.replace("\n.br\n\n.br\n", "\n.sp\n") + &roff.to_roff();
    // They also warn of blanks at the ends of lines.
    Ok(text.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// Adds a section. Fills its paragraphs, except paragraphs that begin with a blank, which are examples.
fn render(roff: &mut Roff, section: &Section) {
    roff.control("SH", [&*section.heading]);
    for (number, paragraph) in section.text.split("\n\n").enumerate() {
        if number > 0 {
            roff.control("PP", []);
        }
        if !paragraph.starts_with(' ') {
            roff.text([roman(paragraph)]);
            continue;
        }
        roff.control("EX", []);
        for line in paragraph.lines() {
            roff.text([roman(line)]);
        }
        roff.control("EE", []);
    }
}
