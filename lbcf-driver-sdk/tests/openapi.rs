//! The checked-in document is the generated one, and it describes what is served.

#![cfg(feature = "openapi")]

use crate::support::{post, stage};
use axum::http::StatusCode;
use lbcf_driver_sdk::openapi::document;
use lbcf_driver_sdk::specification::rules::GROUPS;
use lbcf_driver_sdk::webhook::ALL;
use serde_json::json;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/lbcf-webhooks.json");
const SPECIFICATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/specification.md");

#[test]
fn openapi_document_is_up_to_date() {
    let generated = document().to_pretty_json().unwrap() + "\n";
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(FILE, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        checked_in == generated,
        "openapi/lbcf-webhooks.json is out of date; rewrite it with\n\
         UPDATE_OPENAPI=1 cargo test -p lbcf-driver-sdk --all-features openapi"
    );
}

/// The document with each group's rules between `<!-- rules GROUP -->` and `<!-- end -->`.
fn with_rules(document: &str) -> String {
    let mut parts = document.split("<!-- rules ");
    let mut filled = parts.next().unwrap().to_owned();
    for part in parts {
        let (block, rest) = part.split_once("<!-- end -->").expect("a block ends");
        let prefix = block.split(' ').next().unwrap();
        filled += &format!("<!-- rules {prefix} -->\n");
        let group = GROUPS.iter().find(|group| group.prefix == prefix);
        for rule in group.expect("a group of the table").rules {
            filled += &format!("* **LBCF-{}**: {}\n", rule.id, rule.sentence);
        }
        filled += &format!("<!-- end -->{rest}");
    }
    filled
}

#[test]
fn openapi_specification_has_every_rule_once() {
    let written = std::fs::read_to_string(SPECIFICATION).unwrap();
    let generated = with_rules(&written);
    for rule in GROUPS.iter().flat_map(|group| group.rules) {
        let line = format!("* **LBCF-{}**", rule.id);
        assert_eq!(generated.matches(&line).count(), 1, "{line}");
    }
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(SPECIFICATION, &generated).unwrap();
    } else {
        assert!(
            written == generated,
            "openapi/specification.md is out of date; rewrite it with\n\
             UPDATE_OPENAPI=1 cargo test -p lbcf-driver-sdk --all-features openapi"
        );
    }
}

#[tokio::test]
async fn openapi_paths_are_the_routes() {
    let (router, _) = stage();
    let document = document();
    assert_eq!(document.paths.paths.len(), ALL.len());
    for path in document.paths.paths.keys() {
        let (status, _) = post(&router, path, "[]").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[test]
fn openapi_schemas_name_what_is_on_the_wire() {
    let document = serde_json::to_value(document()).unwrap();
    let schema = |name: &str| &document["components"]["schemas"][name];
    let old = &schema("ValidateBackendRequest")["properties"];
    assert!(old["oldParameters"].is_object());
    // Generators make one member of names that differ by letter case, or fail.
    assert!(old["OldParameters"].is_null());
    let port = &schema("BackendPort")["properties"];
    assert!(port["port"].is_object() && port["portNumber"].is_object());
    assert_eq!(schema("Protocol")["enum"], json!(["TCP", "UDP", "SCTP"]));
    // Others are answered with `succ: false`, so that they have to be read.
    assert!(schema("Operation")["enum"].is_null());
    let examples = &schema("Operation")["examples"];
    assert_eq!(*examples, json!(["Create", "Update"]));
    // b152: a map may be null, in either direction.
    for name in ["Request", "Response"] {
        let map = &schema(&format!("EnsureBackend{name}"))["properties"]["injectedInfo"];
        assert!(map.to_string().contains("null"), "{map}");
    }
    let old = &schema("ValidateLoadBalancerRequest")["properties"]["oldAttributes"];
    assert!(old.to_string().contains("null"), "{old}");
    // Item numbers are for those who read the code.
    assert!(!document.to_string().contains("(d1)"));
    // d1: a number, not a string.
    let delay = &schema("EnsureBackendResponse")["properties"]["minRetryDelayInSeconds"];
    assert_eq!(delay["type"], "integer");
    assert_eq!(
        document["info"]["license"]["identifier"],
        json!("Apache-2.0")
    );
}

/// Members that controllers of before do not send (b153), and of a driver's answer those that an outcome does not need.
const OPTIONAL: [&str; 8] = [
    "dryRun",
    "namespace",
    "name",
    "lbAttributes",
    "endpointBackend",
    "firstRequestedAt",
    "continue",
    "msg",
];

#[test]
fn openapi_requires_what_is_always_there() {
    let mut document = serde_json::to_value(document()).unwrap();
    let schemas = document["components"]["schemas"].take();
    let all = [
        "recordID",
        "retryID",
        "lbInfo",
        "backendAddr",
        "parameters",
        "injectedInfo",
    ];
    assert_eq!(schemas["EnsureBackendRequest"]["required"], json!(all));
    assert_eq!(
        schemas["EnsureBackendResponse"]["required"],
        json!(["status"])
    );
    for (name, schema) in schemas.as_object().unwrap() {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        assert!(
            OPTIONAL.iter().all(|it| !required.contains(&json!(it))),
            "{name}"
        );
    }
}

#[test]
fn openapi_pods_and_services_name_what_the_sdk_reads_and_have_the_rest() {
    let mut document = serde_json::to_value(document()).unwrap();
    let schemas = document["components"]["schemas"].take();
    for (name, members) in [
        (
            "ObjectMeta",
            &["namespace", "name", "uid", "labels", "annotations"][..],
        ),
        ("PodSpec", &["nodeName"]),
        (
            "PodStatus",
            &["phase", "podIP", "podIPs", "hostIP", "conditions"],
        ),
        ("ServiceSpec", &["ports"]),
        ("ServicePort", &["name", "protocol", "port", "nodePort"]),
        ("NodeAddress", &["type", "address"]),
    ] {
        let schema = &schemas[name];
        // Not `true`: some generators drop the rest then.
        assert_eq!(schema["additionalProperties"], json!({}), "{name}");
        let has = |member: &&str| schema["properties"][*member].is_object();
        assert!(members.iter().all(has), "{name}");
    }
}
