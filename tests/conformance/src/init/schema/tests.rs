use super::*;
use serde_json::json;

fn field_of(name: &str, schema: Value) -> Option<Field> {
    field(&Value::Null, name, &schema, false)
}

#[test]
fn a_value_comes_from_the_document_or_from_the_name() {
    for (name, schema, example) in [
        ("a", json!({"example": "x", "default": "y"}), "x"),
        ("a", json!({"examples": ["", "30s"]}), "30s"),
        ("a", json!({"default": 5}), "5"),
        ("a", json!({"const": true}), "true"),
        ("a", json!({"enum": ["", "internal"]}), "internal"),
        ("a", json!({"minimum": 3}), "3"),
        ("a", json!({"type": "integer"}), "1"),
        ("a", json!({"type": "boolean"}), "false"),
        ("a", json!({"pattern": "^(0|[1-9][0-9]*)$"}), "1"),
        (
            "lbListenerPort",
            json!({"pattern": "^([1-9][0-9]*)$"}),
            "{{number}}",
        ),
        ("displayName", json!({}), "{{unique}}"),
        ("vpc", json!({"type": "string"}), FILL_IN),
        ("vpc", json!({"example": "{{other}}"}), FILL_IN),
        ("vpc", json!({"example": "a\nb"}), FILL_IN),
        ("vpc", json!({"example": {"a": 1}, "enum": "x"}), FILL_IN),
        ("vpc", json!({"example": "x".repeat(201)}), FILL_IN),
    ] {
        assert_eq!(
            field_of(name, schema.clone()).unwrap().example,
            example,
            "{schema}"
        );
    }
}

#[test]
fn the_description_of_a_field_is_one_line() {
    for (schema, about) in [
        (
            json!({"description": "The network.\n\nA text."}),
            "The network. A text.",
        ),
        (
            json!({"description": "One of a, b.", "enum": ["a", "b", ""]}),
            "One of a, b.",
        ),
        (json!({"enum": ["a", "b"]}), "One of a, b."),
        (
            json!({"title": "Weight", "minimum": 0, "maximum": 9}),
            "Weight From 0 to 9.",
        ),
        (json!({"minimum": 1}), "At least 1."),
        (json!({"description": 5}), ""),
    ] {
        assert_eq!(
            field_of("a", schema.clone()).unwrap().about,
            about,
            "{schema}"
        );
    }
    let long = field_of("a", json!({"description": "ü".repeat(1000)})).unwrap();
    assert_eq!(long.about.chars().count(), MAX_ABOUT + 1);
}

#[test]
fn some_fields_are_left_out() {
    for (name, schema) in [
        ("", json!({})),
        ("{{unique}}", json!({})),
        ("a\u{7f}", json!({})),
        (
            "port",
            json!({"description": "Another name of listenerPort."}),
        ),
    ] {
        assert_eq!(field_of(name, schema), None, "{name}");
    }
    assert_eq!(field_of(&"x".repeat(201), json!({})), None);
}

/// As the SDK writes it, FastAPI, and others.
#[test]
fn maps_are_found_behind_references() {
    let plain =
        json!({"properties": {"vpc": {"type": "string"}, "zone": {}}, "required": ["zone"]});
    for map in [
        plain.clone(),
        json!({"$ref": "#/components/schemas/Map"}),
        json!({"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Map"}]}),
        json!({"anyOf": [{"$ref": "#/components/schemas/Map"}, {"type": "null"}]}),
        json!({"allOf": [{"$ref": "#/components/schemas/Map"}]}),
    ] {
        let document = json!({
            "paths": {"/lbcf/createLoadBalancer/": {"post": {"requestBody": {"content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Create"}}}}}}},
            "components": {"schemas": {"Create": {"properties": {"lbSpec": map}}, "Map": plain}},
        });
        let maps = Maps::of(&document);
        let names: Vec<&str> = maps
            .lb_spec
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(names, ["zone", "vpc"], "{map}");
        assert!(maps.lb_spec[0].is_required && !maps.lb_spec[1].is_required);
        assert!(maps.attributes.is_empty());
    }
}

/// The SDK's document, whole, with a driver's maps as it puts them in.
#[test]
fn the_documents_of_the_sdk_are_understood() {
    let text = include_str!("../../../../../openapi/lbcf-webhooks.json");
    let mut document: Value = serde_json::from_str(text).unwrap();
    assert!(Maps::of(&document).is_empty());
    let schemas = &mut document["components"]["schemas"];
    for (request, property, component) in [
        ("CreateLoadBalancerRequest", "lbSpec", "LbSpec"),
        ("CreateLoadBalancerRequest", "attributes", "Attributes"),
        ("EnsureBackendRequest", "lbInfo", "LbInfo"),
        ("EnsureBackendRequest", "parameters", "Parameters"),
    ] {
        let reference = json!({"$ref": format!("#/components/schemas/{component}")});
        schemas[request]["properties"][property] =
            json!({"oneOf": [{"type": "null"}, reference], "description": "A map."});
        schemas[component] = json!({
            "type": "object",
            "properties": {"scheme": {"type": "string", "enum": ["internal", ""]}},
            "additionalProperties": false,
            "required": ["scheme"],
        });
    }
    let maps = Maps::of(&document);
    for map in [maps.lb_spec, maps.attributes, maps.lb_info, maps.parameters] {
        let field = Field {
            name: "scheme".into(),
            is_required: true,
            about: "One of internal.".into(),
            example: "internal".into(),
        };
        assert_eq!(map, [field]);
    }
}

#[test]
fn anything_may_stand_in_a_document() {
    let round = json!({
        "paths": {"/createLoadBalancer": {"post": {"requestBody": {"content": {
            "text/plain": {"schema": {"$ref": "#/a"}}}}}}},
        "a": {"$ref": "#/b"},
        "b": {"oneOf": [{"$ref": "#/a"}, {"$ref": "#/b"}]},
    });
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|n| (format!("f{n}"), json!({}))).collect();
    let wide = json!({
        "paths": {"/createLoadBalancer": {"post": {"requestBody": {"content": {
            "application/json": {"schema": {"properties": {"lbSpec": {"properties": many}}}}}}}}},
    });
    assert_eq!(Maps::of(&wide).lb_spec.len(), MAX_FIELDS);
    for document in [
        round,
        json!(null),
        json!([]),
        json!({"paths": []}),
        json!({"paths": {"/createLoadBalancer": {"post": {"requestBody": {"content": {}}}}}}),
        json!({"paths": {"/createLoadBalancer": {"post": {"requestBody": {"content": {
            "application/json": {"schema": {"$ref": "https://elsewhere.example"}}}}}}}}),
    ] {
        assert!(Maps::of(&document).is_empty(), "{document}");
    }
}
