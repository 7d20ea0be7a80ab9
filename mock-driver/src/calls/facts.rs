//! The fields of a request that rules and the journal need. Those that are not as specified count as absent
//! here; the SDK says what is wrong with it.

use crate::backend_address::BackendAddress;
use crate::cloud::Cloud;
use crate::fields::LbInfo;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{fields, wire};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields of any request, without pods and services.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnyRequest {
    #[serde(rename = "recordID")]
    record_id: Option<String>,
    #[serde(rename = "retryID")]
    retry_id: Option<String>,
    dry_run: Option<bool>,
    lb_spec: Option<BTreeMap<String, Value>>,
    lb_info: Option<BTreeMap<String, Value>>,
    attributes: Option<BTreeMap<String, Value>>,
    lb_attributes: Option<BTreeMap<String, Value>>,
    parameters: Option<BTreeMap<String, Value>>,
    backend_addr: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct CallFacts {
    pub(super) record_id: String,
    pub(super) retry_id: String,
    pub(super) dry_run: bool,
    /// Empty until the load balancer has an identity.
    pub(super) lb_info: StringMap,
    /// The values of `lbInfo` or, without it, of `lbSpec`.
    pub(super) load_balancer: Vec<String>,
    /// The address in the forms that rules match; the shortest one is the last.
    pub(super) address: Vec<String>,
    /// Parameters, then attributes: those of the backend come first.
    pub(super) own_maps: [StringMap; 3],
    has_attributes: bool,
}

impl CallFacts {
    pub(super) fn read(body: &[u8]) -> Self {
        let request: AnyRequest = wire::from_slice(body).unwrap_or_default();
        let lb_info = texts(request.lb_info);
        let identity = if lb_info.is_empty() {
            texts(request.lb_spec)
        } else {
            lb_info.clone()
        };
        let has_attributes = request.attributes.is_some() || request.lb_attributes.is_some();
        Self {
            record_id: request.record_id.unwrap_or_default(),
            retry_id: request.retry_id.unwrap_or_default(),
            dry_run: request.dry_run.unwrap_or_default(),
            lb_info,
            load_balancer: identity.into_values().collect(),
            address: request.backend_addr.map(forms).unwrap_or_default(),
            own_maps: [
                request.parameters,
                request.attributes,
                request.lb_attributes,
            ]
            .map(texts),
            has_attributes,
        }
    }

    /// The load balancer's attributes, where the request has an identity and no attributes.
    pub(super) fn attributes_in_cloud(&self, cloud: &Cloud) -> Option<StringMap> {
        if self.has_attributes || self.lb_info.is_empty() {
            return None;
        }
        let lb_info: LbInfo = fields::read("lbInfo", &self.lb_info).ok()?;
        cloud.stored_attributes(&lb_info.into())
    }
}

/// An identity in one word: `lb-1234/lbl-2234`.
pub(super) fn shown(lb_info: &StringMap) -> String {
    let values: Vec<&str> = lb_info.values().map(String::as_str).collect();
    values.join("/")
}

/// The wire has maps of strings; some controllers write numbers.
pub(super) fn texts(map: Option<BTreeMap<String, Value>>) -> StringMap {
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    let entries = map.unwrap_or_default().into_iter();
    entries
        .filter_map(|(key, value)| Some((key, text(value)?)))
        .collect()
}

/// An address as given and, where it is the driver's own, its IP and `ip:port`.
fn forms(address: String) -> Vec<String> {
    let own = BackendAddress::read(&address).map(|own| [own.ip.clone(), own.ip_and_port()]);
    [address]
        .into_iter()
        .chain(own.into_iter().flatten())
        .collect()
}
