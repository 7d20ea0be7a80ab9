//! Text of some width for people.

use crate::output::{Color, Paint, Show};
use crate::report::Judging;
use textwrap::Options;

/// A text that grows by paragraphs.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) width: usize,
    pub(super) paint: Paint,
}

impl Page {
    /// As standard output wants it.
    pub(super) fn on_stdout() -> Self {
        let show = Show::on_stdout(Color::Auto, Judging::default());
        Self::new(show.width, show.color)
    }

    pub(super) fn new(width: usize, color: bool) -> Self {
        Self {
            text: String::new(),
            width,
            paint: Paint { on: color },
        }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A paragraph: its first line begins with `first`, the others with as many spaces.
    pub(super) fn paragraph(&mut self, first: &str, text: &str) {
        let margin = " ".repeat(textwrap::core::display_width(first));
        let options = Options::new(self.width)
            .initial_indent(first)
            .subsequent_indent(&margin);
        for line in textwrap::wrap(text, options) {
            self.line(&line);
        }
    }
}
