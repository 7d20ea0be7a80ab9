//! One field of each type: the texts that it accepts, and the messages about others.

use super::map;
use crate::fields::{Json, Number, duration, read, write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroI8, NonZeroU16};
use std::time::Duration;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct One<T> {
    v: T,
}

trait Value: Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {}
impl<T: Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// The text is read as this value.
#[track_caller]
fn reads<T: Value>(text: &str, value: T) {
    let one: One<T> = read("m", &map(&[("v", text)])).unwrap();
    assert_eq!(one, One { v: value }, "{text:?}");
}

/// The text is read as this value, which is written as the text.
#[track_caller]
fn is<T: Value>(text: &str, value: T) {
    let one = One { v: value };
    assert_eq!(write("m", &one).unwrap(), map(&[("v", text)]));
    reads(text, one.v);
}

/// The texts are refused with this message.
#[track_caller]
fn not<T: Value>(texts: &[&str], complaint: &str) {
    for text in texts {
        let error = read::<One<T>>("m", &map(&[("v", text)])).unwrap_err();
        assert_eq!(error.to_string(), format!("m.v: {text:?}: {complaint}"));
    }
}

#[test]
fn integers_are_plain_digits_in_range() {
    is("0", 0_u8);
    is("255", 255_u8);
    is("65535", u16::MAX);
    is("-128", i8::MIN);
    is("-9223372036854775808", i64::MIN);
    is("18446744073709551615", u64::MAX);
    is("340282366920938463463374607431768211455", u128::MAX);
    is("-170141183460469231731687303715884105728", i128::MIN);
    is("80", NonZeroU16::new(80).unwrap());
    not::<u8>(
        &[
            "256",
            "-1",
            "8o",
            "1e3",
            "0x50",
            "8.0",
            "1_000",
            "٣",
            "🚢",
            "8\0",
            "999999999999",
        ],
        "not a number from 0 to 255",
    );
    not::<u16>(&["8o", "65536"], "not a number from 0 to 65535");
    not::<NonZeroU16>(&["8o", "0", "65536", "-1"], "not a number from 1 to 65535");
    not::<NonZeroI8>(&["0", "x"], "not a number from -128 to 127 other than 0");
    not::<i8>(&["128", "--1", "-", "1-"], "not a number from -128 to 127");
    not::<usize>(&["x"], &format!("not a number from 0 to {}", usize::MAX));
}

#[test]
fn other_notations_of_integers_are_refused_with_the_plain_one() {
    for text in ["+80", "080", " 80", "80\n", "00080"] {
        not::<u16>(
            &[text],
            "not a number from 0 to 65535 in plain digits: write 80",
        );
    }
    not::<i16>(
        &["-080"],
        "not a number from -32768 to 32767 in plain digits: write -80",
    );
    not::<NonZeroU16>(&["00"], "not a number from 1 to 65535");
}

#[test]
fn numbers_keep_their_bounds() {
    type Weight = Number<1, 256, 100>;
    is("1", Weight::new(1).unwrap());
    is("256", Weight::new(256).unwrap());
    not::<Weight>(
        &["0", "257", "-1", "8o", "4294967296"],
        "not a number from 1 to 256",
    );
    not::<Weight>(
        &["+80", "080"],
        "not a number from 1 to 256 in plain digits: write 80",
    );
    assert_eq!((Weight::new(0), Weight::new(257)), (None, None));
    assert_eq!(Weight::default().to_string(), "100");
    assert_eq!(Number::<5, 9>::default().get(), 5);
}

#[test]
fn fractions_are_finite_json_numbers() {
    is("0.25", 0.25_f64);
    is("1", 1.0_f64);
    is("-0", -0.0_f64);
    is("1e300", 1e300_f64);
    is("5e-324", 5e-324_f64);
    is("3.4028235e38", f32::MAX);
    reads("1E3", 1000.0_f64);
    reads("2.50", 2.5_f32);
    not::<f64>(
        &[
            "NaN", "inf", "-inf", "infinity", ".5", "5.", "+1", "01", "1e999", " 1", "1 ", "0x1",
            "e", "-",
        ],
        "not a number such as 1 or 0.25",
    );
    not::<f32>(&["1e39"], "not a number such as 1 or 0.25");
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(write("m", &One { v: value }).unwrap(), map(&[]));
    }
}

