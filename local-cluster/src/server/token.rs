//! The secret that lets a client in.

use std::fmt;
use std::path::Path;

use subtle::ConstantTimeEq as _;

use crate::error::Error;

/// As long as a token may be; Kubernetes' own have about a thousand characters.
const MAX_LENGTH: usize = 4096;

/// A bearer token. What is written for people never shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token of visible ASCII characters, as an HTTP header carries them.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        let refuse = |why: &str| Err(Error::Token(why.to_owned()));
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.len() > MAX_LENGTH {
            return refuse("it has more than 4096 characters");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return refuse("it may have visible ASCII characters only, and no spaces");
        }
        Ok(Self(text))
    }

    /// The token in a file; white space around it is left out.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        Self::new(text.trim())
    }

    /// The token itself.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a client knows it. How long this takes tells no more than the token's length.
    pub(super) fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_to_nobody_and_known_by_all_of_it() {
        let token = Token::new("s3cret").unwrap();
        assert_eq!(
            format!("{token:?} {:#?}", Some(&token))
                .matches("s3cret")
                .count(),
            0
        );
        assert!(token.is("s3cret"));
        for other in ["", "s3cre", "s3cret1", "S3cret"] {
            assert!(!token.is(other), "{other}");
        }
    }

    #[test]
    fn what_no_header_carries_is_refused_without_showing_it() {
        for wrong in ["", "a b", "a\nb", "ä", &"x".repeat(4097)] {
            let error = Token::new(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with("the token cannot be used: it "),
                "{error}"
            );
            assert!(wrong.is_empty() || !error.contains(wrong), "{error}");
        }
    }
}
