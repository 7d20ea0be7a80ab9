//! Objects of Kubernetes in the OpenAPI document: `schemas.json` names what drivers need most of, and the objects have
//! the rest, too. [`KubernetesObject`](super::KubernetesObject) reads the same members.

use std::collections::BTreeMap;
use utoipa::openapi::schema::{AdditionalProperties, Object, Schema, SchemaType};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

fn schemas() -> BTreeMap<String, RefOr<Schema>> {
    // The document's drift test would fail if the file could not be read.
    let mut objects: BTreeMap<String, Object> =
        serde_json::from_str(include_str!("schemas.json")).unwrap_or_default();
    for object in objects.values_mut() {
        // A schema of anything: with `true` generators for Rust drop the members that have no name.
        let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        let rest = AdditionalProperties::RefOr(anything.build().into());
        object.additional_properties = Some(Box::new(rest));
    }
    let with_rest = |(name, object): (String, Object)| (name, object.into());
    objects.into_iter().map(with_rest).collect()
}

macro_rules! described_in_the_file {
    ($($name:ident),+) => {
        $(
            pub(crate) struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    schemas().remove(stringify!($name)).unwrap_or_default()
                }
            }

            impl ToSchema for $name {
                fn schemas(all: &mut Vec<(String, RefOr<Schema>)>) {
                    all.extend(schemas());
                }
            }
        )+
    };
}

described_in_the_file!(Pod, Service, NodeAddress);
