//! The manual pages of the tools, and the files by which shells complete their arguments.

use clap::{Arg, Command, CommandFactory, Id};
use clap_complete::Shell;
use clap_mangen::Man;
use dat_tools::tool::{self, Section, Tool};
use roff::{Roff, bold, italic, roman};

use crate::{Derived, Result};

/// The date on the pages: when their text last changed in more than an option.
const DATE: &str = "2026-11-25";

/// All files of all tools.
pub fn all() -> Result<Vec<Derived>> {
    let mut files = Vec::new();
    files.extend(of::<dat_tools::info::Arguments>()?);
    files.extend(of::<dat_tools::ping::Arguments>()?);
    files.extend(of::<dat_tools::perf::Arguments>()?);
    Ok(files)
}

/// The files of a tool.
fn of<T: Tool>() -> Result<Vec<Derived>> {
    let command = <T as CommandFactory>::command();
    let name = command.get_name().to_owned();
    let mut files =
        vec![Derived { path: format!("docs/man/{name}.1"), text: page(command, &tool::sections(T::MANUAL))? }];
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut shown(&tool::command::<T>()), &name, &mut text);
        let file = match shell {
            Shell::Bash => name.clone(),
            Shell::Zsh => format!("_{name}"),
            _ => format!("{name}.{shell}"),
        };
        files.push(Derived { path: format!("docs/completions/{shell}/{file}"), text: utf8(text)? });
    }
    Ok(files)
}

/// A command without the arguments that are hidden: pages leave them out, but completions would offer them. Its own name does
/// not appear in a completion, and its version only makes that there is `--version`.
fn shown(command: &Command) -> Command {
    let arguments: Vec<_> = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned().collect();
    // Those that arguments refer to; the one of all arguments has hidden ones too.
    let is_shown = |id: &Id| arguments.iter().any(|argument| argument.get_id() == id);
    let groups: Vec<_> = command.get_groups().filter(|group| group.get_args().all(is_shown)).cloned().collect();
    Command::new("tool").version("any").args(arguments).groups(groups)
}

/// The manual page of a tool.
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
    // Before a list of values comes an empty line between two breaks, of which checkers of pages warn.
    let text = utf8(text)?.replace("\n.br\n\n.br\n", "\n.sp\n") + &roff.to_roff();
    // Each section brings the definition of an apostrophe, in two lines, which the first has made already; and the writers
    // leave blanks at the ends of lines, of which checkers warn too.
    let mut definitions = 0;
    let wanted = |line: &&str| {
        let definition = line.starts_with(".ie ") || line.starts_with(".el ");
        definitions += usize::from(definition);
        !definition || definitions <= 2
    };
    Ok(text.lines().filter(wanted).map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// The section SYNOPSIS: all options with what they take, and then the arguments without names.
fn synopsis(command: &Command) -> Roff {
    let mut line = vec![bold(command.get_name())];
    let mut built = command.clone();
    built.build();
    let (positional, options): (Vec<_>, Vec<_>) =
        built.get_arguments().filter(|argument| !argument.is_hide_set()).partition(|argument| argument.is_positional());
    for option in options {
        line.push(roman(" ["));
        if let Some(short) = option.get_short() {
            line.extend([bold(format!("-{short}")), roman("|")]);
        }
        line.push(bold(format!("--{}", option.get_long().unwrap_or_default())));
        if option.get_action().takes_values() {
            line.extend([roman(" "), italic(value_name(option))]);
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

/// Adds a section: paragraphs are filled, lines that begin with blanks are examples.
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
