//! Repeated calls gone wrong, and recordIDs that are read for what they say.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::slow::cloud_is_out;
use serde_json::Value;

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    if !call.is_operation() {
        return None;
    }
    let record = call.record_id();
    match defect {
        Defect::RecordIdRegex if !has_uuid_form(record) => {
            Some(Answer::fail("recordID: not of the form name(uuid)"))
        }
        Defect::RecordIdTooLong if record.chars().count() > 100 => {
            Some(Answer::fail("recordID: more than 100 characters"))
        }
        Defect::RecordIdAscii if !record.is_ascii() => {
            Some(Answer::fail("recordID: 'ascii' codec can't decode"))
        }
        Defect::NegativeCache if !call.dry_run() => {
            match at.memory.get(defect.id(), &call.operation_key())? {
                Value::String(message) => Some(Answer::fail(&message)),
                _ => None,
            }
        }
        Defect::SameRetryIdRefused if !call.text("retryID").is_empty() => {
            let key = format!("{} {}", call.operation_key(), call.text("retryID"));
            let again = at.memory.count(defect.id(), &key) > 0;
            again.then(|| Answer::fail("retryID: used before"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is_operation() {
        return;
    }
    match defect {
        Defect::NegativeCache if answer.says("Fail") && !call.dry_run() => {
            let message = answer.message().to_owned();
            at.memory.put(defect.id(), &call.operation_key(), message);
        }
        Defect::CloudFault500 if cloud_is_out(answer) => {
            *answer = Answer::crash("ServiceUnavailable");
        }
        _ => {}
    }
}

/// `name(…)` with 36 characters that may stand in a UUID.
fn has_uuid_form(record: &str) -> bool {
    let Some((name, rest)) = record.split_once('(') else {
        return false;
    };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let uuid = rest.strip_suffix(')').unwrap_or_default();
    let in_uuid = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    is_name && uuid.len() == 36 && uuid.bytes().all(in_uuid)
}
