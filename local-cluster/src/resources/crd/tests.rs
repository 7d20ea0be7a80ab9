use serde_json::{Value, json};

use super::{crd_defaults, crd_errors, kinds_of};
use crate::object::object;
use crate::tests::{json, rows};

fn definition() -> Value {
    json!({
        "metadata": {"name": "pets.x.io"},
        "spec": {
            "group": "x.io", "scope": "Namespaced", "names": {"kind": "Pet", "plural": "pets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}},
                    "status": {"type": "object", "properties": {"n": {"type": "integer"}, "labels": {"type": "string"}}},
                }}}}],
        },
    })
}

fn found(crd: Value, before: Option<Value>) -> Vec<String> {
    let mut crd = object(crd);
    crd_defaults(&mut crd);
    let before = before.map(object);
    crd_errors(&crd, before.as_ref(), Vec::new())
        .iter()
        .map(|e| format!("{}: {}", e.field, e.message))
        .collect()
}

/// The errors of a definition with one change.
fn changed(pointer: &str, value: Value) -> Vec<String> {
    let mut crd = definition();
    set(&mut crd, pointer, value);
    found(crd, None)
}

fn set(crd: &mut Value, pointer: &str, value: Value) {
    if let Some(slot) = crd.pointer_mut(pointer) {
        *slot = value;
        return;
    }
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    crd.pointer_mut(parent).unwrap()[key] = value;
}

const ROOT: &str = "/spec/versions/0/schema/openAPIV3Schema";
const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";

#[test]
fn a_good_definition_is_accepted() {
    assert_eq!(found(definition(), None), [""; 0]);
}

/// Each row is a schema, the place of its only error and a part of why, or `ok`.
fn assert_schemas(pointer: &str, prefix: &str, table: &str) {
    let root = "spec.validation.openAPIV3Schema";
    for [schema, place, why] in rows(table) {
        let found = changed(pointer, json(schema));
        let place = format!("{root}{prefix}{place}: ");
        let fits = match why {
            "ok" => found.is_empty(),
            why => found.len() == 1 && found[0].starts_with(&place) && found[0].contains(why),
        };
        assert!(fits, "{schema}: {found:?} instead of {place}{why}");
    }
}

