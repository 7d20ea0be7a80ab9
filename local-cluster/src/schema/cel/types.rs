//! The static types of expressions.

use super::value::escape;
use crate::schema::format::TextFormat;
use crate::schema::node::Node;

/// A type; unknown types are [`Type::Dyn`].
#[derive(Clone, Debug)]
pub(crate) enum Type<'a> {
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    Null,
    List(Box<Self>),
    Map(Box<Self>),
    Optional(Box<Self>),
    /// An object with properties; roots of resources have type and metadata as well.
    Object {
        node: &'a Node,
        root: bool,
    },
    /// Metadata that the schema does not describe.
    Metadata,
}

impl<'a> Type<'a> {
    /// The type of a schema; `None` if rules cannot access it.
    pub(super) fn of(node: &'a Node, root: bool) -> Option<Self> {
        if node.int_or_string {
            return Some(Self::Dyn);
        }
        Some(match node.type_name() {
            "array" => {
                let items = node.items.as_deref()?;
                Self::List(Box::new(Self::of(items, items.embedded)?))
            }
            "object" => match node.additional.node() {
                Some(other) => Self::Map(Box::new(Self::of(other, other.embedded)?)),
                None => Self::Object { node, root },
            },
            "string" => match node.text.format {
                Some(TextFormat::Byte) => Self::Bytes,
                Some(TextFormat::Duration) => Self::Duration,
                Some(TextFormat::Date | TextFormat::DateTime) => Self::Timestamp,
                _ => Self::String,
            },
            "boolean" => Self::Bool,
            "number" => Self::Double,
            "integer" => Self::Int,
            _ => return None,
        })
    }

    pub(super) fn field(&self, name: &str) -> Result<Self, String> {
        let undefined = || format!("undefined field '{name}'");
        match self {
            Self::Dyn => Ok(Self::Dyn),
            Self::Map(values) => Ok((**values).clone()),
            Self::Optional(inner) => Ok(Self::Optional(Box::new(inner.field(name)?))),
            Self::Metadata => match name {
                "name" | "generateName" => Ok(Self::String),
                _ => Err(undefined()),
            },
            Self::Object { node, root: true } if matches!(name, "apiVersion" | "kind") => {
                let _ = node;
                Ok(Self::String)
            }
            Self::Object { node, root: true } if name == "metadata" => {
                let described = node.properties.get("metadata").filter(|metadata| {
                    ["name", "generateName"].iter().all(|key| {
                        let property = metadata.properties.get(*key);
                        property.is_some_and(|p| p.type_name() == "string")
                    })
                });
                Ok(described.map_or(Self::Metadata, |node| Self::Object { node, root: false }))
            }
            Self::Object { node, .. } => {
                let property = node
                    .properties
                    .iter()
                    .find(|(property, _)| escape(property).as_deref() == Some(name));
                property
                    .and_then(|(_, property)| Self::of(property, property.embedded))
                    .ok_or_else(undefined)
            }
            other => Err(format!(
                "type '{}' does not support field selection",
                other.name()
            )),
        }
    }

    /// True if values of both types are comparable.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn, _) | (_, Self::Dyn) => true,
            (Self::List(a), Self::List(b))
            | (Self::Map(a), Self::Map(b))
            | (Self::Optional(a), Self::Optional(b)) => a.agrees(b),
            (Self::Null, other) | (other, Self::Null) => matches!(
                other,
                Self::Null
                    | Self::Object { .. }
                    | Self::Metadata
                    | Self::Optional(_)
                    | Self::Duration
                    | Self::Timestamp
            ),
            (Self::Object { .. } | Self::Metadata, Self::Object { .. } | Self::Metadata) => true,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// True if it is or may be a number.
    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Dyn | Self::Int | Self::Uint | Self::Double)
    }

    /// True if it is or may be a boolean.
    pub(super) const fn is_bool(&self) -> bool {
        matches!(self, Self::Dyn | Self::Bool)
    }

    /// The name in error messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Dyn => "dyn".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Uint => "uint".to_owned(),
            Self::Double => "double".to_owned(),
            Self::String => "string".to_owned(),
            Self::Bytes => "bytes".to_owned(),
            Self::Duration => "google.protobuf.Duration".to_owned(),
            Self::Timestamp => "google.protobuf.Timestamp".to_owned(),
            Self::Null => "null".to_owned(),
            Self::List(items) => format!("list({})", items.name()),
            Self::Map(values) => format!("map(string, {})", values.name()),
            Self::Optional(inner) => format!("optional_type({})", inner.name()),
            Self::Object { .. } | Self::Metadata => "object".to_owned(),
        }
    }
}
