//! A token on the command line, which nothing shows.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Any text: what is wrong with it is told later, without quoting it as errors of flags do.
#[derive(Clone)]
pub(super) struct TokenArg(String);

impl TokenArg {
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for TokenArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenArg(..)")
    }
}
