//! The wire format. Most of these checks make hardly any calls: they verify every response of the run.

use super::prelude::*;
use super::tour::{
    call_all_webhooks, called_webhooks, class_of, excerpt, first_problem, is_valid, object,
    valid_calls, verify_all, webhook_calls, webhooks,
};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use lbcf_driver_sdk::webhook::Class;

pub(super) const CHECKS: &[&Check] = &[
    &WIRE_01, &WIRE_02, &WIRE_03, &WIRE_04, &WIRE_05, &WIRE_06, &WIRE_07, &WIRE_08, &WIRE_09,
    &WIRE_10, &WIRE_11, &WIRE_12, &WIRE_13,
];

check! { WIRE_01 = wire_01, Wire, runs Last,
    why "Controllers treat every other status as a failed call: they retry indefinitely, and \
         ignore the body. This includes 201, 202 and 204. A driver reports its own failure by 200 \
         with status Fail.",
    source "LBCF controller: only http.StatusOK is read (b142)",
    typical "The framework's default for POST (201), 202 for continuing work, 400 or 500 in place \
             of status Fail or succ false, or a webhook that is missing or misspelled.",
}

async fn wire_01(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    let exchanges = valid_calls(lab);
    for webhook in called_webhooks(lab) {
        let was_called = exchanges.iter().any(|(name, _)| *name == webhook.name);
        let expected = "HTTP 200 from each webhook";
        let got = format!("{} could not be called", webhook.name);
        Failure::unless(was_called, expected, got)?;
    }
    first_problem("HTTP 200", exchanges, |_, exchange| {
        match &exchange.outcome {
            Ok(received) if received.status == 200 => None,
            // WIRE-09 verifies redirects, and LAT-01 late responses.
            Ok(received) if (300..400).contains(&received.status) => None,
            Err(NoResponse::TimedOut(_) | NoResponse::HungUp) => None,
            Ok(received) => Some(format!("HTTP {}", received.status)),
            Err(problem) => Some(problem.to_string()),
        }
    })
}

check! { WIRE_02 = wire_02, Wire, runs Last,
    why "Controllers decode the body into a struct: with another type, or anything beside the \
         object, decoding fails, and they retry indefinitely.",
    source "LBCF webhook specification; the original controller uses json.Unmarshal (b140)",
    typical "succ as \"true\" or 1, msg as an object, an array around the object, an empty body, \
             or a proxy's HTML page.",
}

async fn wire_02(lab: &Lab) -> CheckOutcome {
    let expected = "one JSON object with fields of the right types";
    verify_all(lab, expected, |webhook, received| {
        let body = match serde_json::from_slice::<Value>(&received.body) {
            Ok(Value::Object(body)) => body,
            Ok(other) => {
                return Some(format!("JSON that is not an object: {}", excerpt(&other)));
            }
            Err(error) => return Some(format!("not JSON: {error}")),
        };
        for (name, expected, is_right) in [
            ("status", "a string", Value::is_string as fn(&Value) -> bool),
            ("msg", "a string", Value::is_string),
            ("succ", "a boolean", Value::is_boolean),
            ("healthy", "a boolean", Value::is_boolean),
        ] {
            if let Some(value) = in_any_case(&body, name)
                && !value.is_null()
                && !is_right(value)
            {
                return Some(format!("{name} is {}, not {expected}", excerpt(value)));
            }
        }
        let required = match class_of(webhook)? {
            Class::Verdict => "succ",
            Class::Health => "healthy",
            Class::Operation => return None,
        };
        let has_it = in_any_case(&body, required).is_some_and(Value::is_boolean);
        (!has_it).then(|| format!("no {required}"))
    })
    .await
}

check! { WIRE_03 = wire_03, Wire, runs Last,
    why "A controller that does not know the status retries indefinitely, although the driver may \
         have done the work.",
    source "LBCF webhook specification; b140",
    typical "succ, SUCC, Success, Failed, or succ: true as in the validating webhooks.",
}

