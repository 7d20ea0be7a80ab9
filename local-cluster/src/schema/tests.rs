use serde_json::{Value, json};

use super::Schema;

fn texts(errors: &[crate::field_error::FieldError]) -> Vec<String> {
    errors
        .iter()
        .map(|e| format!("{}: {}", e.field, e.message))
        .collect()
}

fn with_rule() -> Schema {
    Schema::read(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "required": ["n"],
        "properties": {"n": {"type": "integer", "maximum": 5}},
        "x-kubernetes-validations": [{"rule": "self.n != 3", "message": "not three"}]},
        "status": {"type": "object", "properties": {"m": {"type": "integer", "maximum": 5}}}}}),
    )
}

#[test]
fn rules_need_a_well_formed_object() {
    let schema = with_rule();
    let found = |value: Value| texts(&schema.check_create(&value).errors);
    assert_eq!(
        found(json!({"spec": {}})),
        [
            "spec.n: Required value",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ]
    );
    // Rules are evaluated despite values out of bounds.
    assert_eq!(
        found(json!({"spec": {"n": 3}})),
        ["spec: Invalid value: not three"]
    );
    assert_eq!(
        found(json!({"spec": {"n": 6}})),
        ["spec.n: Invalid value: 6: spec.n in body should be less than or equal to 5"]
    );
}

#[test]
fn status_updates_validate_the_status() {
    let schema = with_rule();
    let old = json!({"spec": {"n": 6}, "status": {"m": 1}});
    let new = json!({"spec": {"n": 6}, "status": {"m": 6}});
    assert_eq!(
        texts(&schema.check_status(&new, &old).errors),
        ["status.m: Invalid value: 6: m in body should be less than or equal to 5"]
    );
    assert!(schema.check_status(&old, &old).errors.is_empty());
    // Rules on the spec are evaluated, and errors of unchanged values are warnings.
    let bad = json!({"spec": {"n": 3}, "status": {"m": 1}});
    let checked = schema.check_status(&bad, &bad);
    assert!(checked.errors.is_empty());
    assert_eq!(checked.warnings, ["spec: Invalid value: not three"]);
}

#[test]
fn existing_duplicates_are_ratcheted() {
    let schema = Schema::read(&json!({"type": "object", "properties": {
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, "x": {"type": "integer"}}}));
    let good = json!({"set": ["a"], "x": 1});
    let bad = json!({"set": ["a", "a"], "x": 2});
    assert_eq!(
        texts(&schema.check_create(&bad).errors),
        ["set[1]: Duplicate value: \"a\""]
    );
    assert_eq!(schema.check_update(&bad, &good).errors.len(), 1);
    let worse = json!({"set": ["a", "a", "b", "b"], "x": 3});
    assert!(schema.check_update(&worse, &bad).errors.is_empty());
}

