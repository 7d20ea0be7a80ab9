//! generateBackendAddr: the address of a pod, a service's node port or an endpoint of a service.

mod variants;

use super::prelude::*;
use std::collections::HashMap;
use variants::{Variant, sent_as};

pub(super) const CHECKS: &[&Check] = &[
    &GEN_01, &GEN_02, &GEN_03, &GEN_04, &GEN_05, &GEN_06, &GEN_07, &GEN_08, &GEN_09, &GEN_10,
    &GEN_11,
];

/// Why generateBackendAddr has to return an address for a complete request.
const COMPLETE: &str = "since the backend has everything that an address consists of";

/// Requires an address, for the reason `since`.
async fn address(
    lab: &Lab,
    call: &WebhookCall,
    since: &str,
) -> CheckOutcome<(String, DriverReply)> {
    let reply = lab.succeeds(call, since).await?;
    let addr = reply.backend_addr().unwrap_or_default().to_owned();
    let expected = format!("a backendAddr that is not empty, {since}");
    reply.check(!addr.is_empty(), expected, describe(&reply))?;
    Ok((addr, reply))
}

/// [`address`] as part of the setup.
async fn given_address(lab: &Lab, backend: &Backend) -> CheckOutcome<String> {
    let given = address(lab, &backend.generate(), COMPLETE).await;
    Ok(given.blocked_by(backend.source.prerequisite())?.0)
}

/// [`given_address`], verified to be the same each time, for comparisons.
async fn stable_address(lab: &Lab, backend: &Backend) -> CheckOutcome<String> {
    let first = given_address(lab, backend).await?;
    let again = given_address(lab, backend).await?;
    let expected = format!("backendAddr {first:?} each time");
    Failure::unless(again == first, expected, format!("backendAddr {again:?}"))
        .blocked_by("GEN-03")?;
    Ok(first)
}

/// Describes a Succ with or without an address.
fn describe(reply: &DriverReply) -> String {
    match reply.field("backendAddr") {
        None => "status Succ without a backendAddr".to_owned(),
        Some(value) => format!("status Succ with backendAddr {value}"),
    }
}

check! { GEN_01 = gen_01, Gen, needs [LoadBalancer, Feature(PodBackends)],
    why "The address is stored before anything is registered. If it is empty, the controller \
         retries indefinitely, and the pod gets no traffic.",
    source "LBCF webhook specification, generateBackendAddr; b119, b120",
    typical "podBackend.pod is parsed as JSON text, as in the specification's sample, but it is \
             an object; parameters are required, but controllers in the field send null; or the \
             address is returned under another name.",
}

async fn gen_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let call = lab.pod_backend(&lb).generate();
    address(lab, &call, COMPLETE).await.map(drop)
}

check! { GEN_02 = gen_02, Gen, needs [LoadBalancer, Feature(ServiceBackends)],
    why "The address is stored before anything is registered. If it is empty, the controller \
         retries indefinitely, and the node gets no traffic.",
    source "LBCF webhook specification, generateBackendAddr; b112, b120, b153",
    typical "serviceBackend.service is parsed as JSON text, as in the specification's sample, but \
             it is an object; or the node's addresses are read from nodeAddress, but the field is \
             nodeAddresses.",
}

async fn gen_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let call = lab.service_backend(&lb).generate();
    address(lab, &call, COMPLETE).await.map(drop)
}

check! { GEN_03 = gen_03, Gen, needs [LoadBalancer, GeneratedBackend],
    why "The load balancer and the address identify a registered backend. If a response is lost \
         and the next one differs, the first address can stay registered indefinitely.",
    source "Original controller, backend_controller (b119, b122)",
    typical "The address contains something random, a counter, the time or the retryID. Derive it \
             only from the pod or the service, the node and the port.",
}

async fn gen_03(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&lb) {
        let first = given_address(lab, &backend).await?;
        for _ in 1..lab.repeats().max(2) {
            let (again, reply) = address(lab, &backend.generate(), COMPLETE).await?;
            let source = backend.source.backend_type();
            let expected = format!("backendAddr {first:?}, as before for the same {source}");
            reply.check(again == first, expected, format!("backendAddr {again:?}"))?;
        }
    }
    Ok(())
}

