//! Text with lines of a limited width.

use crate::output::format::Show;
use crate::output::{Color, Paint};
use crate::report::FailurePolicy;
use std::borrow::Cow;
use std::fmt::Display;
use textwrap::core::display_width;

/// A text that is written line by line.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(super) width: usize,
    pub(crate) paint: Paint,
}

impl Page {
    pub(crate) fn new(width: usize, paint: Paint) -> Self {
        Self {
            text: String::new(),
            // Narrower texts would not fit beside their margin.
            width: width.max(40),
            paint,
        }
    }

    /// With the width and the colors of standard output.
    pub(crate) fn on_stdout() -> Self {
        let show = Show::on_stdout(Color::Auto, FailurePolicy::default());
        Self::new(show.width, Paint { on: show.color })
    }

    /// Writes a line without wrapping.
    pub(crate) fn line(&mut self, line: impl Display) {
        self.text.push_str(line.to_string().trim_end());
        self.text.push('\n');
    }

    /// Writes an empty line.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Writes a wrapped paragraph; the first line begins with `first`, the others with as many
    /// spaces.
    pub(crate) fn paragraph(&mut self, first: &str, text: &str) {
        let margin = " ".repeat(display_width(first));
        self.wrapped(first, &margin, text, plain);
    }

    pub(super) fn title(&mut self, title: &str) {
        self.gap();
        let title = self.paint.strong(title);
        self.line(title);
    }

    /// Writes a wrapped text; `first` and `next` are the margins.
    pub(super) fn wrapped(
        &mut self,
        first: &str,
        next: &str,
        text: &str,
        painted: fn(Paint, &str) -> String,
    ) {
        let mut margin = first;
        for paragraph in text.lines() {
            for line in self.fit(paragraph, self.width - display_width(next)) {
                let line = painted(self.paint, &line);
                self.line(format!("{margin}{line}").trim_end());
                margin = next;
            }
        }
    }

    /// The lines of a paragraph of at most `columns` columns. Longer words are broken.
    pub(super) fn fit(&self, paragraph: &str, columns: usize) -> Vec<String> {
        // The width of a tab depends on the terminal.
        let paragraph = paragraph.replace('\t', "    ");
        let lines = textwrap::wrap(&paragraph, columns.max(1)).into_iter();
        lines.map(Cow::into_owned).collect()
    }
}

pub(super) fn plain(_: Paint, line: &str) -> String {
    line.to_owned()
}

/// The text, filled with spaces up to this many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(missing))
}
