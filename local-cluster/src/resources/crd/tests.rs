use serde_json::{Value, json};

use super::{crd_defaults, crd_errors, kinds_of};
use crate::object::object;

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
    crd_errors(&crd, before.as_ref())
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

const VERSION: &str = "/spec/versions/0";
const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";

#[test]
fn a_good_definition_is_accepted() {
    assert_eq!(found(definition(), None), [""; 0]);
}

#[test]
fn names_are_validated() {
    let label = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    for (pointer, value, expected) in [
        ("/metadata/name", json!("other.x.io"), vec!["metadata.name: Invalid value: \"other.x.io\": must be spec.names.plural+\".\"+spec.group".to_owned()]),
        ("/spec/scope", json!("Both"), vec!["spec.scope: Unsupported value: \"Both\": supported values: \"Cluster\", \"Namespaced\"".to_owned()]),
        ("/spec/scope", json!(""), vec!["spec.scope: Required value".to_owned()]),
        ("/spec/names/kind", json!("9Pet"), vec![
            format!("spec.names.singular: Invalid value: \"9pet\": {label}"),
            format!("spec.names.kind: Invalid value: \"9Pet\": may have mixed case, but should otherwise match: {label}"),
            format!("spec.names.listKind: Invalid value: \"9PetList\": may have mixed case, but should otherwise match: {label}"),
        ]),
        ("/spec/names/listKind", json!("Pet"), vec!["spec.names.listKind: Invalid value: \"Pet\": kind and listKind may not be the same".to_owned()]),
        ("/spec/names/shortNames", json!(["P"]), vec![format!("spec.names.shortNames[0]: Invalid value: \"P\": {label}")]),
        ("/spec/versions/0/name", json!("V1"), vec![format!("spec.versions[0].name: Invalid value: \"V1\": {label}")]),
    ] {
        assert_eq!(changed(pointer, value), expected, "{pointer}");
    }
    let mut dotless = definition();
    dotless["spec"]["group"] = json!("x");
    dotless["metadata"]["name"] = json!("pets.x");
    assert_eq!(
        found(dotless, None),
        ["spec.group: Invalid value: \"x\": should be a domain with at least one dot"]
    );
}

#[test]
fn versions_are_validated() {
    let ends = |crd: Value, end: &str| {
        let all = found(crd, None);
        assert!(
            all.len() == 1 && all[0].starts_with("spec.versions") && all[0].ends_with(end),
            "{all:?}"
        );
    };
    let mut none = definition();
    none["spec"]["versions"][0]["storage"] = json!(false);
    none["status"] = json!({"storedVersions": ["v1"]});
    ends(
        none,
        ": must have exactly one version marked as storage version",
    );
    let mut twice = definition();
    let mut version = twice["spec"]["versions"][0].clone();
    version["storage"] = json!(false);
    twice["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .push(version.clone());
    ends(twice.clone(), ": must contain unique version names");
    version["name"] = json!("v2");
    version["schema"] = Value::Null;
    twice["spec"]["versions"][1] = version.clone();
    ends(
        twice.clone(),
        "spec.versions[1].schema.openAPIV3Schema: Required value",
    );
    // Versions that differ are reported one by one.
    version["schema"] = json!({"openAPIV3Schema": {"type": "string"}});
    twice["spec"]["versions"][1] = version;
    assert_eq!(
        found(twice, None),
        [
            "spec.versions[1].schema.openAPIV3Schema.type: Invalid value: \"string\": must be object at the root"
        ]
    );
    let warning = changed("/spec/versions/0/deprecationWarning", json!("w"));
    assert_eq!(
        warning,
        [
            "spec.versions[0].deprecationWarning: Invalid value: \"w\": can only be set for deprecated versions"
        ]
    );
}

#[test]
fn schemas_must_be_structural() {
    let place = "spec.validation.openAPIV3Schema.properties[spec]";
    for (schema, expected) in [
        (
            json!({}),
            ".type: Required value: must not be empty for specified object fields",
        ),
        (
            json!({"type": "array"}),
            ".items: Required value: must be specified",
        ),
        (
            json!({"type": "array", "items": {}}),
            ".items.type: Required value: must not be empty for specified array items",
        ),
        (
            json!({"type": "string", "anyOf": [{"type": "string"}]}),
            ".anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            json!({"type": "string", "allOf": [{"default": "x"}]}),
            ".allOf[0].default: Forbidden: must be undefined to be structural",
        ),
        (
            json!({"type": "object", "not": {"x-kubernetes-validations": [{"rule": "true"}]}}),
            ".not.x-kubernetes-validations: Forbidden: must be empty to be structural",
        ),
        (
            json!({"type": "string", "pattern": "("}),
            ".pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`",
        ),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ),
        (
            json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}),
            ".x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true",
        ),
        (
            json!({"type": "object", "$ref": "#/x"}),
            ".$ref: Forbidden: $ref is not supported",
        ),
        (
            json!({"type": "text"}),
            ".type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
            ".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"}),
            ".x-kubernetes-list-type: Unsupported value: \"bag\": supported values: \"atomic\", \"set\", \"map\"",
        ),
        (
            json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}),
            ".x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
        ),
        (
            json!({"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}),
            ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
            ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ),
        (
            json!({"type": "object", "properties": {"n": {"type": "integer", "default": "x"}}}),
            ".properties[n].default: Invalid value: \"string\":  in body must be of type integer: \"string\"",
        ),
        (
            json!({"type": "object", "default": {"odd": 1}, "properties": {"n": {"type": "integer"}}}),
            ".default: Invalid value: {\"odd\":1}: must not have unknown fields",
        ),
        (
            json!({"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": "self == 'b'"}]}),
            ".default: Invalid value: \"a\": failed rule: self == 'b'",
        ),
    ] {
        let expected = format!("{place}{expected}");
        assert_eq!(changed(SPEC, schema.clone()), [expected], "{schema}");
    }
    // The older notation of int-or-string.
    let either = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    assert!(changed(SPEC, either).is_empty());
    let root = "/spec/versions/0/schema/openAPIV3Schema";
    for (schema, expected) in [
        (
            json!({}),
            ".type: Required value: must not be empty at the root",
        ),
        (
            json!({"type": "object", "nullable": true}),
            ".nullable: Forbidden: nullable cannot be true at the root",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            ".additionalProperties: Forbidden: must not be used at the root",
        ),
        (
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
            ".properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
        ),
        (
            json!({"type": "object", "anyOf": [{"properties": {"x": {"minimum": 1}}}]}),
            ".properties[x]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[x]",
        ),
    ] {
        let expected = format!("spec.validation.openAPIV3Schema{expected}");
        assert_eq!(changed(root, schema.clone()), [expected], "{schema}");
    }
}

