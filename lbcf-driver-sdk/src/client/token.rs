//! The bearer token, which no log and no error ever shows.

use super::HttpClientError;
use super::reread::{FromFiles, Reread};
use ::http::HeaderValue;
use std::path::PathBuf;

/// Long tokens have some KiB; servers take no longer headers.
const MAX_LENGTH: usize = 16 << 10;

/// Where the token comes from.
pub(super) enum Token {
    /// It was given.
    Value(HeaderValue),
    /// It is in a file.
    File(Reread<TokenFile>),
}

impl Token {
    /// The header with the token as it is now.
    pub(super) async fn header(&self) -> HeaderValue {
        match self {
            Self::Value(header) => header.clone(),
            Self::File(file) => file.current().await,
        }
    }
}

/// A file with nothing but a token.
pub(super) struct TokenFile(pub(super) PathBuf);

impl FromFiles for TokenFile {
    type Made = HeaderValue;
    const MAX_LENGTH: u64 = MAX_LENGTH as u64;

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }

    fn make(&self, contents: &[Vec<u8>]) -> Result<HeaderValue, HttpClientError> {
        let contents = contents.first().map(Vec::as_slice).unwrap_or_default();
        // Editors end files with a newline.
        bearer(contents.trim_ascii()).map_err(|problem| HttpClientError::file(&self.0, problem))
    }
}

/// The header, or what is wrong with the token.
pub(super) fn bearer(token: &[u8]) -> Result<HeaderValue, &'static str> {
    if token.is_empty() {
        return Err("the token is empty");
    }
    if token.len() > MAX_LENGTH {
        return Err("the token is longer than 16 KiB");
    }
    let wrong = "the token has a character other than letters, digits and visible signs of ASCII";
    if !token.iter().all(u8::is_ascii_graphic) {
        return Err(wrong);
    }
    let mut header =
        HeaderValue::from_bytes(&[b"Bearer ".as_slice(), token].concat()).map_err(|_| wrong)?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_its_header_is_sensitive() {
        let header = bearer(b"abc.DEF-123_~+/=").unwrap();
        assert_eq!(header, "Bearer abc.DEF-123_~+/=");
        assert!(!format!("{header:?}").contains("abc"));
        let long = vec![b'a'; MAX_LENGTH + 1];
        for (token, problem) in [
            (b"".as_slice(), "empty"),
            (b"a b", "character"),
            (b"a\r\nx: y", "character"),
            (b"a\0", "character"),
            ("gr\u{fc}n".as_bytes(), "character"),
            (long.as_slice(), "16 KiB"),
        ] {
            assert!(bearer(token).unwrap_err().contains(problem), "{problem}");
        }
    }
}
