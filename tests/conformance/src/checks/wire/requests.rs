//! Requests that a driver has to read.

use super::verify::class_of;
use crate::check::{Check, Group, Need};
use crate::exchange::RequestKind;
use crate::lab::{
    Backend, DriverReply, Lab, LoadBalancer, Status, WebhookCall, healthz, validate_backend,
};
use crate::outcome::CheckOutcome;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Value, json};

pub(super) static WIRE_07: Check = Check {
    id: "WIRE-07",
    rule: "Each map but lbSpec may be null in a request",
    why: "Controllers in Go send an unset map as null: injectedInfo in the first ensureBackend, \
          lbInfo for a load balancer that was never created, attributes and parameters that the \
          user omitted. A driver that fails on null never registers or deletes anything.",
    source: "LBCF controller: nil maps (b152)",
    typical: "A type that accepts an object but not null, or a loop over the map without a check. \
              Read null as an empty map.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Wire, |lab| Box::pin(wire_07(lab)))
};

async fn wire_07(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    for (call, maps) in all_calls(&load_balancer, &backend) {
        for map in maps {
            let call = call.clone().with(map, Value::Null).unusual();
            let reply = lab.call(&call).await;
            is_valid(&reply, &format!("with {map}: null"))?;
        }
        let all = maps
            .iter()
            .fold(call, |call, map| call.with(map, Value::Null));
        let reply = lab.call(&all.unusual()).await;
        is_valid(&reply, "with every map null")?;
    }
    Ok(())
}

pub(super) static WIRE_08: Check = Check {
    id: "WIRE-08",
    rule: "The driver ignores unknown fields of a request",
    why: "Controllers of later editions send more: dryRun and lbAttributes were added, too. A \
          driver that rejects unknown fields stops working with the next controller.",
    source: "derived: fields were added to the specification before",
    typical: "A schema without additional properties (pydantic extra=\"forbid\", \
              deny_unknown_fields, DisallowUnknownFields).",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Wire, |lab| Box::pin(wire_08(lab)))
};

async fn wire_08(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    let content = |reply: &DriverReply| (reply.status(), reply.decision(), reply.healthy());
    for (call, _) in all_calls(&load_balancer, &backend) {
        let plain = lab.call(&call).await;
        let more = call
            .with("fieldOfALaterEdition", json!({"nested": [1, "two", null]}))
            .with("anotherField", "text")
            .unusual();
        let reply = lab.call(&more).await;
        is_valid(&reply, "with two unknown fields")?;
        if content(&plain) != content(&reply) && reply.status() != Some(Status::Running) {
            let expected = format!("the same response as without them: {}", plain.summary());
            return Err(reply.failed(expected, reply.summary()));
        }
    }
    Ok(())
}

pub(super) static WIRE_10: Check = Check {
    id: "WIRE-10",
    rule: "The driver reads a pod of 256 KiB",
    why: "Controllers send the whole pod as it is in the cluster, and annotations alone may have \
          that size. A pod that is too large for the driver never gets an address.",
    source: "LBCF controller: podBackend.pod is the whole object; Kubernetes allows 256 KiB of \
             annotations",
    typical: "The default limit of a body parser: 100 kB in Express, 1 MB in others. Set it to a \
              few MiB.",
    needs: &[
        Need::LoadBalancer,
        Need::Feature(crate::check::Feature::PodBackends),
    ],
    ..Check::must(Group::Wire, |lab| Box::pin(wire_10(lab)))
};

async fn wire_10(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let small = lab.given_backend(&load_balancer).await?;
    let call = small.generate();
    let mut backend = call.field("podBackend").cloned().unwrap_or_default();
    let annotations =
        (0..64).map(|n| (format!("lbcf.dev/large-{n}"), Value::from("x".repeat(4096))));
    if let Some(Value::Object(metadata)) = backend.pointer_mut("/pod/metadata") {
        metadata.insert("annotations".to_owned(), annotations.collect());
    }
    let large = call.with("podBackend", backend).unusual();
    let reply = lab.until_done(&large).await.map_err(|error| {
        error.hint("A limit on the size of request bodies, such as the 100 kB of Express.")
    })?;
    let since = "since a smaller pod got an address";
    reply.succ(since).map(drop)
}

pub(super) static WIRE_12: Check = Check {
    id: "WIRE-12",
    rule: "A request's content-type may have parameters, and a connection may be reused",
    why: "HTTP clients differ: some add charset=utf-8, and nearly all keep connections open. A \
          driver that rejects the former or breaks the latter works with some controllers only.",
    source: "derived: RFC 9110, RFC 9112",
    typical: "The whole content-type is compared with application/json, or responses have a wrong \
              content-length.",
    ..Check::should(Group::Wire, |lab| Box::pin(wire_12(lab)))
};

async fn wire_12(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.load_balancer();
    for content_type in [
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
    ] {
        for call in [healthz(), load_balancer.validate()] {
            let content_type_header = HeaderValue::from_static(content_type);
            let request = lab.request_of(&call);
            let request = request.with(CONTENT_TYPE, content_type_header);
            let exchange = lab
                .exchange(&request, Some(call.webhook()), RequestKind::Unusual)
                .await;
            let how = format!("with content-type {content_type}");
            is_valid(&DriverReply::new(exchange), &how)?;
        }
    }
    let call = load_balancer.validate();
    let requests: Vec<_> = (0..3).map(|_| lab.request_of(&call)).collect();
    let began = tokio::time::Instant::now();
    let timeout = lab.timeout(call.webhook());
    let outcomes = lab
        .transport()
        .send_over_one_connection(&requests, timeout)
        .await;
    for (request, outcome) in requests.iter().zip(outcomes) {
        let info = (Some(call.webhook()), RequestKind::Unusual, began.elapsed());
        let reply = DriverReply::new(lab.recorded(request, info, outcome));
        is_valid(&reply, "over a reused connection")?;
    }
    Ok(())
}

/// A valid call of each webhook in the order of a life cycle, with the maps that may be null.
fn all_calls(
    load_balancer: &LoadBalancer,
    backend: &Backend,
) -> Vec<(WebhookCall, &'static [&'static str])> {
    let validate = validate_backend(load_balancer, "Pod", &backend.parameters);
    let attributes = load_balancer.sample.attributes.clone();
    vec![
        (healthz(), &[]),
        (load_balancer.validate(), &["attributes", "oldAttributes"]),
        (
            load_balancer.validate_update(&attributes),
            &["attributes", "oldAttributes"],
        ),
        (load_balancer.create(), &["attributes"]),
        (load_balancer.ensure(), &["attributes", "lbInfo"]),
        (validate, &["parameters", "lbInfo", "OldParameters"]),
        (backend.generate(), &["parameters", "lbAttributes"]),
        (backend.ensure(), &["parameters", "injectedInfo"]),
        (
            backend.deregister(),
            &["parameters", "injectedInfo", "lbInfo"],
        ),
        (load_balancer.delete(), &["attributes"]),
    ]
}

/// Requires a response of the webhook's class, whatever its content.
fn is_valid(reply: &DriverReply, how: &str) -> CheckOutcome {
    let is_valid = match reply.exchange.webhook.and_then(class_of) {
        Some(Class::Health) => reply.healthy().is_some(),
        Some(Class::Verdict) => reply.decision().is_some(),
        _ => reply.status().is_some(),
    };
    if is_valid {
        return Ok(());
    }
    let webhook = reply.exchange.webhook.unwrap_or_default();
    let expected = format!("a valid response of {webhook} {how}");
    Err(reply.failed(expected, reply.summary()))
}
