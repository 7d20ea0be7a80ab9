//! Reading `lbSpec`.

use super::*;

fn read<const N: usize>(fields: [(&str, &str); N]) -> Result<WantedLoadBalancer, String> {
    let lb_spec = fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    WantedLoadBalancer::read(&lb_spec).map_err(|error| error.to_string())
}

fn new<const N: usize>(fields: [(&str, &str); N]) -> NewLoadBalancer {
    match read(fields) {
        Ok(WantedLoadBalancer::New(wanted)) => wanted,
        other => panic!("{other:?}"),
    }
}

fn existing<const N: usize>(fields: [(&str, &str); N]) -> Identity {
    match read(fields) {
        Ok(WantedLoadBalancer::Existing(identity)) => identity,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_existing_one_is_named_in_either_spelling_and_keeps_it() {
    let one = existing([("lbID", "lb-1234"), ("lblID", "lbl-2234"), ("name", "x")]);
    let other = existing([("loadBalancerID", "lb-1234"), ("listenerID", "lbl-2234")]);
    assert_eq!(one.endpoint, other.endpoint);
    let keys = |identity: &Identity| identity.lb_info.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&one), ["lbID", "lblID"]);
    assert_eq!(keys(&other), ["listenerID", "loadBalancerID"]);
}

#[test]
fn a_new_one_is_described_in_either_spelling() {
    let one = new([
        ("lbVpcID", "vpc-12345678"),
        ("lbListenerPort", "80"),
        ("lbListenerProtocol", "TCP"),
    ]);
    let other = new([
        ("vpcID", "vpc-12345678"),
        ("listenerPort", "80"),
        ("listenerProtocol", "tcp"),
        ("loadBalancerType", "OPEN"),
        ("name", "ignored"),
    ]);
    assert_eq!(one, other);
    assert_eq!((one.port, one.rule), (80, None));
}

#[test]
fn http_has_a_rule_even_if_none_is_given() {
    let base = [
        ("vpcID", "v"),
        ("listenerPort", "80"),
        ("listenerProtocol", "Http"),
    ];
    let [vpc, port, protocol] = base;
    assert_eq!(new(base).rule, Some(Rule::new(Some("*"), Some("/"))));
    let given = new([vpc, port, protocol, ("domain", "a.example"), ("url", "/b")]);
    assert_eq!(given.rule, Some(Rule::new(Some("a.example"), Some("/b"))));
}

#[test]
fn vlb_02_refusals_name_the_field_its_value_and_what_is_allowed() {
    let with = |name, value| {
        let mut fields = [
            ("vpcID", "v"),
            ("listenerPort", "80"),
            ("listenerProtocol", "TCP"),
            ("loadBalancerType", "OPEN"),
            ("", ""),
        ];
        match fields.iter_mut().find(|(field, _)| *field == name) {
            Some(field) => field.1 = value,
            None => fields[4] = (name, value),
        }
        read(fields).unwrap_err()
    };
    for port in ["0", "65536", "-1", "+80", "http"] {
        assert_eq!(
            with("listenerPort", port),
            format!("lbSpec.listenerPort: {port:?}: not a port from 1 to 65535")
        );
    }
    assert_eq!(
        with("listenerProtocol", "SCTP"),
        r#"lbSpec.listenerProtocol: "SCTP": none of TCP, UDP, HTTP, HTTPS"#
    );
    assert_eq!(
        with("loadBalancerType", "PUBLIC"),
        r#"lbSpec.loadBalancerType: "PUBLIC": none of OPEN, INTERNAL"#
    );
    assert_eq!(
        with("url", "/"),
        r#"lbSpec.url: "/": only HTTP and HTTPS listeners have a domain and a url, and this one is TCP"#
    );
    assert_eq!(
        with("lbVpcID", "w"),
        r#"lbSpec.lbVpcID: "w" and lbSpec.vpcID: "v" are two names of one field and have different values: give one"#
    );
}

#[test]
fn rules_have_proper_domains_and_paths() {
    let with = |name, value| {
        let [vpc, port, protocol] = [
            ("vpcID", "v"),
            ("listenerPort", "80"),
            ("listenerProtocol", "HTTPS"),
        ];
        read([vpc, port, protocol, (name, value)]).unwrap_err()
    };
    assert_eq!(
        with("domain", "https://a"),
        r#"lbSpec.domain: "https://a": not a domain such as www.example.com"#
    );
    assert_eq!(
        with("url", "shop"),
        r#"lbSpec.url: "shop": not a path that starts with a slash"#
    );
}

#[test]
fn clb_05_what_asks_for_neither_is_told_what_both_need() {
    let message = read([("vpc", "vpc-1")]).unwrap_err();
    for part in [
        "lbID (or loadBalancerID)",
        "lblID (or listenerID)",
        "lbVpcID (or vpcID)",
        "lbListenerPort (or listenerPort)",
        "lbListenerProtocol (or listenerProtocol)",
        "not understood: vpc",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!read([]).unwrap_err().contains("not understood"));
}

#[test]
fn what_asks_for_half_is_told_the_rest() {
    let message = read([("lbID", "lb-1234"), ("lblID", "")]).unwrap_err();
    assert!(
        message.starts_with("lbSpec.lblID (or listenerID) is missing"),
        "{message}"
    );
    let message = read([("listenerID", "lsn-foo")]).unwrap_err();
    assert!(
        message.starts_with("lbSpec.lbID (or loadBalancerID) is missing"),
        "{message}"
    );
    let message = read([
        ("vpcID", "v"),
        ("listenerProtocol", "TCP"),
        ("lbListnerPort", "80"),
    ])
    .unwrap_err();
    assert!(
        message.starts_with("lbSpec.lbListenerPort (or listenerPort) is missing"),
        "{message}"
    );
    assert!(
        message.ends_with("(not understood: lbListnerPort)"),
        "{message}"
    );
}

#[test]
fn what_asks_for_both_is_refused() {
    let message = read([("lbID", "lb-1234"), ("lblID", "l"), ("listenerPort", "80")]).unwrap_err();
    assert_eq!(
        message,
        r#"lbSpec.lbID: "lb-1234" names an existing load balancer and lbSpec.listenerPort: "80" asks for a new one: give one of them"#
    );
}
