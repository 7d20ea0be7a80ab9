//! The document of one driver, with the schemas of its maps.

use super::document;
use crate::RawDriver;
use crate::fields::{DriverSchemas, FieldSchema, Kind, Schema as Map};
use utoipa::openapi::schema::{
    AdditionalProperties, Object, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{Components, ObjectBuilder, OpenApi, Ref, RefOr};

/// The properties of requests and responses that are maps, and the components that describe them.
const PROPERTIES: [(&str, &str); 8] = [
    ("lbSpec", "LbSpec"),
    ("lbInfo", "LbInfo"),
    ("attributes", "Attributes"),
    ("oldAttributes", "Attributes"),
    ("lbAttributes", "Attributes"),
    ("parameters", "Parameters"),
    ("oldParameters", "Parameters"),
    ("OldParameters", "Parameters"),
];

const DECIMAL: &str = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?";

/// The specification with the schemas of the driver's maps. For a driver that takes the maps unchanged
/// it is [`document`].
///
/// ```
/// # use lbcf_driver_sdk::request::*;
/// # use lbcf_driver_sdk::webhook::StringMap;
/// # use lbcf_driver_sdk::{Driver, HookError, openapi};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Parameters {
///     weight: u8,
/// }
///
/// struct MyCloud;
///
/// impl Driver for MyCloud {
///     type LbSpec = StringMap;
///     type LbInfo = StringMap;
///     type Attributes = StringMap;
///     type Parameters = Parameters;
///     type BackendAddr = String;
///     // …
/// #   async fn create_load_balancer(&self, _: CreateLoadBalancer<Self>) -> Result<StringMap, HookError> { Ok(StringMap::new()) }
/// #   async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> { Ok(()) }
/// #   async fn generate_backend_addr(&self, _: GenerateBackendAddr<Self>) -> Result<String, HookError> { Ok("a".into()) }
/// #   async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> { Ok(StringMap::new()) }
/// #   async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> { Ok(()) }
/// }
///
/// let document = serde_json::to_value(openapi::document_for(&MyCloud))?;
/// let parameters = &document["components"]["schemas"]["Parameters"];
/// assert_eq!(parameters["properties"]["weight"]["description"], "A number from 0 to 255.");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn document_for<D: RawDriver>(driver: &D) -> OpenApi {
    let mut document = document();
    if let Some(components) = &mut document.components {
        describe_maps(components, &driver.schemas());
    }
    document
}

fn describe_maps(components: &mut Components, schemas: &DriverSchemas) {
    let maps = [
        (
            "LbSpec",
            &schemas.lb_spec,
            "Identifies a load balancer, or the parameters to create it.",
        ),
        (
            "LbInfo",
            &schemas.lb_info,
            "The identity of a load balancer.",
        ),
        (
            "Attributes",
            &schemas.attributes,
            "Settings of a load balancer that do not identify it.",
        ),
        (
            "Parameters",
            &schemas.parameters,
            "How backends are registered.",
        ),
    ];
    for (name, map, description) in maps {
        // The specification itself allows any keys with any values.
        if *map == Map::any() {
            continue;
        }
        for schema in components.schemas.values_mut() {
            if let RefOr::T(Schema::Object(object)) = schema {
                refer(object, name);
            }
        }
        let schema = map_schema(map, description);
        components.schemas.insert(name.to_owned(), schema.into());
    }
}

/// Makes the properties that are this map refer to its component.
fn refer(object: &mut Object, component: &str) {
    for (property, of) in PROPERTIES {
        if of != component {
            continue;
        }
        if let Some(property) = object.properties.get_mut(property)
            && let RefOr::T(Schema::Object(map)) = property
        {
            *property = reference(map, component);
        }
    }
}

fn reference(map: &Object, component: &str) -> RefOr<Schema> {
    let mut reference = Ref::from_schema_name(component);
    let may_be_null =
        matches!(&map.schema_type, SchemaType::Array(types) if types.contains(&Type::Null));
    if may_be_null {
        OneOfBuilder::new()
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .item(reference)
            .description(map.description.clone())
            .into()
    } else {
        reference.description = map.description.clone().unwrap_or_default();
        reference.into()
    }
}

fn map_schema(map: &Map, description: &str) -> Object {
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    let mut schema = ObjectBuilder::new()
        .description(Some(description))
        .additional_properties(Some(if map.other_keys {
            AdditionalProperties::from(RefOr::T(Schema::from(text)))
        } else {
            AdditionalProperties::FreeForm(false)
        }));
    for field in &map.fields {
        schema = schema.property(&field.name, field_schema(field));
        for other in &field.other_names {
            let words = format!("Another name of {}.", field.name);
            let mut alias = field_schema(field);
            alias.description = Some(words);
            schema = schema.property(other, alias);
        }
        // It may be given under another name instead.
        if field.required && field.other_names.is_empty() {
            schema = schema.required(&field.name);
        }
    }
    schema.build()
}

