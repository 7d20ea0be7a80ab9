//! Backends without a possible address.

use super::variants::sent_as;
use super::{describe, given_address};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::{Backend, DriverReply, Lab, LoadBalancer, Source, Status};
use crate::outcome::{CheckError, CheckOutcome};
use serde_json::{Value, json};

pub(super) static GEN_08: Check = Check {
    id: "GEN-08",
    rule: "Without an address, because the pod has no IP yet or the driver has no such backends, \
           generateBackendAddr returns Fail with a msg or Running, never Succ",
    why: "The controller requests an empty address again without a message to the user. An address \
          such as \"undefined:8080\" is registered, and its traffic is lost.",
    source: "Original controller, backend_controller (b119, b120); derived",
    typical: "The address is built without checking its parts; or an unsupported type of backend \
              falls through to Succ.",
    needs: &[Need::LoadBalancer],
    ..Check::should(Group::Gen, |lab| Box::pin(gen_08(lab)))
};

async fn gen_08(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    if lab.has(Feature::PodBackends) {
        without_ip(lab, &load_balancer).await?;
    } else {
        let pod = lab.pod_backend(&load_balancer);
        undeclared(lab, &pod, "backend.pod").await?;
    }
    if !lab.has(Feature::ServiceBackends) {
        let service = lab.service_backend(&load_balancer);
        undeclared(lab, &service, "backend.service").await?;
    }
    if !lab.has(Feature::EndpointBackends) {
        let endpoint = lab.endpoint_backend(&load_balancer);
        undeclared(lab, &endpoint, "backend.endpoint").await?;
    }
    let mut nothing = lab.pod_backend(&load_balancer);
    nothing.source = Source::Static;
    let reply = lab.call(&nothing.generate().invalid()).await;
    if reply.status() == Some(Status::Succ) {
        let expected = "not Succ, since podBackend and serviceBackend are both null";
        return Err(reply.failed(expected, describe(&reply)));
    }
    Ok(())
}

/// Pods that have not started yet.
async fn without_ip(lab: &Lab, load_balancer: &LoadBalancer) -> CheckOutcome {
    let mut seen: Option<String> = None;
    for _ in 0..2 {
        let pod = lab.pod_backend(load_balancer);
        let addr = given_address(lab, &pod).await?;
        let pending = sent_as(&pod, |sent| {
            if let Some(pod) = sent.get_mut("pod").and_then(Value::as_object_mut) {
                pod.insert("status".to_owned(), json!({"phase": "Pending"}));
            }
        });
        let reply = lab.call(&pending.generate().unusual()).await;
        let since = "since the pod has no podIP yet";
        let Some(without) = no_success(&reply, since)? else {
            continue;
        };
        // Some clouds identify pods by name: their addresses do not contain the IP, and are unique.
        let ip = ip_of(&pod);
        if addr.contains(&ip) || seen.as_ref() == Some(&without) {
            let expected = format!("Fail with a msg, or Running, {since}");
            return Err(reply.failed(expected, describe(&reply)));
        }
        seen = Some(without);
    }
    if seen.is_some() {
        lab.note("addresses do not depend on the pod's IP: pods without one have them, too");
    }
    Ok(())
}

/// Backends that the driver does not support according to its features.
async fn undeclared(lab: &Lab, backend: &Backend, feature: &str) -> CheckOutcome {
    let reply = lab.call(&backend.generate().unusual()).await;
    let since = format!("since the fixture's features do not name {feature}");
    if no_success(&reply, &since)?.is_some() {
        lab.note(format!(
            "the driver returns an address, although the fixture's features do not name {feature}"
        ));
    }
    Ok(())
}

/// Requires Fail with a message, or Running; an address in a Succ is for the caller to verify.
fn no_success(reply: &DriverReply, since: &str) -> Result<Option<String>, CheckError> {
    match reply.any_status(since)? {
        Status::Running => Ok(None),
        Status::Fail => reply.has_msg().map(|_| None),
        Status::Succ => match reply.backend_addr() {
            Some(addr) => Ok(Some(addr.to_owned())),
            None => {
                let expected = format!("Fail with a msg, or Running, {since}");
                Err(reply.failed(expected, describe(reply)))
            }
        },
    }
}

fn ip_of(backend: &Backend) -> String {
    match &backend.source {
        Source::Pod(sent) => sent["pod"]["status"]["podIP"].as_str(),
        _ => None,
    }
    .unwrap_or_default()
    .to_owned()
}
