//! The manual pages of the tools, and the files with which shells complete the arguments of the tools.

use clap::{Arg, Command, CommandFactory, Id};
use clap_complete::Shell;
use clap_mangen::Man;
use dat_tools::tool::{self, Section, Tool};
use dat_tools::{info, perf, ping};
use roff::{Roff, bold, italic, roman};

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
        let text = utf8(text)?;
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
    let synopsis = synopsis(&command);
    let man = Man::new(command).title(title).date(DATE).source(format!("libdat {version}")).manual("uDAPL Tools");
    let mut text = b".\\\" SPDX-License-Identifier: MIT OR Apache-2.0\n.\\\" Written by `make derived`.\n".to_vec();
    let written = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| synopsis.to_writer(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    written.map_err(|error| error.to_string())?;
    let mut roff = Roff::new();
    for section in sections {
        render(&mut roff, section);
    }
    // Before a list of values, clap_mangen writes an empty line between two breaks, of which checkers of pages warn.
    let text = utf8(text)?.replace("\n.br\n\n.br\n", "\n.sp\n") + &roff.to_roff();
    // Keeps only the first definition of an apostrophe, which each section repeats in two lines. Checkers also warn of
    // blanks at the ends of lines.
    let mut definitions = 0;
    let wanted = |line: &&str| {
        let definition = line.starts_with(".ie ") || line.starts_with(".el ");
        definitions += usize::from(definition);
        !definition || definitions <= 2
    };
    Ok(text.lines().filter(wanted).map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// Returns the section SYNOPSIS: options with their values, then arguments without names.
fn synopsis(command: &Command) -> Roff {
    let mut line = vec![bold(command.get_name())];
    let mut built = command.clone();
    built.build();
    let (positional, options): (Vec<_>, Vec<_>) =
        built.get_arguments().filter(|argument| !argument.is_hide_set()).partition(|argument| argument.is_positional());
    for option in options {
        line.push(roman(" ["));
        line.extend(option.get_short().into_iter().flat_map(|short| [bold(format!("-{short}")), roman("|")]));
        line.push(bold(format!("--{}", option.get_long().unwrap_or_default())));
        if option.get_action().takes_values() {
            let is_optional = option.get_num_args().is_some_and(|number| number.min_values() == 0);
            let (before, behind) = if is_optional { ("[=", "]") } else { (" ", "") };
            line.extend([roman(before), italic(value_name(option)), roman(behind)]);
        }
        line.push(roman("]"));
    }
    for argument in positional {
        let (before, behind) = if argument.is_required_set() { (" ", "") } else { (" [", "]") };
        line.extend([roman(before), italic(value_name(argument)), roman(behind)]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(line);
    roff
}

fn value_name(argument: &Arg) -> String {
    argument.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
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

fn utf8(text: Vec<u8>) -> Result<String> {
    String::from_utf8(text).map_err(|error| error.to_string())
}
