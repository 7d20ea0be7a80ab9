//! Members that many requests and responses have: the sizes of maps and the defined reasons, which the types of Rust
//! do not say.

use crate::webhook::Reason;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, Schema};

/// A map that a user writes, as the CRDs limit it: the number of entries, and the lengths of keys and values.
const ENTRIES: usize = 256;
const KEY: usize = 253;
const VALUE: usize = 16 << 10;
/// All keys and values of a map that a driver returns.
const RETURNED: usize = 64 << 10;

/// Adds them to the members of all schemas.
pub(super) fn add(schemas: &mut [(String, RefOr<Schema>)]) {
    for (name, schema) in schemas {
        let RefOr::T(Schema::Object(object)) = schema else {
            continue;
        };
        let is_request = name.ends_with("Request");
        for (name, member) in &mut object.properties {
            if let RefOr::T(Schema::Object(member)) = member {
                limit(name, member, is_request);
            }
        }
    }
}

fn limit(name: &str, member: &mut Object, is_request: bool) {
    match name {
        "lbSpec" | "attributes" | "oldAttributes" | "lbAttributes" | "parameters"
        | "oldParameters"
            if is_request =>
        {
            member.max_properties = Some(ENTRIES);
            describe(
                member,
                &format!("Keys have at most {KEY} characters, and values {VALUE}."),
            );
        }
        "lbInfo" | "injectedInfo" => describe(
            member,
            &format!("Keys and values have at most {RETURNED} characters together."),
        ),
        "reason" => {
            member.examples = Reason::ALL.map(|reason| reason.name().into()).to_vec();
        }
        _ => {}
    }
}

/// Lengths of keys and values are said in words: generators would make a type of the keys and one of the values of
/// each map.
fn describe(map: &mut Object, lengths: &str) {
    let description = map.description.get_or_insert_default();
    description.push(' ');
    description.push_str(lengths);
}
