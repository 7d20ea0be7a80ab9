//! The form of answers.

use super::judging::{class_of, judge, object};
use crate::check::{Check, Company, Group, Level, Observer};
use crate::lab::{Lab, in_any_case};
use crate::verdict::Verdict;
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Map, Value};

const DELAY: &str = "minRetryDelayInSeconds";

/// One JSON object with fields of the right types.
pub(super) static WIRE_02: Check = Check {
    id: "WIRE-02",
    level: Level::Must,
    group: Group::Wire,
    rule: "The body is one JSON object; status and msg are strings in it, succ and healthy booleans",
    why: "Controllers read the body into a struct: another type, or anything beside the object, makes \
          the whole answer unreadable, and the call is repeated for ever.",
    source: "LBCF webhook specification; the original reads it by json.Unmarshal (b140)",
    typical: "succ as \"true\" or 1, msg as an object, an array around the answer, an empty body, or a \
              page in HTML from a proxy.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_02(lab)),
};

async fn wire_02(lab: &Lab) -> Verdict {
    judge(
        lab,
        "one JSON object with fields of the right types",
        |webhook, received| {
            let body = match serde_json::from_slice::<Value>(&received.body) {
                Ok(Value::Object(body)) => body,
                Ok(other) => return Some(format!("JSON that is no object: {}", excerpt(&other))),
                Err(error) => return Some(format!("no JSON: {error}")),
            };
            let strings = ["status", "msg"].into_iter().map(|name| (name, "a string"));
            let booleans = ["succ", "healthy"]
                .into_iter()
                .map(|name| (name, "a boolean"));
            for (name, wanted) in strings.chain(booleans) {
                let right = match in_any_case(&body, name) {
                    None | Some(Value::Null) => true,
                    Some(value) if wanted == "a string" => value.is_string(),
                    Some(value) => value.is_boolean(),
                };
                if !right {
                    let value = in_any_case(&body, name).map(excerpt).unwrap_or_default();
                    return Some(format!("{name} is {value}, not {wanted}"));
                }
            }
            let decides = match class_of(webhook)? {
                Class::Verdict => "succ",
                Class::Health => "healthy",
                Class::Operation => return None,
            };
            let there = in_any_case(&body, decides).is_some_and(Value::is_boolean);
            (!there).then(|| format!("no {decides}"))
        },
    )
    .await
}

/// A status that controllers know.
pub(super) static WIRE_03: Check = Check {
    id: "WIRE-03",
    level: Level::Must,
    group: Group::Wire,
    rule: "An operation's answer has a status, and it is exactly Succ, Fail or Running",
    why: "A controller that does not know the status retries for ever, although the driver may have \
          done the work.",
    source: "LBCF webhook specification; b140",
    typical: "succ, SUCC, Success, Failed, or succ: true as in the webhooks that decide.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_03(lab)),
};

async fn wire_03(lab: &Lab) -> Verdict {
    judge(
        lab,
        "status Succ, Fail or Running, spelled exactly so",
        |webhook, received| {
            if class_of(webhook)? != Class::Operation {
                return None;
            }
            match in_any_case(&object(received)?, "status") {
                None | Some(Value::Null) => Some("no status".to_owned()),
                Some(Value::String(status))
                    if ["Succ", "Fail", "Running"].contains(&status.as_str()) =>
                {
                    None
                }
                Some(Value::String(status)) => Some(format!("status {status:?}")),
                // Of another type: WIRE-02 says so.
                Some(_) => None,
            }
        },
    )
    .await
}

/// The delay is an integer.
pub(super) static WIRE_04: Check = Check {
    id: "WIRE-04",
    level: Level::Must,
    group: Group::Wire,
    rule: "minRetryDelayInSeconds, where it is given, is a JSON integer of 32 bits",
    why: "Controllers read it into an int32. A string such as \"5\" makes the whole answer \
          unreadable, also a Succ, and the call is repeated for ever.",
    source: "LBCF controller: MinRetryDelayInSeconds int32 (d1)",
    typical: "The specification's prose has the delay as a string; the controllers never read one. \
              Write 5, not \"5\" and not 5.0.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_04(lab)),
};

async fn wire_04(lab: &Lab) -> Verdict {
    judge(
        lab,
        "a delay that is an integer of 32 bits, such as 5",
        |_, received| {
            let body = object(received)?;
            let (name, value) = delay(&body)?;
            let fits = value.is_null()
                || value
                    .as_i64()
                    .is_some_and(|number| i32::try_from(number).is_ok());
            (!fits).then(|| format!("{name} is {}", excerpt(value)))
        },
    )
    .await
}

