//! Reading `lbSpec`, `attributes` and `parameters`.

use super::*;
use lbcf_driver_sdk::fields::{FieldError, read, write};

fn map<const N: usize>(fields: [(&str, &str); N]) -> StringMap {
    let fields = fields.map(|(key, value)| (key.to_owned(), value.to_owned()));
    StringMap::from(fields)
}

fn lb_spec<const N: usize>(fields: [(&str, &str); N]) -> Result<LbSpec, String> {
    read("lbSpec", &map(fields)).map_err(|error| error.to_string())
}

fn new<const N: usize>(fields: [(&str, &str); N]) -> NewLoadBalancer {
    match lb_spec(fields) {
        Ok(LbSpec::New(new)) => new.into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_existing_one_is_named_in_either_spelling() {
    let one = lb_spec([("lbID", "lb-1234"), ("lblID", "lbl-2234"), ("name", "x")]).unwrap();
    let other = lb_spec([("loadBalancerID", "lb-1234"), ("listenerID", "lbl-2234")]).unwrap();
    assert_eq!(one, other);
    let written = write("lbInfo", &other).unwrap();
    assert_eq!(written, map([("lbID", "lb-1234"), ("lblID", "lbl-2234")]));
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
        ("domain", ""),
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
fn vlb_02_rejections_name_the_field_its_value_and_what_is_allowed() {
    let with = |name, value| {
        let mut fields = [
            ("vpcID", "v"),
            ("listenerPort", "80"),
            ("listenerProtocol", "TCP"),
            ("loadBalancerType", "OPEN"),
            ("url", ""),
        ];
        match fields.iter_mut().find(|(field, _)| *field == name) {
            Some(field) => field.1 = value,
            None => fields[4] = (name, value),
        }
        lb_spec(fields).unwrap_err()
    };
    for port in ["0", "65536", "-1", "http"] {
        assert_eq!(
            with("listenerPort", port),
            format!("lbSpec.listenerPort: {port:?}: not a number from 1 to 65535")
        );
    }
    assert_eq!(
        with("listenerPort", "+80"),
        r#"lbSpec.listenerPort: "+80": not a number from 1 to 65535 in plain digits: write 80"#
    );
    assert_eq!(
        with("listenerProtocol", "SCTP"),
        r#"lbSpec.listenerProtocol: "SCTP": not one of TCP, UDP, HTTP, HTTPS"#
    );
    assert_eq!(
        with("loadBalancerType", "PUBLIC"),
        r#"lbSpec.loadBalancerType: "PUBLIC": not one of OPEN, INTERNAL"#
    );
    assert_eq!(
        with("url", "/"),
        "lbSpec.domain and lbSpec.url: only HTTP and HTTPS listeners have them, and this one is TCP"
    );
    assert_eq!(
        with("lbVpcID", "w"),
        "lbSpec.lbVpcID: is given twice, under two of its names"
    );
}

#[test]
fn rules_have_valid_domains_and_paths() {
    let with = |name, value| {
        let [vpc, port, protocol] = [
            ("vpcID", "v"),
            ("listenerPort", "80"),
            ("listenerProtocol", "HTTPS"),
        ];
        lb_spec([vpc, port, protocol, (name, value)]).unwrap_err()
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
fn clb_05_a_spec_for_neither_is_rejected_with_what_both_need() {
    let message = lb_spec([("vpc", "vpc-1"), ("lbID", "")]).unwrap_err();
    for part in [
        "lbSpec: names no load balancer",
        "lbID",
        "lblID",
        "lbVpcID",
        "lbListenerPort",
        "lbListenerProtocol",
        " (unknown: vpc)",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!lb_spec([]).unwrap_err().contains("unknown"));
}

#[test]
fn clb_05_all_problems_of_a_spec_are_reported_at_once() {
    assert_eq!(
        lb_spec([("listenerPort", "0"), ("lbVpc", "v")]).unwrap_err(),
        "lbSpec.listenerPort: \"0\": not a number from 1 to 65535; \
         lbSpec.lbVpcID: is missing; lbSpec.lbListenerProtocol: is missing (unknown: lbVpc, did you mean lbVpcID?)"
    );
    assert_eq!(
        lb_spec([("listenerID", "l")]).unwrap_err(),
        "lbSpec.lbID: is missing"
    );
    assert_eq!(
        lb_spec([("lbID", "lb-1234"), ("lblID", "")]).unwrap_err(),
        "lbSpec.lblID: is missing: lbID and lblID name an existing load balancer"
    );
}

#[test]
fn a_spec_for_both_is_rejected() {
    let both = [("lbID", "lb-1234"), ("lblID", "l"), ("listenerPort", "80")];
    assert_eq!(
        lb_spec(both).unwrap_err(),
        r#"lbSpec.lbID: "lb-1234" names an existing load balancer and lbSpec.listenerPort: "80" asks for a new one: give one of them"#
    );
}

fn parameters<const N: usize>(fields: [(&str, &str); N]) -> Result<Parameters, FieldError> {
    read("parameters", &map(fields))
}

#[test]
fn vbe_01_whole_numbers_from_0_to_100_are_weights() {
    for weight in ["0", "50", "100"] {
        let read = parameters([("weight", weight), ("zone", "a")]).unwrap();
        assert_eq!(read.weight().to_string(), weight);
        let written = write("parameters", &read).unwrap();
        assert_eq!(written, map([("weight", weight), ("zone", "a")]));
    }
    for none in [
        parameters([]).unwrap(),
        parameters([("weight", "")]).unwrap(),
    ] {
        assert_eq!(none.weight(), 100);
        assert_eq!(write("parameters", &none).unwrap(), StringMap::new());
    }
}

#[test]
fn vbe_02_other_texts_are_rejected_by_name_and_value() {
    for text in ["-1", "101", "+5", "1.5", " 5", "many", "300"] {
        assert_eq!(
            parameters([("weight", text)]).unwrap_err().to_string(),
            format!("parameters.weight: {text:?}: not a whole number from 0 to 100")
        );
    }
}

#[test]
fn attributes_are_kept_as_they_are() {
    let given = map([("chargeType", "prepaid"), ("bandwidth", "10"), ("x", "")]);
    let attributes: Attributes = read("attributes", &given).unwrap();
    assert!(attributes.is_prepaid());
    assert_eq!(write("attributes", &attributes).unwrap(), given);
    assert!(!Attributes::default().is_prepaid());
}

#[test]
fn a_misspelled_key_is_refused_and_a_strange_one_ignored() {
    let with = |key| {
        lb_spec([
            ("vpcID", "v"),
            ("listenerPort", "80"),
            ("listenerProtocol", "TCP"),
            (key, "INTERNAL"),
        ])
    };
    for (key, meant) in [
        ("loadBalancerTyp", "loadBalancerType"),
        ("listener_port", "listenerPort"),
        ("DOMAIM", "domain"),
        ("uri", "url"),
    ] {
        let error = with(key).unwrap_err();
        let expected = format!("lbSpec.{key}: unknown, did you mean {meant}? The keys are lbID, ");
        assert!(error.starts_with(&expected), "{error}");
    }
    for key in ["name", "edition", "x"] {
        assert!(with(key).is_ok(), "{key}");
    }
}
