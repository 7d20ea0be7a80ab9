//! A driver with types of its own behind the router: what its methods get, and what is refused or
//! fails before they are called.

use crate::logging::log;
use crate::support::ok;
use axum::Router;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ListedBackend, ValidateBackend, ValidateLoadBalancer,
};
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::{self, LoadBalancer, StringMap, WebhookInfo};
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LbSpec {
    #[serde(rename = "vpcID")]
    vpc_id: String,
    listener_port: NonZeroU16,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct LbInfo {
    id: String,
    #[serde(default)]
    port: u16,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Internal,
    Internet,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Attributes {
    scheme: Scheme,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Parameters {
    weight: u8,
}

#[derive(Debug, Clone, Default)]
struct Typed(Arc<Mutex<Vec<String>>>);

impl Typed {
    fn note(&self, what: &str, with: impl Debug) {
        self.0.lock().unwrap().push(format!("{what} {with:?}"));
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Driver for Typed {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    type BackendAddr = SocketAddr;

    #[cfg(feature = "openapi")]
    fn schemas(&self) -> lbcf_driver_sdk::fields::DriverSchemas {
        lbcf_driver_sdk::fields::DriverSchemas::of::<Self>()
    }

    async fn create_load_balancer(&self, r: CreateLoadBalancer<Self>) -> Result<LbInfo, HookError> {
        self.note("create", &r.lb_spec);
        let id = r.lb_spec.vpc_id;
        let port = r.lb_spec.listener_port.get();
        let id = if id == "none" { String::new() } else { id };
        Ok(LbInfo { id, port })
    }

    async fn ensure_load_balancer(&self, r: EnsureLoadBalancer<Self>) -> Result<(), HookError> {
        self.note("ensure", (r.lb_info, r.attributes));
        Ok(())
    }

    async fn delete_load_balancer(&self, r: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        self.note("delete", (r.lb_info.map(|info| info.id), r.attributes));
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        r: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        self.note("generate", (r.lb_info.id, r.parameters));
        Ok("10.0.0.1:80".parse()?)
    }

    async fn ensure_backend(&self, r: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        self.note("register", (r.backend_addr, r.parameters.weight));
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, r: DeregisterBackend<Self>) -> Result<(), HookError> {
        let weight = r.parameters.map(|parameters| parameters.weight);
        self.note("deregister", (r.backend_addr, weight));
        Ok(())
    }

    async fn list_backends(
        &self,
        r: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        self.note("list", r.lb_info.id);
        Ok(vec![
            webhook::ListedBackend {
                backend_addr: "10.0.0.1:80".parse()?,
                parameters: Some(Parameters { weight: 5 }),
                record_id: "ensureBackend(1)".into(),
            },
            webhook::ListedBackend {
                backend_addr: "10.0.0.2:80".parse()?,
                parameters: None,
                record_id: String::new(),
            },
        ])
    }

    async fn validate_load_balancer(&self, r: ValidateLoadBalancer<Self>) -> Result<(), Rejection> {
        let old = r.old_attributes.map(|attributes| attributes.scheme);
        self.note("validate", (r.operation, r.attributes.scheme, old));
        Ok(())
    }

    async fn validate_backend(&self, r: ValidateBackend<Self>) -> Result<(), Rejection> {
        let old = r.old_parameters.map(|parameters| parameters.weight);
        let id = r.lb_info.map(|info| info.id);
        self.note("validate", (r.operation, id, r.parameters.weight, old));
        Ok(())
    }

    fn serial_key(
        &self,
        _webhook: WebhookInfo,
        load_balancer: LoadBalancer<&LbSpec, &LbInfo>,
    ) -> Option<String> {
        match load_balancer {
            LoadBalancer::Wanted(_) => None,
            LoadBalancer::Created(info) => Some(format!("key of {}", info.id)),
        }
    }
}

fn typed() -> (Router, Typed) {
    let driver = Typed::default();
    (DriverRouter::new(driver.clone()).build(), driver)
}

/// The responses and the driver's calls for each body.
async fn check(path: &str, cases: &[(Value, Value, &[&str])]) {
    let (router, driver) = typed();
    for (body, answer, calls) in cases {
        let mut body = body.clone();
        body["recordID"] = json!("r");
        assert_eq!(ok(&router, path, &body).await, *answer, "{path} {body}");
        assert_eq!(driver.calls(), *calls, "{path} {body}");
    }
}

fn yes() -> Value {
    json!({"succ": true, "msg": ""})
}

fn no(why: &str) -> Value {
    json!({"succ": false, "msg": why})
}

fn succ() -> Value {
    json!({"status": "Succ", "msg": ""})
}

fn fail(why: &str) -> Value {
    json!({"status": "Fail", "msg": why})
}

fn invalid(why: &str) -> Value {
    json!({"status": "Fail", "msg": why, "reason": "InvalidArgument"})
}

const NOT_A_PORT: &str = "lbSpec.listenerPort: \"8o\": not a number from 1 to 65535";
const NOT_A_SCHEME: &str = "attributes.scheme: \"inernal\": not one of internal, internet";
const NOT_A_WEIGHT: &str = "parameters.weight: \"256\": not a number from 0 to 255";

#[tokio::test]
async fn validating_a_load_balancer_refuses_with_the_problems_of_both_maps() {
    let spec = json!({"vpcID": "v", "listenerPort": "80"});
    let bad_spec = json!({"vpcID": "v", "listenerPort": "8o"});
    let (good, bad) = (json!({"scheme": "internal"}), json!({"scheme": "inernal"}));
    check(
        "/validateLoadBalancer",
        &[
            (
                json!({"operation": "Create", "lbSpec": spec, "attributes": good}),
                yes(),
                &["validate (Create, Internal, None)"],
            ),
            (
                json!({"operation": "Create", "lbSpec": bad_spec, "attributes": bad}),
                no(&format!("{NOT_A_PORT}; {NOT_A_SCHEME}")),
                &[],
            ),
            (
                json!({"operation": "Create", "lbSpec": {"lisenerPort": "80"}, "attributes": null}),
                no("lbSpec.lisenerPort: unknown, did you mean listenerPort? \
                    The keys are vpcID, listenerPort; lbSpec.vpcID: is missing; \
                    lbSpec.listenerPort: is missing; attributes.scheme: is missing"),
                &[],
            ),
            // From invalid attributes to valid ones.
            (
                json!({"operation": "Update", "lbSpec": spec, "attributes": good, "oldAttributes": bad}),
                yes(),
                &["validate (Update, Internal, None)"],
            ),
            (
                json!({"operation": "Update", "lbSpec": spec, "attributes": good, "oldAttributes": {"scheme": "internet"}}),
                yes(),
                &["validate (Update, Internal, Some(Internet))"],
            ),
            (
                json!({"operation": "Update", "lbSpec": spec, "attributes": bad, "oldAttributes": good}),
                no(NOT_A_SCHEME),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn b75_an_update_that_does_not_change_invalid_values_is_accepted() {
    let bad_spec = json!({"vpcID": "v", "listenerPort": "8o"});
    let bad = json!({"scheme": "inernal"});
    let update = |operation: &str, old: &Value| json!({"operation": operation, "lbSpec": bad_spec, "attributes": bad, "oldAttributes": old});
    let both = no(&format!("{NOT_A_PORT}; {NOT_A_SCHEME}"));
    check(
        "/validateLoadBalancer",
        &[
            (update("Update", &bad), yes(), &[]),
            (update("Update", &json!({"scheme": "x"})), both.clone(), &[]),
            (update("Create", &bad), both, &[]),
        ],
    )
    .await;
    let update = |operation: &str, old: &str| json!({"operation": operation, "backendType": "Pod", "parameters": {"weight": "256"}, "oldParameters": {"weight": old}});
    check(
        "/validateBackend",
        &[
            (update("Update", "256"), yes(), &[]),
            (update("Update", "1"), no(NOT_A_WEIGHT), &[]),
            (update("Create", "256"), no(NOT_A_WEIGHT), &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn validating_backends_needs_no_identity() {
    let body = |info: Value, old: &str| json!({"operation": "Update", "backendType": "Pod", "lbInfo": info, "parameters": {"weight": "1"}, "OldParameters": {"weight": old}});
    check(
        "/validateBackend",
        &[
            (
                body(json!({"id": "lb-1"}), "2"),
                yes(),
                &["validate (Update, Some(\"lb-1\"), 1, Some(2))"],
            ),
            (
                body(Value::Null, "2"),
                yes(),
                &["validate (Update, None, 1, Some(2))"],
            ),
            // b97: for a Bind it is lbSpec.
            (
                body(json!({"vpcID": "v"}), "x"),
                yes(),
                &["validate (Update, None, 1, None)"],
            ),
            (
                json!({"operation": "Create", "backendType": "Pod"}),
                no("parameters.weight: is missing"),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn creating_fails_for_invalid_values_and_for_an_invalid_identity() {
    let attributes = json!({"scheme": "internet"});
    let spec = |id: &str, port: &str| json!({"lbSpec": {"vpcID": id, "listenerPort": port}, "attributes": attributes});
    check(
        "/createLoadBalancer",
        &[
            (
                spec("v", "80"),
                json!({"status": "Succ", "msg": "", "lbInfo": {"id": "v", "port": "80"}}),
                &["create LbSpec { vpc_id: \"v\", listener_port: 80 }"],
            ),
            (
                json!({"lbSpec": {"vpcID": "v", "listenerPort": "8o"}, "attributes": {"scheme": "inernal"}}),
                invalid(&format!("{NOT_A_PORT}; {NOT_A_SCHEME}")),
                &[],
            ),
            // The identity could not be read back.
            (
                spec("none", "80"),
                fail("lbInfo.id: is empty"),
                &["create LbSpec { vpc_id: \"none\", listener_port: 80 }"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn ensuring_a_load_balancer_fails_for_invalid_values() {
    check(
        "/ensureLoadBalancer",
        &[
            (
                json!({"lbInfo": {"id": "1"}, "attributes": {"scheme": "internal"}}),
                succ(),
                &["ensure (LbInfo { id: \"1\", port: 0 }, Attributes { scheme: Internal })"],
            ),
            (
                json!({"lbInfo": {"id": "1"}, "attributes": {"scheme": "inernal"}}),
                invalid(NOT_A_SCHEME),
                &[],
            ),
            (
                json!({"attributes": {"scheme": "internal"}}),
                fail("lbInfo.id: is missing"),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn deleting_needs_no_attributes_and_may_have_no_identity() {
    check(
        "/deleteLoadBalancer",
        &[
            (
                json!({"lbInfo": {"id": "1"}, "attributes": {"scheme": "internal"}}),
                succ(),
                &["delete (Some(\"1\"), Some(Attributes { scheme: Internal }))"],
            ),
            (
                json!({"lbInfo": {"id": "1"}, "attributes": {"scheme": "inernal"}}),
                succ(),
                &["delete (Some(\"1\"), None)"],
            ),
            (json!({"lbInfo": null}), succ(), &["delete (None, None)"]),
            (json!({}), succ(), &["delete (None, None)"]),
            // With an invalid identity the driver cannot delete it.
            (
                json!({"lbInfo": {"id": "1", "port": "x"}}),
                fail("lbInfo.port: \"x\": not a number from 0 to 65535"),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn d4_an_address_needs_no_parameters_but_refuses_invalid_ones() {
    let pod = json!({"pod": {"metadata": {"name": "p"}}, "port": {"port": 80}});
    let body = |parameters: Value| json!({"lbInfo": {"id": "1"}, "lbAttributes": {"scheme": "internal"}, "parameters": parameters, "podBackend": pod});
    let address = json!({"status": "Succ", "msg": "", "backendAddr": "10.0.0.1:80"});
    let mut unfit = body(Value::Null);
    unfit["lbAttributes"] = json!({});
    let mut without_backend = body(Value::Null);
    without_backend["podBackend"] = Value::Null;
    check(
        "/generateBackendAddr",
        &[
            (
                body(json!({"weight": "3"})),
                address.clone(),
                &["generate (\"1\", Some(Parameters { weight: 3 }))"],
            ),
            (body(Value::Null), address, &["generate (\"1\", None)"]),
            (body(json!({"weight": "256"})), invalid(NOT_A_WEIGHT), &[]),
            (unfit, fail("lbAttributes.scheme: is missing"), &[]),
            (
                without_backend,
                fail("the request names no backend: podBackend, serviceBackend or endpointBackend is needed"),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn registering_fails_for_invalid_values() {
    let body = |address: &str, weight: &str| json!({"lbInfo": {"id": "1"}, "backendAddr": address, "parameters": {"weight": weight}});
    let mut nothing = body("10.0.0.1:80", "256");
    nothing["lbInfo"] = Value::Null;
    check(
        "/ensureBackend",
        &[
            (
                body("10.0.0.1:80", "5"),
                succ(),
                &["register (10.0.0.1:80, 5)"],
            ),
            (body("10.0.0.1:80", "256"), invalid(NOT_A_WEIGHT), &[]),
            (body("", "5"), invalid("backendAddr: is empty"), &[]),
            (
                body("10.0.0.1", "5"),
                invalid("backendAddr: \"10.0.0.1\": invalid socket address syntax"),
                &[],
            ),
            (
                nothing,
                invalid(&format!("lbInfo.id: is missing; {NOT_A_WEIGHT}")),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn b26_a_backend_is_deregistered_with_invalid_parameters_or_an_invalid_address() {
    let body = |address: &str, weight: &str| json!({"lbInfo": {"id": "1"}, "backendAddr": address, "parameters": {"weight": weight}});
    let mut nowhere = body("10.0.0.1:80", "5");
    nowhere["lbInfo"] = json!({"port": "80"});
    check(
        "/deregisterBackend",
        &[
            (
                body("10.0.0.1:80", "5"),
                succ(),
                &["deregister (10.0.0.1:80, Some(5))"],
            ),
            (
                body("10.0.0.1:80", "256"),
                succ(),
                &["deregister (10.0.0.1:80, None)"],
            ),
            // An address of a user that was never registered.
            (body("10.0.0.1", "5"), succ(), &[]),
            (body("", "5"), succ(), &[]),
            (nowhere, fail("lbInfo.id: is missing"), &[]),
            // Without lbInfo the load balancer was never created.
            (json!({"backendAddr": "10.0.0.1:80"}), succ(), &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn d52_listed_backends_have_the_drivers_types() {
    let listed = json!({"status": "Succ", "msg": "", "backends": [
        {"backendAddr": "10.0.0.1:80", "parameters": {"weight": "5"}, "recordID": "ensureBackend(1)"},
        {"backendAddr": "10.0.0.2:80", "parameters": null},
    ]});
    check(
        "/listBackends",
        &[
            (json!({"lbInfo": {"id": "1"}}), listed, &["list \"1\""]),
            (
                json!({"lbInfo": {"port": "80"}}),
                fail("lbInfo.id: is missing"),
                &[],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn the_rest_needs_no_types() {
    let (router, _) = typed();
    let healthy = ok(&router, "/healthz", &json!({})).await;
    assert_eq!(
        healthy,
        json!({"healthy": true, "specification": "1", "features": ["pages", "reasons"]})
    );
    let judged = ok(&router, "/judgePodDeregister", &json!({"notReadyPods": []})).await;
    assert_eq!(judged["succ"], false);
}

/// The log shows the key.
#[tokio::test]
async fn a_serial_key_comes_from_valid_values() {
    for (id, shown) in [
        ("lb-1", "loadBalancer=\"key of lb-1\""),
        ("", "loadBalancer=\"id=\""),
    ] {
        let (log, _guard) = log();
        let (router, _) = typed();
        let body = json!({"recordID": "r", "lbInfo": {"id": id}, "backendAddr": "nowhere"});
        let answer = ok(&router, "/ensureBackend", &body).await;
        assert_eq!(answer["status"], "Fail");
        assert!(log.text().contains(shown), "{}", log.text());
    }
}

/// Stores the maps unchanged.
#[derive(Debug)]
struct Raw;

impl Driver for Raw {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        r: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(r.lb_spec)
    }

    async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        r: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok(r.parameters
            .unwrap_or_default()
            .remove("address")
            .unwrap_or_default())
    }

    async fn ensure_backend(&self, r: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(r.parameters)
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

#[tokio::test]
async fn maps_of_strings_pass_unchanged() {
    let router = DriverRouter::new(Raw).build();
    let map = json!({"": "", "a.b/c": " 1 ", "empty": "", "nul": "\0", "ship": "🚢"});
    let body = json!({"recordID": "r", "lbSpec": map});
    let answer = ok(&router, "/createLoadBalancer", &body).await;
    assert_eq!(answer["lbInfo"], map);
    let body = json!({"recordID": "r", "lbInfo": map, "backendAddr": "x", "parameters": map});
    let answer = ok(&router, "/ensureBackend", &body).await;
    assert_eq!(answer["injectedInfo"], map);
    // b19: an empty identity is left empty.
    let empty = json!({"recordID": "r2", "lbSpec": {}});
    assert_eq!(ok(&router, "/createLoadBalancer", &empty).await, succ());
}

#[tokio::test]
async fn an_empty_address_is_none() {
    let router = DriverRouter::new(Raw).build();
    let pod = json!({"pod": {"metadata": {"name": "p"}}, "port": {"port": 80}});
    let body = json!({"recordID": "r", "podBackend": pod});
    let answer = ok(&router, "/generateBackendAddr", &body).await;
    assert_eq!(
        answer,
        fail("backendAddr: the driver returned an empty one")
    );
}

#[cfg(feature = "openapi")]
#[test]
fn the_openapi_document_of_a_driver_has_the_schemas_of_its_maps() {
    use lbcf_driver_sdk::openapi::{document, document_for};
    let typed = serde_json::to_value(document_for(&Typed::default())).unwrap();
    let spec = &typed["components"]["schemas"]["LbSpec"];
    assert_eq!(spec["required"], json!(["vpcID", "listenerPort"]));
    assert_eq!(spec["additionalProperties"], false);
    assert!(document_for(&Raw) == document());
}
