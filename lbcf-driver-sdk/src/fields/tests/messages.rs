//! Error messages of maps: missing, unknown and empty fields, and several problems.

use super::map;
use crate::fields::{Fields, read, read_address, write};
use crate::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    #[serde(rename = "vpcID", alias = "vpc")]
    vpc_id: String,
    listener_port: u16,
    #[serde(default)]
    weight: u8,
    #[serde(default = "yes")]
    health_check: bool,
    name: Option<String>,
}

fn yes() -> bool {
    true
}

#[track_caller]
fn complaint<T: Fields>(entries: &[(&str, &str)]) -> String {
    let error = read::<T>("lbSpec", &map(entries)).unwrap_err();
    assert_eq!(
        error.problems().collect::<Vec<_>>().join("; "),
        error.to_string()
    );
    error.to_string()
}

const KEYS: &str = "The keys are vpc, vpcID, listenerPort, weight, healthCheck, name";

#[test]
fn a_problem_names_field_value_and_expectation() {
    let good = ("vpcID", "vpc-1");
    for (entries, message) in [
        (
            &[("listenerPort", "80")][..],
            "lbSpec.vpcID: is missing".to_owned(),
        ),
        (
            &[good, ("listenerPort", "")],
            "lbSpec.listenerPort: is empty".to_owned(),
        ),
        (
            &[good, ("listenerPort", "80"), ("lisenerPort", "")],
            format!("lbSpec.lisenerPort: unknown, did you mean listenerPort? {KEYS}"),
        ),
        (
            &[good, ("listenerPort", "80"), ("a\nb", "x")],
            format!("lbSpec.\"a\\nb\": unknown. {KEYS}"),
        ),
        (
            &[good, ("vpc", "vpc-2"), ("listenerPort", "80")],
            "lbSpec.vpcID: is given twice, under two of its names".to_owned(),
        ),
    ] {
        assert_eq!(complaint::<Spec>(entries), message);
    }
}

#[test]
fn all_problems_of_a_map_are_reported() {
    assert_eq!(
        complaint::<Spec>(&[
            ("listenerPort", "8o"),
            ("weight", "256"),
            ("wait", "1"),
            ("healthCheck", "no")
        ]),
        format!(
            "lbSpec.healthCheck: \"no\": not true or false; \
             lbSpec.listenerPort: \"8o\": not a number from 0 to 65535; \
             lbSpec.wait: unknown. {KEYS}; \
             lbSpec.weight: \"256\": not a number from 0 to 255; \
             lbSpec.vpcID: is missing"
        )
    );
    let many: StringMap = (0..1000)
        .map(|n| (n.to_string(), "x".repeat(1000)))
        .collect();
    let error = read::<Spec>("lbSpec", &many).unwrap_err();
    assert_eq!(error.problems().count(), 9);
    assert!(error.to_string().ends_with("; and perhaps more"), "{error}");
    assert!(error.to_string().len() < 2000);
}

#[test]
fn very_long_values_and_keys_are_cut() {
    let long = "9".repeat(1_000_000);
    let message = complaint::<Spec>(&[("listenerPort", &long), ("vpcID", "v"), (&long, "")]);
    assert!(message.len() < 500, "{message}");
    assert!(
        message.contains("999…\": not a number from 0 to 65535"),
        "{message}"
    );
    let message = complaint::<Spec>(&[("listenerPort", "\0\u{202e}🚢"), ("vpcID", "v")]);
    assert_eq!(
        message,
        "lbSpec.listenerPort: \"\\0\\u{202e}🚢\": not a number from 0 to 65535"
    );
}

