//! Backends for which there can be no address.

use super::variants::sent_as;
use super::{address_in, given_address, no_address};
use crate::check::{Check, Company, Feature, Group, Level, Need, Observer};
use crate::lab::{Answer, Backend, Lab, LoadBalancer, Source, Status};
use crate::verdict::{NotPassed, Verdict};
use serde_json::{Value, json};

/// No address is told by no success.
pub(super) static GEN_08: Check = Check {
    id: "GEN-08",
    level: Level::Should,
    group: Group::Gen,
    rule: "Where there is no address, because the pod has no IP yet or the driver has no such backends, the answer is Fail with a msg or Running, never Succ",
    why: "An empty address is asked for again without a word to anybody. One made of nothing, \
          such as \"undefined:8080\", is registered and gets traffic that goes nowhere.",
    source: "The original's code, backend_controller (b119, b120); derived",
    typical: "The address is put together without a look at its parts; or a type of backends that \
              is not supported falls through to Succ.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(gen_08(lab)),
};

async fn gen_08(lab: &Lab) -> Verdict {
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
    let mut nothing = lab.pod_backend(&load_balancer);
    nothing.source = Source::Static;
    let answer = lab.call(&nothing.generate().improper()).await;
    if answer.status() == Some(Status::Succ) {
        let expected = "anything but Succ, since podBackend and serviceBackend are both null";
        return Err(answer.failed(expected, told(&answer)));
    }
    Ok(())
}

/// Pods that are not started yet.
async fn without_ip(lab: &Lab, load_balancer: &LoadBalancer) -> Result<(), NotPassed> {
    let mut seen: Option<String> = None;
    for _ in 0..2 {
        let pod = lab.pod_backend(load_balancer);
        let addr = given_address(lab, &pod).await?;
        let pending = sent_as(&pod, |sent| {
            if let Some(pod) = sent.get_mut("pod").and_then(Value::as_object_mut) {
                pod.insert("status".to_owned(), json!({"phase": "Pending"}));
            }
        });
        let answer = lab.call(&pending.generate().unusual()).await;
        let since = "since the pod has no podIP yet";
        let Some(without) = no_success(&answer, since)? else {
            continue;
        };
        // There are clouds that know pods by name: their addresses do not have the IP in them, and
        // are never alike.
        let ip = ip_of(&pod);
        if addr.contains(&ip) || seen.as_ref() == Some(&without) {
            let expected = format!("Fail with a msg, or Running, {since}");
            return Err(answer.failed(expected, told(&answer)));
        }
        seen = Some(without);
    }
    if seen.is_some() {
        lab.note("addresses do not depend on the pod's IP: pods without one have them, too");
    }
    Ok(())
}

/// Backends that the driver does not have, as its features say.
async fn undeclared(lab: &Lab, backend: &Backend, feature: &str) -> Result<(), NotPassed> {
    let answer = lab.call(&backend.generate().unusual()).await;
    let since = format!("since the fixture's features do not name {feature}");
    if no_success(&answer, &since)?.is_some() {
        lab.note(format!(
            "there is an address for what the fixture's features do not name: {feature}"
        ));
    }
    Ok(())
}

/// The address, if there is one after all. What is none has to be told in an answer, with a
/// message.
fn no_success(answer: &Answer, since: &str) -> Result<Option<String>, NotPassed> {
    let expected = || format!("Fail with a msg, or Running, {since}");
    match answer.any_status(since)? {
        Status::Running => Ok(None),
        Status::Fail => answer.has_msg().map(|_| None),
        Status::Succ => match address_in(answer) {
            Some(addr) => Ok(Some(addr)),
            None => Err(answer.failed(expected(), no_address(answer))),
        },
    }
}

fn told(answer: &Answer) -> String {
    match address_in(answer) {
        Some(addr) => format!("status Succ with backendAddr {addr:?}"),
        None => no_address(answer),
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
