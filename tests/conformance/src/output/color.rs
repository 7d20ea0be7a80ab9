//! Colors on terminals.

use anstyle::{AnsiColor, Style};
use lbcf_serving::streams::has_color;
use std::io::IsTerminal;

/// The use of colors: `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment has `NO_COLOR` or `TERM=dumb`.
    #[default]
    Auto,
    /// Also without a terminal.
    Always,
    /// Not even on a terminal.
    Never,
}

impl Color {
    /// True if there are colors on this stream.
    pub fn is_on_for(self, stream: &impl IsTerminal) -> bool {
        match self {
            Self::Auto => has_color(stream),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

impl Paint {
    pub(crate) fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    pub(crate) fn doubtful(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.on && !text.trim().is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_optional() {
        // Standard output of a test may be a terminal.
        let pipe = std::fs::File::open("/dev/null").unwrap();
        assert!(!Color::Auto.is_on_for(&pipe));
        assert!(Color::Always.is_on_for(&pipe));
        assert!(!Color::Never.is_on_for(&pipe));
        assert_eq!(Paint { on: false }.bad("x"), "x");
        assert_eq!(Paint { on: true }.strong(" "), " ");
        assert_eq!(Paint { on: true }.strong("x"), "\u{1b}[1mx\u{1b}[0m");
    }
}
