use serde_json::{Value, json};

use super::{RuleTree, Ruled, run};
use crate::schema::message::FieldPath;
use crate::schema::node::Node;
use crate::tests::{json, rows};

fn texts(schema: &Value, new: Value, old: Option<Value>) -> Vec<String> {
    let node = Node::read(schema);
    let tree = RuleTree::read(schema, &node).unwrap();
    let schema = Ruled {
        node: &node,
        tree: &tree,
    };
    let result = run(schema, &new, old.as_ref(), &FieldPath::root(""));
    let errors = result.errors.iter();
    errors
        .map(|e| {
            format!(
                "{} {}: {}",
                e.kind.words().0.trim_start_matches("FieldValue"),
                e.field,
                e.message
            )
        })
        .chain(result.warnings.iter().map(|w| format!("warning {w}")))
        .collect()
}

/// A schema with one rule on `spec`.
fn spec(rule: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}},
            "at": {"type": "string", "format": "date-time"}, "wait": {"type": "string", "format": "duration"},
            "either": {"x-kubernetes-int-or-string": true}, "f": {"type": "number"},
        },
        "x-kubernetes-validations": [rule]}}})
}

#[test]
fn errors_are_worded_like_kubernetes() {
    let table = r#"
        {"rule": "self.n > 1", "message": " n is too small "} | {"n": 1} | Invalid spec: Invalid value: n is too small
        {"rule": "self.n > 1"} | {"n": 1} | Invalid spec: Invalid value: failed rule: self.n > 1
        {"rule": "self.n > 1", "messageExpression": "'not ' + string(self.n)", "message": "m"} | {"n": 1} | Invalid spec: Invalid value: not 1
        {"rule": "self.n > 1", "messageExpression": "self.s", "message": "m"} | {"n": 1} | Invalid spec: Invalid value: m
        {"rule": "self.n > 1", "reason": "FieldValueForbidden", "message": "m", "fieldPath": ".n"} | {"n": 1} | Forbidden spec.n: Forbidden: m
        {"rule": "has(self.s)", "reason": "FieldValueRequired", "message": "m", "fieldPath": ".s"} | {"n": 1} | Required spec.s: Required value: m
        {"rule": "self.s == 'a'"} | {"n": 1} | Invalid spec: Invalid value: "object": no such key: s evaluating rule: self.s == 'a'
        {"rule": "self.list[3] == 1"} | {"list": [1]} | Invalid spec: Invalid value: "object": index out of bounds: 3 evaluating rule: self.list[3] == 1
        {"rule": "1 / self.n == 1"} | {"n": 0} | Invalid spec: Invalid value: "object": division by zero evaluating rule: 1 / self.n == 1
        {"rule": "self.either > 1", "message": "m"} | {"either": "a"} | Invalid spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: m
    "#;
    let texts_of =
        |rule: &str, bad: &str| texts(&spec(json(rule)), json!({"spec": json(bad)}), None);
    for [rule, bad, expected] in rows(table) {
        assert_eq!(texts_of(rule, bad), [expected], "{rule}");
    }
    assert_eq!(
        texts_of(r#"{"rule": "self.nope"}"#, "{}"),
        [
            "Invalid spec: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^"
        ]
    );
    // Scalars are part of the message.
    let scalar = json!({"type": "object", "properties": {"n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}}});
    assert_eq!(
        texts(&scalar, json!({"n": 1}), None),
        ["Invalid n: Invalid value: 1: failed rule: self > 1"]
    );
    assert!(texts(&scalar, json!({"n": null}), None).is_empty());
}

#[test]
fn values_have_the_types_of_their_schema() {
    let table = r#"
        self.at > timestamp('2026-01-01T00:00:00Z') | {"at": "2026-01-02T00:00:00Z"}
        self.wait == duration('90s') | {"wait": "1m30s"}
        type(self.either) == int && self.either == 1 | {"either": 1}
        type(self.either) == string && self.either.endsWith('%') | {"either": "1%"}
        self.f == 1.0 && self.f > 0 | {"f": 1}
        size(self.s) == 2 | {"s": "äö"}
        string(self.n == 1) + string(self.n) == 'true1' && bool('true') | {"n": 1}
        self.?s.orValue('none') == 'none' | {}
        self.?s.orValue('none') == 'x' && self.?s.hasValue() | {"s": "x"}
        cel.bind(d, self.n * 2, d == 4) | {"n": 2}
        self.list.exists(i, i == 2) && self.list.map(i, i * 2) == [2, 4] | {"list": [1, 2]}
    "#;
    for [rule, value] in rows(table) {
        let found = texts(
            &spec(json!({"rule": rule})),
            json!({"spec": json(value)}),
            None,
        );
        assert_eq!(found, [""; 0], "{rule}");
    }
}

#[test]
fn transition_rules_need_an_old_value() {
    let schema = spec(json!({"rule": "self.n >= oldSelf.n", "message": "only grows"}));
    let at = |n: i64| json!({"spec": {"n": n}});
    assert!(texts(&schema, at(1), None).is_empty());
    assert!(texts(&schema, at(1), Some(json!({}))).is_empty());
    assert!(texts(&schema, at(2), Some(at(1))).is_empty());
    assert_eq!(
        texts(&schema, at(1), Some(at(2))),
        ["Invalid spec: Invalid value: only grows"]
    );
    let optional = spec(
        json!({"rule": "!oldSelf.hasValue() ? self.n == 0 : self.n >= oldSelf.value().n", "optionalOldSelf": true, "message": "m"}),
    );
    assert_eq!(
        texts(&optional, at(1), None),
        ["Invalid spec: Invalid value: m"]
    );
    assert!(texts(&optional, at(0), None).is_empty());
    assert!(texts(&optional, at(1), Some(at(1))).is_empty());
}

#[test]
fn only_items_of_keyed_lists_correlate() {
    let items = json!({"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.n >= oldSelf.n", "message": "only grows"}]});
    let schema = |kind: Value| {
        let mut list = json!({"type": "array", "items": items});
        json_patch::merge(&mut list, &kind);
        json!({"type": "object", "properties": {"list": list}})
    };
    let old = json!({"list": [{"k": "a", "n": 5}, {"k": "b", "n": 5}]});
    let new = json!({"list": [{"k": "b", "n": 4}, {"k": "c", "n": 1}]});
    let keyed =
        schema(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}));
    assert_eq!(
        texts(&keyed, new.clone(), Some(old.clone())),
        ["Invalid list[0]: Invalid value: only grows"]
    );
    for kind in [
        json!({}),
        json!({"x-kubernetes-list-type": "atomic"}),
        json!({"x-kubernetes-list-type": "set"}),
    ] {
        assert!(texts(&schema(kind), new.clone(), Some(old.clone())).is_empty());
    }
}

