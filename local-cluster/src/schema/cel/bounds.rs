//! The largest sizes of values, by their schemas and the limit on requests.
//!
//! The numbers are those with which the API server estimates the cost of rules.

use crate::schema::format::TextFormat;
use crate::schema::node::{AdditionalProperties, Node};

use super::value::escape;

/// The largest request that the API server accepts, in bytes.
const MAX_REQUEST: u64 = 3 << 20;
/// A string that fills a request.
const MAX_TEXT: u64 = MAX_REQUEST - 2;
/// The longest and the shortest texts of formats, with quotation marks.
const DATE: u64 = 12;
const MAX_TIME: u64 = 32;
const MIN_DATE_TIME: u64 = 21;
const MIN_DURATION: u64 = 3;
/// A character takes up to this many bytes.
const MAX_CHARACTER: u64 = 4;

/// The schema of a part of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum SchemaLocation<'a> {
    Schema {
        node: &'a Node,
        /// `node` is the root of a resource.
        root: bool,
    },
    Metadata,
    /// A string that every resource has, such as `metadata.name`.
    Text,
    /// The key of a map. The server counts it as empty, because no schema limits its length.
    Key,
}

impl<'a> SchemaLocation<'a> {
    pub(super) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Schema { root: true, .. } if matches!(name, "apiVersion" | "kind") => {
                Some(Self::Text)
            }
            Self::Schema { root: true, .. } if name == "metadata" => Some(Self::Metadata),
            Self::Schema { node, .. } => {
                let mut properties = node.properties.iter();
                let (_, node) = properties.find(|(key, _)| escape(key).as_deref() == Some(name))?;
                Some(Self::of(node))
            }
            Self::Metadata => Some(Self::Text),
            Self::Text | Self::Key => None,
        }
    }

    /// The items of a list, or the values of a map.
    pub(super) fn element(self) -> Option<Self> {
        match self {
            Self::Schema { node, .. } => node.items().or_else(|| node.values()).map(Self::of),
            _ => None,
        }
    }

    /// The schema of what a loop visits: the items of a list, or the keys of a map.
    pub(super) fn iterated(self) -> Option<Self> {
        match self {
            Self::Schema { node, .. } if node.values().is_some() => Some(Self::Key),
            place => place.element(),
        }
    }

    const fn of(node: &'a Node) -> Self {
        Self::Schema {
            node,
            root: node.embedded,
        }
    }

    /// The largest number of characters, items or entries; 0 for values without a length.
    pub(super) fn max_size(self) -> u64 {
        match self {
            Self::Schema { node, .. } => max_size(node),
            Self::Text => MAX_TEXT,
            Self::Metadata | Self::Key => 0,
        }
    }
}

fn max_size(node: &Node) -> u64 {
    if node.int_or_string {
        return MAX_TEXT;
    }
    match node.type_name() {
        "array" => limit(node.item_count.most).unwrap_or_else(|| {
            let item = node.items().map_or(1, min_bytes);
            MAX_TEXT / (item + 1)
        }),
        "object" => match node.values() {
            // A key, its quotation marks, a colon and a comma.
            Some(values) => limit(node.property_count.most)
                .unwrap_or_else(|| MAX_TEXT / (min_bytes(values) + 6)),
            None => 0,
        },
        "string" => max_length(node),
        _ => 0,
    }
}

fn max_length(node: &Node) -> u64 {
    let most = limit(node.text.length.most);
    match node.text.format {
        Some(TextFormat::Byte) => most.unwrap_or(MAX_TEXT),
        Some(TextFormat::Duration | TextFormat::DateTime) => MAX_TIME,
        Some(TextFormat::Date) => DATE,
        _ => {
            let texts = node.allowed.iter().filter_map(|value| value.as_str());
            let longest = texts.map(|text| text.len() as u64).max();
            most.map(|most| most.saturating_mul(MAX_CHARACTER))
                .or(longest)
                .unwrap_or(MAX_TEXT)
        }
    }
}

/// The length of the shortest JSON that fits the schema.
fn min_bytes(node: &Node) -> u64 {
    if node.int_or_string {
        return 1;
    }
    match node.type_name() {
        "object" if node.values().is_none() => {
            let required = node.properties.iter().filter(|(name, property)| {
                node.required.contains(name) && property.default_value().is_none()
            });
            // Quotation marks, a colon and a comma.
            let sizes = required.map(|(name, node)| name.len() as u64 + min_bytes(node) + 4);
            2 + sizes.sum::<u64>()
        }
        "string" => match node.text.format {
            Some(TextFormat::Duration) => MIN_DURATION,
            Some(TextFormat::Date) => DATE,
            Some(TextFormat::DateTime) => MIN_DATE_TIME,
            _ => 2,
        },
        "boolean" => 4,
        "integer" | "number" => 1,
        _ => 2,
    }
}

fn limit(most: Option<i64>) -> Option<u64> {
    most.map(|most| u64::try_from(most).unwrap_or(0))
}

impl Node {
    /// By how much its children can be more numerous than itself; `None` without a limit.
    pub(crate) fn max_children(&self) -> Option<u64> {
        match self.type_name() {
            "array" => limit(self.item_count.most),
            "object" if !matches!(self.additional, AdditionalProperties::Unspecified) => {
                limit(self.property_count.most)
            }
            _ => Some(1),
        }
    }

    /// The number of values of this schema that fit into a request.
    pub(crate) fn max_occurrences(&self) -> u64 {
        MAX_REQUEST / (min_bytes(self) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn size(schema: &Value) -> u64 {
        let schema = json!({"type": "object", "properties": {"it": schema}});
        let node = Node::read(&schema);
        let root = SchemaLocation::Schema {
            node: &node,
            root: true,
        };
        root.field("it").map_or(0, SchemaLocation::max_size)
    }

    #[test]
    fn a_limit_in_the_schema_applies_or_else_that_of_a_request() {
        for (schema, expected) in [
            (json!({"type": "string", "maxLength": 10}), 40),
            (json!({"type": "string"}), 3_145_726),
            (json!({"type": "string", "enum": ["a", "bcd"]}), 3),
            (json!({"type": "string", "format": "date-time"}), 32),
            (json!({"x-kubernetes-int-or-string": true}), 3_145_726),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                1_048_575,
            ),
            (
                json!({"type": "array", "maxItems": 7, "items": {"type": "string"}}),
                7,
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                449_389,
            ),
            (
                json!({"type": "object", "maxProperties": 9, "additionalProperties": {"type": "integer"}}),
                9,
            ),
            (json!({"type": "integer"}), 0),
        ] {
            assert_eq!(size(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn required_fields_limit_how_often_a_value_fits_into_a_request() {
        let of = |schema: Value| Node::read(&schema).max_occurrences();
        assert_eq!(of(json!({"type": "object"})), 1_048_576);
        let required = json!({"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        // {"name":""}
        assert_eq!(of(required), (3 << 20) / 13);
    }
}
