//! A row of the table of built-in kinds.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource as Named};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::resources::kind::{TypeCheck, TypeSchema};
use crate::resources::{Conversion, Kind};
use crate::store::Resource;

/// A kind in the table; names and scope come from its type.
pub(super) struct KindRow {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
    short: &'static [&'static str],
    category: Option<&'static str>,
    traits: &'static [KindTrait],
    check_types: TypeCheck,
    schema: TypeSchema,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KindTrait {
    Status,
    Generation,
    /// A deletion responds with the object instead of a `Status`.
    ReturnsDeleted,
    /// An update must have a `resourceVersion`.
    Versioned,
}

/// The scope types of generated kinds.
pub(super) trait ResourceScope {
    const NAMESPACED: bool;
}

impl ResourceScope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl ResourceScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

pub(super) const fn row<T>(traits: &'static [KindTrait]) -> KindRow
where
    T: Named<Scope: ResourceScope> + DeserializeOwned + JsonSchema,
{
    KindRow {
        group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        namespaced: <T::Scope as ResourceScope>::NAMESPACED,
        short: &[],
        category: None,
        traits,
        check_types: check_types::<T>,
        schema: TypeSchema {
            name: T::schema_name,
            add: add_schema::<T>,
        },
    }
}

fn check_types<T: DeserializeOwned>(value: Value) -> Result<(), serde_json::Error> {
    serde_json::from_value::<T>(value).map(drop)
}

fn add_schema<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

impl KindRow {
    pub(super) const fn short(self, short: &'static [&'static str]) -> Self {
        Self { short, ..self }
    }

    pub(super) const fn category(self, category: &'static str) -> Self {
        Self {
            category: Some(category),
            ..self
        }
    }

    pub(super) fn kind(&self) -> Kind {
        let is = |t: KindTrait| self.traits.contains(&t);
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
            has_status: is(KindTrait::Status),
            has_generation: is(KindTrait::Generation),
            returns_deleted: is(KindTrait::ReturnsDeleted),
            unconditional_update: !is(KindTrait::Versioned),
            conversion: match (self.group, self.version) {
                ("events.k8s.io", _) => Conversion::EventsV1,
                ("autoscaling", "v1") => Conversion::AutoscalerV1,
                _ => Conversion::None,
            },
            // Both event APIs share their objects.
            storage: Resource::new(if events_v1 { "" } else { self.group }, self.plural),
            check_types: Some(self.check_types),
            schema: Some(self.schema),
            custom: None,
        }
    }
}