#[test]
fn bools_characters_and_texts() {
    is("true", true);
    is("false", false);
    not::<bool>(
        &["True", "yes", "on", "1", "t", " true"],
        "not true or false",
    );
    is("ß", 'ß');
    is(" ", ' ');
    not::<char>(&["ab", "e\u{301}"], "not a single character");
    is(" as it is\t\0🚢", " as it is\t\0🚢".to_owned());
    is("8080", "8080".to_owned());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Internal,
    #[serde(rename = "internet-facing", alias = "internet")]
    Internet,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Check {
    Off,
    Http { path: String },
    Port(u16),
}

#[test]
fn enums_are_words_or_json_with_data() {
    is("internal", Scheme::Internal);
    is("internet-facing", Scheme::Internet);
    reads("internet", Scheme::Internet);
    not::<Scheme>(
        &["inernal", "Internal", "internal ", "0"],
        "not one of internal, internet, internet-facing",
    );
    is("Off", Check::Off);
    is(r#"{"Http":{"path":"/"}}"#, Check::Http { path: "/".into() });
    is(r#"{"Port":80}"#, Check::Port(80));
    not::<Check>(
        &["Port"],
        r#"not complete: write JSON, such as {"Port":"…"}"#,
    );
    not::<Check>(&["On"], "not one of Off, Http, Port");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Percent(u8);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Id(String);

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with("lb-") {
            Ok(Self(text))
        } else {
            Err("not an id such as lb-1a2b".into())
        }
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl Clone for Id {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A type with its own `Deserialize` and expectation.
#[derive(Debug, PartialEq, Serialize)]
struct Even(u64);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Even;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an even number")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Even, E> {
                let unexpected = serde::de::Unexpected::Unsigned(number);
                if number.is_multiple_of(2) {
                    Ok(Even(number))
                } else {
                    Err(E::invalid_value(unexpected, &self))
                }
            }
        }
        deserializer.deserialize_u64(Visitor)
    }
}

#[test]
fn types_of_the_driver_check_their_values() {
    is("40", Percent(40));
    not::<Percent>(&["300"], "not a number from 0 to 255");
    is("lb-1", Id("lb-1".into()));
    not::<Id>(&["1"], "not an id such as lb-1a2b");
    is("2", Even(2));
    not::<Even>(&["3", "x", "02"], "not an even number");
    is("10.0.0.1", IpAddr::from(Ipv4Addr::new(10, 0, 0, 1)));
    is("[::1]:80", "[::1]:80".parse::<SocketAddr>().unwrap());
    not::<IpAddr>(&["10.0.0"], "invalid IP address syntax");
    is("5", Some(5_u16));
    not::<Option<u16>>(&["x"], "not a number from 0 to 65535");
}

#[test]
fn lists_are_separated_by_commas_or_json() {
    is("80,443", vec![80_u16, 443]);
    reads("80, 443", vec![80_u16, 443]);
    reads("[80, 443]", vec![80_u16, 443]);
    is("a,b c", vec!["a".to_owned(), "b c".to_owned()]);
    is(
        r#"["a,b",""," c"]"#,
        vec!["a,b".to_owned(), String::new(), " c".to_owned()],
    );
    is("[a,b", vec!["[a".to_owned(), "b".to_owned()]);
    is(r#"["[1]"]"#, vec!["[1]".to_owned()]);
    is(
        "[::1]:80,[::1]:81",
        vec![
            "[::1]:80".parse::<SocketAddr>().unwrap(),
            "[::1]:81".parse::<SocketAddr>().unwrap(),
        ],
    );
    is("[[1],[2,3]]", vec![vec![1_u8], vec![2, 3]]);
    is("[1,null]", vec![Some(1_u8), None]);
    reads("1,2", (1_u8, 2_u16));
    reads("1,2", [1_u8, 2]);
    is(
        "internal,internet-facing",
        vec![Scheme::Internal, Scheme::Internet],
    );
    not::<Vec<u16>>(&["80,8o"], "\"8o\": not a number from 0 to 65535");
    not::<Vec<u16>>(&["[80, 8o]"], "\"[80\": not a number from 0 to 65535");
    not::<Vec<u16>>(&["80,,443", "80,", ","], "an item is empty");
    not::<(u8, u8)>(&["1,2,3"], "not a list of 2");
    not::<(u8, u8)>(&["1"], "not a tuple of size 2");
    not::<Vec<Vec<u8>>>(&["1,2"], "\"1\": not a list in JSON, such as [[1, 2], [3]]");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Times {
    #[serde(with = "duration")]
    v: Duration,
    #[serde(with = "duration", default)]
    o: Option<Duration>,
}

#[test]
fn durations_have_units() {
    for (text, seconds) in [
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        ("2h 30m", 9000.0),
        ("500ms", 0.5),
        ("0s", 0.0),
    ] {
        let times: Times = read("m", &map(&[("v", text), ("o", "1s")])).unwrap();
        assert_eq!(times.v.as_secs_f64(), seconds, "{text}");
        assert_eq!(times.o, Some(Duration::from_secs(1)));
    }
    for text in [
        "30",
        "-1s",
        "1d",
        "s",
        "1s ago",
        "30 s!",
        " 30s",
        "1s1m",
        "99999999999999999999s",
    ] {
        let error = read::<Times>("m", &map(&[("v", text)])).unwrap_err();
        let expected = format!("m.v: {text:?}: not a duration such as 30s or 1m30s");
        assert_eq!(error.to_string(), expected);
    }
    for (duration, text) in [
        (Duration::from_secs(90), "1m30s"),
        (Duration::from_millis(1500), "1s500ms"),
        (Duration::ZERO, "0s"),
        (Duration::from_secs(3600 * 100), "100h"),
    ] {
        let written = write(
            "m",
            &Times {
                v: duration,
                o: None,
            },
        )
        .unwrap();
        assert_eq!(written, map(&[("v", text)]));
    }
}

#[test]
fn nested_values_are_json() {
    let nested = One {
        v: vec![Percent(3)],
    };
    is(r#"{"v":[3]}"#, nested);
    is(
        r#"{"a":1}"#,
        std::collections::BTreeMap::from([("a".to_owned(), 1)]),
    );
    is(
        r#"{"any":[null]}"#,
        Json(serde_json::json!({"any": [null]})),
    );
    not::<One<u8>>(
        &["{"],
        "not the JSON that is expected: EOF while parsing an object at line 1 column 1",
    );
    not::<One<u8>>(
        &["{} {}"],
        "not the JSON that is expected: missing field `v` at line 1 column 2",
    );
    not::<Json<u8>>(
        &["x"],
        "not the JSON that is expected: expected value at line 1 column 1",
    );
    let deep = "[".repeat(100_000);
    let error = read::<One<Json<serde_json::Value>>>("m", &map(&[("v", &deep)])).unwrap_err();
    assert!(error.to_string().contains("recursion limit"), "{error}");
}
