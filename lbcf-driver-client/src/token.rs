//! The bearer token, which no log and no error ever shows.

use crate::error::HttpClientError;
use ::http::HeaderValue;
use lbcf_serving::watched_file::{FileError, RereadFiles, WatchedFiles};
use std::path::PathBuf;
use std::time::Duration;

/// In bytes. Long tokens have some KiB, and servers take no longer headers.
const MAX_LENGTH: usize = 16 << 10;

/// Where the token comes from.
pub(crate) enum Token {
    Value(HeaderValue),
    /// A file with nothing but the token.
    File(RereadFiles<HeaderValue, HttpClientError>),
}

impl Token {
    pub(crate) fn from_file(path: PathBuf, interval: Duration) -> Result<Self, HttpClientError> {
        let files = WatchedFiles::new("token for calling drivers", vec![path.clone()], {
            // Editors end files with a newline.
            move |contents| {
                let header = bearer(contents.concat().trim_ascii());
                header.map_err(|problem| FileError::contents(&path, problem).into())
            }
        });
        let files = files.max_length(MAX_LENGTH as u64);
        Ok(Self::File(RereadFiles::new(files, interval)?))
    }

    /// The header with the current token.
    pub(crate) async fn header(&self) -> HeaderValue {
        match self {
            Self::Value(header) => header.clone(),
            Self::File(file) => file.current().await,
        }
    }
}

/// The header, or what is wrong with the token.
pub(crate) fn bearer(token: &[u8]) -> Result<HeaderValue, &'static str> {
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
