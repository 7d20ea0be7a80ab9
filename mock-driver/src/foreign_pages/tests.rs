use super::*;

fn refused(hosts: Hosts, pairs: &[(HeaderName, &str)]) -> Option<String> {
    let pairs = pairs.iter().map(|(name, value)| {
        let value = value.parse().expect("a header's value");
        (name.clone(), value)
    });
    check(hosts, &pairs.collect()).err()
}

#[test]
fn names_of_other_sites_are_refused_on_loopback() {
    for host in [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.9.9.9",
        "[::1]",
        "[::1]:80",
    ] {
        assert_eq!(
            refused(Hosts::Loopback, &[(header::HOST, host)]),
            None,
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "[::2]",
        "[::1",
        "",
        "user@localhost",
    ] {
        let why = refused(Hosts::Loopback, &[(header::HOST, host)]).expect(host);
        assert!(why.starts_with(&format!("Host: {host:?}: ")), "{why}");
        assert_eq!(refused(Hosts::Any, &[(header::HOST, host)]), None, "{host}");
    }
    assert_eq!(refused(Hosts::Loopback, &[]), None, "no browser omits it");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let host = (header::HOST, "127.0.0.1:8080");
    let origin = |origin| refused(Hosts::Any, &[host.clone(), (header::ORIGIN, origin)]);
    assert_eq!(origin("http://127.0.0.1:8080"), None);
    for foreign in [
        "http://127.0.0.1:8081",
        "http://localhost:8080",
        "https://evil.example",
        "null",
        "",
        "127.0.0.1:8080",
    ] {
        let why = origin(foreign).expect(foreign);
        assert!(why.starts_with(&format!("Origin: {foreign:?}: ")), "{why}");
    }
    let no_host = refused(Hosts::Any, &[(header::ORIGIN, "http://127.0.0.1:8080")]);
    assert!(no_host.is_some());
}
