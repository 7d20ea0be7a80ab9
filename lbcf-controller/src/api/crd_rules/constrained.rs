//! Adds limits and rules to the schema that is generated from a type.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// A CEL rule and the message of its violation.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    rule: String,
    message: String,
    field: Option<&'static str>,
    with_old: bool,
}

impl Rule {
    pub(super) fn new(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            message: message.into(),
            field: None,
            with_old: false,
        }
    }

    /// The field to report instead of the object that the rule is about.
    pub(super) const fn field(mut self, path: &'static str) -> Self {
        self.field = Some(path);
        self
    }

    /// Evaluates the rule also where there is no old value; `oldSelf` is an optional then.
    pub(super) const fn with_old(mut self) -> Self {
        self.with_old = true;
        self
    }

    fn to_json(&self) -> Value {
        let mut rule = json!({ "rule": self.rule, "message": self.message });
        if let Some(field) = self.field {
            rule["fieldPath"] = json!(field);
        }
        if self.with_old {
            rule["optionalOldSelf"] = json!(true);
        }
        rule
    }
}

/// A part of a schema; none if the schema has no such part, which a test would notice.
#[derive(Debug)]
pub(super) struct Constrained<'a>(Option<&'a mut Map<String, Value>>);

impl<'a> Constrained<'a> {
    pub(super) fn of(schema: &'a mut Schema) -> Self {
        Self(Some(schema.ensure_object()))
    }

    /// The part at a path such as `pods.ports[].port`.
    pub(super) fn at(&mut self, path: &str) -> Constrained<'_> {
        let steps = path.split('.').flat_map(|field| {
            let name = field.trim_end_matches("[]");
            let items = (field.len() - name.len()) / 2;
            [name].into_iter().chain(std::iter::repeat_n("[]", items))
        });
        let mut part = self.0.as_deref_mut();
        for step in steps {
            part = part.and_then(|part| child(part, step));
        }
        Constrained(part)
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        if let Some(schema) = &mut self.0 {
            schema.insert(key.to_owned(), value.into());
        }
        self
    }

    pub(super) fn max_length(&mut self, length: usize) -> &mut Self {
        self.set("maxLength", length)
    }

    pub(super) fn max_items(&mut self, count: usize) -> &mut Self {
        self.set("maxItems", count)
    }

    pub(super) fn max_properties(&mut self, count: usize) -> &mut Self {
        self.set("maxProperties", count)
    }

    /// Limits the length of each value of a map.
    pub(super) fn max_value(&mut self, length: usize) -> &mut Self {
        if let Some(values) = self.0.as_deref_mut().and_then(|map| child(map, "{}")) {
            values.insert("maxLength".to_owned(), length.into());
        }
        self
    }

    pub(super) fn rules(&mut self, rules: impl IntoIterator<Item = Rule>) -> &mut Self {
        if let Some(schema) = &mut self.0 {
            let all = schema
                .entry("x-kubernetes-validations")
                .or_insert_with(|| json!([]));
            if let Some(all) = all.as_array_mut() {
                all.extend(rules.into_iter().map(|rule| rule.to_json()));
            }
        }
        self
    }
}

fn child<'a>(schema: &'a mut Map<String, Value>, step: &str) -> Option<&'a mut Map<String, Value>> {
    let inner = match step {
        "[]" => schema.get_mut("items"),
        "{}" => schema.get_mut("additionalProperties"),
        name => schema.get_mut("properties").and_then(|p| p.get_mut(name)),
    };
    inner?.as_object_mut()
}