#[test]
fn rules_must_compile() {
    let place = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]";
    let about = |rule: Value| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "x-kubernetes-validations": [rule]});
        changed(SPEC, schema)
    };
    assert!(
        about(json!({"rule": "self.n > 1", "fieldPath": ".n", "reason": "FieldValueRequired"}))
            .is_empty()
    );
    assert_eq!(
        about(json!({"rule": "self.m > 1", "message": "m"})),
        [format!(
            "{place}.rule: Invalid value: {{\"Rule\":\"self.m \\u003e 1\",\"Message\":\"m\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}}: compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m > 1\n | ....^"
        )]
    );
    for (rule, expected) in [
        (
            json!({"rule": " "}),
            ".rule: Required value: rule is not specified",
        ),
        (
            json!({"rule": "true", "message": " "}),
            ".message: Invalid value: \" \": must be non-empty if specified",
        ),
        (
            json!({"rule": "true", "message": "a\nb"}),
            ".message: Invalid value: \"a\\nb\": must not contain line breaks",
        ),
        (
            json!({"rule": "true\n&& true"}),
            ".message: Required value: message must be specified if rule contains line breaks",
        ),
        (
            json!({"rule": "true", "reason": "Odd"}),
            ".reason: Unsupported value: \"Odd\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\"",
        ),
        (
            json!({"rule": "true", "fieldPath": ".m"}),
            ".fieldPath: Invalid value: \".m\": must be a valid path",
        ),
        (
            json!({"rule": "true", "optionalOldSelf": true}),
            ".optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ] {
        assert_eq!(
            about(rule.clone()),
            [format!("{place}{expected}")],
            "{rule}"
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
fn scales_columns_and_selectable_fields_are_validated() {
    let scale = |spec: &str, status: &str, selector: &str| {
        changed(
            &format!("{VERSION}/subresources"),
            json!({"scale": {"specReplicasPath": spec, "statusReplicasPath": status, "labelSelectorPath": selector}}),
        )
    };
    assert!(scale(".spec.n", ".status.n", ".status.labels").is_empty());
    assert_eq!(
        scale("", "status.n", ".metadata.labels"),
        [
            "spec.subresources.scale.specReplicasPath: Required value",
            "spec.subresources.scale.statusReplicasPath: Invalid value: \"status.n\": must be a simple json path starting with .",
            "spec.subresources.scale.labelSelectorPath: Invalid value: \".metadata.labels\": should be a json path under either .spec or .status",
        ]
    );
    let columns = format!("{VERSION}/additionalPrinterColumns");
    assert_eq!(
        changed(
            &columns,
            json!([{"type": "text", "jsonPath": "spec.n", "format": "odd"}])
        ),
        [
            "spec.additionalPrinterColumns[0].name: Required value",
            "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].format: Invalid value: \"odd\": must be one of byte,date,date-time,double,float,int32,int64,password",
            "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"spec.n\": must be a simple json path starting with .",
        ]
    );
    let fields = format!("{VERSION}/selectableFields");
    assert_eq!(
        changed(
            &fields,
            json!([{"jsonPath": ".spec.n"}, {"jsonPath": ".spec.n"}, {"jsonPath": ".spec"}, {"jsonPath": ".spec.x"}, {}])
        ),
        [
            "spec.selectableFields[1].jsonPath: Duplicate value: \".spec.n\"",
            "spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            "spec.selectableFields[3].jsonPath: Invalid value: \".spec.x\": is an invalid path: does not refer to a valid field",
            "spec.selectableFields[4].jsonPath: Required value",
        ]
    );
    let mut crd = definition();
    crd["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.n"}]);
    crd["spec"]["versions"][0]["subresources"] =
        json!({"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let custom = kinds_of(&object(crd)).remove(0).custom.unwrap();
    assert_eq!(custom.selectable, ["spec.n"]);
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
        found(after, Some(before.clone())),
        [
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "spec.names.kind: Invalid value: \"Animal\": field is immutable",
            "spec.group: Invalid value: \"y.io\": field is immutable",
        ]
    );
    let mut moved = before.clone();
    moved["spec"]["versions"][0]["name"] = json!("v2");
    assert_eq!(
        found(moved, Some(before)),
        [
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions"
        ]
    );
    assert_eq!(
        changed("/spec/conversion", json!({"strategy": "Webhook"})),
        [
            "spec.conversion.strategy: Invalid value: \"Webhook\": must be None: this server does not call conversion webhooks"
        ]
    );
    assert_eq!(
        changed("/spec/preserveUnknownFields", json!(true)),
        [
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
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
