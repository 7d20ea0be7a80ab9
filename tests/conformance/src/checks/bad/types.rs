//! Values of the wrong type.

use super::valid_calls::ValidCalls;
use super::verify::{BadRequest, Expected, verify};
use crate::check::{Check, Concurrency, Group};
use crate::lab::{Lab, Source, WebhookCall};
use crate::outcome::CheckOutcome;
use serde_json::{Map, Value, json};

pub(super) static BAD_02: Check = Check {
    id: "BAD-02",
    rule: "A field of the wrong type is rejected: the driver returns neither Succ nor an exception",
    why: "After Succ the controller assumes that the work was done, although the driver could not \
          read what to do. An exception tells the user nothing.",
    source: "derived: LBCF webhook specification, types of the fields",
    typical: "Dynamically typed languages accept a list as a map without fields and continue with \
              defaults. Validate the body against a schema first.",
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Bad, |lab| Box::pin(bad_02(lab)))
};

async fn bad_02(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    verify(lab, wrong_types(lab, &valid)).await
}

/// Valid calls with one field of a wrong type.
pub(super) fn wrong_types(lab: &Lab, valid: &ValidCalls) -> Vec<BadRequest> {
    use Expected::{AnyResponse, Rejection};
    let mut bad = Vec::new();
    let mut add = |call: &WebhookCall, field: &str, value: Value, expected| {
        let what = format!("{field} of the type {}", type_of(&value));
        let call = call.clone().with(field, value).invalid();
        let request = lab.request_of(&call);
        bad.push(BadRequest {
            call,
            what,
            request,
            expected,
        });
    };
    // A new one, because a driver may find an existing one by its recordID.
    let new = lab.load_balancer();
    for call in [new.validate(), new.create()] {
        for value in [json!(["x"]), json!("x"), json!(7), json!(true)] {
            add(&call, "lbSpec", value, Rejection);
        }
        if !new.sample.lb_spec.is_empty() {
            add(&call, "lbSpec", nested(&new.sample.lb_spec), Rejection);
        }
    }
    let (ensure, delete) = (valid.load_balancer.ensure(), valid.load_balancer.delete());
    let (bind, unbind) = (valid.backend.ensure(), valid.backend.deregister());
    let validate = valid.validate_backend();
    for value in [json!(["x"]), json!("x"), json!(7)] {
        for (call, field) in [
            (&ensure, "lbInfo"),
            (&ensure, "attributes"),
            (&bind, "lbInfo"),
            (&bind, "parameters"),
            (&validate, "parameters"),
        ] {
            add(call, field, value.clone(), Rejection);
        }
        // An unreadable lbInfo may be that of a deleted load balancer.
        add(&delete, "lbInfo", value.clone(), AnyResponse);
        add(&unbind, "lbInfo", value, AnyResponse);
    }
    for value in [json!(["x"]), json!({"x": "y"}), json!(true)] {
        add(&bind, "backendAddr", value.clone(), Rejection);
        add(&unbind, "backendAddr", value, AnyResponse);
    }
    let generate = valid.backend.generate();
    let field = match &valid.backend.source {
        Source::Service(_) => "serviceBackend",
        Source::Endpoint(_) => "endpointBackend",
        Source::Pod(_) | Source::Static => "podBackend",
    };
    for value in [json!("x"), json!(["x"]), json!(7)] {
        add(&generate, field, value, Rejection);
    }
    for (pointer, value) in [
        ("/pod", json!(7)),
        ("/pod/status", json!(7)),
        ("/pod/status/podIP", json!(["10.0.0.1"])),
        ("/service", json!(7)),
        ("/service/spec", json!("x")),
        ("/port", json!("http")),
        ("/port", json!({"port": "http", "portNumber": "http"})),
        (
            "/port",
            json!({"port": 99_999_999_999_u64, "portNumber": 99_999_999_999_u64}),
        ),
    ] {
        let mut backend = generate.field(field).cloned().unwrap_or_default();
        if let Some(target) = backend.pointer_mut(pointer) {
            *target = value;
            add(&generate, field, backend, Rejection);
        }
    }
    bad
}

/// The keys of a map, each with a map as value.
fn nested(map: &lbcf_driver_sdk::webhook::StringMap) -> Value {
    let nested = map.keys().map(|key| (key.clone(), json!({"x": ["y"]})));
    Value::Object(nested.collect::<Map<_, _>>())
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object, with values of wrong types,",
    }
}