check! { GEN_04 = gen_04, Gen, needs [LoadBalancer, GeneratedBackend],
    why "For the load balancer two backends with one address are the same. One of them gets no \
         traffic of its own, and deregistering either deregisters both.",
    source "Original controller, backend_controller (b122, u20)",
    typical "The address omits the port, uses the pod's name without its namespace, or uses a \
             service's port instead of its node port.",
}

async fn gen_04(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    if lab.has(Feature::PodBackends) {
        all_differ(lab, variants::pods(lab, &lb)).await?;
    }
    if lab.has(Feature::ServiceBackends) {
        all_differ(lab, variants::services(lab, &lb)).await?;
    }
    Ok(())
}

async fn all_differ(lab: &Lab, variants: Vec<Variant>) -> CheckOutcome {
    let mut owners: HashMap<String, &'static str> = HashMap::new();
    for (what, backend) in variants {
        let addr = given_address(lab, &backend).await?;
        if let Some(other) = owners.insert(addr.clone(), what) {
            let got = format!("backendAddr {addr:?} for {other} and for {what}");
            return Err(Failure::new("a different address for each backend", got).into());
        }
    }
    Ok(())
}

check! { GEN_05 = gen_05, Gen, needs [LoadBalancer, GeneratedBackend],
    why "The specification has parameters in this request, but the original controller leaves \
         them null. A driver that requires them never gets a backend registered there.",
    source "Original controller, generatePodAddr (b120, b152, u11, d4)",
    typical "parameters is accessed without a check for null. Derive the address without it, and \
             read parameters in ensureBackend.",
}

async fn gen_05(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&lb) {
        let parameters = json!(backend.parameters);
        let with = backend.generate().with("parameters", parameters);
        let with = address(lab, &with, "also with parameters, as in the specification").await;
        let null = backend.generate().with("parameters", Value::Null);
        let since = "also with parameters null, as the original controller sends it";
        let null = address(lab, &null, since).await;
        if with.is_err() {
            // The missing address does not depend on parameters.
            null.blocked_by(backend.source.prerequisite())?;
        } else {
            null?;
        }
        let (with, _) = with?;
        let stable = stable_address(lab, &backend).await?;

        let absent = backend.generate().without("parameters");
        let absent = absent.without("namespace").without("name").unusual();
        let (absent, reply) = address(lab, &absent, "also without parameters").await?;
        is_same(&absent, &stable, "without parameters", &reply)?;
        if with != stable {
            // The specification allows it.
            lab.note(format!(
                "the address of a {} depends on parameters: it does not follow their changes",
                backend.source.backend_type()
            ));
        }
    }
    Ok(())
}

check! { GEN_06 = gen_06, Gen, observer Listed,
    needs [LoadBalancer, GeneratedBackend],
    why "The controller stores the address before it registers anything, so that it can \
         deregister what it registered. If it crashes before, nothing refers to a backend that is \
         registered already.",
    source "LBCF webhook specification, generateBackendAddr; b119, b123",
    typical "The backend is registered together with the generation of its address, because one \
             call to the cloud does both. Register it in ensureBackend.",
}

async fn gen_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let before = lab.given_observed(&lb.lb_info).await?;
    let mut addresses = Vec::new();
    for backend in lab.generated_backends(&lb) {
        for _ in 0..lab.repeats().max(1) {
            addresses.push(given_address(lab, &backend).await?);
        }
    }
    let since = "since the check only requested addresses";
    if let Some(now) = lab.given_observed(&lb.lb_info).await?
        && let Some(addr) = addresses.iter().find(|addr| now.bindings(addr) > 0)
    {
        let expected = format!("{addr} not registered, {since}");
        return Err(Failure::new(expected, "it is registered").into());
    }
    lab.is_unchanged(&lb.lb_info, before.as_ref(), since).await
}

