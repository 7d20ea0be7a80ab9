use super::*;

fn joined(url: &str) -> String {
    url.parse::<DriverUrl>().unwrap().of("healthz")
}

#[test]
fn b149_the_name_is_joined_as_a_cleaned_path() {
    for (url, expected) in [
        ("http://d", "http://d/healthz"),
        ("http://d/", "http://d/healthz"),
        ("http://d:8080", "http://d:8080/healthz"),
        ("https://d/a/b", "https://d/a/b/healthz"),
        ("http://d/a/b/", "http://d/a/b/healthz"),
        ("http://d//a///b//", "http://d/a/b/healthz"),
        ("http://d/a/../b/./c", "http://d/b/c/healthz"),
        ("http://d/../../a", "http://d/a/healthz"),
        ("http://d/a%20b", "http://d/a%20b/healthz"),
        ("http://d/a?x=1&y=%20", "http://d/a/healthz?x=1&y=%20"),
        ("http://d?x=/../", "http://d/healthz?x=/../"),
        ("http://[::1]:80/a", "http://[::1]:80/a/healthz"),
        ("HTTP://Driver.ns.svc/a", "http://Driver.ns.svc/a/healthz"),
        ("http://u:p@d/a", "http://d/a/healthz"),
    ] {
        assert_eq!(joined(url), expected, "{url}");
    }
}

#[test]
fn b149_only_http_and_https_with_a_host_are_urls() {
    for (url, problem) in [
        ("", "not a URL"),
        ("driver", "not absolute"),
        ("driver:8080", "not absolute"),
        ("/path", "not absolute"),
        ("http://", "not a URL"),
        ("http:///path", "not a URL"),
        ("http://:8080", "no host"),
        ("http://u:p@:8080", "no host"),
        ("ftp://d", "neither http nor https"),
        ("unix:///run/driver", "not a URL"),
        ("http://d:0", "the port is not a number from 1 to 65535"),
        ("http://d:99999", "the port is not a number from 1 to 65535"),
        ("http://d:", "the port is not a number from 1 to 65535"),
        ("http://d e", "not a URL"),
    ] {
        let error = url.parse::<DriverUrl>().expect_err(url);
        assert_eq!(error.problem, problem, "{url}");
        assert!(error.to_string().contains("http://HOST"), "{error}");
    }
}

#[test]
fn secrets_are_not_shown() {
    for url in [
        "ftp://user:secret@d",
        "http://user:secret@d:0/x",
        "user:secret@d",
        "http://user:se/secret@d e",
        "http://user:@secret@ d",
    ] {
        let error = url.parse::<DriverUrl>().expect_err(url).to_string();
        assert!(!error.contains("secret"), "{error}");
        assert!(!error.contains("user"), "{error}");
    }
}

#[test]
fn user_and_password_become_a_header() {
    for (url, expected) in [
        ("http://d", None),
        ("http://user@d", Some("Basic dXNlcjo=")),
        ("http://a%3Ab:c%2z@d", Some("Basic YTpiOmMlMno=")),
    ] {
        let header = url.parse::<DriverUrl>().unwrap().authorization();
        let header = header.as_ref().map(|value| value.to_str().unwrap());
        assert_eq!(header, expected, "{url}");
    }
}

#[test]
fn only_https_and_this_machine_are_private() {
    for (url, is_private) in [
        ("https://driver", true),
        ("HTTPS://driver", true),
        ("http://localhost", true),
        ("http://LOCALHOST:8080/a", true),
        ("http://127.0.0.1:80", true),
        ("http://127.1.2.3", true),
        ("http://[::1]:8080", true),
        ("http://u:p@localhost", true),
        ("http://driver", false),
        ("http://localhost.example", false),
        ("http://127.0.0.1.example", false),
        ("http://localhost@driver", false),
        ("http://10.0.0.1", false),
        ("http://[::2]", false),
        ("http://0.0.0.0", false),
    ] {
        let url_of_driver: DriverUrl = url.parse().unwrap();
        assert_eq!(url_of_driver.is_private(), is_private, "{url}");
    }
}
