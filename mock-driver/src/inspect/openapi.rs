//! The endpoints under `/_mock` as an OpenAPI 3.1 document, for clients in any language. It is checked in
//! as `openapi/lbcf-mock.json`; a test fails when it is out of date.

use super::{by_hand, clock, creations, differences, fault, load_balancers};
use crate::cloud::{CloudState, Observation};
use crate::faults::FaultRule;
use crate::journal::{CallQuery, JournalEntry};
use crate::process::RestartReport;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

/// An endpoint, without the prefix.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    summary: &'static str,
    /// Whether it has the query of calls.
    has_query: bool,
    body: Option<SchemaOf>,
    response: Option<SchemaOf>,
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Endpoint {
    const fn new(method: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            summary,
            has_query: false,
            body: None,
            response: None,
        }
    }

    const fn query(mut self) -> Self {
        self.has_query = true;
        self
    }

    const fn body(mut self, schema: SchemaOf) -> Self {
        self.body = Some(schema);
        self
    }

    const fn returns(mut self, schema: SchemaOf) -> Self {
        self.response = Some(schema);
        self
    }
}

/// All endpoints, which the error for any other path or method lists.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::new("GET", "/state", "Everything that the cloud holds").returns(of::<CloudState>),
    Endpoint::new("PUT", "/state", "Replaces everything that the cloud holds")
        .body(of::<CloudState>)
        .returns(of::<CloudState>),
    Endpoint::new(
        "GET",
        "/loadbalancers",
        "The load balancers, and what they have served",
    )
    .returns(of::<load_balancers::LoadBalancers>),
    Endpoint::new(
        "GET",
        "/loadbalancers/{id}",
        "One load balancer, and what it has served",
    )
    .returns(of::<load_balancers::LoadBalancer>),
    Endpoint::new(
        "DELETE",
        "/loadbalancers/{id}",
        "Restores the initial state of one load balancer",
    )
    .returns(of::<CloudState>),
    Endpoint::new(
        "GET",
        "/differences",
        "What differs between the cloud and the cluster of --kubeconfig",
    )
    .returns(of::<differences::Differences>),
    Endpoint::new("GET", "/observe", "The load balancers that LBCF uses")
        .returns(of::<Observation>),
    Endpoint::new(
        "POST",
        "/observe/foreign",
        "Binds a backend that LBCF has not registered",
    )
    .body(of::<by_hand::BackendChange>)
    .returns(of::<Observation>),
    Endpoint::new(
        "POST",
        "/observe/unbind",
        "Unbinds a backend behind the driver's back",
    )
    .body(of::<by_hand::BackendChange>)
    .returns(of::<Observation>),
    Endpoint::new(
        "POST",
        "/observe/attributes",
        "Replaces attributes behind the driver's back",
    )
    .body(of::<by_hand::AttributesChange>)
    .returns(of::<Observation>),
    Endpoint::new("GET", "/requests", "The last webhook calls, oldest first").query(),
    Endpoint::new("GET", "/requests/{number}", "One call with its bodies")
        .returns(of::<JournalEntry>),
    Endpoint::new(
        "GET",
        "/requests/wait",
        "Waits until there are `count` calls, for `timeout`",
    )
    .query(),
    Endpoint::new(
        "GET",
        "/requests/stream",
        "Calls as they end, as server-sent events",
    )
    .query(),
    Endpoint::new(
        "GET",
        "/requests/export",
        "The calls with their bodies, for `lbcf conformance replay`",
    )
    .query(),
    Endpoint::new(
        "GET",
        "/faults",
        "The fault rules, with how many calls they matched and hit",
    ),
    Endpoint::new(
        "POST",
        "/faults",
        "Adds a fault rule, a list of them, or `{\"rules\":[],\"preset\":\"chaos\"}`",
    )
    .body(of::<FaultRule>),
    Endpoint::new("PUT", "/faults", "Replaces all fault rules").body(of::<Vec<FaultRule>>),
    Endpoint::new("DELETE", "/faults", "Removes all fault rules"),
    Endpoint::new("DELETE", "/faults/{id}", "Removes a fault rule"),
    Endpoint::new(
        "POST",
        "/creations/release",
        "Completes creations that are held, all by default",
    )
    .body(of::<creations::Release>),
    Endpoint::new("GET", "/clock", "The time of the cloud"),
    Endpoint::new(
        "POST",
        "/clock/advance",
        "Moves the time of the cloud forward",
    )
    .body(of::<clock::Advance>),
    Endpoint::new(
        "POST",
        "/reset",
        "Restores the initial state, with the fault rules of the start",
    )
    .returns(of::<CloudState>),
    Endpoint::new("GET", "/fault", "Whether the cloud's API is unavailable")
        .returns(of::<fault::Fault>),
    Endpoint::new(
        "POST",
        "/fault",
        "Starts or ends an outage of the cloud's API",
    )
    .body(of::<fault::Fault>)
    .returns(of::<fault::Fault>),
    Endpoint::new("POST", "/restart", "Kills the driver and starts it again")
        .returns(of::<RestartReport>),
    Endpoint::new("GET", "/openapi.json", "This document"),
];

/// The document.
pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let query = query_parameters();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths
            .entry(format!("/_mock{}", endpoint.path))
            .or_insert_with(|| json!({}));
        path[endpoint.method.to_lowercase()] = operation(endpoint, &query, &mut generator);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClbDriver, Cloud, MockOptions};
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/lbcf-mock.json");

    #[test]
    fn openapi_document_is_up_to_date() {
        let generated = serde_json::to_string_pretty(&document()).unwrap() + "\n";
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(FILE, &generated).unwrap();
        }
        let checked_in = std::fs::read_to_string(FILE).unwrap_or_default();
        assert!(
            checked_in == generated,
            "openapi/lbcf-mock.json is out of date; rewrite it with\n\
             UPDATE_OPENAPI=1 cargo test -p mock-driver openapi"
        );
    }

    #[tokio::test]
    async fn openapi_paths_are_the_routes() {
        let driver = ClbDriver::new(Cloud::with_samples(), MockOptions::default());
        let router = crate::router(driver);
        for endpoint in ENDPOINTS {
            // Wrong in every endpoint that reads one, so that none waits or changes much.
            let path = endpoint
                .path
                .replace("{id}", "none")
                .replace("{number}", "none");
            let uri = format!("/_mock{path}?timeout=0");
            let request = Request::builder().method(endpoint.method).uri(uri);
            let request = request.body(Body::from("[{}]")).unwrap();
            let status = router.clone().oneshot(request).await.unwrap().status();
            let is_known = match status {
                // Without a cluster, there is nothing to compare with.
                StatusCode::NOT_FOUND => endpoint.path.contains('{') || path == "/differences",
                status => status != StatusCode::METHOD_NOT_ALLOWED,
            };
            assert!(is_known, "{} {path}: {status}", endpoint.method);
        }
    }

    #[test]
    fn openapi_has_a_schema_for_every_reference_and_every_query() {
        let document = document();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        let parameters = &document["paths"]["/_mock/requests"]["get"]["parameters"];
        let names: Vec<_> = parameters
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].clone())
            .collect();
        for name in [
            "webhook",
            "recordID",
            "loadBalancer",
            "since",
            "bodies",
            "count",
            "timeout",
        ] {
            assert!(names.contains(&name.into()), "{name}: {names:?}");
        }
        assert!(text.contains("loseAnswer") && text.contains("retryAfter"));
    }
}