#[test]
fn errors_of_unchanged_values_are_warnings() {
    let schema = spec(json!({"rule": "self.n > 1", "message": "m"}));
    let old = json!({"spec": {"n": 1, "s": "a"}});
    assert_eq!(
        texts(&schema, old.clone(), Some(old.clone())),
        ["warning spec: Invalid value: m"]
    );
    let changed = json!({"spec": {"n": 1, "s": "b"}});
    assert_eq!(
        texts(&schema, changed, Some(old)),
        ["Invalid spec: Invalid value: m"]
    );
}

#[test]
fn the_cost_of_rules_is_limited() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let rule = "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, a + b + c + d >= 0))))";
    let schema = json!({"type": "object", "properties": {"list": list}, "x-kubernetes-validations": [
        {"rule": rule, "message": "m"}, {"rule": "false"}]});
    let value = json!({"list": (0..200).collect::<Vec<i64>>()});
    assert_eq!(
        texts(&schema, value, None),
        [
            "Invalid <nil>: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m"
        ]
    );
}

#[test]
fn deep_rules_are_evaluated() {
    let deep = format!(
        "{}self.n == 1{}",
        "(true && (false || ".repeat(20),
        "))".repeat(20)
    );
    let sum = format!("self.n{} == 41", " + self.n".repeat(40));
    for rule in [deep, sum] {
        let schema = spec(json!({"rule": rule}));
        assert!(texts(&schema, json!({"spec": {"n": 1}}), None).is_empty());
    }
}

#[test]
fn the_order_of_sets_and_keyed_lists_does_not_count() {
    let item = json!({"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}});
    let schema = |kind: &str| {
        json!({"type": "object", "properties": {"list": {"type": "array", "items": item,
            "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": ["k"],
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed"}]}}})
    };
    let at = |k: &str, v: i64| json!({"k": k, "v": v});
    let old = json!({"list": [at("a", 1), at("b", 2)]});
    let turned = json!({"list": [at("b", 2), at("a", 1)]});
    for kind in ["set", "map"] {
        assert!(
            texts(&schema(kind), turned.clone(), Some(old.clone())).is_empty(),
            "{kind}"
        );
        for changed in [
            json!([at("b", 2), at("a", 2)]),
            json!([at("a", 1)]),
            json!([at("a", 1), at("b", 2), at("c", 3)]),
        ] {
            let new = json!({ "list": changed });
            assert_eq!(
                texts(&schema(kind), new, Some(old.clone())),
                ["Invalid list: Invalid value: fixed"]
            );
        }
    }
    assert_eq!(texts(&schema("atomic"), turned, Some(old)).len(), 1);
}