/// A deterministic pseudo-random generator (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn word(&mut self) -> String {
        const WORDS: &[&str] = &[
            "a",
            "b",
            "spec",
            "x",
            "",
            "ä\u{0}",
            "10.0.0.1",
            "2026-01-01T00:00:00Z",
            "1h",
            "(",
            "metadata",
            "kind",
        ];
        WORDS[usize::try_from(self.roll(12)).unwrap()].to_owned()
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.roll(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.roll(2) == 0),
            2 => json!(self.roll(u64::MAX)),
            3 => json!(self.roll(1000).cast_signed() - 500),
            4 => json!((self.roll(2000) as f64 - 1000.0) / 3.0),
            5 => json!(self.word()),
            6 => (0..self.roll(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let entries = (0..self.roll(5)).map(|_| (self.word(), self.value(depth - 1)));
                Value::Object(entries.collect())
            }
        }
    }

    /// A schema whose keywords are sometimes of wrong types.
    fn schema(&mut self, depth: u64) -> Value {
        let mut schema = serde_json::Map::new();
        let types = [
            "string", "integer", "number", "boolean", "object", "array", "odd", "",
        ];
        let type_name = types[usize::try_from(self.roll(8)).unwrap()];
        schema.insert("type".to_owned(), json!(type_name));
        for (key, odds) in [
            ("minimum", 6),
            ("maximum", 6),
            ("multipleOf", 8),
            ("minLength", 6),
            ("maxLength", 6),
            ("pattern", 6),
            ("format", 4),
            ("minItems", 6),
            ("maxItems", 6),
            ("uniqueItems", 6),
            ("enum", 6),
            ("default", 6),
            ("required", 4),
            ("nullable", 4),
            ("x-kubernetes-list-type", 5),
            ("x-kubernetes-list-map-keys", 5),
            ("x-kubernetes-embedded-resource", 8),
            ("x-kubernetes-int-or-string", 8),
            ("x-kubernetes-preserve-unknown-fields", 6),
        ] {
            if self.roll(odds) == 0 {
                let value = match (key, self.roll(6)) {
                    ("format", 1..) => json!(
                        ["date-time", "ipv4", "int32", "cidr", "uri", "duration"]
                            [usize::try_from(self.roll(6)).unwrap()]
                    ),
                    ("x-kubernetes-list-type", 1..) => {
                        json!(["map", "set", "atomic"][usize::try_from(self.roll(3)).unwrap()])
                    }
                    ("required" | "x-kubernetes-list-map-keys", 1..) => json!([self.word()]),
                    ("nullable" | "uniqueItems", 1..) => json!(true),
                    ("pattern", 1..) => json!(
                        ["^a", "[", "(a|b)*$", "\\d{2,}"][usize::try_from(self.roll(4)).unwrap()]
                    ),
                    _ => self.value(2),
                };
                schema.insert(key.to_owned(), value);
            }
        }
        if depth > 0 {
            for key in ["items", "not", "additionalProperties"] {
                if self.roll(3) == 0 {
                    schema.insert(key.to_owned(), self.schema(depth - 1));
                }
            }
            for key in ["allOf", "anyOf", "oneOf"] {
                if self.roll(5) == 0 {
                    schema.insert(key.to_owned(), json!([self.schema(0), self.schema(0)]));
                }
            }
            let properties = (0..self.roll(4)).map(|_| (self.word(), self.schema(depth - 1)));
            schema.insert("properties".to_owned(), Value::Object(properties.collect()));
            if self.roll(8) == 0 {
                let rules = [
                    "has(self.a)",
                    "self == oldSelf",
                    "self.all(x, x > 1)",
                    "size(self) > 1",
                    "1 +",
                    "type(self) == int",
                ];
                let rule = rules[usize::try_from(self.roll(6)).unwrap()];
                schema.insert(
                    "x-kubernetes-validations".to_owned(),
                    json!([{"rule": rule, "fieldPath": ".a"}]),
                );
            }
        }
        Value::Object(schema)
    }
}

#[test]
fn random_values_do_not_panic() {
    let began = std::time::Instant::now();
    for seed in 1..150_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let text = dice.schema(3);
        let schema = Schema::read(&text);
        for _ in 0..12 {
            let (mut new, mut old) = (dice.value(5), dice.value(5));
            for value in [&mut new, &mut old] {
                schema.fill(value);
                schema.prune(value);
            }
            let created = schema.check_create(&new);
            let _ = schema.check_status(&new, &old);
            let _ = schema.check_update(&new, &old);
            // An update without changes is not refused by schemas; transition rules may refuse it.
            let same = schema.check_update(&new, &new);
            assert!(
                same.errors.len() <= created.errors.len() + 3,
                "{text} {new}"
            );
        }
    }
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn deep_and_wide_values_are_validated_in_time() {
    let mut nested = json!({"type": "object"});
    let mut value = json!(1);
    for _ in 0..90 {
        nested = json!({"type": "object", "properties": {"a": nested, "b": {"type": "string"}}});
        value = json!({"a": value, "b": 2});
    }
    let schema = Schema::read(&nested);
    assert!(!schema.check_create(&value).errors.is_empty());
    assert!(schema.check_update(&value, &value).errors.is_empty());

    let items = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "integer"}, "v": {"type": "string"}}}});
    let schema = Schema::read(&json!({"type": "object", "properties": {"items": items}}));
    let many: Vec<Value> = (0..20_000).map(|k| json!({"k": k, "v": k})).collect();
    let value = json!({ "items": many });
    let began = std::time::Instant::now();
    // The number of errors is limited.
    assert_eq!(schema.check_create(&value).errors.len(), 1000);
    assert!(schema.check_update(&value, &value).errors.is_empty());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}
