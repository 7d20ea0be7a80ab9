//! The built-in kinds.
//!
//! A kind that only has to be kept and watched costs a line here. What else a cluster does with
//! pods, namespaces or definitions is in `agents`; kinds without an agent are kept as an API server
//! without controllers keeps them.

mod access;
mod core;
mod devices;
mod extension;
mod network;
mod reviews;
mod storage;
mod workloads;

use std::borrow::Cow;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource as Named};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Kind, View};
use crate::store::Resource;

/// A kind as its file describes it; names and scope are read off its type.
struct Row {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
    short: &'static [&'static str],
    category: Option<&'static str>,
    traits: &'static [Trait],
    typed: Typed,
    schema: TypeSchema,
}

/// Decodes an object as its type and encodes it again.
pub(crate) type Typed = fn(Value) -> Result<Value, serde_json::Error>;

/// How documents describe a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSchema {
    /// The type's name in documents.
    pub(crate) name: fn() -> Cow<'static, str>,
    /// Adds the type and all that it is made of.
    pub(crate) add: fn(&mut SchemaGenerator),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    /// Has a status subresource.
    Status,
    /// Counts generations.
    Generation,
    /// A deletion answers with the object.
    ReturnsDeleted,
    /// An update must name the version it is based on.
    Versioned,
}

/// Whether objects are in namespaces, read off a type's scope.
trait Scope {
    const NAMESPACED: bool;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

const fn row<T>(traits: &'static [Trait]) -> Row
where
    T: Named<Scope: Scope> + DeserializeOwned + Serialize + JsonSchema,
{
    Row {
        group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        namespaced: <T::Scope as Scope>::NAMESPACED,
        short: &[],
        category: None,
        traits,
        typed: through::<T>,
        schema: TypeSchema {
            name: T::schema_name,
            add: described::<T>,
        },
    }
}

fn through<T: DeserializeOwned + Serialize>(value: Value) -> Result<Value, serde_json::Error> {
    serde_json::from_value::<T>(value).and_then(|typed| serde_json::to_value(&typed))
}

fn described<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// All built-in kinds, in the order in which discovery lists their groups.
pub(super) fn kinds() -> Vec<Kind> {
    let files = [
        core::ROWS,
        workloads::ROWS,
        network::ROWS,
        access::ROWS,
        storage::ROWS,
        devices::ROWS,
        extension::ROWS,
    ];
    files
        .iter()
        .flat_map(|rows| rows.iter())
        .map(Row::kind)
        .collect()
}

/// The kinds that are answered and not kept.
pub(super) fn reviews() -> Vec<Kind> {
    reviews::ROWS.iter().map(Row::kind).collect()
}

impl Row {
    const fn short(self, short: &'static [&'static str]) -> Self {
        Self { short, ..self }
    }

    const fn category(self, category: &'static str) -> Self {
        Self {
            category: Some(category),
            ..self
        }
    }

    fn kind(&self) -> Kind {
        let is = |t: Trait| self.traits.contains(&t);
        let owned = |s: &str| s.to_owned();
        let events_v1 = self.group == "events.k8s.io";
        Kind {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.to_owned(),
            singular: self.kind.to_lowercase(),
            short_names: self.short.iter().copied().map(owned).collect(),
            categories: self.category.into_iter().map(owned).collect(),
            namespaced: self.namespaced,
            has_status: is(Trait::Status),
            has_generation: is(Trait::Generation),
            returns_deleted: is(Trait::ReturnsDeleted),
            unconditional_update: !is(Trait::Versioned),
            view: match (self.group, self.version) {
                ("events.k8s.io", _) => View::EventsV1,
                ("autoscaling", "v1") => View::AutoscalerV1,
                _ => View::Plain,
            },
            // Both event APIs read and write the same objects.
            storage: Resource::new(if events_v1 { "" } else { self.group }, self.plural),
            typed: Some(self.typed),
            schema: Some(self.schema),
            custom: None,
        }
    }
}