#[test]
fn definitions_are_consistent() {
    let table = r#"
        /metadata/name | "other.x.io" | metadata.name: Invalid value: "other.x.io": must be spec.names.plural+"."+spec.group
        /spec/names/listKind | "Pet" | spec.names.listKind: Invalid value: "Pet": kind and listKind may not be the same
        /spec/preserveUnknownFields | true | spec.preserveUnknownFields: Invalid value: true: cannot set to true
        /spec/versions/0/selectableFields | [{"jsonPath": ".spec.n"}, {"jsonPath": ".spec"}] | spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type
        /spec/versions/0/selectableFields | [{"jsonPath": ".metadata.name"}] | spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name"
    "#;
    for [pointer, value, expected] in rows(table) {
        let found = changed(pointer, json(value));
        assert!(
            found.len() == 1 && found[0].starts_with(expected),
            "{found:?} instead of {expected}"
        );
    }
    let found = changed("/spec/versions/0/storage", json!(false)).join("\n");
    assert!(
        found.starts_with("spec.versions: Invalid value: [{")
            && found.contains("must have exactly one version marked as storage version\n"),
        "{found}"
    );
    // Errors of what the versions have in common are those of the definition, others of the version.
    let mut crd = definition();
    let mut second = crd["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    second["schema"] = json!({"openAPIV3Schema": {"type": "object", "nullable": true}});
    crd["spec"]["versions"].as_array_mut().unwrap().push(second);
    assert_eq!(
        self::found(crd, None),
        [
            "spec.versions[1].schema.openAPIV3Schema.nullable: Forbidden: must not be used at the root"
        ]
    );
}

#[test]
fn schemas_must_be_structural() {
    let table = r##"
        {} | .type | Required value: must not be empty
        {"type": "array"} | .items | must be specified
        {"type": "array", "items": {}} | .items.type | must not be empty
        {"type": "string", "anyOf": [{"type": "string"}]} | .anyOf[0].type | Forbidden: must not be set inside of allOf
        {"type": "string", "allOf": [{"default": "x"}]} | .allOf[0].default | Forbidden
        {"type": "object", "not": {"x-kubernetes-validations": [{"rule": "true"}]}} | .not.x-kubernetes-validations | Forbidden
        {"type": "string", "pattern": "("} | .pattern | must be a valid regular expression
        {"type": "object", "x-kubernetes-embedded-resource": true} | .properties | Required value: must not be empty for an embedded resource
        {"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true} | .x-kubernetes-preserve-unknown-fields | must not be set with x-kubernetes-int-or-string
        {"type": "object", "$ref": "#/x"} | .$ref | is not supported
        {"type": "text"} | .type | Unsupported value: "text": supported values: "array"
        {"type": "array", "items": {"type": "string"}, "uniqueItems": true} | .uniqueItems | is not supported
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}} | .additionalProperties | additionalProperties and properties are mutual exclusive
        {"type": "object", "x-kubernetes-preserve-unknown-fields": false} | .x-kubernetes-preserve-unknown-fields | must be true or undefined
        {"type": "object", "x-kubernetes-map-type": "loose"} | .x-kubernetes-map-type | must be atomic or granular
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"} | .x-kubernetes-list-type | must be atomic, set or map
        {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"} | .items | must be atomic
        {"type": "array", "items": {"type": "string", "nullable": true}, "x-kubernetes-list-type": "set"} | .items | not nullable
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map"} | .x-kubernetes-list-map-keys | Required value: must name scalar
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]} | .x-kubernetes-list-map-keys | either required or have a default
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "k"]} | .x-kubernetes-list-map-keys | each once
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["l"]} | .x-kubernetes-list-map-keys | properties of the items
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]} | . | ok
        {"type": "object", "properties": {"n": {"type": "integer", "default": "x"}}} | .properties[n].default | Invalid value: "string":  in body must be of type integer: "string"
        {"type": "object", "default": {"odd": 1}, "properties": {"n": {"type": "integer"}}} | .default | Invalid value: {"odd":1}: must not have unknown fields
        {"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": "self == 'b'"}]} | .default | Invalid value: "a": failed rule: self == 'b'
        {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]} | . | ok
    "##;
    assert_schemas(SPEC, ".properties[spec]", table);
    let table = r#"
        {} | .type | Required value: must not be empty
        {"type": "string"} | .type | must be object at the root
        {"type": "object", "nullable": true} | .nullable | Forbidden: must not be used at the root
        {"type": "object", "additionalProperties": {"type": "string"}} | .additionalProperties | Forbidden: must not be used at the root
        {"type": "object", "properties": {"kind": {"type": "integer"}}} | .properties | must have strings as apiVersion and kind
        {"type": "object", "properties": {"kind": {"type": "string", "default": "K"}}} | .properties[kind].default | must not be set for apiVersion, kind and metadata
        {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}} | .properties | must not specify anything of metadata other than name and generateName
        {"type": "object", "anyOf": [{"properties": {"x": {"minimum": 1}}}]} | .anyOf[0].properties[x] | Required value: must be declared outside of allOf
    "#;
    assert_schemas(ROOT, "", table);
    let mut crd = definition();
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    let schema = json!({"type": "object", "allOf": [{"minProperties": 1}]});
    set(&mut crd, ROOT, schema);
    let refused = found(crd, None);
    assert!(
        refused.len() == 1 && refused[0].contains("at the root with a status subresource"),
        "{refused:?}"
    );
}

