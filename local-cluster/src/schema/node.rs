//! Compiled schemas.
//!
//! Invalid schemas are refused when their definitions are validated, so compilation never fails:
//! keywords of wrong types are ignored.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::cel::ValidationRule;
use super::format::{NumberFormat, TextFormat};
use super::path::FieldPath;
use super::pattern;
use crate::field_error::FieldError;

/// The deepest nesting; deeper schemas allow everything.
const MAX_DEPTH: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Empty allows all types.
    pub(super) types: &'static [&'static str],
    pub(super) nullable: bool,
    pub(super) int_or_string: bool,
    pub(super) preserve_unknown: bool,
    pub(super) embedded: bool,
    pub(super) default: Option<Value>,
    pub(super) allowed: Vec<Value>,
    pub(super) text: TextLimits,
    pub(super) number: NumberLimits,
    /// The format, if Kubernetes validates it for the type.
    pub(super) format: Option<String>,
    pub(super) items: Option<Box<Self>>,
    pub(super) item_count: CountLimits,
    pub(super) unique_items: bool,
    pub(super) list: ListType,
    pub(super) properties: BTreeMap<String, Self>,
    pub(super) additional: AdditionalProperties,
    pub(super) property_count: CountLimits,
    pub(super) required: Vec<String>,
    pub(super) all_of: Vec<Self>,
    pub(super) any_of: Vec<Self>,
    pub(super) one_of: Vec<Self>,
    pub(super) not: Option<Box<Self>>,
    pub(super) rules: Vec<ValidationRule>,
    /// The largest depth of a rule at or below this level; `None` without rules.
    pub(super) rule_depth: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct TextLimits {
    pub(super) length: CountLimits,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<TextFormat>,
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) source: String,
    pub(super) regex: Result<Regex, String>,
}

#[derive(Debug, Default)]
pub(super) struct NumberLimits {
    pub(super) minimum: Option<f64>,
    pub(super) exclusive_minimum: bool,
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_maximum: bool,
    pub(super) multiple_of: Option<f64>,
    pub(super) format: Option<NumberFormat>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountLimits {
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ListType {
    #[default]
    Atomic,
    Set,
    /// With the names of its keys.
    Map(Vec<String>),
}

#[derive(Debug, Default)]
pub(super) enum AdditionalProperties {
    #[default]
    Unspecified,
    Allowed(bool),
    Schema(Box<Node>),
}

impl AdditionalProperties {
    pub(super) fn node(&self) -> Option<&Node> {
        match self {
            Self::Schema(node) => Some(node),
            _ => None,
        }
    }
}

impl Node {
    pub(crate) fn read(schema: &Value) -> Self {
        Self::of_root(schema, true)
    }

    /// Without the rules, whose compilation takes most of the time.
    pub(crate) fn structure(schema: &Value) -> Self {
        Self::of_root(schema, false)
    }

    fn of_root(schema: &Value, has_rules: bool) -> Self {
        let mut node = Self::read_at(schema, 0, has_rules);
        // The root is always a resource.
        node.embedded = true;
        node
    }

    pub(super) fn read_at(schema: &Value, depth: usize, has_rules: bool) -> Self {
        let Some(schema) = schema.as_object().filter(|_| depth <= MAX_DEPTH) else {
            return Self::default();
        };
        let word = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let counts = |least: &str, most: &str| CountLimits {
            least: schema.get(least).and_then(Value::as_i64),
            most: schema.get(most).and_then(Value::as_i64),
        };
        let texts = |key: &str| texts(schema.get(key));
        let below = |schema: &Value| Self::read_at(schema, depth + 1, has_rules);
        let boxed = |key: &str| schema.get(key).map(|s| Box::new(below(s)));
        let list = |key: &str| -> Vec<Self> {
            let list = schema.get(key).and_then(Value::as_array);
            list.into_iter().flatten().map(below).collect()
        };
        let int_or_string = flag("x-kubernetes-int-or-string");
        let types = if int_or_string {
            &["integer", "string"][..]
        } else {
            known_type(word("type"))
        };
        let only_type = if types.len() == 1 { types[0] } else { "" };
        let format = word("format");
        let format = super::format::is_known(format, only_type).then_some(format);
        let mut node = Self {
            types,
            nullable: flag("nullable"),
            int_or_string,
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            default: schema.get("default").filter(|d| !d.is_null()).cloned(),
            allowed: schema
                .get("enum")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            text: TextLimits {
                length: counts("minLength", "maxLength"),
                pattern: pattern_of(schema),
                format: format.and_then(TextFormat::named),
            },
            number: NumberLimits {
                minimum: number("minimum"),
                exclusive_minimum: flag("exclusiveMinimum"),
                maximum: number("maximum"),
                exclusive_maximum: flag("exclusiveMaximum"),
                multiple_of: number("multipleOf"),
                format: format.and_then(|f| NumberFormat::named(f, only_type)),
            },
            format: format.map(str::to_owned),
            items: boxed("items"),
            item_count: counts("minItems", "maxItems"),
            unique_items: flag("uniqueItems"),
            list: match word("x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => ListType::Map(texts("x-kubernetes-list-map-keys")),
                _ => ListType::Atomic,
            },
            properties: schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, property)| (name.clone(), below(property)))
                .collect(),
            additional: match schema.get("additionalProperties") {
                Some(Value::Bool(allowed)) => AdditionalProperties::Allowed(*allowed),
                Some(schema @ Value::Object(_)) => {
                    AdditionalProperties::Schema(Box::new(below(schema)))
                }
                _ => AdditionalProperties::Unspecified,
            },
            property_count: counts("minProperties", "maxProperties"),
            required: texts("required"),
            all_of: list("allOf"),
            any_of: list("anyOf"),
            one_of: list("oneOf"),
            not: boxed("not"),
            rules: Vec::new(),
            rule_depth: None,
        };
        if has_rules {
            node.rules = ValidationRule::read_all(schema, &node, depth == 0);
        }
        let own = node.rules.iter().map(|rule| Some(rule.depth()));
        let items = node.items.iter().map(|items| items.rule_depth);
        let other = node.additional.node().map(|other| other.rule_depth);
        let properties = node.properties.values().map(|p| p.rule_depth);
        let all = own.chain(items).chain(other).chain(properties);
        node.rule_depth = all.max().flatten();
        node
    }

