//! Lines that fit a width.

use crate::output::Paint;
use std::fmt::Display;
use textwrap::core::display_width;

/// A text that grows by lines.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) width: usize,
    pub(super) paint: Paint,
}

impl Page {
    pub(super) fn new(width: usize, paint: Paint) -> Self {
        Self {
            text: String::new(),
            // Narrower than that, nothing of a text is left beside its margin.
            width: width.max(40),
            paint,
        }
    }

    /// Writes a line as it is.
    pub(super) fn line(&mut self, line: impl Display) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// Writes an empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Writes the title of a part.
    pub(super) fn title(&mut self, title: &str) {
        self.gap();
        let title = self.paint.strong(title);
        self.line(title);
    }

    /// Writes a text in as many lines as it takes; `first` and `next` are the margins.
    pub(super) fn wrapped(
        &mut self,
        first: &str,
        next: &str,
        text: &str,
        painted: impl Fn(Paint, &str) -> String,
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

    /// A paragraph as lines of at most so many columns. Words that are longer are broken.
    pub(super) fn fit(&self, paragraph: &str, columns: usize) -> Vec<String> {
        // A tab is as wide as the terminal likes.
        let paragraph = paragraph.replace('\t', "    ");
        textwrap::wrap(&paragraph, columns.max(1))
            .into_iter()
            .map(std::borrow::Cow::into_owned)
            .collect()
    }
}

/// The text itself.
pub(super) fn plain(_: Paint, line: &str) -> String {
    line.to_owned()
}

/// The text, and spaces up to this many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(missing))
}