async fn wire_03(lab: &Lab) -> CheckOutcome {
    let expected = "status Succ, Fail or Running in this spelling";
    verify_all(lab, expected, |webhook, received| {
        if class_of(webhook)? != Class::Operation {
            return None;
        }
        match in_any_case(&object(received)?, "status") {
            None | Some(Value::Null) => Some("no status".to_owned()),
            Some(Value::String(status)) => {
                let is_known = ["Succ", "Fail", "Running"].contains(&status.as_str());
                (!is_known).then(|| format!("status {status:?}"))
            }
            // WIRE-02 verifies the type.
            Some(_) => None,
        }
    })
    .await
}

check! { WIRE_04 = wire_04, Wire, runs Last,
    why "Controllers decode it into an int32. With a string such as \"5\" decoding fails, even \
         for a Succ, and they retry indefinitely.",
    source "LBCF controller: MinRetryDelayInSeconds int32 (d1)",
    typical "The specification's text has the delay as a string; controllers never decode one. \
             Write 5, not \"5\" and not 5.0.",
}

async fn wire_04(lab: &Lab) -> CheckOutcome {
    let expected = "a delay that is an integer of 32 bits, such as 5";
    verify_all(lab, expected, |_, received| {
        let body = object(received)?;
        let (name, value) = delay(&body)?;
        let is_i32 = |number| i32::try_from(number).is_ok();
        let fits = value.is_null() || value.as_i64().is_some_and(is_i32);
        (!fits).then(|| format!("{name} is {}", excerpt(value)))
    })
    .await
}

check! { WIRE_05 = wire_05, Wire, runs Last,
    why "Controllers in Go read it in any letter case, others do not. There is no upper limit: a \
         controller waits for a day if told so.",
    source "LBCF controller; the specification's text spells it minRetryDelayinSeconds (d1)",
    typical "The spelling of the specification's text, or milliseconds instead of seconds.",
}

async fn wire_05(lab: &Lab) -> CheckOutcome {
    let expected = "minRetryDelayInSeconds from 0 to 600 in this spelling";
    verify_all(lab, expected, |_, received| {
        let body = object(received)?;
        let (name, value) = delay(&body)?;
        if name != DELAY {
            return Some(format!("it is spelled {name}"));
        }
        let seconds = value.as_f64()?;
        (!(0.0..=600.0).contains(&seconds)).then(|| format!("{name} is {}", excerpt(value)))
    })
    .await
}

check! { WIRE_06 = wire_06, Wire, runs Last,
    why "Controllers decode them into maps of strings and store them. With one number in them \
         decoding fails, and the controller never learns of a created load balancer.",
    source "LBCF webhook specification: map[string]string (b152)",
    typical "A port or a weight as a number, a nested object, or null as a value. Write each \
             value as a string.",
}

async fn wire_06(lab: &Lab) -> CheckOutcome {
    let expected = "lbInfo and injectedInfo whose values are all strings";
    verify_all(lab, expected, |_, received| {
        let body = object(received)?;
        let problem = |name| match in_any_case(&body, name)? {
            Value::Null => None,
            Value::Object(map) => map
                .iter()
                .find(|(_, value)| !value.is_string())
                .map(|(key, value)| format!("{name}.{key} is {}", excerpt(value))),
            other => Some(format!("{name} is {}", excerpt(other))),
        };
        ["lbInfo", "injectedInfo"].into_iter().find_map(problem)
    })
    .await
}

check! { WIRE_07 = wire_07, Wire, needs [LoadBalancer],
    why "Controllers in Go send an unset map as null: injectedInfo in the first ensureBackend, \
         lbInfo for a load balancer that was never created, attributes and parameters that the \
         user omitted. A driver that fails on null never registers or deletes anything.",
    source "LBCF controller: nil maps (b152)",
    typical "A type that accepts an object but not null, or a loop over the map without a check. \
             Read null as an empty map.",
}

