//! The static types of expressions, and those of the results of operators and functions.

use kube_cel::cel::common::ast::operators;

use super::repair::TICK;
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

/// Functions and methods by the type of their results.
const BOOL_FUNCTIONS: &str = "\
    bool contains containsCIDR containsIP endsWith hasValue isCIDR isGreaterThan isGlobalUnicast \
    isIP isInteger isLessThan isLinkLocalMulticast isLinkLocalUnicast isLoopback isQuantity \
    isSemver isSorted isURL isUnspecified ip.isCanonical math.isFinite math.isInf math.isNaN \
    matches sets.contains sets.equivalent sets.intersects startsWith";
const INT_FUNCTIONS: &str = "\
    asInteger compareTo family getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear \
    getHours getMilliseconds getMinutes getMonth getSeconds int lastIndexOf major minor patch \
    prefixLength sign size indexOf";
const STRING_FUNCTIONS: &str = "\
    base64.encode charAt find format getEscapedPath getHost getHostname getPort getScheme join \
    jsonpatch.escapeKey lowerAscii quote replace string strings.quote substring trim upperAscii";
/// Their results have types that are not checked.
const OTHER_FUNCTIONS: &str = "\
    abs add ceil cidr distinct dyn flatten floor format.named getQuery ip lists.range masked \
    math.abs math.bitAnd math.bitNot math.bitOr math.bitShiftLeft math.bitShiftRight math.bitXor \
    math.ceil math.floor math.greatest math.least math.round math.sign math.sqrt math.trunc max \
    min optional.of optional.ofNonZeroValue quantity reverse semver slice sort sub sum type url \
    validate";

/// The symbol of an operator and the number of its operands.
pub(super) fn symbol_of(name: &str) -> Option<(&'static str, usize)> {
    Some(match name {
        TICK => ("", 0),
        operators::NOT_STRICTLY_FALSE => ("", 1),
        operators::LOGICAL_NOT => ("!", 1),
        operators::NEGATE => ("-", 1),
        operators::LOGICAL_AND => ("&&", 2),
        operators::LOGICAL_OR => ("||", 2),
        operators::EQUALS => ("==", 2),
        operators::NOT_EQUALS => ("!=", 2),
        operators::LESS => ("<", 2),
        operators::LESS_EQUALS => ("<=", 2),
        operators::GREATER => (">", 2),
        operators::GREATER_EQUALS => (">=", 2),
        operators::IN => (" in ", 2),
        operators::ADD => ("+", 2),
        operators::SUBSTRACT => ("-", 2),
        operators::MULTIPLY => ("*", 2),
        operators::DIVIDE => ("/", 2),
        operators::MODULO => ("%", 2),
        operators::INDEX | operators::OPT_INDEX => ("[", 2),
        operators::CONDITIONAL => ("?", 3),
        _ => return None,
    })
}

pub(super) fn unary<'a>(name: &str, operand: &Type<'a>) -> Option<Type<'a>> {
    match name {
        operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE => {
            operand.is_bool().then_some(Type::Bool)
        }
        _ => matches!(operand, Type::Dyn | Type::Int | Type::Double).then(|| operand.clone()),
    }
}

pub(super) fn binary<'a>(name: &str, left: &Type<'a>, right: &Type<'a>) -> Option<Type<'a>> {
    let agree = left.agrees(right);
    let known = || {
        if matches!(left, Type::Dyn) {
            right.clone()
        } else {
            left.clone()
        }
    };
    match name {
        operators::LOGICAL_AND | operators::LOGICAL_OR => {
            (left.is_bool() && right.is_bool()).then_some(Type::Bool)
        }
        operators::EQUALS | operators::NOT_EQUALS => agree.then_some(Type::Bool),
        operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS => {
            let ordered = |t: &Type<'_>| {
                t.is_number()
                    || matches!(
                        t,
                        Type::Bool | Type::String | Type::Bytes | Type::Duration | Type::Timestamp
                    )
            };
            let numbers = left.is_number() && right.is_number();
            (numbers || (agree && ordered(left) && ordered(right))).then_some(Type::Bool)
        }
        operators::IN => match right {
            Type::List(items) => left.agrees(items).then_some(Type::Bool),
            Type::Map(_) => left.agrees(&Type::String).then_some(Type::Bool),
            Type::Dyn => Some(Type::Bool),
            _ => None,
        },
        operators::INDEX | operators::OPT_INDEX => {
            let found = index(left, right)?;
            Some(match found {
                found if name == operators::INDEX => found,
                found => Type::Optional(Box::new(found)),
            })
        }
        operators::ADD => sum(left, right, agree.then(known)),
        operators::SUBSTRACT => match (left, right) {
            (Type::Timestamp, Type::Timestamp) => Some(Type::Duration),
            (Type::Timestamp, Type::Duration) => Some(Type::Timestamp),
            (Type::Duration, Type::Duration) => Some(Type::Duration),
            _ => (agree && left.is_number() && right.is_number()).then(known),
        },
        _ => (agree && left.is_number() && right.is_number()).then(known),
    }
}

/// `known` is the type of both, if they agree.
fn sum<'a>(left: &Type<'a>, right: &Type<'a>, known: Option<Type<'a>>) -> Option<Type<'a>> {
    match (left, right) {
        (Type::Timestamp, Type::Duration) | (Type::Duration, Type::Timestamp) => {
            Some(Type::Timestamp)
        }
        (Type::List(_), Type::List(_)) => {
            Some(known.unwrap_or_else(|| Type::List(Box::new(Type::Dyn))))
        }
        (Type::Bool | Type::Null | Type::Map(_) | Type::Object { .. }, _) => None,
        _ => known,
    }
}

fn index<'a>(left: &Type<'a>, right: &Type<'a>) -> Option<Type<'a>> {
    match left {
        Type::Dyn => Some(Type::Dyn),
        Type::List(items) => right.agrees(&Type::Int).then(|| (**items).clone()),
        Type::Map(values) => right.agrees(&Type::String).then(|| (**values).clone()),
        Type::Optional(inner) => index(inner, right),
        _ => None,
    }
}

/// The result of a function, or of a method of `target`; `None` if it does not exist.
pub(super) fn result_of<'a>(name: &str, target: Option<&Type<'a>>) -> Option<Type<'a>> {
    let is_in = |names: &str| names.split(' ').any(|other| other == name);
    Some(match name {
        "uint" => Type::Uint,
        "asApproximateFloat" | "double" => Type::Double,
        "bytes" | "base64.decode" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "findAll" | "split" => Type::List(Box::new(Type::String)),
        "optional.none" => Type::Optional(Box::new(Type::Dyn)),
        "or" => target.cloned().unwrap_or(Type::Dyn),
        "value" | "orValue" => match target {
            Some(Type::Optional(inner)) => (**inner).clone(),
            _ => Type::Dyn,
        },
        _ if is_in(BOOL_FUNCTIONS) => Type::Bool,
        _ if is_in(INT_FUNCTIONS) => Type::Int,
        _ if is_in(STRING_FUNCTIONS) => Type::String,
        _ if is_in(OTHER_FUNCTIONS) => Type::Dyn,
        _ => return None,
    })
}
