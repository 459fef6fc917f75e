//! The steps of an explanation, and their output.

use std::sync::LazyLock;

use host::topic::Topic;
use serde::Serialize;

use crate::info::shown;
use crate::print::{ATTENTION, GOOD, HEADING, WRONG, styled};
use crate::tool::prefix;

/// The page about remedies: its file, if it was installed with this program, or its name in the sources.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let installed = prefix().and_then(|prefix| {
        // The places of `make install` and of the packages.
        let pages = ["share/doc/libdat/docs/troubleshooting.md", "share/doc/dat-tools/troubleshooting.md"];
        pages.map(|page| prefix.join(page)).into_iter().find(|page| page.exists())
    });
    installed.map_or_else(|| "docs/troubleshooting.md".to_owned(), |page| page.display().to_string())
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    Ok,
    /// Not a fault, but perhaps not intended.
    Note,
    /// The cause of a failure.
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub state: Finding,
    pub text: String,
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

    pub fn wrong_if(matters: bool, text: impl Into<String>) -> Self {
        Step::new(if matters { Finding::Wrong } else { Finding::Note }, text)
    }

    /// Returns this step as a note if it is wrong.
    pub fn not_wrong(self) -> Self {
        let state = if self.state == Finding::Wrong { Finding::Note } else { self.state };
        Step { state, ..self }
    }

    /// Adds a reference to the section about `topic`. If the text reports a lack of descriptors, refers to the section
    /// about that, because the loader's errors have no topic.
    pub fn see(self, topic: Topic) -> Self {
        let topic = if self.text.contains("Too many open files") { Topic::OpenFiles } else { topic };
        Step { see: Some(place(topic)), ..self }
    }
}

pub fn place(topic: Topic) -> String {
    format!("{}#{}", *PAGE, topic.name())
}

#[derive(Clone, Debug, Serialize)]
pub struct Chapter {
    pub title: String,
    pub steps: Vec<Step>,
}

impl Chapter {
    pub fn is_wrong(&self) -> bool {
        self.steps.iter().any(|step| step.state == Finding::Wrong)
    }

    /// Returns the chapter as text. Omits steps that are ok, unless `everything` is set. Returns `None` if no step
    /// remains.
    pub fn text(&self, everything: bool) -> Option<String> {
        let steps: Vec<&Step> = self.steps.iter().filter(|step| everything || step.state != Finding::Ok).collect();
        if steps.is_empty() {
            return None;
        }
        let mut text = format!("{}\n", styled(HEADING, shown(&self.title)));
        for step in steps {
            let (style, word) = match step.state {
                Finding::Ok => (GOOD, "ok"),
                Finding::Note => (ATTENTION, "note"),
                Finding::Wrong => (WRONG, "WRONG"),
            };
            // Pad before styling, because escape sequences would count as width.
            let word = styled(style, format!("{word:5}"));
            let lines: Vec<String> = step.text.split('\n').map(shown).collect();
            text += &format!("  {word}  {}\n", lines.join("\n         "));
            if let Some(place) = &step.see {
                text += &format!("         see: {place}\n");
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests;