    pub(super) fn permits(&self, type_name: &str) -> bool {
        self.types.contains(&type_name)
    }

    /// The schema of a property, or else of additional properties.
    pub(super) fn child(&self, field: &str) -> Option<&Self> {
        self.properties
            .get(field)
            .or_else(|| self.additional.node())
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(name)
    }

    pub(crate) fn values(&self) -> Option<&Self> {
        self.additional.node()
    }

    pub(crate) fn items(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    pub(crate) fn rules(&self) -> &[ValidationRule] {
        &self.rules
    }

    pub(crate) const fn default_value(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// All schemas with defaults at or below this level, with their paths.
    pub(crate) fn with_defaults(&self, place: &str) -> Vec<(String, &Self)> {
        let mut found = Vec::new();
        let mut left = vec![(place.to_owned(), self)];
        while let Some((place, node)) = left.pop() {
            let named = node.properties.iter();
            left.extend(
                named
                    .rev()
                    .map(|(n, p)| (format!("{place}.properties[{n}]"), p)),
            );
            let items = node.items.as_deref();
            left.extend(items.map(|items| (format!("{place}.items"), items)));
            if node.default.is_some() {
                found.push((place, node));
            }
        }
        found
    }

    /// Calls `visit` for a value and all values inside it that have a schema.
    pub(super) fn visit_values(
        &self,
        value: &Value,
        path: &FieldPath<'_>,
        visit: &mut impl FnMut(&Self, &Value, &FieldPath<'_>),
    ) {
        visit(self, value, path);
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    if let Some(property) = self.properties.get(key) {
                        property.visit_values(inner, &path.field(key), visit);
                    } else if let Some(other) = self.additional.node() {
                        other.visit_values(inner, &path.key(key), visit);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(item_node) = &self.items {
                    for (index, item) in items.iter().enumerate() {
                        item_node.visit_values(item, &path.index(index), visit);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether pruning would remove fields of a value.
    pub(crate) fn prunes(&self, value: &Value) -> bool {
        !super::prune::prune(self, &mut value.clone()).is_empty()
    }

    /// Validates a default: on create, and on an update that does not change it.
    pub(crate) fn check_default(&self, value: &Value, place: &str) -> Vec<FieldError> {
        let mut errors = super::validate::validate(self, value, None, place);
        if errors.is_empty() {
            let path = FieldPath::root(place);
            errors = super::cel::run_at(self, value, Some(value), &path).errors;
            if errors.is_empty() {
                errors = super::cel::run_at(self, value, None, &path).errors;
            }
        }
        errors
    }

    /// The only type, or an empty string.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.types {
            [only] => only,
            _ => "",
        }
    }
}

fn known_type(name: &str) -> &'static [&'static str] {
    match name {
        "array" => &["array"],
        "boolean" => &["boolean"],
        "integer" => &["integer"],
        "number" => &["number"],
        "object" => &["object"],
        "string" => &["string"],
        _ => &[],
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|v| Some(v.as_str()?.to_owned()))
        .collect()
}

fn pattern_of(schema: &Map<String, Value>) -> Option<Pattern> {
    let source = schema.get("pattern")?.as_str().filter(|p| !p.is_empty())?;
    Some(Pattern {
        source: source.to_owned(),
        regex: pattern::compile(source),
    })
}
