//! A request as a curl command for a shell.

use super::text::{SHOWN, is_hidden};
use crate::exchange::Sent;
use std::fmt::Write as _;

/// Headers that curl sets itself, or that belong to the connection.
const CURLS_OWN: [&str; 7] = [
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "accept",
    "user-agent",
    "expect",
];

/// The request as a curl command of several lines, with URL, headers and body quoted for a shell.
///
/// A body above 2 kB is cut, with a comment. Bytes that are not UTF-8 or not visible are written
/// `$'\xff'` for bash, zsh and ksh; a body with a NUL comes from `printf`, because no argument can
/// contain one.
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
        // `--data-binary` would read a file.
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
    // Otherwise curl expands patterns, and removes `..` between slashes.
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
        // Otherwise curl sends the content type of a form.
        headers.push("-H 'content-type:'".to_owned());
    }
    for (name, value) in &sent.headers {
        if CURLS_OWN.contains(&name.as_str()) {
            continue;
        }
        let mut line = name.as_str().as_bytes().to_vec();
        if value.is_empty() {
            // `name:` would remove the header.
            line.push(b';');
        } else {
            line.extend_from_slice(b": ");
            line.extend_from_slice(value.as_bytes());
        }
        headers.push(format!("-H {}", quoted(&line)));
    }
    headers
}

/// At most `limit` bytes that end with a whole character, and the number of remaining bytes.
pub(super) fn cut_body(body: &[u8], limit: usize) -> (&[u8], usize) {
    if body.len() <= limit {
        return (body, 0);
    }
    let mut end = limit;
    // A character has at most four bytes.
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

/// One word of a shell command without line breaks, because reports indent the lines of commands.
fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c == '\n' || is_hidden(c)) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", escaped(bytes, |byte| format!("\\x{byte:02x}"))),
    }
}

/// The format with which `printf` prints the bytes.
fn printf_format(bytes: &[u8]) -> String {
    let format = escaped(bytes, |byte| format!("\\{byte:03o}"));
    // `%` and `'` are special for printf and the shell.
    format!("'{}'", format.replace('%', "%%").replace("\\'", r"'\''"))
}

/// Escapes backslashes, quotes and invisible characters.
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
