//! Digests, which names and statuses contain.

use md5::{Digest, Md5};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A short hash of a text.
pub(crate) fn digest(text: &str) -> String {
    md5_hex(text)[..16].to_owned()
}

/// A digest of a map that is the same for equal maps only.
pub(crate) fn digest_of(map: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (key, value) in map {
        // Lengths keep entries apart, whatever they contain.
        let _ = write!(text, "{}:{key}{}:{value}", key.len(), value.len());
    }
    md5_hex(&text)
}

pub(super) fn md5_hex(text: &str) -> String {
    let digest = Md5::digest(text.as_bytes());
    digest
        .iter()
        .fold(String::with_capacity(32), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
