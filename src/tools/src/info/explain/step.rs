//! The steps of an explanation, and how they are shown.

use serde::Serialize;

use super::topic::Topic;
use crate::info::shown;
use crate::print::{ATTENTION, GOOD, HEADING, WRONG, styled};

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// As it should be.
    Ok,
    /// Nothing is wrong, but it may not be what is wanted.
    Note,
    /// This is why something does not work.
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub state: Finding,
    /// What was looked at, and what was found.
    pub text: String,
    /// The section of the page that says what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
}

impl Step {
    fn new(state: Finding, text: impl Into<String>) -> Self {
        Step { state, text: text.into(), see: None }
    }

    pub fn ok(text: impl Into<String>) -> Self {
        Step::new(Finding::Ok, text)
    }

    pub fn note(text: impl Into<String>) -> Self {
        Step::new(Finding::Note, text)
    }

    pub fn wrong(text: impl Into<String>) -> Self {
        Step::new(Finding::Wrong, text)
    }

    /// Wrong if it matters, otherwise worth knowing.
    pub fn wrong_if(matters: bool, text: impl Into<String>) -> Self {
        Step::new(if matters { Finding::Wrong } else { Finding::Note }, text)
    }

    /// With the section that says what to do. A lack of descriptors is the reason whatever failed by it.
    pub fn see(self, topic: Topic) -> Self {
        let topic = if self.text.contains("Too many open files") { Topic::OpenFiles } else { topic };
        Step { see: Some(topic.place()), ..self }
    }
}

/// Steps that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Chapter {
    /// What they are about.
    pub title: String,
    pub steps: Vec<Step>,
}

impl Chapter {
    /// Whether a step is wrong.
    pub fn is_wrong(&self) -> bool {
        self.steps.iter().any(|step| step.state == Finding::Wrong)
    }

    /// The chapter as text for people.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", styled(HEADING, shown(&self.title)));
        for step in &self.steps {
            let (style, word) = match step.state {
                Finding::Ok => (GOOD, "ok"),
                Finding::Note => (ATTENTION, "note"),
                Finding::Wrong => (WRONG, "WRONG"),
            };
            // The word is padded before it gets its colour, whose marks have a length too.
            let word = styled(style, format!("{word:5}"));
            let lines: Vec<String> = step.text.split('\n').map(shown).collect();
            text += &format!("  {word}  {}\n", lines.join("\n         "));
            if let Some(place) = &step.see {
                text += &format!("         see: {place}\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
