use super::constrained::Constrained;
use super::immutable;
use schemars::Schema;

/// What identifies a backend (d37): after a change the backend that was registered before would stay
/// in the cloud. There are no other rules, as the controller also writes records of objects that were
/// stored before the rules.
pub(in crate::api) fn backend_record(schema: &mut Schema) {
    let identity = [
        "lbDriver",
        "lbName",
        "lbInfo",
        "podBackend",
        "serviceBackend",
        "endpointBackend",
        "staticAddr",
    ];
    let hint = "the controller creates another record instead";
    Constrained::of(schema).rules(identity.map(|field| immutable(field, hint)));
}
