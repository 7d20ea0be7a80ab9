//! The endpoints under `/_mock` as an OpenAPI 3.1 document, for clients in any language. It is checked in
//! as `openapi/lbcf-mock.json`; a test fails when it is out of date.

use super::http::Inspected;
use crate::journal::CallQuery;
use axum::routing::MethodRouter;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

/// An endpoint, without the prefix.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// In small letters.
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) has_query: bool,
    pub(super) body: Option<SchemaOf>,
    pub(super) response: Option<SchemaOf>,
    pub(super) route: fn() -> MethodRouter<Inspected>,
}

pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The document.
pub(super) fn document(endpoints: &[Endpoint]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let query = query_parameters();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let path = paths
            .entry(format!("/_mock{}", endpoint.path))
            .or_insert_with(|| json!({}));
        path[endpoint.method] = operation(endpoint, &query, &mut generator);
    }
    let error = json!({
        "description": "Which field or path is wrong, with its value and what is allowed.",
        "content": {JSON: {"schema": {
            "type": "object", "required": ["error"], "properties": {"error": {"type": "string"}},
        }}},
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "The mock cloud's own API",
            "description": "Beside the webhooks of its driver, lbcf mock-driver has these endpoints.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:8080"}],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": {"Error": error},
        },
    })
}

fn operation(endpoint: &Endpoint, query: &[Value], generator: &mut SchemaGenerator) -> Value {
    let schema = |of: Option<SchemaOf>, generator: &mut SchemaGenerator| match of {
        Some(of) => of(generator).to_value(),
        None => json!({"type": "object"}),
    };
    let content_type = match endpoint.path {
        "/requests/stream" => "text/event-stream",
        _ => JSON,
    };
    let response = match content_type {
        JSON => schema(endpoint.response, generator),
        _ => json!({"type": "string"}),
    };
    let mut operation = json!({
        "summary": endpoint.summary,
        "responses": {
            "200": {"description": "Done.", "content": {content_type: {"schema": response}}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    });
    if endpoint.body.is_some() {
        operation["requestBody"] = json!({
            "required": true,
            "content": {JSON: {"schema": schema(endpoint.body, generator)}},
        });
    }
    let in_path = endpoint.path.split(['{', '}']).skip(1).step_by(2).map(
        |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}),
    );
    let in_query = query.iter().filter(|_| endpoint.has_query).cloned();
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}

/// The fields of [`CallQuery`] as parameters.
fn query_parameters() -> Vec<Value> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings
        .into_generator()
        .into_root_schema_for::<CallQuery>()
        .to_value();
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema["description"].take();
        let fields = schema.as_object_mut();
        fields.map(|fields| fields.remove("description"));
        json!({"name": name, "in": "query", "description": description, "schema": schema})
    };
    properties.iter().map(parameter).collect()
}
