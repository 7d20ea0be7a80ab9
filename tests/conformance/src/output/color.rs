//! Colors on terminals.

use anstyle::{AnsiColor, Style};
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
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        self.is_on(stream.is_terminal(), refused)
    }

    fn is_on(self, is_terminal: bool, refused: bool) -> bool {
        match self {
            Self::Auto => is_terminal && !refused,
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
        assert!(Color::Auto.is_on(true, false));
        assert!(!Color::Auto.is_on(true, true));
        assert!(!Color::Auto.is_on(false, false));
        assert!(Color::Always.is_on(false, true));
        assert!(!Color::Never.is_on(true, false));
        assert_eq!(Paint { on: false }.bad("x"), "x");
        assert_eq!(Paint { on: true }.strong(" "), " ");
        assert_eq!(Paint { on: true }.strong("x"), "\u{1b}[1mx\u{1b}[0m");
    }
}
