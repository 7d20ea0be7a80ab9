//! Generates types from the document's schemas with typify, and a function that reads and writes a body with them.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};
use typify::{TypeSpace, TypeSpaceSettings};

fn main() {
    let path = env::var("LBCF_DOCUMENT").expect("LBCF_DOCUMENT is the document's path");
    println!("cargo::rerun-if-env-changed=LBCF_DOCUMENT");
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).expect("the document");
    // typify reads JSON Schema, where definitions have another place.
    let text = text.replace("#/components/schemas/", "#/definitions/");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let schemas = document["components"]["schemas"].take();
    let mut again = String::new();
    let names = schemas.as_object().expect("schemas").keys();
    for name in names.filter(|it| it.ends_with("Request") || it.ends_with("Response")) {
        writeln!(again, "{name:?} => round_trip::<{name}>(body),").expect("a text");
    }
    let root = serde_json::from_value(serde_json::json!({ "definitions": schemas }));
    let mut types = TypeSpace::new(&TypeSpaceSettings::default());
    types
        .add_root_schema(root.expect("a schema"))
        .expect("types");
    let code = format!(
        "{} pub fn again(schema: &str, body: Value) -> serde_json::Result<Value> {{ match schema {{ {again} _ => panic!(\"{{schema}}\") }} }}",
        types.to_stream()
    );
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("webhooks.rs"), code).expect("a file");
}
