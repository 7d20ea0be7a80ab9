//! The call, and the backends in its response.

use crate::checks::prelude::*;
use lbcf_driver_sdk::webhook::{ListBackends, ListBackendsRequest};

pub(in crate::checks) fn list(lab: &Lab, lb_info: &StringMap) -> WebhookCall {
    WebhookCall::of::<ListBackends>(&ListBackendsRequest {
        record_id: format!("listBackends({})", lab.uid()),
        lb_info: lb_info.clone(),
        ..Default::default()
    })
}

#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) addr: String,
    /// `None` when the driver does not know them.
    pub(super) parameters: Option<Map<String, Value>>,
    /// Empty when it is missing.
    pub(super) record_id: String,
}

/// A response with Succ, and its backends.
pub(super) struct List {
    pub(super) reply: DriverReply,
    pub(super) backends: Vec<Listed>,
}

impl List {
    pub(super) fn find(&self, addr: &str) -> Option<&Listed> {
        self.backends.iter().find(|listed| listed.addr == addr)
    }

    /// The backend with this address.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it is not listed.
    pub(super) fn has(&self, addr: &str) -> Result<&Listed, CheckError> {
        self.find(addr).ok_or_else(|| {
            let expected = format!("backend {addr} in the list, since it is registered");
            let addresses: Vec<&str> = self.backends.iter().map(|it| &*it.addr).collect();
            self.reply
                .failed(expected, format!("the listed addresses are {addresses:?}"))
        })
    }
}

/// Lists the backends of a load balancer that exists.
///
/// # Errors
/// [`CheckError::Failed`], unless the driver succeeds with a list of backends.
pub(super) async fn listed(lab: &Lab, lb_info: &StringMap) -> Result<List, CheckError> {
    let since = "since the load balancer exists and the fixture's features name listBackends";
    let reply = lab.succeeds(&list(lab, lb_info), since).await?;
    let backends = backends(&reply)?;
    Ok(List { reply, backends })
}

/// Lists the backends of a load balancer that may not exist; `None` after Fail.
pub(super) async fn listed_if_any(
    lab: &Lab,
    lb_info: &StringMap,
) -> Result<Option<List>, CheckError> {
    let reply = lab.until_done(&list(lab, lb_info)).await?;
    if reply.status() != Some(Status::Succ) {
        return Ok(None);
    }
    let backends = backends(&reply)?;
    Ok(Some(List { reply, backends }))
}

fn backends(reply: &DriverReply) -> Result<Vec<Listed>, CheckError> {
    let wrong = |got: String| {
        let expected = "backends as an array of objects, each with a backendAddr, and with \
                        parameters and recordID if the driver knows them";
        Err(reply.failed(expected, got))
    };
    let entries = match reply.field("backends") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(other) => return wrong(format!("backends {other}")),
    };
    let mut backends = Vec::new();
    for entry in entries {
        match entry.as_object().and_then(read) {
            Some(listed) => backends.push(listed),
            None => return wrong(format!("an entry {entry}")),
        }
    }
    Ok(backends)
}

fn read(entry: &Map<String, Value>) -> Option<Listed> {
    let known = |name: &str| in_any_case(entry, name).filter(|value| !value.is_null());
    Some(Listed {
        addr: known("backendAddr")?
            .as_str()
            .filter(|addr| !addr.is_empty())?
            .to_owned(),
        parameters: match known("parameters") {
            Some(parameters) => Some(parameters.as_object()?.clone()),
            None => None,
        },
        record_id: match known("recordID") {
            Some(record_id) => record_id.as_str()?.to_owned(),
            None => String::new(),
        },
    })
}
