//! What a driver has to read.

use super::judging::class_of;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::exchange::Kind;
use crate::lab::{Answer, Backend, Call, Lab, LoadBalancer, healthz, validate_backend};
use crate::verdict::{NotPassed, Verdict};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Value, json};

/// Null maps.
pub(super) static WIRE_07: Check = Check {
    id: "WIRE-07",
    level: Level::Must,
    group: Group::Wire,
    rule: "Each map but lbSpec may be null in a request",
    why: "Controllers in Go write a map that nobody filled as null: injectedInfo in the first \
          ensureBackend, lbInfo when a load balancer is deleted that was never created, attributes \
          and parameters that the user left out. A driver that fails on null never registers or \
          deletes anything.",
    source: "LBCF controller: nil maps (b152)",
    typical: "A type that takes an object but not null, or a loop over the map without looking \
              whether there is one. Read null as an empty map.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(wire_07(lab)),
};

async fn wire_07(lab: &Lab) -> Verdict {
    let (load_balancer, backend) = stage(lab).await?;
    for (call, maps) in all_calls(&load_balancer, &backend) {
        for map in maps {
            let call = call.clone().with(map, Value::Null).unusual();
            let answer = lab.call(&call).await;
            readable(&answer, &format!("with {map}: null"))?;
        }
        let all = maps
            .iter()
            .fold(call, |call, map| call.with(map, Value::Null));
        let answer = lab.call(&all.unusual()).await;
        readable(&answer, "with every map null")?;
    }
    Ok(())
}

/// Unknown fields.
pub(super) static WIRE_08: Check = Check {
    id: "WIRE-08",
    level: Level::Must,
    group: Group::Wire,
    rule: "Fields of a request that the driver does not know are ignored",
    why: "Controllers of later editions send more: dryRun and lbAttributes came later, too. A driver \
          that refuses what it does not know stops working with the next controller.",
    source: "derived: fields were added to the specification before",
    typical: "A schema without additional properties (pydantic extra=\"forbid\", \
              deny_unknown_fields, DisallowUnknownFields).",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(wire_08(lab)),
};

async fn wire_08(lab: &Lab) -> Verdict {
    let (load_balancer, backend) = stage(lab).await?;
    for (call, _) in all_calls(&load_balancer, &backend) {
        let plain = lab.call(&call).await;
        let more = call
            .with("fieldOfALaterEdition", json!({"nested": [1, "two", null]}))
            .with("anotherField", "text")
            .unusual();
        let answer = lab.call(&more).await;
        readable(&answer, "with two fields that nobody knows")?;
        if said(&plain) != said(&answer) && answer.status() != Some(crate::lab::Status::Running) {
            let expected = format!("the same answer as without them: {}", plain.said());
            return Err(answer.failed(expected, answer.said()));
        }
    }
    Ok(())
}

/// Large pods.
pub(super) static WIRE_10: Check = Check {
    id: "WIRE-10",
    level: Level::Must,
    group: Group::Wire,
    rule: "A pod of 256 KiB is read",
    why: "Controllers send the whole pod as it is in the cluster, and annotations alone may have that \
          size. A pod that is too large for the driver never gets an address.",
    source: "LBCF controller: podBackend.pod is the whole object; Kubernetes allows 256 KiB of annotations",
    typical: "The default limit of a body parser: 100 kB in Express, 1 MB in others. Set it to a few \
              MiB.",
    observer: Observer::Unused,
    needs: &[
        Need::LoadBalancer,
        Need::Feature(crate::check::Feature::PodBackends),
    ],
    company: Company::Any,
    code: |lab| Box::pin(wire_10(lab)),
};

async fn wire_10(lab: &Lab) -> Verdict {
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
    let answer = lab.until_done(&large).await.map_err(|not_passed| {
        not_passed.hint("A limit on the size of request bodies, such as the 100 kB of Express.")
    })?;
    answer.succ("since the pod differs from one that got an address by its size only")?;
    Ok(())
}

/// Content types with parameters, and kept connections.
pub(super) static WIRE_12: Check = Check {
    id: "WIRE-12",
    level: Level::Should,
    group: Group::Wire,
    rule: "A request's content-type may have parameters, and a connection may be used again",
    why: "HTTP clients differ: some add charset=utf-8, and nearly all keep connections. A driver that \
          minds the one or breaks the other works with some controllers only.",
    source: "derived: RFC 9110, RFC 9112",
    typical: "Comparing the whole content-type with application/json, or answers without a right \
              content-length.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Any,
    code: |lab| Box::pin(wire_12(lab)),
};

async fn wire_12(lab: &Lab) -> Verdict {
    let load_balancer = lab.load_balancer();
    for content_type in [
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
    ] {
        for call in [healthz(), load_balancer.validate()] {
            let mut request = lab.request_of(&call);
            request
                .headers
                .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            let exchange = lab
                .exchange(&request, Some(call.webhook()), Kind::Unusual)
                .await;
            readable(
                &Answer::new(exchange),
                &format!("with content-type {content_type}"),
            )?;
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
        let about = (Some(call.webhook()), Kind::Unusual, began.elapsed());
        let answer = Answer::new(lab.recorded(request, about, outcome));
        readable(&answer, "over a connection that was used before")?;
    }
    Ok(())
}

/// A load balancer that is there, and a backend that may be registered.
async fn stage(lab: &Lab) -> Result<(LoadBalancer, Backend), NotPassed> {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    Ok((load_balancer, backend))
}

/// A proper call of each webhook in the order of a life, with the maps that may be null in it.
fn all_calls(
    load_balancer: &LoadBalancer,
    backend: &Backend,
) -> Vec<(Call, &'static [&'static str])> {
    let validate = validate_backend(load_balancer, "Pod", &backend.parameters);
    let attributes = load_balancer.wanted.attributes.clone();
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

/// Has to be a proper answer, whatever it says.
fn readable(answer: &Answer, how: &str) -> Verdict {
    let is_proper = match answer.exchange.webhook.and_then(class_of) {
        Some(Class::Health) => answer.healthy().is_some(),
        Some(Class::Verdict) => answer.verdict().is_some(),
        _ => answer.status().is_some(),
    };
    if is_proper {
        return Ok(());
    }
    let webhook = answer.exchange.webhook.unwrap_or_default();
    let expected = format!("a proper answer of {webhook} {how}");
    Err(answer.failed(expected, answer.said()))
}

/// What an answer comes to, apart from its words.
fn said(answer: &Answer) -> (Option<crate::lab::Status>, Option<bool>, Option<bool>) {
    (answer.status(), answer.verdict(), answer.healthy())
}