check! { GEN_07 = gen_07, Gen, needs [LoadBalancer, GeneratedBackend],
    why "Drivers and controllers of the earlier edition use portNumber only, those of the later \
         one port. A driver that reads both works with either.",
    source "Original controller, PortSelector (b24, b154)",
    typical "Only one of the names is read, so that the port becomes 0 or undefined; or a missing \
             protocol is an error.",
}

async fn gen_07(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&lb) {
        let complete = stable_address(lab, &backend).await?;
        for (how, without) in [
            ("with port alone", "portNumber"),
            ("with portNumber alone", "port"),
            ("without a protocol", "protocol"),
        ] {
            let sent = sent_as(&backend, |sent| {
                if let Some(port) = sent.get_mut("port").and_then(Value::as_object_mut) {
                    port.remove(without);
                }
            });
            let since = format!("also {how}: {COMPLETE}");
            let (addr, reply) = address(lab, &sent.generate().unusual(), &since).await?;
            is_same(&addr, &complete, how, &reply)?;
        }
    }
    Ok(())
}

fn is_same(addr: &str, expected: &str, how: &str, reply: &DriverReply) -> CheckOutcome {
    let is_same = addr == expected;
    let expected = format!("backendAddr {expected:?} {how}, as for the same backend otherwise");
    reply.check(is_same, expected, format!("backendAddr {addr:?}"))
}

check! { GEN_08 = gen_08, Gen, needs [LoadBalancer],
    why "The controller requests an empty address again without a message to the user. An address \
         such as \"undefined:8080\" is registered, and its traffic is lost.",
    source "Original controller, backend_controller (b119, b120); derived",
    typical "The address is built without checking its parts; or an unsupported type of backend \
             falls through to Succ.",
}

async fn gen_08(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    if lab.has(Feature::PodBackends) {
        without_ip(lab, &lb).await?;
    }
    for (feature, backend) in [
        (Feature::PodBackends, lab.pod_backend(&lb)),
        (Feature::ServiceBackends, lab.service_backend(&lb)),
        (Feature::EndpointBackends, lab.endpoint_backend(&lb)),
    ] {
        if lab.has(feature) {
            continue;
        }
        let reply = lab.call(&backend.generate().unusual()).await;
        let since = format!("since the fixture's features do not name {feature}");
        if no_success(&reply, &since)?.is_some() {
            lab.note(format!(
                "the driver returns an address, although the fixture's features do not name {feature}"
            ));
        }
    }
    let nothing = lab.pod_backend(&lb).of(Source::Static);
    let reply = lab.call(&nothing.generate().invalid()).await;
    let expected = "not Succ, since podBackend and serviceBackend are both null";
    let has_succeeded = reply.status() == Some(Status::Succ);
    reply.check(!has_succeeded, expected, describe(&reply))
}

/// Pods that have not started yet.
async fn without_ip(lab: &Lab, lb: &LoadBalancer) -> CheckOutcome {
    let mut seen: Option<String> = None;
    for _ in 0..2 {
        let pod = lab.pod_backend(lb);
        let addr = given_address(lab, &pod).await?;
        let pending = sent_as(&pod, |sent| {
            sent["pod"]["status"] = json!({"phase": "Pending"});
        });
        let reply = lab.call(&pending.generate().unusual()).await;
        let since = "since the pod has no podIP yet";
        let Some(without) = no_success(&reply, since)? else {
            continue;
        };
        // Some clouds identify pods by name: their addresses do not contain the IP, and are unique.
        let is_right = !addr.contains(ip_of(&pod)) && seen.as_ref() != Some(&without);
        let expected = format!("Fail with a msg, or Running, {since}");
        reply.check(is_right, expected, describe(&reply))?;
        seen = Some(without);
    }
    if seen.is_some() {
        lab.note("addresses do not depend on the pod's IP: pods without one have them, too");
    }
    Ok(())
}

/// Requires Fail with a message, or Running; an address in a Succ is for the caller to verify.
fn no_success(reply: &DriverReply, since: &str) -> CheckOutcome<Option<String>> {
    match reply.any_status(since)? {
        Status::Running => Ok(None),
        Status::Fail => reply.has_msg().map(|_| None),
        Status::Succ => {
            let addr = reply.backend_addr();
            let expected = format!("Fail with a msg, or Running, {since}");
            reply.check(addr.is_some(), expected, describe(reply))?;
            Ok(addr.map(str::to_owned))
        }
    }
}

