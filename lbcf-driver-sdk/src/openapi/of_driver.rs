//! The document of one driver, with the schemas of its maps.

use super::document;
use super::map_schema::map_schema;
use crate::Driver;
use crate::fields::DriverSchemas;
use utoipa::openapi::schema::{Object, OneOfBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{Components, ObjectBuilder, OpenApi, Ref, RefOr};

/// The properties of requests and responses that are maps, and the components that describe them.
const PROPERTIES: [(&str, &str); 7] = [
    ("lbSpec", "LbSpec"),
    ("lbInfo", "LbInfo"),
    ("attributes", "Attributes"),
    ("oldAttributes", "Attributes"),
    ("lbAttributes", "Attributes"),
    ("parameters", "Parameters"),
    ("oldParameters", "Parameters"),
];

/// The specification with the schemas of the driver's maps. For a driver that takes the maps unchanged
/// it is [`document`].
#[must_use]
pub fn document_for<D: Driver>(driver: &D) -> OpenApi {
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
        let Some(schema) = map_schema(map.as_value(), description) else {
            continue;
        };
        for schema in components.schemas.values_mut() {
            if let RefOr::T(Schema::Object(object)) = schema {
                refer(object, name);
            }
        }
        components.schemas.insert(name.to_owned(), schema);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::schema_of;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};
    use std::num::NonZeroU16;
    use std::time::Duration;

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct LbSpec {
        /// The network.
        #[serde(rename = "vpcID")]
        vpc_id: String,
        listener_port: NonZeroU16,
        scheme: Option<Scheme>,
        #[serde(default, with = "crate::fields::duration")]
        #[schemars(with = "String", extend("examples" = ["30s", "1m30s"]))]
        timeout: Duration,
        weight: i8,
        tags: Option<Vec<String>>,
    }

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
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
            lb_spec: schema_of::<LbSpec>(),
            ..DriverSchemas::default()
        };
        let document = documented(&schemas);
        let spec = &document["LbSpec"];
        assert_eq!(spec["type"], "object");
        assert_eq!(spec["additionalProperties"], false);
        assert_eq!(spec["required"], json!(["vpcID", "listenerPort", "weight"]));
        assert_eq!(
            spec["properties"],
            json!({
                "vpcID": {"type": "string", "minLength": 1, "description": "The network.\n\nA text."},
                "listenerPort": {"type": "string", "pattern": "^([1-9][0-9]*)$", "description": "A number from 1 to 65535."},
                "scheme": {"type": "string", "enum": ["internal", "internet", ""], "description": "One of internal, internet."},
                "timeout": {"type": "string", "examples": ["30s", "1m30s"], "description": "A text."},
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
            lb_spec: schema_of::<()>(),
            lb_info: schema_of::<LbSpec>(),
            attributes: schema_of::<LbSpec>(),
            parameters: schema_of::<LbSpec>(),
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
        assert_eq!(seen, 22);
    }

    #[test]
    fn a_driver_of_plain_maps_has_the_specifications_own_document() {
        let plain = serde_json::to_value(document().components).unwrap();
        assert_eq!(documented(&DriverSchemas::default()), plain["schemas"]);
    }
}
