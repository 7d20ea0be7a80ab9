//! Reads each body with the generated types, and writes it: `<BODIES >WRITTEN`.

use serde_json::Value;
use std::io;

mod webhooks {
    #![allow(dead_code, clippy::all)]
    use super::{Value, round_trip};
    include!(concat!(env!("OUT_DIR"), "/webhooks.rs"));
}

fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(
    body: Value,
) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(body)?)
}

fn main() {
    let mut bodies: Vec<Value> = serde_json::from_reader(io::stdin().lock()).expect("the bodies");
    for body in &mut bodies {
        let schema = body["schema"].as_str().expect("a name");
        let again = webhooks::again(schema, body["body"].clone());
        *body = again.unwrap_or_else(|error| panic!("{schema}, {}: {error}", body["of"]));
    }
    serde_json::to_writer(io::stdout().lock(), &bodies).expect("the output");
}
