use super::*;

fn base(url: &str) -> BaseUrl {
    BaseUrl::parse(url).unwrap().0
}

#[test]
fn transport_keeps_the_path_and_the_query_of_the_url() {
    for (url, path, whole) in [
        ("http://h", "ensureBackend", "http://h/ensureBackend"),
        ("http://h/", "healthz/", "http://h/healthz/"),
        ("http://h:81/lbcf", "/x", "http://h:81/lbcf/x"),
        (
            "http://h/lbcf/?zone=1",
            "ensureBackend",
            "http://h/lbcf/ensureBackend?zone=1",
        ),
        ("https://h/a?zone=1", "x?y=2", "https://h/a/x?zone=1&y=2"),
        ("https://h", "x?y=2", "https://h/x?y=2"),
        ("http://[::1]:8080", "x", "http://[::1]:8080/x"),
        (
            "http://me:secret@h/a",
            "b c#{d}",
            "http://h/a/b%20c%23%7Bd%7D",
        ),
        ("http://h", "", "http://h/"),
    ] {
        assert_eq!(base(url).url_of(path), whole, "{url} and {path}");
    }
}

#[test]
fn transport_dials_the_host_and_port_of_the_url() {
    for (url, host, port) in [
        ("http://h", "h", 80),
        ("https://h", "h", 443),
        ("https://me@h:8443/x", "h", 8443),
        ("http://[::1]", "::1", 80),
        ("http://[::1]:81", "::1", 81),
    ] {
        let base = base(url);
        assert_eq!((base.host.as_str(), base.port), (host, port), "{url}");
    }
}

#[test]
fn transport_sends_user_and_password_of_the_url_as_basic_authorization() {
    let (_, header) = BaseUrl::parse("http://me:s%40crit@h").unwrap();
    let header = header.unwrap();
    assert_eq!(header, "Basic bWU6c0Bjcml0");
    assert!(header.is_sensitive());
    assert_eq!(BaseUrl::parse("http://h").unwrap().1, None);
}

#[test]
fn transport_rejects_urls_that_are_not_absolute_and_names_what_is_allowed() {
    for url in [
        "",
        "/x",
        "h:8080",
        "127.0.0.1:8080",
        "ftp://h",
        "http://",
        "http://h:0",
    ] {
        let problem = BaseUrl::parse(url).unwrap_err().to_string();
        assert!(problem.contains("http://HOST[:PORT][/PATH]"), "{problem}");
        assert!(problem.contains(&format!("{url:?}")), "{problem}");
    }
    let problem = BaseUrl::parse("ftp://me:secret@h").unwrap_err().to_string();
    assert!(!problem.contains("secret"), "{problem}");
}
