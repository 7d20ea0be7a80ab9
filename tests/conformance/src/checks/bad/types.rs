//! Values of other types than their fields have.

use super::judging::{Bad, Badness, judge};
use super::stage::Stage;
use crate::check::{Check, Company, Group, Level, Observer};
use crate::lab::{Call, Lab, Source};
use crate::verdict::Verdict;
use serde_json::{Map, Value, json};

/// Wrong types.
pub(super) static BAD_02: Check = Check {
    id: "BAD-02",
    level: Level::Should,
    group: Group::Bad,
    rule: "Fields of a wrong type are refused: never Succ, and never an exception",
    why: "With Succ somebody trusts that something was done, and nobody knows what. An exception tells \
          the user nothing.",
    source: "derived: LBCF webhook specification, types of the fields",
    typical: "Languages without types take a list for a map without fields, and go on with defaults. \
              Check the body against a schema first.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Alone,
    code: |lab| Box::pin(bad_02(lab)),
};

async fn bad_02(lab: &Lab) -> Verdict {
    let stage = Stage::new(lab).await;
    judge(lab, wrong_types(lab, &stage)).await
}

/// Right calls, each with one field of a wrong type.
pub(super) fn wrong_types(lab: &Lab, stage: &Stage) -> Vec<Bad> {
    let mut bad = Vec::new();
    let mut add = |call: &Call, field: &str, value: Value, badness| {
        let what = format!("{field} of the type {}", type_of(&value));
        let call = call.clone().with(field, value).improper();
        let request = lab.request_of(&call);
        bad.push(Bad {
            call,
            what,
            request,
            badness,
        });
    };
    use Badness::{Readable, Senseless};
    // One that is not there yet: what is there may be found by its recordID.
    let new = lab.load_balancer();
    for call in [new.validate(), new.create()] {
        for value in [json!(["x"]), json!("x"), json!(7), json!(true)] {
            add(&call, "lbSpec", value, Senseless);
        }
        if !new.wanted.lb_spec.is_empty() {
            add(&call, "lbSpec", nested(&new.wanted.lb_spec), Senseless);
        }
    }
    let ensure = stage.load_balancer.ensure();
    let bind = stage.backend.ensure();
    for value in [json!(["x"]), json!("x"), json!(7)] {
        add(&ensure, "lbInfo", value.clone(), Senseless);
        add(&ensure, "attributes", value.clone(), Senseless);
        add(&bind, "lbInfo", value.clone(), Senseless);
        add(&bind, "parameters", value.clone(), Senseless);
        add(
            &stage.validate_backend(),
            "parameters",
            value.clone(),
            Senseless,
        );
        // What is read as no load balancer at all is deleted already.
        add(
            &stage.load_balancer.delete(),
            "lbInfo",
            value.clone(),
            Readable,
        );
        add(&stage.backend.deregister(), "lbInfo", value, Readable);
    }
    for value in [json!(["x"]), json!({"x": "y"}), json!(true)] {
        add(&bind, "backendAddr", value.clone(), Senseless);
        add(&stage.backend.deregister(), "backendAddr", value, Readable);
    }
    let generate = stage.backend.generate();
    let field = match &stage.backend.source {
        Source::Service(_) => "serviceBackend",
        Source::Pod(_) | Source::Static => "podBackend",
    };
    for value in [json!("x"), json!(["x"]), json!(7)] {
        add(&generate, field, value, Senseless);
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
        if let Some(place) = backend.pointer_mut(pointer) {
            *place = value;
            add(&generate, field, backend, Senseless);
        }
    }
    bad
}

/// The same keys, each with a map for a value.
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
        Value::Object(_) => "object, with values that are none of its own,",
    }
}