/// On the wire every value is a text, and may be empty unless it is required.
fn field_schema(field: &FieldSchema) -> Object {
    let mut schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(words(field)));
    match &field.kind {
        Kind::Bool => schema = one_of(schema, field, ["true", "false"].into_iter()),
        Kind::OneOf(words) => schema = one_of(schema, field, words.iter().map(String::as_str)),
        Kind::Char => schema = schema.max_length(Some(1)),
        Kind::Json => schema = schema.content_media_type("application/json"),
        Kind::Duration => schema = schema.examples(["30s", "1m30s"]),
        Kind::Text | Kind::Integer { .. } | Kind::Number | Kind::List(_) => {}
    }
    if let Some(pattern) = pattern(&field.kind) {
        let may_be_empty = if field.required { "" } else { "?" };
        schema = schema.pattern(Some(format!("^({pattern}){may_be_empty}$")));
    } else if field.required && !matches!(field.kind, Kind::Bool | Kind::OneOf(_)) {
        schema = schema.min_length(Some(1));
    }
    schema.build()
}

fn one_of<'a>(
    schema: ObjectBuilder,
    field: &FieldSchema,
    words: impl Iterator<Item = &'a str>,
) -> ObjectBuilder {
    let empty = (!field.required).then_some("");
    schema.enum_values(Some(words.chain(empty)))
}

/// The pattern of the text, if there is one.
fn pattern(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Integer { min: 1.., .. } => Some("[1-9][0-9]*"),
        Kind::Integer { min: 0, .. } => Some("0|[1-9][0-9]*"),
        Kind::Integer { .. } => Some("0|-?[1-9][0-9]*"),
        Kind::Number => Some(DECIMAL),
        _ => None,
    }
}

/// The author's description and the kind of value, as sentences.
fn words(field: &FieldSchema) -> String {
    let kind = field.kind.to_string();
    let mut expected = field.expected.as_deref().unwrap_or(&kind).chars();
    let first = expected.next().map(|c| c.to_uppercase().to_string());
    let expected = format!("{}{}.", first.unwrap_or_default(), expected.as_str());
    match &field.description {
        Some(description) => format!("{description}\n\n{expected}"),
        None => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};
    use std::num::NonZeroU16;
    use std::time::Duration;

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct LbSpec {
        #[serde(rename = "vpcID")]
        vpc_id: String,
        #[serde(alias = "port")]
        listener_port: NonZeroU16,
        scheme: Option<Scheme>,
        #[serde(default, with = "crate::fields::duration")]
        timeout: Duration,
        weight: i8,
        tags: Option<Vec<String>>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Scheme {
        Internal,
        Internet,
    }

    fn documented(schemas: &DriverSchemas) -> Value {
        let mut components = document().components.unwrap();
        describe_maps(&mut components, schemas);
        serde_json::to_value(components).unwrap()["schemas"].take()
    }

    #[test]
    fn a_drivers_types_are_in_its_document() {
        let schemas = DriverSchemas {
            lb_spec: Map::of::<LbSpec>(),
            ..DriverSchemas::default()
        };
        let schemas = schemas.describe("lbSpec.vpcID", "The network.");
        let document = documented(&schemas);
        let spec = &document["LbSpec"];
        assert_eq!(spec["type"], "object");
        assert_eq!(spec["additionalProperties"], false);
        // It may be given under its alias instead.
        assert_eq!(spec["required"], json!(["vpcID", "weight"]));
        assert_eq!(
            spec["properties"],
            json!({
                "vpcID": {"type": "string", "minLength": 1, "description": "The network.\n\nA text."},
                "listenerPort": {"type": "string", "pattern": "^([1-9][0-9]*)$", "description": "A number from 1 to 65535."},
                "port": {"type": "string", "pattern": "^([1-9][0-9]*)$", "description": "Another name of listenerPort."},
                "scheme": {"type": "string", "enum": ["internal", "internet", ""], "description": "One of internal, internet."},
                "timeout": {"type": "string", "examples": ["30s", "1m30s"], "description": "A duration such as 30s or 1m30s."},
                "weight": {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$", "description": "A number from -128 to 127."},
                "tags": {"type": "string", "description": "A list separated by commas, each a text."},
            })
        );
        let request = |name: &str, property: &str| document[name]["properties"][property].clone();
        let reference = json!({"$ref": "#/components/schemas/LbSpec"});
        let spec = request("CreateLoadBalancerRequest", "lbSpec");
        assert_eq!(spec["oneOf"], json!([{"type": "null"}, reference]));
        assert!(spec["description"].is_string());
        // Maps that the driver takes unchanged keep their schema.
        let attributes = request("CreateLoadBalancerRequest", "attributes");
        assert_eq!(attributes["type"], json!(["object", "null"]));
        assert!(document.get("Attributes").is_none());
    }

    #[test]
    fn every_property_of_a_map_refers_to_it() {
        let schemas = DriverSchemas {
            lb_spec: Map::of::<()>(),
            lb_info: Map::of::<LbSpec>(),
            attributes: Map::of::<LbSpec>(),
            parameters: Map::of::<LbSpec>(),
        };
        let document = documented(&schemas);
        assert_eq!(document["LbSpec"]["additionalProperties"], false);
        let mut seen = 0;
        for (name, schema) in document.as_object().unwrap() {
            for (property, of) in PROPERTIES {
                let Some(property) = schema["properties"].get(property) else {
                    continue;
                };
                seen += 1;
                let reference = json!(format!("#/components/schemas/{of}"));
                let is = property["$ref"] == reference || property["oneOf"][1]["$ref"] == reference;
                assert!(is, "{name}: {property}");
            }
        }
        assert_eq!(seen, 23);
    }

    #[test]
    fn a_driver_of_plain_maps_has_the_specifications_own_document() {
        let plain = serde_json::to_value(document().components).unwrap();
        assert_eq!(documented(&DriverSchemas::default()), plain["schemas"]);
    }
}
