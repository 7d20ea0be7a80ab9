//! The bearer token.

use std::path::Path;

use lbcf_serving::secret;

use crate::error::Error;

/// A bearer token. `Debug` and errors do not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(secret::Token);

impl Token {
    /// A token of visible ASCII characters, as an HTTP header carries them.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let token = secret::Token::new(text.into().as_bytes());
        token.map(Self).map_err(|why| Error::Token(why.to_owned()))
    }

    /// Reads a token from a file; white space around it is not part of it.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        Self::new(text.trim())
    }

    pub(super) fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn matches(&self, given: &str) -> bool {
        self.0.matches(given.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_show_the_token() {
        for wrong in ["a b", "a\nb", "ä", &"x".repeat(4097)] {
            let error = Token::new(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with("the token cannot be used: it "),
                "{error}"
            );
            assert!(!error.contains(wrong), "{error}");
        }
    }
}
