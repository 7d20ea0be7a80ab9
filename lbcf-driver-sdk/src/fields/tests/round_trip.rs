//! Written values are read back as equal values, and no text causes a panic.

use super::map;
use crate::fields::{Json, duration, read, write};
use crate::webhook::StringMap;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    #[serde(rename = "with-dash")]
    Dash,
    Holds(u8),
    Named {
        name: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Nested {
    text: String,
    numbers: Vec<i64>,
    inner: Option<Box<Self>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Everything {
    unsigned: (u8, u16, u32, u64, u128),
    signed: (i8, i16, i32, i64, i128),
    port: NonZeroU16,
    fraction: f64,
    small_fraction: f32,
    is_on: bool,
    character: char,
    #[serde(default)]
    text: String,
    kind: Kind,
    maybe: Option<i32>,
    // An empty text is absent, so `Some("")` is not read back.
    maybe_text: Option<String>,
    #[serde(with = "duration")]
    time: Duration,
    #[serde(with = "duration", default)]
    maybe_time: Option<Duration>,
    #[serde(default)]
    numbers: Vec<u16>,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    kinds: Vec<Kind>,
    #[serde(default)]
    lists: Vec<Vec<char>>,
    #[serde(default)]
    sockets: Vec<SocketAddr>,
    ip: IpAddr,
    nested: Nested,
    map: BTreeMap<String, u8>,
    json: Json<Vec<Option<String>>>,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Plain),
        Just(Kind::Dash),
        any::<u8>().prop_map(Kind::Holds),
        any::<String>().prop_map(|name| Kind::Named { name }),
    ]
}

fn nested() -> impl Strategy<Value = Nested> {
    let leaf = (any::<String>(), vec(any::<i64>(), 0..3));
    let leaf = leaf.prop_map(|(text, numbers)| Nested {
        text,
        numbers,
        inner: None,
    });
    leaf.prop_recursive(3, 4, 1, |inner| {
        inner.prop_map(|inner| Nested {
            inner: Some(Box::new(inner)),
            ..Nested::clone(&Nested {
                text: "a,b".into(),
                numbers: vec![],
                inner: None,
            })
        })
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    // Special cases of lists: commas, brackets, white space, empty items.
    let item = prop_oneof![any::<String>(), "[\\[\\], \"a]{0,4}"];
    let duration =
        || (any::<u32>(), 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s.into(), n));
    let numbers = (
        any::<(u8, u16, u32, u64, u128)>(),
        any::<(i8, i16, i32, i64, i128)>(),
        any::<NonZeroU16>(),
    );
    let fractions = (any::<f64>(), any::<f32>());
    let fractions = fractions.prop_filter("finite", |(a, b)| a.is_finite() && b.is_finite());
    let plain = (any::<bool>(), any::<char>(), any::<String>(), kind());
    let options = (
        any::<Option<i32>>(),
        proptest::option::of(".{1,9}"),
        proptest::option::of(duration()),
    );
    let lists = (
        vec(any::<u16>(), 0..4),
        vec(item, 0..4),
        vec(kind(), 0..4),
        vec(vec(any::<char>(), 0..3), 0..3),
        vec(any::<SocketAddr>(), 0..3),
    );
    let json = (
        any::<IpAddr>(),
        nested(),
        btree_map(any::<String>(), any::<u8>(), 0..3),
        vec(any::<Option<String>>(), 0..3),
    );
    (numbers, fractions, plain, options, duration(), lists, json).prop_map(
        |(numbers, fractions, plain, options, time, lists, json)| Everything {
            unsigned: numbers.0,
            signed: numbers.1,
            port: numbers.2,
            fraction: fractions.0,
            small_fraction: fractions.1,
            is_on: plain.0,
            character: plain.1,
            text: plain.2,
            kind: plain.3,
            maybe: options.0,
            maybe_text: options.1,
            time,
            maybe_time: options.2,
            numbers: lists.0,
            texts: lists.1,
            kinds: lists.2,
            lists: lists.3,
            sockets: lists.4.into_iter().map(without_scope).collect(),
            ip: json.0,
            nested: json.1,
            map: json.2,
            json: Json(json.3),
        },
    )
}

/// The text of an address does not contain the flow label of IPv6.
fn without_scope(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(5),
        ..Config::default()
    })
}

#[test]
fn written_values_are_read_back() {
    let result = runner(400).run(&everything(), |everything| {
        let written = write("m", &everything).unwrap();
        prop_assert_eq!(read::<Everything>("m", &written).unwrap(), everything);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn any_text_is_read_or_refused_with_a_short_message() {
    const NAMES: [&str; 24] = [
        "unsigned",
        "signed",
        "port",
        "fraction",
        "smallFraction",
        "isOn",
        "character",
        "text",
        "kind",
        "maybe",
        "maybeText",
        "time",
        "maybeTime",
        "numbers",
        "texts",
        "kinds",
        "lists",
        "sockets",
        "ip",
        "nested",
        "map",
        "json",
        "unknown",
        "",
    ];
    let key = prop_oneof![
        proptest::sample::select(&NAMES[..]).prop_map(str::to_owned),
        any::<String>()
    ];
    let text = prop_oneof![
        any::<String>(),
        "[-+0-9.,eE\\[\\]{}\": ]{0,12}",
        any::<i128>().prop_map(|number| number.to_string()),
        Just("[".repeat(10_000)),
    ];
    let result = runner(400).run(&btree_map(key, text, 0..12), |map: StringMap| {
        match read::<Everything>("m", &map) {
            Ok(everything) => drop(write("m", &everything).unwrap()),
            Err(error) => prop_assert!(error.to_string().chars().count() < 9000, "{error}"),
        }
        prop_assert_eq!(&read::<StringMap>("m", &map).unwrap(), &map);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn absent_values_are_not_written() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Defaults {
        none: Option<u8>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        list: Vec<u8>,
        #[serde(skip)]
        skipped: u8,
    }
    let defaults = Defaults {
        none: None,
        list: vec![],
        skipped: 3,
    };
    let written = write("m", &defaults).unwrap();
    assert_eq!(written, map(&[]));
    let read: Defaults = read("m", &written).unwrap();
    assert_eq!(
        read,
        Defaults {
            skipped: 0,
            ..defaults
        }
    );
}