#[test]
fn an_empty_text_is_absent_for_a_struct() {
    let entries = [
        ("vpc", "v"),
        ("listenerPort", "1"),
        ("weight", ""),
        ("healthCheck", ""),
        ("name", ""),
    ];
    let spec: Spec = read("lbSpec", &map(&entries)).unwrap();
    let expected = Spec {
        vpc_id: "v".into(),
        listener_port: 1,
        weight: 0,
        health_check: true,
        name: None,
    };
    assert_eq!(spec, expected);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    id: String,
    #[serde(default)]
    port: u16,
    zone: Option<char>,
    #[serde(flatten)]
    rest: StringMap,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Texts {
    zone: String,
    mode: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    port: u16,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Outer<T> {
    id: u16,
    #[serde(flatten)]
    inner: T,
}

/// As the documentation of the module says; once serde passes types on, it has to change.
#[test]
fn a_flattened_struct_has_texts_but_no_numbers() {
    let entries = map(&[("id", "1"), ("zone", "a"), ("mode", "x")]);
    let read_texts: Outer<Texts> = read("m", &entries).unwrap();
    assert_eq!(read_texts.inner.zone, "a");
    assert_eq!(write("m", &read_texts).unwrap(), entries);
    let error = read::<Outer<Numbers>>("m", &map(&[("id", "1"), ("port", "80")])).unwrap_err();
    assert_eq!(error.to_string(), "m: not u16");
    // The map of the rest is read into the same struct instead.
    let outer: Outer<StringMap> = read("m", &map(&[("id", "1"), ("port", "80")])).unwrap();
    assert_eq!(
        read::<Numbers>("m", &outer.inner).unwrap(),
        Numbers { port: 80 }
    );
}

#[test]
fn a_flattened_map_takes_the_other_keys() {
    let entries = map(&[("id", "1"), ("port", "80"), ("x", "1"), ("y", "")]);
    let open: Open = read("m", &entries).unwrap();
    assert_eq!(open.rest, map(&[("x", "1"), ("y", "")]));
    assert_eq!((open.port, open.zone), (80, None));
    assert_eq!(write("m", &open).unwrap(), entries);
    // Empty texts count as absent for its fields, too.
    let open: Open = read("m", &map(&[("id", "1"), ("port", ""), ("zone", "")])).unwrap();
    assert_eq!((open.port, open.zone), (0, None));
    assert_eq!(
        complaint::<Open>(&[("id", ""), ("port", "")]),
        "lbSpec.id: is empty"
    );
    assert_eq!(
        complaint::<Open>(&[("port", "x")]),
        "lbSpec.port: \"x\": not a number from 0 to 65535; lbSpec.id: is missing"
    );
    let rest = map(&[("port", "1")]);
    let twice = Open {
        id: "1".into(),
        port: 2,
        zone: None,
        rest,
    };
    let error = write("m", &twice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "m.port: \"1\": is given twice: by a field and by a flattened map"
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct NoFields;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Lenient {}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Around(Spec);

#[test]
fn maps_units_and_what_is_around_structs() {
    let raw = map(&[("a", ""), ("b\0", "🚢")]);
    assert_eq!(read::<StringMap>("m", &raw).unwrap(), raw);
    assert_eq!(write("m", &raw).unwrap(), raw);
    let numbers: BTreeMap<u8, u16> = read("m", &map(&[("1", "80")])).unwrap();
    assert_eq!(numbers, BTreeMap::from([(1, 80)]));
    assert_eq!(write("m", &numbers).unwrap(), map(&[("1", "80")]));
    assert_eq!(
        complaint::<HashMap<String, u8>>(&[("a", "")]),
        "lbSpec.a: \"\": not a number from 0 to 255"
    );
    assert_eq!(
        complaint::<BTreeMap<u8, u8>>(&[("a", "1")]),
        "lbSpec.a: \"1\": not a number from 0 to 255"
    );
    read::<()>("m", &map(&[])).unwrap();
    assert_eq!(read::<NoFields>("m", &map(&[])).unwrap(), NoFields);
    assert_eq!(write("m", &NoFields).unwrap(), map(&[]));
    for message in [
        complaint::<()>(&[("a", "")]),
        complaint::<NoFields>(&[("a", "1")]),
    ] {
        assert_eq!(message, "lbSpec.a: unknown: there are no keys here");
    }
    assert_eq!(read::<Lenient>("m", &raw).unwrap(), Lenient {});
    assert_eq!(read::<Option<Spec>>("m", &map(&[])).unwrap(), None);
    assert_eq!(write("m", &None::<Spec>).unwrap(), map(&[]));
    assert_eq!(
        complaint::<Option<Spec>>(&[("vpc", "v")]),
        "lbSpec.listenerPort: is missing"
    );
    let around: Around = read("m", &map(&[("vpc", "v"), ("listenerPort", "1")])).unwrap();
    assert_eq!(around.0.listener_port, 1);
    assert_eq!(write("m", &around).unwrap()["healthCheck"], "true");
}

#[test]
fn types_that_cannot_represent_a_map_are_refused() {
    assert_eq!(
        complaint::<u16>(&[("a", "1")]),
        "lbSpec: a map of strings cannot be read as u16: use a struct or a map"
    );
    let error = write("lbSpec", &5_u16).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lbSpec: a map of strings cannot represent a number: use a struct or a map"
    );
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
struct Range {
    from: u16,
    to: u16,
}

#[derive(Deserialize)]
struct Unchecked {
    from: u16,
    to: u16,
}

impl TryFrom<Unchecked> for Range {
    type Error = &'static str;

    fn try_from(Unchecked { from, to }: Unchecked) -> Result<Self, Self::Error> {
        if from <= to {
            Ok(Self { from, to })
        } else {
            Err("from is greater than to")
        }
    }
}

#[test]
fn a_check_of_the_whole_map_names_the_map() {
    read::<Range>("m", &map(&[("from", "1"), ("to", "2")])).unwrap();
    assert_eq!(
        complaint::<Range>(&[("from", "3"), ("to", "2")]),
        "lbSpec: from is greater than to"
    );
    // The check's message about placeholders is not reported.
    assert_eq!(
        complaint::<Range>(&[("from", "3"), ("to", "x")]),
        "lbSpec.to: \"x\": not a number from 0 to 65535"
    );
}

#[test]
fn addresses() {
    let address: SocketAddr = read_address("backendAddr", "10.0.0.1:80").unwrap();
    assert_eq!(address.port(), 80);
    for (text, message) in [
        ("", "backendAddr: is empty"),
        (
            "10.0.0.1",
            "backendAddr: \"10.0.0.1\": invalid socket address syntax",
        ),
    ] {
        let error = read_address::<SocketAddr>("backendAddr", text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(
        read_address::<String>("backendAddr", "")
            .unwrap_err()
            .to_string(),
        "backendAddr: is empty"
    );
}
