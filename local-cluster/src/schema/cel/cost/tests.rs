use serde_json::{Value, json};

use crate::schema::cel::RuleTree;
use crate::schema::node::Node;

/// The largest cost of a rule of this schema.
fn cost(mut schema: Value, rule: &str) -> u64 {
    schema["x-kubernetes-validations"] = json!([{ "rule": rule }]);
    let node = Node::read(&schema);
    let tree = RuleTree::read(&schema, &node).unwrap();
    let program = tree.rules[0].program.as_ref().unwrap();
    program.as_ref().unwrap().max_cost
}

fn list(of: &str) -> Value {
    json!({"type": "array", "items": {"type": of}})
}

fn map(of: &str) -> Value {
    json!({"type": "object", "additionalProperties": {"type": of}})
}

#[test]
fn costs_are_those_of_the_api_server() {
    let text = || json!({"type": "string"});
    // The values that the server estimates.
    for (schema, rule, expected) in [
        (list("number"), "self.all(x, true)", 4_718_591),
        (list("string"), "self.all(x, true)", 3_145_727),
        (list("boolean"), "self.all(x, true)", 1_887_437),
        (map("number"), "self.all(x, true)", 1_348_169),
        (map("string"), "self.all(x, true)", 1_179_647),
        (map("string"), "self.all(x, x.contains(self[x]))", 2_752_507),
        (text(), "self.contains('test')", 314_574),
        (text(), "self.startsWith('test')", 2),
        (text(), "size(self + 'hello') > size('hello')", 314_578),
        (list("number"), "self[1] == 0.0", 2),
        (list("string"), "self[1] == self[1]", 314_577),
        (text(), "self.matches('x')", 314_574),
        (text(), "''.matches('(((((((((())))))))))[0-9]')", 7),
        (text(), "self == 'x'", 2),
    ] {
        assert_eq!(cost(schema.clone(), rule), expected, "{schema}: {rule}");
    }
}

#[test]
fn limits_in_the_schema_lower_the_cost() {
    let ten = |mut schema: Value, key: &str| {
        schema[key] = json!(10);
        schema
    };
    for (schema, rule, expected) in [
        (ten(list("number"), "maxItems"), "self.all(x, true)", 32),
        (
            ten(list("number"), "maxItems"),
            "self.all(x, self.all(y, true))",
            352,
        ),
        (
            ten(map("string"), "maxProperties"),
            "self.all(x, x.contains(self[x]))",
            72,
        ),
        (
            ten(json!({"type": "string"}), "maxLength"),
            "self.contains('test')",
            5,
        ),
    ] {
        assert_eq!(cost(schema.clone(), rule), expected, "{schema}: {rule}");
    }
}

#[test]
fn what_is_computed_is_as_large_as_it_can_be() {
    let texts =
        json!({"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 5}});
    // For each of ten items a list of one and its concatenation, which take 14.
    let sum = cost(texts.clone(), "self.map(x, size(x)).sum() < 100");
    assert_eq!(sum, 163);
    // No schema limits the length of the items.
    let unknown = cost(texts.clone(), "self.map(x, x + 'y').all(x, x == 'y')");
    assert!(unknown < 1000, "compared with one character: {unknown}");
    let unknown = cost(texts, "self.map(x, x + 'y').all(x, x.matches('y'))");
    assert_eq!(unknown, u64::MAX);
}