/// The delay's name and size.
pub(super) static WIRE_05: Check = Check {
    id: "WIRE-05",
    level: Level::Should,
    group: Group::Wire,
    rule: "The delay is spelled minRetryDelayInSeconds, and is from 0 to 600",
    why: "Controllers in Go read it in any letter case, others do not. There is no upper limit: a \
          delay of a day is waited for.",
    source: "LBCF controller; the specification's prose spells it minRetryDelayinSeconds (d1)",
    typical: "The spelling of the specification's prose, or milliseconds instead of seconds.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_05(lab)),
};

async fn wire_05(lab: &Lab) -> Verdict {
    judge(
        lab,
        "minRetryDelayInSeconds from 0 to 600, spelled so",
        |_, received| {
            let body = object(received)?;
            let (name, value) = delay(&body)?;
            if name != DELAY {
                return Some(format!("it is spelled {name}"));
            }
            let seconds = value.as_f64()?;
            (!(0.0..=600.0).contains(&seconds)).then(|| format!("{name} is {}", excerpt(value)))
        },
    )
    .await
}

/// Maps of strings.
pub(super) static WIRE_06: Check = Check {
    id: "WIRE-06",
    level: Level::Must,
    group: Group::Wire,
    rule: "lbInfo and injectedInfo are null, absent, or objects whose values are all strings",
    why: "Controllers read them into maps of strings and store them. One number in it makes the whole \
          answer unreadable, and a load balancer that was made is never known.",
    source: "LBCF webhook specification: map[string]string (b152)",
    typical: "A port or a weight as a number, a nested object, or null as a value. Write each value \
              as a string.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_06(lab)),
};

async fn wire_06(lab: &Lab) -> Verdict {
    judge(
        lab,
        "lbInfo and injectedInfo whose values are all strings",
        |_, received| {
            let body = object(received)?;
            ["lbInfo", "injectedInfo"].into_iter().find_map(|name| {
                match in_any_case(&body, name)? {
                    Value::Null => None,
                    Value::Object(map) => map
                        .iter()
                        .find(|(_, value)| !value.is_string())
                        .map(|(key, value)| format!("{name}.{key} is {}", excerpt(value))),
                    other => Some(format!("{name} is {}", excerpt(other))),
                }
            })
        },
    )
    .await
}

/// The media type.
pub(super) static WIRE_11: Check = Check {
    id: "WIRE-11",
    level: Level::Should,
    group: Group::Wire,
    rule: "Answers have the media type application/json; its parameters do not matter",
    why: "Controllers do not look at it, but proxies, gateways and generated clients do.",
    source: "derived: RFC 9110, and the OpenAPI document",
    typical: "The framework's default for text, such as text/plain or text/html, or no content-type.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_11(lab)),
};

async fn wire_11(lab: &Lab) -> Verdict {
    judge(lab, "content-type application/json", |_, received| {
        let value = received.headers.get(http::header::CONTENT_TYPE);
        let value = value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let Some(value) = value else {
            return Some("no content-type".to_owned());
        };
        let media_type = value.split(';').next().unwrap_or_default().trim();
        (!media_type.eq_ignore_ascii_case("application/json"))
            .then(|| format!("content-type {value:?}"))
    })
    .await
}

/// A reason for people.
pub(super) static WIRE_13: Check = Check {
    id: "WIRE-13",
    level: Level::Should,
    group: Group::Wire,
    rule: "Fail and succ: false come with a msg",
    why: "It becomes the event, the condition or the refusal that users read. Without it nobody knows \
          what to change.",
    source: "LBCF webhook specification: msg",
    typical: "The error goes to the driver's own log only.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_13(lab)),
};

async fn wire_13(lab: &Lab) -> Verdict {
    judge(lab, "a msg that says why", |_, received| {
        let body = object(received)?;
        let is = |name: &str, wanted: &Value| in_any_case(&body, name) == Some(wanted);
        let refuses = in_any_case(&body, "status")
            .and_then(Value::as_str)
            .is_some_and(|status| status.eq_ignore_ascii_case("fail"))
            || is("succ", &Value::Bool(false));
        let msg = in_any_case(&body, "msg")
            .and_then(Value::as_str)
            .unwrap_or_default();
        (refuses && msg.trim().is_empty()).then(|| "no msg".to_owned())
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
