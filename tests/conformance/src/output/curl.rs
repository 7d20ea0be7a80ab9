//! A request as a command that people can paste into a shell.

use super::text::{SHOWN, is_hidden};
use crate::exchange::Sent;
use std::fmt::Write as _;

/// Headers that curl writes itself, or that are about the connection.
const CURLS_OWN: [&str; 7] = [
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "accept",
    "user-agent",
    "expect",
];

/// The request as a curl command of several lines, safe to paste: whatever is in the URL, the
/// headers and the body is quoted.
///
/// A body above 2 kB is cut, and a comment says so. Bytes that are not UTF-8 or not visible are
/// written `$'\xff'`, which bash, zsh and ksh understand; with a NUL among them the body comes from
/// `printf`, since no argument can hold one.
///
/// ```
/// use lbcf_conformance::exchange::Sent;
/// use lbcf_conformance::output::curl_of;
///
/// let sent = Sent {
///     method: http::Method::POST,
///     url: "http://127.0.0.1:8080/healthz".to_owned(),
///     headers: http::HeaderMap::new(),
///     body: bytes::Bytes::from_static(br#"{"it's":1}"#),
/// };
/// assert_eq!(
///     curl_of(&sent),
///     "curl -isS 'http://127.0.0.1:8080/healthz' \\\n  \
///      -H 'content-type:' \\\n  \
///      --data-binary '{\"it'\\''s\":1}'"
/// );
/// ```
#[must_use]
pub fn curl_of(sent: &Sent) -> String {
    let (body, left) = cut_body(&sent.body, SHOWN);
    let has_nul = body.contains(&0);
    let mut parts = vec![start(sent)];
    parts.extend(headers(sent));
    let data = if sent.body.is_empty() {
        (sent.method == http::Method::POST).then(|| "--data-binary ''".to_owned())
    } else if has_nul {
        Some("--data-binary @-".to_owned())
    } else if body.first() == Some(&b'@') {
        // A file's name elsewhere.
        Some(format!("--data-raw {}", quoted(body)))
    } else {
        Some(format!("--data-binary {}", quoted(body)))
    };
    parts.extend(data);
    let mut command = parts.join(" \\\n  ");
    if has_nul {
        command = format!("printf {} | {command}", printf_format(body));
    }
    if left > 0 {
        let _ = write!(
            command,
            "\n# the body is cut: {} of {} bytes",
            body.len(),
            sent.body.len()
        );
    }
    command
}

fn start(sent: &Sent) -> String {
    let mut start = "curl -isS".to_owned();
    // What curl would take for itself: patterns, and `..` between slashes.
    if sent.url.contains(['[', ']', '{', '}']) {
        start.push_str(" -g");
    }
    if sent.url.contains("/.") {
        start.push_str(" --path-as-is");
    }
    if sent.method == http::Method::HEAD {
        start.push_str(" -I");
    } else {
        let default = if sent.body.is_empty() && sent.method != http::Method::POST {
            http::Method::GET
        } else {
            http::Method::POST
        };
        if sent.method != default {
            let _ = write!(start, " -X {}", quoted_if_needed(sent.method.as_str()));
        }
    }
    let _ = write!(start, " {}", quoted(sent.url.as_bytes()));
    start
}

fn headers(sent: &Sent) -> Vec<String> {
    let has_body = !sent.body.is_empty() || sent.method == http::Method::POST;
    let mut headers = Vec::new();
    if has_body && !sent.headers.contains_key(http::header::CONTENT_TYPE) {
        // Without this curl says that a form comes.
        headers.push("-H 'content-type:'".to_owned());
    }
    for (name, value) in &sent.headers {
        if CURLS_OWN.contains(&name.as_str()) {
            continue;
        }
        let mut line = name.as_str().as_bytes().to_vec();
        if value.is_empty() {
            // `name:` would take the header away.
            line.push(b';');
        } else {
            line.extend_from_slice(b": ");
            line.extend_from_slice(value.as_bytes());
        }
        headers.push(format!("-H {}", quoted(&line)));
    }
    headers
}

/// At most `limit` bytes, not ending within a character, and how many are left.
pub(super) fn cut_body(body: &[u8], limit: usize) -> (&[u8], usize) {
    if body.len() <= limit {
        return (body, 0);
    }
    let mut end = limit;
    // At most three bytes of a character can be before its last one.
    while end > limit.saturating_sub(4) && body[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    if body[end] & 0xc0 == 0x80 {
        end = limit;
    }
    (&body[..end], body.len() - end)
}

fn quoted_if_needed(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        word.to_owned()
    } else {
        quoted(word.as_bytes())
    }
}

/// One word of a shell command, in one line: commands are indented when they are shown.
fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c == '\n' || is_hidden(c)) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", escaped(bytes, |byte| format!("\\x{byte:02x}"))),
    }
}

/// What `printf` writes the bytes for.
fn printf_format(bytes: &[u8]) -> String {
    let format = escaped(bytes, |byte| format!("\\{byte:03o}"));
    // printf has its own use for both; the quote ends the shell's.
    format!("'{}'", format.replace('%', "%%").replace("\\'", r"'\''"))
}

/// Bytes with backslashes, quotes and all that is no visible character escaped.
fn escaped(bytes: &[u8], byte_as: impl Fn(u8) -> String) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                '\'' => out.push_str("\\'"),
                '\n' => out.push_str("\\n"),
                c if is_hidden(c) => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        out.push_str(&byte_as(byte));
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&byte_as(*byte));
        }
    }
    out
}

#[cfg(test)]
mod tests;
