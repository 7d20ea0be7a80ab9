use serde_json::{Value, json};

use super::validate;
use crate::schema::correlate::CorrelatedValue;
use crate::schema::node::Node;
use crate::tests::{json, rows};

fn found(schema: Value, value: Value) -> Vec<String> {
    let node = Node::read(&schema);
    let correlated = None;
    texts(validate(&node, &value, correlated, ""))
}

fn texts(errors: Vec<crate::field_error::FieldError>) -> Vec<String> {
    errors
        .iter()
        .map(|e| {
            format!(
                "{} {}: {}",
                e.kind.words().0.trim_start_matches("FieldValue"),
                e.field,
                e.message
            )
        })
        .collect()
}

/// The errors of the value at `spec.x`.
fn about(schema: Value, value: Value) -> Vec<String> {
    found(
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": schema}}}}),
        json!({"spec": {"x": value}}),
    )
}

#[test]
fn errors_of_each_keyword_are_worded_like_kubernetes() {
    let table = r#"
        {"type": "string"} | "a" | 1 | TypeInvalid spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"
        {"type": "integer"} | 1.0 | "1" | TypeInvalid spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"
        {"type": "boolean", "nullable": true} | null | "true" | TypeInvalid spec.x: Invalid value: "string": spec.x in body must be of type boolean: "string"
        {"type": "object"} | {} | null | TypeInvalid spec.x: Invalid value: "null": spec.x in body must be of type object: "null"
        {"x-kubernetes-int-or-string": true} | "80%" | true | TypeInvalid spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"
        {"type": "string", "enum": ["a", "b"]} | "a" | "c" | NotSupported spec.x: Unsupported value: "c": supported values: "a", "b"
        {"type": "integer", "enum": [1, 2]} | 2 | 3 | NotSupported spec.x: Unsupported value: 3: supported values: "1", "2"
        {"type": "integer", "minimum": 1} | 1 | 0 | Invalid spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1
        {"type": "integer", "minimum": 1, "exclusiveMinimum": true} | 2 | 1 | Invalid spec.x: Invalid value: 1: spec.x in body should be greater than 1
        {"type": "number", "maximum": 0.5} | 0.5 | 1.5 | Invalid spec.x: Invalid value: 1.5: spec.x in body should be less than or equal to 0.5
        {"type": "number", "maximum": 1, "exclusiveMaximum": true} | 0.5 | 1.0 | Invalid spec.x: Invalid value: 1: spec.x in body should be less than 1
        {"type": "integer", "multipleOf": 3} | 9 | 10 | Invalid spec.x: Invalid value: 10: spec.x in body should be a multiple of 3
        {"type": "number", "multipleOf": 0.1} | 0.3 | 0.35 | Invalid spec.x: Invalid value: 0.35: spec.x in body should be a multiple of 0.1
        {"type": "integer", "format": "int32"} | 2147483647 | 2147483648 | Invalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x
        {"type": "string", "minLength": 2} | "äö" | "a" | Invalid spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long
        {"type": "string", "maxLength": 2} | "äö" | "abc" | TooLong spec.x: Too long: may not be more than 2 bytes
        {"type": "string", "maxLength": 1} | "a" | "ab" | TooLong spec.x: Too long: may not be more than 1 byte
        {"type": "string", "pattern": "^[a-z]+$"} | "a" | "A" | Invalid spec.x: Invalid value: "A": spec.x in body should match '^[a-z]+$'
        {"type": "string", "format": "date-time"} | "2026-01-01T00:00:00Z" | "soon" | TypeInvalid spec.x: Invalid value: "soon": spec.x in body must be of type date-time: "soon"
        {"type": "string", "format": "made-up"} | "anything" | 1 | TypeInvalid spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"
        {"type": "array", "minItems": 1, "items": {"type": "string"}} | ["a"] | [] | Invalid spec.x: Invalid value: 0: spec.x in body should have at least 1 items
        {"type": "array", "maxItems": 1, "items": {"type": "string"}} | ["a"] | ["a", "b"] | TooMany spec.x: Too many: 2: must have at most 1 item
        {"type": "array", "uniqueItems": true} | [1, 2] | [1, 1] | Invalid spec.x: Invalid value: "": spec.x in body shouldn't contain duplicates
        {"type": "array", "items": {"type": "string"}} | ["a"] | ["a", 1] | TypeInvalid spec.x[1]: Invalid value: "integer": spec.x[1] in body must be of type string: "integer"
        {"type": "object", "minProperties": 1} | {"a": 1} | {} | Invalid spec.x: Invalid value: 0: spec.x in body should have at least 1 properties
        {"type": "object", "maxProperties": 1} | {"a": 1} | {"a": 1, "b": 2} | TooMany spec.x: Too many: 2: must have at most 1 item
        {"type": "object", "additionalProperties": {"type": "string"}} | {"a": "b"} | {"a.b/c": 1} | TypeInvalid spec.x.a.b/c: Invalid value: "integer": spec.x.a.b/c in body must be of type string: "integer"
        {"type": "object", "additionalProperties": false, "properties": {"a": {}}} | {"a": "b"} | {"b": 1} | Invalid spec.x: Invalid value: "b": spec.x.b in body is a forbidden property
        {"type": "object", "required": ["a"]} | {"a": null} | {} | Required spec.x.a: Required value
        {"type": "integer", "not": {"enum": [5]}} | 4 | 5 | Invalid <nil>: Invalid value: "": "spec.x" must not validate the schema (not)
    "#;
    for [schema, good, bad, expected] in rows(table) {
        let about = |value: &str| about(json(schema), json(value));
        assert_eq!(about(good), [""; 0], "{schema} {good}");
        assert_eq!(about(bad), [expected], "{schema}");
    }
}

