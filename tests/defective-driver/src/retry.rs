//! Defects of repeated requests, and recordIDs that are not treated as opaque.

use crate::Defect;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::latency::is_outage;
use crate::reply::Reply;
use serde_json::Value;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    if !request.is_operation() {
        return None;
    }
    let record = request.record_id();
    match defect {
        Defect::RecordIdRegex if !has_uuid_form(record) => {
            Some(Reply::fail("recordID: not of the form name(uuid)"))
        }
        Defect::RecordIdTooLong if record.chars().count() > 100 => {
            Some(Reply::fail("recordID: more than 100 characters"))
        }
        Defect::RecordIdAscii if !record.is_ascii() => {
            Some(Reply::fail("recordID: 'ascii' codec can't decode"))
        }
        Defect::NegativeCache if !request.dry_run() => {
            match driver.memory.get(defect.id(), &request.operation_key())? {
                Value::String(message) => Some(Reply::fail(&message)),
                _ => None,
            }
        }
        Defect::SameRetryIdRefused if !request.text("retryID").is_empty() => {
            let key = format!("{} {}", request.operation_key(), request.text("retryID"));
            let again = driver.memory.count(defect.id(), &key) > 0;
            again.then(|| Reply::fail("retryID: used before"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if !request.is_operation() {
        return;
    }
    match defect {
        Defect::NegativeCache if reply.has_status("Fail") && !request.dry_run() => {
            let message = reply.message().to_owned();
            driver
                .memory
                .put(defect.id(), &request.operation_key(), message);
        }
        Defect::CloudFault500 if is_outage(reply) => {
            *reply = Reply::crash("ServiceUnavailable");
        }
        Defect::OutageListEmpty if is_outage(reply) && request.is("listBackends") => {
            *reply = Reply::succ();
        }
        Defect::OutageDeletedUnseen
            if is_outage(reply)
                && request.does("deleteLoadBalancer")
                && request.map("lbInfo").is_empty() =>
        {
            *reply = Reply::succ();
        }
        _ => {}
    }
}

/// `name(…)` with 36 characters that a UUID may have.
fn has_uuid_form(record: &str) -> bool {
    let Some((name, rest)) = record.split_once('(') else {
        return false;
    };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let uuid = rest.strip_suffix(')').unwrap_or_default();
    let in_uuid = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    is_name && uuid.len() == 36 && uuid.bytes().all(in_uuid)
}
