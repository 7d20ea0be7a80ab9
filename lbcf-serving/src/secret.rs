//! Secrets, which `Debug` does not show.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use subtle::ConstantTimeEq as _;

/// In bytes; Kubernetes' own tokens have about a thousand, and longer ones do not fit into the head
/// of a request.
const MAX_TOKEN: usize = 4096;

/// The value of a flag that may be, or contain, a secret. Parsing takes any text, because clap quotes
/// texts that it cannot parse.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A bearer token that a server compares with those that clients send.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

impl Token {
    /// A token of 1 to 4096 visible ASCII characters, as HTTP headers carry them.
    ///
    /// # Errors
    /// What is wrong, as a sentence about `it`, which does not quote the text.
    pub fn new(text: &[u8]) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("it is empty");
        }
        if text.len() > MAX_TOKEN {
            return Err("it is longer than 4096 bytes");
        }
        if !text.iter().all(u8::is_ascii_graphic) {
            return Err("it may have visible ASCII characters only, and no spaces");
        }
        Ok(Self(String::from_utf8_lossy(text).into()))
    }

    /// The text of the token.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// True if both are the same, compared in a time that depends on the length of `given` alone.
    #[must_use]
    pub fn matches(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let pairs = given.iter().zip(own.iter().cycle());
        let same_length = given.len().ct_eq(&own.len());
        pairs
            .fold(same_length, |same, (given, own)| same & given.ct_eq(own))
            .into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown_and_is_compared_as_a_whole() {
        let token = Token::new(b"s3cret").unwrap();
        assert!(!format!("{token:?} {:#?}", Some(&token)).contains("s3cret"));
        assert!(token.matches(b"s3cret"));
        for other in ["", "s3cre", "s3cret1", "S3cret", "s3crets3cret", "s"] {
            assert!(!token.matches(other.as_bytes()), "{other}");
        }
        assert!(!format!("{:?}", Secret("s3cret".into())).contains("s3cret"));
    }

    #[test]
    fn what_a_header_cannot_carry_is_refused() {
        for (text, problem) in [
            ("", "empty"),
            ("a b", "visible ASCII"),
            ("a\nb", "visible ASCII"),
            ("ä", "visible ASCII"),
            (&*"x".repeat(4097), "longer than 4096 bytes"),
        ] {
            let error = Token::new(text.as_bytes()).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
