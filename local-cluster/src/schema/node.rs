//! Compiled schemas.
//!
//! Invalid schemas are refused when their definitions are validated, so compilation never fails:
//! keywords of wrong types are ignored. The CEL rules of a schema are compiled apart, in `cel`.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::format::{self, NumberFormat, TextFormat};
use super::message::FieldPath;
use super::pattern;

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
    /// `None` if it is invalid, which nothing matches.
    pub(super) regex: Option<Regex>,
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

/// The keywords of one schema. Values of wrong types count as missing.
#[derive(Clone, Copy)]
struct Keywords<'a>(&'a Map<String, Value>);

impl<'a> Keywords<'a> {
    fn word(self, key: &str) -> &'a str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool) == Some(true)
    }

    fn number(self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    fn list(self, key: &str) -> &'a [Value] {
        let list = self.0.get(key).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    fn texts(self, key: &str) -> Vec<String> {
        let texts = self.list(key).iter();
        texts.filter_map(|v| Some(v.as_str()?.to_owned())).collect()
    }

    fn counts(self, least: &str, most: &str) -> CountLimits {
        CountLimits {
            least: self.0.get(least).and_then(Value::as_i64),
            most: self.0.get(most).and_then(Value::as_i64),
        }
    }

    fn types(self) -> &'static [&'static str] {
        if self.flag("x-kubernetes-int-or-string") {
            return &["integer", "string"];
        }
        match self.word("type") {
            "array" => &["array"],
            "boolean" => &["boolean"],
            "integer" => &["integer"],
            "number" => &["number"],
            "object" => &["object"],
            "string" => &["string"],
            _ => &[],
        }
    }

    fn text_limits(self, format: Option<&str>) -> TextLimits {
        let pattern = Some(self.word("pattern")).filter(|pattern| !pattern.is_empty());
        TextLimits {
            length: self.counts("minLength", "maxLength"),
            pattern: pattern.map(|source| Pattern {
                source: source.to_owned(),
                regex: pattern::compile(source),
            }),
            format: format.and_then(TextFormat::named),
        }
    }

    fn number_limits(self, format: Option<&str>, type_name: &str) -> NumberLimits {
        NumberLimits {
            minimum: self.number("minimum"),
            exclusive_minimum: self.flag("exclusiveMinimum"),
            maximum: self.number("maximum"),
            exclusive_maximum: self.flag("exclusiveMaximum"),
            multiple_of: self.number("multipleOf"),
            format: format.and_then(|f| NumberFormat::named(f, type_name)),
        }
    }

    fn list_type(self) -> ListType {
        match self.word("x-kubernetes-list-type") {
            "set" => ListType::Set,
            "map" => ListType::Map(self.texts("x-kubernetes-list-map-keys")),
            _ => ListType::Atomic,
        }
    }
}

impl Node {
    pub(crate) fn read(schema: &Value) -> Self {
        let mut node = Self::read_at(schema, 0);
        // The root is always a resource.
        node.embedded = true;
        node
    }

    fn read_at(schema: &Value, depth: usize) -> Self {
        let Some(schema) = schema.as_object().filter(|_| depth <= MAX_DEPTH) else {
            return Self::default();
        };
        let keywords = Keywords(schema);
        let below = |schema: &Value| Self::read_at(schema, depth + 1);
        let boxed = |key: &str| schema.get(key).map(|s| Box::new(below(s)));
        let branches = |key: &str| keywords.list(key).iter().map(below).collect();
        let types = keywords.types();
        let only_type = if types.len() == 1 { types[0] } else { "" };
        let format = Some(keywords.word("format")).filter(|f| format::is_known(f, only_type));
        let properties = schema.get("properties").and_then(Value::as_object);
        Self {
            types,
            nullable: keywords.flag("nullable"),
            int_or_string: keywords.flag("x-kubernetes-int-or-string"),
            preserve_unknown: keywords.flag("x-kubernetes-preserve-unknown-fields"),
            embedded: keywords.flag("x-kubernetes-embedded-resource"),
            default: schema.get("default").filter(|d| !d.is_null()).cloned(),
            allowed: keywords.list("enum").to_vec(),
            text: keywords.text_limits(format),
            number: keywords.number_limits(format, only_type),
            format: format.map(str::to_owned),
            items: boxed("items"),
            item_count: keywords.counts("minItems", "maxItems"),
            unique_items: keywords.flag("uniqueItems"),
            list: keywords.list_type(),
            properties: properties
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
            property_count: keywords.counts("minProperties", "maxProperties"),
            required: keywords.texts("required"),
            all_of: branches("allOf"),
            any_of: branches("anyOf"),
            one_of: branches("oneOf"),
            not: boxed("not"),
        }
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

    pub(crate) const fn default_value(&self) -> Option<&Value> {
        self.default.as_ref()
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

    /// The only type, or an empty string.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.types {
            [only] => only,
            _ => "",
        }
    }
}
