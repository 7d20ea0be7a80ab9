//! The backends of a load balancer as listBackends returns them: the view of the cloud where no observer shows it.

use super::Lab;
use crate::call::{DriverReply, Status, WebhookCall, in_any_case};
use crate::classification::Feature;
use crate::observer::{ObservedBackend, ObservedLoadBalancer};
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::webhook::{ListBackends, StringMap};
use serde_json::{Map, Value};

/// A call of listBackends.
pub(crate) fn list(lab: &Lab, lb_info: &StringMap) -> WebhookCall {
    WebhookCall::of::<ListBackends>(&ListBackends {
        record_id: format!("listBackends({})", lab.uid()),
        lb_info: lb_info.clone(),
        ..Default::default()
    })
}

/// A backend in a list.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) addr: String,
    /// `None` when the driver does not know them.
    pub(crate) parameters: Option<Map<String, Value>>,
    /// Empty when it is missing.
    pub(crate) record_id: String,
}

/// The backends in a response.
///
/// # Errors
/// [`CheckError::Failed`](crate::outcome::CheckError::Failed), unless they are a list of backends.
pub(crate) fn backends(reply: &DriverReply) -> CheckOutcome<Vec<Listed>> {
    let expected = "backends as an array of objects, each with a backendAddr, and with parameters and \
                    recordID if the driver knows them";
    reply.list("backends", expected, |entry| read(entry.as_object()?))
}

fn read(entry: &Map<String, Value>) -> Option<Listed> {
    let known = |name: &str| in_any_case(entry, name).filter(|value| !value.is_null());
    let addr = known("backendAddr")?.as_str()?.to_owned();
    let parameters = known("parameters").map(|map| map.as_object().cloned());
    let record_id = known("recordID")
        .map_or(Some(""), Value::as_str)?
        .to_owned();
    Some(Listed {
        addr: Some(addr).filter(|addr| !addr.is_empty())?,
        parameters: match parameters {
            Some(parameters) => Some(parameters?),
            None => None,
        },
        record_id,
    })
}

impl Lab {
    /// The load balancer by its list; its attributes are not in it, and parameters need not be. `None` without
    /// listBackends, or if it fails, which LST-01 judges.
    pub(super) async fn seen_in_list(&self, lb_info: &StringMap) -> Option<ObservedLoadBalancer> {
        if !self.has(Feature::ListBackends) {
            return None;
        }
        let reply = self.until_done(&list(self, lb_info)).await.ok()?;
        let listed = backends(&reply).ok()?;
        let mut backends: Vec<_> = listed.into_iter().map(observed).collect();
        backends.sort();
        (reply.status() == Some(Status::Succ)).then(|| ObservedLoadBalancer {
            lb_info: lb_info.clone(),
            attributes: StringMap::new(),
            backends,
        })
    }
}

fn observed(listed: Listed) -> ObservedBackend {
    let parameters = listed.parameters.unwrap_or_default().into_iter();
    let text = |value: Value| value.as_str().map(str::to_owned);
    let parameters = parameters.filter_map(|(key, value)| Some((key, text(value)?)));
    ObservedBackend {
        addr: listed.addr,
        parameters: parameters.collect(),
    }
}