#[test]
fn junctors_report_how_many_schemas_match() {
    let one = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert!(about(one.clone(), json!({"a": 1})).is_empty());
    assert_eq!(
        about(one.clone(), json!({"a": 1, "b": 1})),
        [
            "Invalid <nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found 2 valid alternatives"
        ]
    );
    assert_eq!(
        about(one, json!({})),
        [
            "Invalid <nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found none valid",
            "Required spec.x.a: Required value",
        ]
    );
    let any = json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"minLength": 3}]});
    assert!(about(any.clone(), json!("abc")).is_empty());
    assert_eq!(
        about(any, json!("b")),
        [
            "Invalid <nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
            "Invalid spec.x: Invalid value: \"b\": spec.x in body should match '^a'",
        ]
    );
    let all = json!({"type": "string", "allOf": [{"pattern": "^a"}, {"minLength": 3}]});
    assert_eq!(
        about(all.clone(), json!("ab")),
        [
            "Invalid spec.x: Invalid value: \"ab\": spec.x in body should be at least 3 chars long",
            "Invalid <nil>: Invalid value: \"\": \"spec.x\" must validate all the schemas (allOf)",
        ]
    );
    assert!(
        about(all, json!("b"))
            .last()
            .is_some_and(|l| l.ends_with("(allOf). None validated"))
    );
}

#[test]
fn errors_are_ordered_and_unique() {
    let schema = json!({"type": "object", "required": ["z", "a"], "properties": {
        "b": {"type": "string", "enum": ["x"]}, "a": {"type": "integer"}}});
    assert_eq!(
        about(schema, json!({"b": 1})),
        [
            "TypeInvalid spec.x.b: Invalid value: \"integer\": spec.x.b in body must be of type string: \"integer\"",
            "NotSupported spec.x.b: Unsupported value: 1: supported values: \"x\"",
            "Required spec.x.z: Required value",
            "Required spec.x.a: Required value",
        ]
    );
    let twice = json!({"type": "integer", "minimum": 1, "allOf": [{"minimum": 1}]});
    assert_eq!(about(twice, json!(0)).len(), 2);
}

#[test]
fn the_status_is_validated_from_its_own_root() {
    let node = Node::read(
        &json!({"type": "object", "required": ["a"], "properties": {"n": {"type": "integer", "maximum": 3}}}),
    );
    assert_eq!(
        texts(validate(&node, &json!({"n": 4}), None, "status")),
        [
            "Invalid status.n: Invalid value: 4: n in body should be less than or equal to 3",
            "Required status.a: Required value",
        ]
    );
}

#[test]
fn a_schema_may_restrict_names() {
    let schema = json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 3}}}}});
    assert_eq!(
        found(
            schema,
            json!({"kind": "K", "metadata": {"name": "long", "uid": "u"}})
        ),
        ["TooLong metadata.name: Too long: may not be more than 3 bytes"]
    );
}

#[test]
fn errors_of_unchanged_values_are_ratcheted() {
    let node = Node::read(&json!({"type": "object", "properties": {
        "old": {"type": "string", "maxLength": 1}, "new": {"type": "string", "maxLength": 1},
        "parts": {"type": "object", "required": ["must"], "properties": {"a": {"type": "integer"}}},
        "free": {"type": "array", "items": {"type": "string", "maxLength": 1}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer", "maximum": 1}}}},
    }}));
    let old = json!({"old": "long", "new": "n", "parts": {"a": 1}, "free": ["long"],
        "keyed": [{"k": "a", "v": 5}, {"k": "b", "v": 5}]});
    let mut new = old.clone();
    let update = |new: &Value| {
        let correlated = CorrelatedValue {
            node: &node,
            new,
            old: &old,
        };
        texts(validate(&node, new, Some(&correlated), ""))
    };
    assert!(update(&new).is_empty());
    new["new"] = json!("long too");
    new["parts"]["a"] = json!(2);
    new["free"] = json!(["long", "x"]);
    new["keyed"] = json!([{"k": "b", "v": 5}, {"k": "a", "v": 6}]);
    assert_eq!(
        update(&new),
        [
            "TooLong free[0]: Too long: may not be more than 1 byte",
            "Invalid keyed[1].v: Invalid value: 6: keyed[1].v in body should be less than or equal to 1",
            "TooLong new: Too long: may not be more than 1 byte",
            "Required parts.must: Required value",
        ]
    );
}
