//! The steps of an explanation, and how they are shown.

use serde::Serialize;

use crate::info::shown;
use crate::print::{ATTENTION, GOOD, HEADING, WRONG, styled};

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Nothing is wrong, but it may not be what is wanted.
    Note,
    /// This is why something does not work.
    Wrong,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// How it went.
    pub state: State,
    /// What was looked at, and what was found.
    pub text: String,
    /// Commands that mend it, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mend: Vec<String>,
}

impl Step {
    /// All is well.
    pub fn ok(text: impl Into<String>) -> Self {
        Step { state: State::Ok, text: text.into(), mend: Vec::new() }
    }

    /// Worth knowing.
    pub fn note(text: impl Into<String>) -> Self {
        Step { state: State::Note, text: text.into(), mend: Vec::new() }
    }

    /// Something is wrong.
    pub fn wrong(text: impl Into<String>) -> Self {
        Step { state: State::Wrong, text: text.into(), mend: Vec::new() }
    }

    /// Wrong if it matters, otherwise worth knowing.
    pub fn wrong_if(matters: bool, text: impl Into<String>) -> Self {
        if matters { Step::wrong(text) } else { Step::note(text) }
    }

    /// With a command that mends it.
    pub fn mend(self, command: impl Into<String>) -> Self {
        self.mends([command.into()])
    }

    /// With commands that mend it.
    pub fn mends(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        self.mend.extend(commands);
        self
    }

    /// With another line of text.
    pub fn more(mut self, text: impl AsRef<str>) -> Self {
        self.text.push('\n');
        self.text += text.as_ref();
        self
    }
}

/// Steps that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Chapter {
    /// What they are about.
    pub title: String,
    /// The steps in their order.
    pub steps: Vec<Step>,
}

impl Chapter {
    /// Whether a step is wrong.
    pub fn is_wrong(&self) -> bool {
        self.steps.iter().any(|step| step.state == State::Wrong)
    }

    /// The chapter as text for people.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", styled(HEADING, shown(&self.title)));
        for step in &self.steps {
            let (style, word) = match step.state {
                State::Ok => (GOOD, "ok"),
                State::Note => (ATTENTION, "note"),
                State::Wrong => (WRONG, "WRONG"),
            };
            // The word is padded before it gets its colour, whose marks have a length too.
            let word = styled(style, format!("{word:5}"));
            let lines: Vec<String> = step.text.split('\n').map(shown).collect();
            text += &format!("  {word}  {}\n", lines.join("\n         "));
            for command in &step.mend {
                text += &format!("         mend: {}\n", shown(command));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_shown_with_what_mends_it() {
        let steps = vec![Step::ok("one"), Step::wrong("two\nlines").mend("do this")];
        let chapter = Chapter { title: "Title".to_owned(), steps };
        assert!(chapter.is_wrong());
        let text = anstream::adapter::strip_str(&chapter.text()).to_string();
        assert_eq!(text, "Title\n  ok     one\n  WRONG  two\n         lines\n         mend: do this\n");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let steps = vec![Step::wrong("a\u{1b}[31mb").mend("c\u{7}")];
        let text = Chapter { title: "x\ry".to_owned(), steps }.text();
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text, "x\\ry\n  WRONG  a\\u{1b}[31mb\n         mend: c\\u{7}\n");
    }
}
