//! A secret that is compared and never shown.

use crate::server::ServerError;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use subtle::ConstantTimeEq as _;

/// Longer ones do not fit into the head of a request.
const MAX_LENGTH: usize = 4096;

/// A bearer token.
#[derive(Clone)]
pub(in crate::server) struct Token(Arc<[u8]>);

impl Token {
    /// A token, and around it white space that is no part of it.
    pub(super) fn read(text: &[u8]) -> Result<Self, &'static str> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err("empty; leave the setting away for a driver that asks for no token");
        }
        if text.len() > MAX_LENGTH {
            return Err("longer than 4096 bytes");
        }
        if !text.iter().all(u8::is_ascii_graphic) {
            return Err("has other than visible ASCII characters in it, as no header can");
        }
        Ok(Self(text.into()))
    }

    /// How long it takes tells nothing but whether the lengths are the same.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        self.0.ct_eq(given).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Where the token is.
#[derive(Debug)]
pub(in crate::server) enum TokenSource {
    /// It was given.
    Given(Result<Token, ServerError>),
    /// In a file that may change.
    File(PathBuf),
}

impl TokenSource {
    pub(in crate::server) fn given(text: &str) -> Self {
        let token = Token::read(text.as_bytes());
        Self::Given(token.map_err(|problem| ServerError::Token { problem }))
    }
}
