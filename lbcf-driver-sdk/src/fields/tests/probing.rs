//! Schemas of types.

use crate::fields::{DriverSchemas, Json, Kind, Number, Schema, duration};
use crate::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::num::{NonZeroI8, NonZeroU16};
use std::time::Duration;

/// `name kind [required] [= other names]`, one per field.
fn lines(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    for field in &schema.fields {
        let kind = field.kind.to_string();
        let mut line = format!(
            "{}: {}",
            field.name,
            field.expected.as_deref().unwrap_or(&kind)
        );
        if field.required {
            line += ", required";
        }
        for other in &field.other_names {
            line = format!("{line} = {other}");
        }
        lines.push(line);
    }
    lines
}

fn words(words: &[&str]) -> Kind {
    Kind::OneOf(words.iter().map(|word| (*word).to_owned()).collect())
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Internal,
    Internet,
}

#[derive(Debug, Serialize, Deserialize)]
enum Check {
    Off,
    Port(u16),
}

#[derive(Debug, Serialize, Deserialize)]
enum Lenient {
    Known,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
struct Nested {
    a: u8,
}

#[derive(Debug, Serialize, Deserialize)]
struct Percent(u8);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Id(String);

impl TryFrom<String> for Id {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with("lb-") {
            Ok(Self(text))
        } else {
            Err("no id")
        }
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Everything {
    #[serde(rename = "vpcID", alias = "aaa", alias = "zzz")]
    vpc: Scheme,
    listener_port: NonZeroU16,
    signed: NonZeroI8,
    interval: Number<100, 3000>,
    #[serde(default)]
    weight: Percent,
    fraction: Option<f32>,
    is_on: bool,
    character: char,
    text: String,
    scheme: Option<Scheme>,
    check: Check,
    lenient: Lenient,
    #[serde(with = "duration")]
    time: Duration,
    #[serde(with = "duration::option", default)]
    maybe_time: Option<Duration>,
    ports: Vec<u16>,
    schemes: Vec<Scheme>,
    pair: (u8, char),
    ip: IpAddr,
    json: Json<u8>,
    #[serde(skip)]
    _skipped: u8,
    large: u128,
    nested: Nested,
    // No placeholder fits the nested struct, so later fields are not found.
    last: char,
}

impl Default for Percent {
    fn default() -> Self {
        Self(100)
    }
}

#[test]
fn each_field_has_a_kind_and_may_be_required() {
    let schema = Schema::of::<Everything>();
    assert!(!schema.other_keys);
    assert_eq!(
        lines(&schema),
        [
            "vpcID: one of internal, internet, required = aaa = zzz",
            "listenerPort: a number from 1 to 65535, required",
            "signed: a number from -128 to 127, required",
            "interval: a number from 100 to 3000, required",
            "weight: a number from 0 to 255",
            "fraction: a number such as 1 or 0.25",
            "isOn: true or false, required",
            "character: a single character, required",
            "text: a text, required",
            "scheme: one of internal, internet",
            "check: one of Off, Port, or more, required",
            "lenient: one of Known, Unknown, or more, required",
            "time: a duration such as 30s or 1m30s, required",
            "maybeTime: a duration such as 30s or 1m30s",
            "ports: a list separated by commas, each a number from 0 to 65535, required",
            "schemes: a list separated by commas, each one of internal, internet, required",
            "pair: a list separated by commas, each a number from 0 to 255, required",
            "ip: IP address, required",
            "json: JSON text, required",
            &format!("large: a number from 0 to {}, required", u128::MAX),
            "nested: JSON text, required",
            "last: a single character",
        ]
    );
    let kind = |name: &str| {
        let field = schema.fields.iter().find(|field| field.name == name);
        field.unwrap().kind.clone()
    };
    assert_eq!(kind("vpcID"), words(&["internal", "internet"]));
    assert_eq!(kind("listenerPort"), Kind::Integer { min: 1, max: 65535 });
    assert_eq!(kind("time"), Kind::Duration);
    assert_eq!(kind("maybeTime"), Kind::Duration);
    assert_eq!(kind("check"), Kind::Text);
    assert_eq!(kind("ip"), Kind::Text);
    assert_eq!(kind("json"), Kind::Json);
}

#[test]
fn a_type_that_accepts_no_placeholder_has_an_incomplete_schema() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Guarded {
        before: u8,
        id: Id,
        behind: u8,
        maybe: Option<Id>,
    }
    let schema = Schema::of::<Guarded>();
    assert!(schema.other_keys);
    assert_eq!(
        lines(&schema),
        [
            "before: a number from 0 to 255, required",
            "id: a text, required",
            "behind: a number from 0 to 255",
            "maybe: a text"
        ]
    );
}

#[test]
fn types_other_than_plain_structs() {
    for any in [
        Schema::of::<StringMap>(),
        Schema::of::<HashMap<String, u8>>(),
        Schema::of::<Json<u8>>(),
        Schema::of::<u8>(),
    ] {
        assert_eq!(any, Schema::any());
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct NoFields;
    #[derive(Debug, Serialize, Deserialize)]
    struct Empty {}
    for (schema, other_keys) in [
        (Schema::of::<()>(), false),
        (Schema::of::<NoFields>(), false),
        (Schema::of::<Empty>(), true),
    ] {
        assert_eq!(lines(&schema), [""; 0]);
        assert_eq!(schema.other_keys, other_keys);
    }

    // A flattened map hides the names, as far as they are neither required nor written.
    #[derive(Debug, Serialize, Deserialize)]
    struct Open {
        port: u16,
        scheme: Scheme,
        #[serde(default)]
        weight: u8,
        hidden: Option<u8>,
        #[serde(flatten)]
        rest: StringMap,
    }
    let schema = Schema::of::<Open>();
    assert!(schema.other_keys);
    assert_eq!(
        lines(&schema),
        [
            "port: a number from 0 to 65535, required",
            "scheme: one of internal, internet, required",
            "weight: a number from 0 to 255",
        ]
    );

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        A { a: String },
        B { b: String },
    }
    assert!(Schema::of::<Untagged>().other_keys);
    assert_eq!(
        lines(&Schema::of::<Option<Nested>>()),
        ["a: a number from 0 to 255"]
    );
}

#[test]
fn descriptions_belong_to_the_named_field() {
    let schemas = DriverSchemas {
        parameters: Schema::of::<()>(),
        attributes: Schema::of::<Nested>(),
        ..DriverSchemas::default()
    };
    let schemas = schemas
        .describe("attributes.a", "A.")
        .describe("lbInfo.id", "The id.")
        .describe("parameters.no", "There is none.")
        .describe("lbInfo", "No field.")
        .describe("what.ever", "No map.");
    let described = |schema: &Schema| -> Vec<Option<String>> {
        schema
            .fields
            .iter()
            .map(|field| field.description.clone())
            .collect()
    };
    assert_eq!(described(&schemas.attributes), [Some("A.".to_owned())]);
    assert_eq!(described(&schemas.lb_info), [Some("The id.".to_owned())]);
    assert_eq!(described(&schemas.parameters), [None; 0]);
    assert_eq!(described(&schemas.lb_spec), [None; 0]);
}
