//! A list of objects that are kept as text.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct RawList {
    pub(crate) metadata: ListMeta,
    /// In the order of the list, with their names.
    #[serde(deserialize_with = "named")]
    pub(crate) items: Vec<(String, Box<RawValue>)>,
}

#[derive(Deserialize)]
struct Named {
    metadata: Name,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

fn named<'de, D: Deserializer<'de>>(items: D) -> Result<Vec<(String, Box<RawValue>)>, D::Error> {
    let items = Vec::<Box<RawValue>>::deserialize(items)?;
    let named = items.into_iter().map(|item| {
        let named: Named = serde_json::from_str(item.get()).map_err(D::Error::custom)?;
        Ok((named.metadata.name, item))
    });
    named.collect()
}
