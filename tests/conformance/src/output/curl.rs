//! A request as a curl command for a shell.

use super::text::{SHOWN, is_hidden};
use crate::exchange::Sent;
use http::Method;
use http::header::{self, CONTENT_TYPE, HeaderName};

/// Headers that curl sets itself, or that belong to the connection.
const CURLS_OWN: [HeaderName; 7] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::ACCEPT,
    header::USER_AGENT,
    header::EXPECT,
];

/// The request as a curl command of several lines, with URL, headers and body quoted for a shell.
///
/// A body above 2 kB is cut, with a comment, and one with a NUL before it. Bytes that are not UTF-8 or
/// not visible are written `$'\xff'` for bash, zsh and ksh.
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
    let (shown, _) = cut_body(&sent.body, SHOWN);
    // No argument can contain a NUL.
    let body = shown.split(|byte| *byte == 0).next().unwrap_or_default();
    let has_body = !sent.body.is_empty() || sent.method == Method::POST;
    let mut parts = vec![start(sent, has_body)];
    parts.extend(headers(sent, has_body));
    if has_body {
        // `--data-binary` reads a file whose name follows an `@`.
        let is_name = body.starts_with(b"@");
        let flag = if is_name {
            "--data-raw"
        } else {
            "--data-binary"
        };
        parts.push(format!("{flag} {}", quoted(body)));
    }
    let command = parts.join(" \\\n  ");
    let (kept, all) = (body.len(), sent.body.len());
    if kept == all {
        return command;
    }
    format!("{command}\n# the body is cut: {kept} of {all} bytes")
}

fn start(sent: &Sent, has_body: bool) -> String {
    let mut start = "curl -isS".to_owned();
    // Otherwise curl expands patterns, and removes `..` between slashes.
    if sent.url.contains(['[', ']', '{', '}']) {
        start += " -g";
    }
    if sent.url.contains("/.") {
        start += " --path-as-is";
    }
    match &sent.method {
        &Method::HEAD => start += " -I",
        &Method::POST => {}
        &Method::GET if !has_body => {}
        other => start += &format!(" -X {}", word(other.as_str())),
    }
    start + " " + &quoted(sent.url.as_bytes())
}

fn headers(sent: &Sent, has_body: bool) -> Vec<String> {
    let mut headers = Vec::new();
    if has_body && !sent.headers.contains_key(CONTENT_TYPE) {
        // Otherwise curl sends the content type of a form.
        headers.push("-H 'content-type:'".to_owned());
    }
    for (name, value) in &sent.headers {
        if CURLS_OWN.contains(name) {
            continue;
        }
        // `name:` would remove the header.
        let line = match value.as_bytes() {
            b"" => format!("{name};").into_bytes(),
            value => [name.as_str().as_bytes(), b": ", value].concat(),
        };
        headers.push(format!("-H {}", quoted(&line)));
    }
    headers
}

/// At most `limit` bytes that end with a whole character, and the number of remaining bytes.
pub(super) fn cut_body(body: &[u8], limit: usize) -> (&[u8], usize) {
    let limit = limit.min(body.len());
    let is_start = |end: &usize| body.get(*end).is_none_or(|byte| byte & 0xc0 != 0x80);
    // A character has at most four bytes.
    let ends = limit.saturating_sub(3)..=limit;
    let end = ends.rev().find(is_start).unwrap_or(limit);
    (&body[..end], body.len() - end)
}

/// A text as a single word for a shell, in quotes if it needs them.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quoted(text.as_bytes())
    }
}

/// One word of a shell command without line breaks, because reports indent the lines of commands.
fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c == '\n' || is_hidden(c)) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", escaped(bytes)),
    }
}

/// Escapes backslashes, quotes and invisible characters.
fn escaped(bytes: &[u8]) -> String {
    let in_hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            out += &match character {
                '\\' | '\'' => format!("\\{character}"),
                '\n' => "\\n".to_owned(),
                c if is_hidden(c) => in_hex(c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => c.to_string(),
            };
        }
        out += &in_hex(chunk.invalid());
    }
    out
}

#[cfg(test)]
mod tests;