async fn wire_07(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    for (call, maps) in all_calls(&lb, &backend) {
        for map in maps {
            let reply = lab.call(&call.clone().with_nulls(&[*map]).unusual()).await;
            is_valid(&reply, &format!("with {map}: null"))?;
        }
        let reply = lab.call(&call.with_nulls(maps).unusual()).await;
        is_valid(&reply, "with every map null")?;
    }
    Ok(())
}

check! { WIRE_08 = wire_08, Wire, needs [LoadBalancer],
    why "Controllers of later editions send more: dryRun and lbAttributes were added, too. A \
         driver that rejects unknown fields stops working with the next controller.",
    source "derived: fields were added to the specification before",
    typical "A schema without additional properties (pydantic extra=\"forbid\", \
             deny_unknown_fields, DisallowUnknownFields).",
}

async fn wire_08(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    let content = |reply: &DriverReply| (reply.status(), reply.decision(), reply.healthy());
    for (call, _) in all_calls(&lb, &backend) {
        let plain = lab.call(&call).await;
        let more = call
            .with("fieldOfALaterEdition", json!({"nested": [1, "two", null]}))
            .with("anotherField", "text")
            .unusual();
        let reply = lab.call(&more).await;
        is_valid(&reply, "with two unknown fields")?;
        let is_same = content(&plain) == content(&reply);
        let runs = |reply: &DriverReply| reply.status() == Some(Status::Running);
        let is_right = is_same || runs(&plain) || runs(&reply);
        let expected = format!("the same response as without them: {}", plain.summary());
        reply.check(is_right, expected, reply.summary())?;
    }
    Ok(())
}

check! { WIRE_09 = wire_09, Wire, runs Last,
    why "HTTP clients follow 301 and 302 with a GET, without the body: the call is lost, and the \
         controller reads another page.",
    source "derived: Go's HTTP client changes POST to GET on 301 and 302",
    typical "A framework that redirects to the path with or without a slash, or to https. Switch \
             that off (FastAPI: redirect_slashes=False), and serve or reject the path itself.",
}

async fn wire_09(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    for webhook in webhooks(lab) {
        let request = Request::post(format!("{}/", webhook.name), "{}");
        lab.send(&request, webhook.name, RequestKind::Invalid).await;
    }
    let exchanges = webhook_calls(lab, |_| true);
    first_problem("no redirect", exchanges, |_, exchange| {
        let received = exchange.outcome.as_ref().ok()?;
        let is_redirect = (300..400).contains(&received.status);
        let to = received.headers.get(http::header::LOCATION);
        let to = to.map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        let problem = format!("HTTP {} to {:?}", received.status, to.unwrap_or_default());
        is_redirect.then_some(problem)
    })
}

const DELAY: &str = "minRetryDelayInSeconds";

check! { WIRE_10 = wire_10, Wire, needs [LoadBalancer, Feature(PodBackends)],
    why "Controllers send the whole pod as it is in the cluster, and annotations alone may have \
         that size. A pod that is too large for the driver never gets an address.",
    source "LBCF controller: podBackend.pod is the whole object; Kubernetes allows 256 KiB of \
            annotations",
    typical "The default limit of a body parser: 100 kB in Express, 1 MB in others. Set it to a \
             few MiB.",
}

async fn wire_10(lab: &Lab) -> CheckOutcome {
    let (_, small) = lab.given_unregistered_backend().await?;
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
    reply.succ("since a smaller pod got an address").map(drop)
}

check! { WIRE_11 = wire_11, Wire, runs Last,
    why "Controllers ignore it, but proxies, gateways and generated clients do not.",
    source "derived: RFC 9110, and the OpenAPI document",
    typical "The framework's default for text, such as text/plain or text/html, or no \
             content-type.",
}

