//! The form of responses.

use super::verify::{class_of, object, verify_all};
use crate::check::{Check, Concurrency, Group};
use crate::lab::{Lab, in_any_case};
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Map, Value};

const DELAY: &str = "minRetryDelayInSeconds";

pub(super) static WIRE_02: Check = Check {
    id: "WIRE-02",
    rule: "The body is one JSON object, in which status and msg are strings, and succ and healthy \
           booleans",
    why: "Controllers decode the body into a struct: with another type, or anything beside the \
          object, decoding fails, and they retry indefinitely.",
    source: "LBCF webhook specification; the original controller uses json.Unmarshal (b140)",
    typical: "succ as \"true\" or 1, msg as an object, an array around the object, an empty body, \
              or a proxy's HTML page.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_02(lab)))
};

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

pub(super) static WIRE_03: Check = Check {
    id: "WIRE-03",
    rule: "An operation's response has a status, and it is exactly Succ, Fail or Running",
    why: "A controller that does not know the status retries indefinitely, although the driver may \
          have done the work.",
    source: "LBCF webhook specification; b140",
    typical: "succ, SUCC, Success, Failed, or succ: true as in the validating webhooks.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_03(lab)))
};

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

pub(super) static WIRE_04: Check = Check {
    id: "WIRE-04",
    rule: "minRetryDelayInSeconds, if present, is a JSON integer of 32 bits",
    why: "Controllers decode it into an int32. With a string such as \"5\" decoding fails, even \
          for a Succ, and they retry indefinitely.",
    source: "LBCF controller: MinRetryDelayInSeconds int32 (d1)",
    typical: "The specification's text has the delay as a string; controllers never decode one. \
              Write 5, not \"5\" and not 5.0.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_04(lab)))
};

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

pub(super) static WIRE_05: Check = Check {
    id: "WIRE-05",
    rule: "The delay is spelled minRetryDelayInSeconds, and is from 0 to 600",
    why: "Controllers in Go read it in any letter case, others do not. There is no upper limit: a \
          controller waits for a day if told so.",
    source: "LBCF controller; the specification's text spells it minRetryDelayinSeconds (d1)",
    typical: "The spelling of the specification's text, or milliseconds instead of seconds.",
    concurrency: Concurrency::Last,
    ..Check::should(Group::Wire, |lab| Box::pin(wire_05(lab)))
};

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

pub(super) static WIRE_06: Check = Check {
    id: "WIRE-06",
    rule: "lbInfo and injectedInfo are null, absent, or objects whose values are all strings",
    why: "Controllers decode them into maps of strings and store them. With one number in them \
          decoding fails, and the controller never learns of a created load balancer.",
    source: "LBCF webhook specification: map[string]string (b152)",
    typical: "A port or a weight as a number, a nested object, or null as a value. Write each \
              value as a string.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_06(lab)))
};

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

pub(super) static WIRE_11: Check = Check {
    id: "WIRE-11",
    rule: "Responses have the media type application/json; its parameters do not matter",
    why: "Controllers ignore it, but proxies, gateways and generated clients do not.",
    source: "derived: RFC 9110, and the OpenAPI document",
    typical: "The framework's default for text, such as text/plain or text/html, or no \
              content-type.",
    concurrency: Concurrency::Last,
    ..Check::should(Group::Wire, |lab| Box::pin(wire_11(lab)))
};

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

pub(super) static WIRE_13: Check = Check {
    id: "WIRE-13",
    rule: "Fail and succ: false come with a msg",
    why: "It becomes the event, the condition or the rejection that users read. Without it they \
          cannot know what to change.",
    source: "LBCF webhook specification: msg",
    typical: "The error is written to the driver's own log only.",
    concurrency: Concurrency::Last,
    ..Check::should(Group::Wire, |lab| Box::pin(wire_13(lab)))
};

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

fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
