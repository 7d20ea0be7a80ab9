//! Bytes are read by a fast path and, where that fails, by a slow one, with the same result: what
//! is read from bytes is what is read from the JSON value that they stand for, and so is each
//! complaint.

use crate::near_misses::{Json, edits, json, request_of, response_of, spoil};
use crate::support::cases;
use lbcf_driver_sdk::webhook::*;
use lbcf_driver_sdk::wire::{DecodeError, from_slice, from_value};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The value, as it is written, or the complaint.
fn decoded_value<T: Serialize>(read: Result<T, DecodeError>) -> Result<Value, String> {
    read.map(|value| serde_json::to_value(value).unwrap())
        .map_err(|error| error.to_string())
}

fn check<T: Serialize + DeserializeOwned>(body: &[u8]) -> Result<(), TestCaseError> {
    let value = serde_json::from_slice(body).map_err(DecodeError::NotJson);
    let slow = decoded_value(value.and_then(from_value::<T>));
    prop_assert_eq!(
        decoded_value(from_slice::<T>(body)),
        slow,
        "{}",
        String::from_utf8_lossy(body)
    );
    Ok(())
}

/// A body as a webhook's request and as its response.
fn check_both(webhook: &str, body: &[u8]) -> Result<(), TestCaseError> {
    fn both<W: Webhook>(body: &[u8]) -> Result<(), TestCaseError> {
        check::<W>(body)?;
        check::<W::Response>(body)
    }
    match webhook {
        "healthz" => both::<Healthz>(body),
        "validateLoadBalancer" => both::<ValidateLoadBalancer>(body),
        "createLoadBalancer" => both::<CreateLoadBalancer>(body),
        "ensureLoadBalancer" => both::<EnsureLoadBalancer>(body),
        "deleteLoadBalancer" => both::<DeleteLoadBalancer>(body),
        "validateBackend" => both::<ValidateBackend>(body),
        "generateBackendAddr" => both::<GenerateBackendAddr>(body),
        "ensureBackend" => both::<EnsureBackend>(body),
        "deregisterBackend" => both::<DeregisterBackend>(body),
        "judgePodDeregister" => both::<JudgePodDeregister>(body),
        "listBackends" => both::<ListBackends>(body),
        _ => Err(TestCaseError::fail(format!(
            "{webhook}: no types are named"
        ))),
    }
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn a_spoilt_request_is_read_the_same_either_way(
        webhook in prop::sample::select(ALL), edits in edits(), spoil in spoil(),
    ) {
        let body = Json::from(request_of(webhook.name)).edited(&edits).to_string().into_bytes();
        check_both(webhook.name, &spoil.apply(body))?;
    }

    #[test]
    fn a_spoilt_response_is_read_the_same_either_way(
        webhook in prop::sample::select(ALL), edits in edits(), spoil in spoil(),
    ) {
        let body = Json::from(response_of(webhook.name)).edited(&edits).to_string().into_bytes();
        check_both(webhook.name, &spoil.apply(body))?;
    }

    #[test]
    fn any_json_is_read_the_same_either_way(
        webhook in prop::sample::select(ALL), body in json(), spoil in spoil(),
    ) {
        check_both(webhook.name, &spoil.apply(body.to_string().into_bytes()))?;
    }
}