fn ip_of(backend: &Backend) -> &str {
    let sent = backend.source.sent();
    sent.and_then(|sent| sent["pod"]["status"]["podIP"].as_str())
        .unwrap_or_default()
}

check! { GEN_09 = gen_09, Gen, needs [LoadBalancer, Feature(PodBackends)],
    why "Controllers that register the endpoints of a service send both. A driver that refuses \
         what it does not know, or what it takes for two backends, registers none of them.",
    source "d66; WIRE-08",
    typical "Request bodies are decoded strictly; or the first member whose name ends with \
             Backend is taken for the backend.",
}

async fn gen_09(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let pod = lab.pod_backend(&lb);
    let given = stable_address(lab, &pod).await?;
    let endpoint = pod.source.sent().map(of_pod).unwrap_or_default();
    let both = pod.generate().with("endpointBackend", endpoint);
    let (addr, reply) = address(lab, &both, COMPLETE).await?;
    if addr == given {
        return Ok(());
    }
    // A cloud may know endpoints by another form of address, but it is the same each time.
    let (again, _) = address(lab, &both, COMPLETE).await?;
    let expected = format!("backendAddr {addr:?}, as before for the same endpoint");
    reply.check(again == addr, expected, format!("backendAddr {again:?}"))?;
    lab.note("the address of a pod is another one where the request has endpointBackend");
    Ok(())
}

/// The endpoint that a service of the pod has.
fn of_pod(sent: &Value) -> Value {
    let port = &sent["port"];
    json!({
        "address": sent["pod"]["status"]["podIP"], "port": port["port"],
        "protocol": port["protocol"], "addressType": "IPv4", "nodeName": "node-1",
        "serving": true, "terminating": false,
        "service": {
            "namespace": "lbcf-conformance", "name": "web", "portName": "http",
            "port": {"port": 80, "portNumber": 80, "protocol": "TCP"},
        },
    })
}

check! { GEN_10 = gen_10, Gen, needs [LoadBalancer, Feature(EndpointBackends)],
    why "Such endpoints are in slices made by hand, for what runs outside of the cluster. If the \
         address is empty, the controller retries indefinitely; if two are equal, one of them \
         gets no traffic.",
    source "d66; GEN-01, GEN-04",
    typical "Only podBackend and serviceBackend are read; or the address is that of the service, \
             which all of its endpoints share.",
}

async fn gen_10(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let mut seen: Option<String> = None;
    for _ in 0..2 {
        let backend = lab.endpoint_backend(&lb);
        address(lab, &backend.generate(), COMPLETE).await?;
        let addr = stable_address(lab, &backend).await?;
        if seen.as_ref() == Some(&addr) {
            let reply = lab.call(&backend.generate()).await;
            let expected = "another backendAddr than that of another endpoint of the service";
            return Err(reply.failed(expected, format!("backendAddr {addr:?}")));
        }
        seen = Some(addr);
    }
    Ok(())
}

check! { GEN_11 = gen_11, Gen, needs [LoadBalancer, Feature(PodBackends)],
    why "A DNS server listens on one port by TCP and UDP. With one address for both, the second registration changes \
         nothing, and deregistering either removes both.",
    source "derived: LBCF webhook specification, identity of backends; b122",
    typical "The address omits the protocol. Add it, or refuse a protocol that the load balancer does not have.",
}

async fn gen_11(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let tcp = lab.pod_backend(&lb);
    let addr = stable_address(lab, &tcp).await?;
    let udp = sent_as(&tcp, variants::to_udp);
    let reply = lab.until_done(&udp.generate()).await?;
    let expected = format!("another address than {addr:?} for UDP, or Fail");
    let is_same = reply.status() == Some(Status::Succ) && reply.backend_addr() == Some(&addr);
    reply.check(!is_same, expected, "the same")
}
