use super::*;

const LOOPBACK: &str = "127.0.0.1:8080";

fn checked(
    hosts: Option<&[String]>,
    method: Method,
    headers: &[(&str, &str)],
) -> Result<(), String> {
    let mut request = Request::builder().method(method);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    check(&request.body(()).expect("a request"), hosts)
}

#[test]
fn d103_on_loopback_names_of_other_sites_are_refused() {
    let more = ["Proxy.Example".to_owned(), "10.0.0.9:80".to_owned()];
    let called = |host| checked(Some(&more), Method::POST, &[("host", host)]);
    for host in [
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "127.0.0.1:80",
        "127.9.9.9",
        "[::1]",
        "[::1]:80",
        "[::ffff:127.0.0.1]:80",
        "PROXY.example.:8080",
        "10.0.0.9",
    ] {
        assert_eq!(called(host), Ok(()), "{host}");
    }
    for host in [
        "evil.example",
        "EVIL.EXAMPLE.:8080",
        "localhost.evil.example",
        "LOCALHOST.evil.example.",
        "127.0.0.1.evil.example.:80",
        "notlocalhost",
        "sub.proxy.example",
        "0.0.0.0:8080",
        "10.0.0.1",
        "[::2]",
        "[::1",
        "",
        ".",
        "user@localhost",
    ] {
        let why = called(host).expect_err(host);
        assert!(why.starts_with(&format!("Host: {host:?}: ")), "{why}");
        assert!(why.contains("localhost") && why.contains("--allow-host"));
    }
    let none = checked(Some(&more), Method::POST, &[]);
    assert_eq!(none, Ok(()), "no browser omits it");
}

#[test]
fn d103_elsewhere_and_over_tls_every_name_is_served() {
    for (addr, is_tls, has_any) in [
        (LOOPBACK, false, false),
        ("127.8.9.1:1", false, false),
        ("[::1]:1", false, false),
        ("[::ffff:127.0.0.1]:1", false, false),
        (LOOPBACK, true, true),
        ("0.0.0.0:1", false, true),
        ("[::]:1", false, true),
        ("10.0.0.1:1", false, true),
    ] {
        let hosts = hosts(addr.parse().expect(addr), is_tls, Vec::new());
        assert_eq!(hosts.is_none(), has_any, "{addr}");
    }
    assert_eq!(checked(None, Method::POST, &[("host", "any.svc")]), Ok(()));
}

#[test]
fn d103_pages_of_other_sites_are_refused_by_origin_on_every_address() {
    let from = |origin| {
        let headers = [("host", LOOPBACK), ("origin", origin)];
        let anywhere = checked(None, Method::GET, &headers);
        assert_eq!(anywhere, checked(Some(&[]), Method::GET, &headers));
        anywhere
    };
    assert_eq!(from("http://127.0.0.1:8080"), Ok(()));
    for foreign in [
        "http://127.0.0.1:8081",
        "http://127.0.0.1",
        "http://localhost:8080",
        "https://evil.example",
        "http://127.0.0.1:8080.evil.example",
        "http://127.0.0.1:8080@evil.example",
        "null",
        "",
        "127.0.0.1:8080",
    ] {
        let why = from(foreign).expect_err(foreign);
        assert!(why.starts_with(&format!("Origin: {foreign:?}: ")), "{why}");
        assert!(why.ends_with("\"127.0.0.1:8080\""), "{why}");
    }
    let no_host = [("origin", "http://127.0.0.1:8080")];
    assert!(checked(None, Method::GET, &no_host).is_err());
}

#[test]
fn d103_sec_fetch_site_decides_before_origin_and_a_link_is_followed() {
    let seen = |method, site, more: &[(&str, &str)]| {
        let headers = [&[("host", LOOPBACK), ("sec-fetch-site", site)], more].concat();
        checked(Some(&[]), method, &headers)
    };
    // A proxy such as kubectl's has an address of its own, which is the page's.
    let of_proxy = [("origin", "http://127.0.0.1:8001")];
    for own in ["same-origin", "none"] {
        assert_eq!(seen(Method::POST, own, &of_proxy), Ok(()), "{own}");
    }
    let mode = |mode, to| [("sec-fetch-mode", mode), ("sec-fetch-dest", to)];
    let link = mode("navigate", "document");
    for foreign in ["cross-site", "same-site", "", "SAME-ORIGIN"] {
        let why = seen(Method::GET, foreign, &[]).expect_err(foreign);
        assert!(why.starts_with(&format!("Sec-Fetch-Site: {foreign:?}: ")));
        assert!(why.contains("same-origin or none"), "{why}");
        assert_eq!(seen(Method::GET, foreign, &link), Ok(()), "{foreign}");
        for (method, how) in [
            (Method::POST, link),
            (Method::GET, mode("navigate", "iframe")),
            (Method::GET, mode("no-cors", "script")),
        ] {
            assert!(seen(method, foreign, &how).is_err(), "{foreign} {how:?}");
        }
    }
    let rebound = [("host", "evil.example"), ("sec-fetch-site", "same-origin")];
    assert!(checked(Some(&[]), Method::GET, &rebound).is_err());
}
