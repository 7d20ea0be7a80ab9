//! Schemas of types.

use super::map_schema;
use crate::fields::{Json, Number, schema_of};
use crate::webhook::StringMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::IpAddr;
use std::num::{NonZeroI8, NonZeroU16};

fn schema<T: JsonSchema>() -> Option<Value> {
    let schema = map_schema(schema_of::<T>().as_value(), "A map.")?;
    Some(serde_json::to_value(schema).unwrap())
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Internal,
    Internet,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Described {
    /// It is on.
    On,
    Off,
    No,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Check {
    Off,
    Port(u16),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Percent(u8);

impl Default for Percent {
    fn default() -> Self {
        Self(100)
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nested {
    a: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Everything {
    #[serde(rename = "vpcID")]
    vpc: Scheme,
    /// The port
    /// of the listener.
    listener_port: NonZeroU16,
    signed: NonZeroI8,
    interval: Number<100, 3000>,
    #[serde(default)]
    weight: Percent,
    fraction: Option<f32>,
    is_on: bool,
    maybe_on: Option<bool>,
    character: char,
    text: String,
    scheme: Option<Scheme>,
    described: Option<Described>,
    check: Check,
    ports: Vec<u16>,
    schemes: Vec<Scheme>,
    ip: IpAddr,
    json: Json<u8>,
    wide: i32,
    large: u128,
    nested: Option<Nested>,
    #[serde(skip)]
    _skipped: u8,
}

#[test]
fn each_field_has_a_kind_and_may_be_required() {
    let schema = schema::<Everything>().unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let required = schema["required"].as_array().unwrap();
    let mut seen = 0;
    for (name, is_required, description) in [
        ("vpcID", true, "One of internal, internet."),
        (
            "listenerPort",
            true,
            "The port\nof the listener.\n\nA number from 1 to 65535.",
        ),
        ("signed", true, "A number from -128 to 127."),
        ("interval", true, "A number from 100 to 3000."),
        ("weight", false, "A number from 0 to 255."),
        ("fraction", false, "A number such as 1 or 0.25."),
        ("isOn", true, "True or false."),
        ("maybeOn", false, "True or false."),
        ("character", true, "A single character."),
        ("text", true, "A text."),
        ("scheme", false, "One of internal, internet."),
        ("described", false, "One of Off, No, On."),
        ("check", true, "JSON text."),
        (
            "ports",
            true,
            "A list separated by commas, each a number from 0 to 65535.",
        ),
        (
            "schemes",
            true,
            "A list separated by commas, each one of internal, internet.",
        ),
        ("ip", true, "A text."),
        ("json", true, "JSON text."),
        ("wide", true, "A number from -2147483648 to 2147483647."),
        ("large", true, &format!("A number from 0 to {}.", u128::MAX)),
        ("nested", false, "JSON text."),
    ] {
        let field = &schema["properties"][name];
        assert_eq!(field["type"], "string", "{name}");
        assert_eq!(field["description"], description, "{name}");
        assert_eq!(required.contains(&json!(name)), is_required, "{name}");
        seen += 1;
    }
    assert_eq!(schema["properties"].as_object().unwrap().len(), seen);
    for (name, keyword, value) in [
        ("vpcID", "enum", json!(["internal", "internet"])),
        ("isOn", "enum", json!(["true", "false"])),
        ("maybeOn", "enum", json!(["true", "false", ""])),
        ("described", "enum", json!(["Off", "No", "On", ""])),
        ("listenerPort", "pattern", json!("^([1-9][0-9]*)$")),
        ("weight", "pattern", json!("^(0|[1-9][0-9]*)?$")),
        ("signed", "pattern", json!("^(0|-?[1-9][0-9]*)$")),
        ("ip", "format", json!("ip")),
        ("text", "minLength", json!(1)),
        ("character", "maxLength", json!(1)),
        ("json", "contentMediaType", json!("application/json")),
        ("nested", "contentMediaType", json!("application/json")),
    ] {
        assert_eq!(schema["properties"][name][keyword], value, "{name}");
    }
}

#[test]
fn types_other_than_plain_structs() {
    assert_eq!(schema::<StringMap>(), None);
    assert_eq!(schema::<HashMap<String, u8>>(), None);
    assert_eq!(schema::<Json<u8>>(), None);
    assert_eq!(schema::<u8>(), None);

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct NoFields;
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Empty {}
    assert_eq!(schema::<Empty>(), None);
    for schema in [schema::<()>(), schema::<NoFields>()] {
        assert_eq!(schema.unwrap()["additionalProperties"], false);
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Open {
        port: u16,
        hidden: Option<u8>,
        #[serde(flatten)]
        rest: StringMap,
    }
    for schema in [schema::<Open>(), schema::<Option<Open>>()] {
        let schema = schema.unwrap();
        assert_eq!(schema["additionalProperties"], json!({"type": "string"}));
        assert_eq!(schema["required"], json!(["port"]));
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["hidden", "port"]);
    }
}