#[test]
fn rules_must_compile() {
    let place = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]";
    let about = |rule: &str| {
        let rule = json(rule);
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "x-kubernetes-validations": [rule]});
        changed(SPEC, schema)
    };
    let good = r#"{"rule": "self.n > 1", "fieldPath": ".n", "reason": "FieldValueRequired"}"#;
    assert!(about(good).is_empty());
    let unknown = about(r#"{"rule": "self.m > 1", "message": "m"}"#);
    let expected = ".rule: Invalid value: \"self.m > 1\": compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m > 1\n | ....^";
    assert!(
        unknown[0].starts_with(&format!("{place}{expected}")),
        "{unknown:?}"
    );
    let table = r#"
        {"rule": " "} | .rule: Invalid value: " ": must be specified
        {"rule": "true", "message": " "} | .message: Invalid value: " ": must be one line, not blank
        {"rule": "true", "message": "a\nb"} | .message: Invalid value: "a\nb": must be one line, not blank
        {"rule": "true\n&& true"} | .message: Invalid value: null: must be specified if the rule contains line breaks
        {"rule": "true", "reason": "Odd"} | .reason: Invalid value: "Odd": must be FieldValueDuplicate
        {"rule": "true", "fieldPath": ".m"} | .fieldPath: Invalid value: ".m": must be a valid path
        {"rule": "true", "messageExpression": "self.n"} | .messageExpression: Invalid value: "self.n": messageExpression must evaluate to a string
        {"rule": "true", "optionalOldSelf": true} | .optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule
    "#;
    for [rule, expected] in rows(table) {
        let found = about(rule);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{place}{expected}")),
            "{rule}: {found:?}"
        );
    }
    let uncorrelatable = json!({"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}});
    assert_eq!(
        changed(SPEC, uncorrelatable),
        [
            "spec.validation.openAPIV3Schema.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec]"
        ]
    );
}

#[test]
fn versions_become_kinds() {
    let mut crd = definition();
    crd["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.n"}]);
    crd["spec"]["versions"][0]["subresources"] =
        json!({"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let custom = kinds_of(&object(crd)).remove(0).custom.unwrap();
    assert_eq!(custom.selectable, ["spec.n"]);
    assert_eq!(custom.columns[0].json_path, ".metadata.creationTimestamp");
    let scale = custom.scale.unwrap();
    assert_eq!(
        (scale.spec_path.as_str(), scale.selector_path),
        (".spec.n", None)
    );
}

#[test]
fn immutable_fields_are_enforced() {
    let mut before = definition();
    before["status"] = json!({"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]});
    let mut after = before.clone();
    after["spec"]["scope"] = json!("Cluster");
    after["spec"]["names"]["kind"] = json!("Animal");
    after["spec"]["group"] = json!("y.io");
    assert_eq!(
        found(after.clone(), Some(before.clone())),
        [
            "spec.group: Invalid value: \"y.io\": field is immutable",
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "spec.names.kind: Invalid value: \"Animal\": field is immutable",
        ]
    );
    before["status"]["conditions"] = json!([]);
    assert_eq!(found(after, Some(before.clone())).len(), 1);
    let mut moved = before.clone();
    moved["spec"]["versions"][0]["name"] = json!("v2");
    assert_eq!(
        found(moved, Some(before)),
        [
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions"
        ]
    );
}

#[test]
fn malformed_definitions_do_not_panic() {
    let mut deep = json!({"type": "object"});
    for _ in 0..300 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    assert!(changed(SPEC, deep)[0].ends_with("must not have more than 200 levels"));
    for value in [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!({}),
        json!([[{}]]),
        json!(true),
    ] {
        for pointer in [
            "/spec",
            "/spec/names",
            "/spec/names/shortNames",
            "/spec/versions",
            "/spec/versions/0",
            "/spec/versions/0/schema",
            "/spec/versions/0/schema/openAPIV3Schema",
            SPEC,
            "/spec/versions/0/subresources",
            "/spec/versions/0/selectableFields",
            "/spec/versions/0/additionalPrinterColumns",
            "/spec/conversion",
            "/status",
        ] {
            let mut crd = definition();
            set(&mut crd, pointer, value.clone());
            let _ = found(crd.clone(), Some(definition()));
            let _ = kinds_of(&object(crd));
        }
    }
}

#[test]
fn unknown_formats_cause_warnings() {
    let mut crd = definition();
    set(
        &mut crd,
        SPEC,
        json!({"type": "object", "properties": {
            "a": {"type": "string", "format": "made-up"}, "b": {"type": "string", "format": "date"},
            "c": {"type": "integer", "format": "date"}, "d": {"type": "integer", "format": "int32"},
        }}),
    );
    let mut warnings = super::format_warnings(&object(crd));
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "unrecognized format \"date\"",
            "unrecognized format \"made-up\""
        ]
    );
}
