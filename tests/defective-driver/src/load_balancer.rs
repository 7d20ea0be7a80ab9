//! Defects of `ensureLoadBalancer` and `deleteLoadBalancer`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::ensure_backend::LATER;
use crate::history;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::azure::{AzureApi, PublicIp, ResourceId};
use serde_json::json;
use std::time::Duration;

/// The attribute in which [`Defect::EnsureLbTouches`] counts.
const LAST_RUN: &str = "lastRun";

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    if request.does("ensureLoadBalancer") {
        before_ensure(defect, driver, request)
    } else if request.does("deleteLoadBalancer") {
        before_delete(defect, driver, request)
    } else {
        None
    }
}

fn before_ensure(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    let desired = request.map("attributes");
    let current = || attributes(driver, request);
    match defect {
        Defect::EnsureLbFailsWhenUnchanged if current().as_ref() == Some(&desired) => {
            Some(Reply::fail("InvalidParameter: nothing to modify"))
        }
        Defect::EnsureLbFailsOnRepeat => {
            let key = format!("{} {desired:?}", request.load_balancer_key());
            let repeated = driver.memory.count(defect.id(), &key) >= LATER;
            repeated.then(|| Reply::fail("too many changes"))
        }
        Defect::EnsureLbTouches => {
            request.noted = current().is_some_and(|mut current| {
                current.remove(LAST_RUN);
                current == desired
            });
            None
        }
        Defect::EnsureLbCachedByRecordId
            if driver.memory.contains(defect.id(), request.record_id()) =>
        {
            Some(Reply::succ())
        }
        Defect::EnsureLbMergesAttributes if is_map(request, "attributes") => {
            let mut merged = current().unwrap_or_default();
            merged.extend(desired);
            request.set("attributes", json!(merged));
            None
        }
        Defect::DriftNotRepaired => {
            let known = driver.memory.get(defect.id(), &request.load_balancer_key());
            (known == Some(json!(desired))).then(Reply::succ)
        }
        _ => None,
    }
}

/// Deletes the public IP before the load balancer that uses it, which the cloud refuses.
fn public_ip_first(driver: &Driver, request: &HookRequest) -> Option<Reply> {
    let lb_info = request.map("lbInfo");
    let id = ResourceId::new(lb_info.get("resourceGroup")?, lb_info.get("frontend")?);
    let api = AzureApi::new(driver.cloud.clone(), Duration::ZERO);
    let public_ip = api.get::<PublicIp>(&id).ok()??;
    let refused = api.delete::<PublicIp>(&id, public_ip.etag).err()?;
    Some(Reply::fail(&refused.to_string()))
}

fn before_delete(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    let no_info = request.map("lbInfo").is_empty();
    let loaded = || {
        let endpoint = request.endpoint();
        endpoint.is_some_and(|endpoint| !cloud_lookup::targets(&driver.cloud, &endpoint).is_empty())
    };
    match defect {
        Defect::AzureWrongOrder if driver.cloud.is_azure() => public_ip_first(driver, request),
        Defect::DeleteDoesNothing if !no_info => Some(Reply::succ()),
        Defect::DeleteLeavesLoadedLb if loaded() => Some(Reply::succ()),
        Defect::DeleteLoaded500 if loaded() => Some(Reply::crash("ResourceInUse")),
        Defect::DeleteAgainFails if !request.existed && request.deleted_before => {
            Some(Reply::fail("the load balancer was deleted"))
        }
        Defect::DeleteUnknownFails if !no_info && !request.existed && !request.deleted_before => {
            Some(Reply::fail("no such load balancer"))
        }
        Defect::DeleteNullFails if no_info => Some(Reply::fail("lbInfo is missing")),
        Defect::DeleteNullLeaks if no_info => Some(Reply::succ()),
        Defect::DeleteNull500 if no_info => {
            Some(Reply::crash("'NoneType' object is not subscriptable"))
        }
        Defect::DeleteEmptyDeletesAll if no_info && request.get("lbInfo") == Some(&json!({})) => {
            for made in cloud_lookup::created_instances(&driver.cloud) {
                let _ = driver.cloud.release(&made.token, &made.endpoint);
            }
            None
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if defect == Defect::DriftNotRepaired && request.does("createLoadBalancer") && reply.is_succ() {
        remember_attributes_of_new(defect, driver, request, reply);
    }
    if !request.does("ensureLoadBalancer") {
        return;
    }
    let names_missing_one = request.names_missing_lb();
    match defect {
        Defect::EnsureLbTouches if request.noted && reply.is_succ() => {
            if let Some(endpoint) = request.endpoint() {
                let number = driver
                    .memory
                    .count(defect.id(), &request.load_balancer_key());
                let mut attributes = request.map("attributes");
                attributes.insert(LAST_RUN.to_owned(), number.to_string());
                let _ = driver.cloud.set_attributes(&endpoint, attributes);
            }
        }
        Defect::EnsureLbCachedByRecordId if reply.is_succ() => {
            driver.memory.put(defect.id(), request.record_id(), true);
        }
        Defect::DriftNotRepaired if reply.is_succ() => {
            let attributes = json!(request.map("attributes"));
            driver
                .memory
                .put(defect.id(), &request.load_balancer_key(), attributes);
        }
        Defect::EnsureLbRefusedSucc if says_attributes(reply) => *reply = Reply::succ(),
        Defect::UnknownLbEnsured if names_missing_one => *reply = Reply::succ(),
        Defect::UnknownLb500 if names_missing_one => *reply = Reply::crash("NotFound"),
        Defect::GoneWithoutReason if names_missing_one => reply.remove("reason"),
        _ => {}
    }
}

fn says_attributes(reply: &Reply) -> bool {
    reply.message().starts_with("attributes")
}

/// Bad input stays as it is.
pub(crate) fn is_map(request: &HookRequest, name: &str) -> bool {
    request
        .get(name)
        .is_none_or(|it| it.is_object() || it.is_null())
}

fn remember_attributes_of_new(
    defect: Defect,
    driver: &Driver,
    request: &HookRequest,
    reply: &Reply,
) {
    let text = |name: &str| Some(reply.get("lbInfo")?.get(name)?.as_str()?.to_owned());
    if let (Some(instance), Some(listener)) = (history::instance_of(reply), text("lblID")) {
        let attributes = json!(request.map("attributes"));
        driver
            .memory
            .put(defect.id(), &format!("{instance}/{listener}"), attributes);
    }
}

fn attributes(driver: &Driver, request: &HookRequest) -> Option<StringMap> {
    let group = cloud_lookup::group(&driver.cloud, &request.endpoint()?)?;
    Some(group.attributes)
}