async fn wire_11(lab: &Lab) -> CheckOutcome {
    verify_all(lab, "content-type application/json", |_, received| {
        let Some(value) = received.headers.get(http::header::CONTENT_TYPE) else {
            return Some("no content-type".to_owned());
        };
        let value = String::from_utf8_lossy(value.as_bytes());
        let media_type = value.split(';').next().unwrap_or_default().trim();
        (!media_type.eq_ignore_ascii_case("application/json"))
            .then(|| format!("content-type {value:?}"))
    })
    .await
}

check! { WIRE_12 = wire_12, Wire,
    why "HTTP clients differ: some add charset=utf-8, and nearly all keep connections open. A \
         driver that rejects the former or breaks the latter works with some controllers only.",
    source "derived: RFC 9110, RFC 9112",
    typical "The whole content-type is compared with application/json, or responses have a wrong \
             content-length.",
}

async fn wire_12(lab: &Lab) -> CheckOutcome {
    let lb = lab.load_balancer();
    for content_type in [
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
    ] {
        for call in [healthz(), lb.validate()] {
            let header = HeaderValue::from_static(content_type);
            let request = lab.request_of(&call).with(CONTENT_TYPE, header);
            let reply = lab
                .send(&request, call.webhook(), RequestKind::Unusual)
                .await;
            is_valid(&reply, &format!("with content-type {content_type}"))?;
        }
    }
    let call = lb.validate();
    let requests: Vec<_> = (0..3).map(|_| lab.request_of(&call)).collect();
    let began = Instant::now();
    let timeout = lab.run.timeout(call.webhook());
    let (run, purpose) = (&lab.run, lab.purpose(call.webhook(), RequestKind::Unusual));
    let sending = run.transport.send_over_one_connection(&requests, timeout);
    for (request, outcome) in requests.iter().zip(sending.await) {
        let reply = run.recorded(purpose, request, began.elapsed(), outcome);
        is_valid(&reply, "over a reused connection")?;
    }
    Ok(())
}

/// A valid call of each webhook in the order of a life cycle, with the maps that may be null.
fn all_calls(lb: &LoadBalancer, backend: &Backend) -> Vec<(WebhookCall, &'static [&'static str])> {
    let validate = validate_backend(lb, "Pod", &backend.parameters);
    let update = lb.validate_update(&lb.sample.attributes);
    let deregister = backend.deregister();
    vec![
        (healthz(), &[]),
        (lb.validate(), &["attributes", "oldAttributes"]),
        (update, &["attributes", "oldAttributes"]),
        (lb.create(), &["attributes"]),
        (lb.ensure(), &["attributes", "lbInfo"]),
        (validate, &["parameters", "lbInfo", "OldParameters"]),
        (backend.generate(), &["parameters", "lbAttributes"]),
        (backend.ensure(), &["parameters", "injectedInfo"]),
        (deregister, &["parameters", "injectedInfo", "lbInfo"]),
        (lb.delete(), &["attributes"]),
    ]
}

check! { WIRE_13 = wire_13, Wire, runs Last,
    why "It becomes the event, the condition or the rejection that users read. Without it they \
         cannot know what to change.",
    source "LBCF webhook specification: msg",
    typical "The error is written to the driver's own log only.",
}

async fn wire_13(lab: &Lab) -> CheckOutcome {
    verify_all(lab, "a msg with the reason", |_, received| {
        let body = object(received)?;
        let text = |name| {
            let text = in_any_case(&body, name).and_then(Value::as_str);
            text.unwrap_or_default()
        };
        let is_negative = text("status").eq_ignore_ascii_case("fail")
            || in_any_case(&body, "succ") == Some(&Value::Bool(false));
        (is_negative && text("msg").trim().is_empty()).then(|| "no msg".to_owned())
    })
    .await
}

fn delay(body: &Map<String, Value>) -> Option<(&String, &Value)> {
    body.get_key_value(DELAY).or_else(|| {
        body.iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(DELAY))
    })
}
