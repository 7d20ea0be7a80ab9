//! What a shell makes of the commands is what was sent.

use super::*;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

fn sent(method: Method, url: &str, headers: &[(&str, &[u8])], body: &[u8]) -> Sent {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_bytes(value).unwrap(),
        );
    }
    Sent {
        method,
        url: url.to_owned(),
        headers: map,
        body: Bytes::copy_from_slice(body),
    }
}

/// The arguments that a real shell gives `curl`: a stand-in prints them, each ended by an `\x1f`.
fn by_bash(command: &str) -> Option<Vec<Vec<u8>>> {
    let script = format!("curl() {{ printf '%s\\037' \"$@\"; }}\n{command}\n");
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", &script])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .ok()?;
    assert!(output.status.success(), "{command}: {output:?}");
    let arguments = output.stdout.split(|byte| *byte == 0x1f);
    let mut arguments: Vec<_> = arguments.map(<[u8]>::to_vec).collect();
    arguments.pop();
    Some(arguments)
}

#[test]
fn shells_give_curl_what_was_sent() {
    let json: &[(&str, &[u8])] = &[("content-type", b"application/json")];
    for body in [
        br#"{"a":"it's $HOME `id` \"x\" \\ !! %s"}"#.as_slice(),
        "ünïcode 🦀".as_bytes(),
        b"@/etc/passwd",
        b"line\nline\r\n\ttab",
        b"\xff\xfe'\\\x1b[2J0\x7fa",
        "\u{202e}\u{85}".as_bytes(),
        b"-H 'x: y'",
        b"\\",
        b"\\'",
        b"\x01f",
    ] {
        let command = curl_of(&sent(Method::POST, "http://h/x", json, body));
        assert!(!command.chars().any(is_hidden), "{command:?}");
        let Some(arguments) = by_bash(&command) else {
            println!("skipped: there is no bash");
            return;
        };
        assert_eq!(arguments.last().unwrap(), body, "{command}");
        assert_eq!(
            arguments[..4].concat(),
            b"-isShttp://h/x-Hcontent-type: application/json"
        );
        assert_eq!(arguments.len(), 6, "{command}");
        let option = if body[0] == b'@' {
            "--data-raw"
        } else {
            "--data-binary"
        };
        assert_eq!(arguments[4], option.as_bytes());
    }
}

#[test]
fn bodies_are_cut_before_a_nul() {
    let command = curl_of(&sent(Method::POST, "http://h/", &[], b"{\"a\":\"\0\"}"));
    let end = "--data-binary '{\"a\":\"'\n# the body is cut: 6 of 9 bytes";
    assert!(command.ends_with(end), "{command}");
}

#[test]
fn urls_and_headers_are_quoted() {
    let headers: &[(&str, &[u8])] = &[
        ("host", b"h"),
        ("content-length", b"0"),
        ("x-empty", b""),
        ("x-quote", b"it's"),
        ("x-latin", b"\xe9"),
        ("x-two", b"1"),
        ("x-two", b"2"),
    ];
    let command = curl_of(&sent(Method::PUT, "http://[::1]:1/a'/../b", headers, b""));
    assert_eq!(
        command,
        "curl -isS -g --path-as-is -X PUT 'http://[::1]:1/a'\\''/../b' \\\n  \
         -H 'x-empty;' \\\n  -H 'x-quote: it'\\''s' \\\n  -H $'x-latin: \\xe9' \\\n  \
         -H 'x-two: 1' \\\n  -H 'x-two: 2'"
    );
}

#[test]
fn methods_are_named_where_curl_would_take_another() {
    for (method, body, start) in [
        (Method::GET, b"".as_slice(), "curl -isS 'http://h/'"),
        (Method::GET, b"{}", "curl -isS -X GET 'http://h/'"),
        (Method::POST, b"{}", "curl -isS 'http://h/'"),
        (Method::POST, b"", "curl -isS 'http://h/'"),
        (Method::HEAD, b"", "curl -isS -I 'http://h/'"),
        (Method::DELETE, b"", "curl -isS -X DELETE 'http://h/'"),
        (
            Method::from_bytes(b"A|B").unwrap(),
            b"",
            "curl -isS -X 'A|B' 'http://h/'",
        ),
    ] {
        let command = curl_of(&sent(method.clone(), "http://h/", &[], body));
        assert!(command.starts_with(start), "{command}");
        let has_body = command.contains("--data-binary");
        assert_eq!(
            has_body,
            !body.is_empty() || method == Method::POST,
            "{command}"
        );
        // Without the flag curl sends the content type of a form.
        assert_eq!(
            command.contains("-H 'content-type:'"),
            has_body,
            "{command}"
        );
    }
}

#[test]
fn long_bodies_are_cut_between_characters() {
    let body = "a".to_owned() + &"é".repeat(2_000);
    let command = curl_of(&sent(Method::POST, "http://h/", &[], body.as_bytes()));
    assert!(
        command.ends_with("é'\n# the body is cut: 2047 of 4001 bytes"),
        "{command}"
    );
    assert!(by_bash(&command).is_none_or(|arguments| arguments.last().unwrap().len() == 2_047));
    // Bytes that only look like the inside of a character.
    assert_eq!(cut_body(&[0x80; 100], 10), ([0x80; 10].as_slice(), 90));
    assert_eq!(cut_body(b"abc", 3), (b"abc".as_slice(), 0));
    assert_eq!(cut_body("aé".as_bytes(), 2), (b"a".as_slice(), 2));
    assert_eq!(cut_body("🦀🦀".as_bytes(), 7), ("🦀".as_bytes(), 4));
}
