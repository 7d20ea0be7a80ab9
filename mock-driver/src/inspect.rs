//! The mock's own endpoints under `/_mock`: the state of the cloud, the webhook calls, and what can
//! happen to a cloud and a driver from outside. No webhook has a path with that prefix.

mod cloud;
mod http;
mod openapi;
mod requests;
mod switches;
#[cfg(test)]
mod tests;

use crate::faults::FaultRule;
use crate::journal::JournalEntry;
use crate::observe::Observation;
use crate::process::RestartReport;
use crate::resources::CloudState;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::{self, Router};
use http::EndpointError;
pub(crate) use http::Inspected;
use openapi::{Endpoint, SchemaOf, schema_of};
use std::future::{Ready, ready};

/// The table of endpoints: method, path, handler, what it does, and the types of the body that it reads
/// and of the document that it returns. Paths with `[query]` have the query
/// of calls.
macro_rules! endpoints {
    ($(
        $method:ident $path:literal $([$query:ident])? => $handler:path: $summary:literal
        $(, reads $body:ty)? $(, returns $response:ty)?;
    )*) => {
        const ENDPOINTS: &[Endpoint] = &[$(Endpoint {
            method: stringify!($method),
            path: $path,
            summary: $summary,
            has_query: endpoints!(@is $($query)?),
            body: endpoints!(@schema $($body)?),
            response: endpoints!(@schema $($response)?),
            route: || routing::$method($handler),
        }),*];
    };
    (@is) => { false };
    (@is query) => { true };
    (@schema) => { None };
    (@schema $of:ty) => { Some(schema_of::<$of> as SchemaOf) };
}

endpoints! {
    get "/state" => cloud::state: "Everything that the cloud holds", returns CloudState;
    put "/state" => cloud::restore: "Replaces everything that the cloud holds",
        reads CloudState, returns CloudState;
    get "/loadbalancers" => cloud::load_balancers: "The load balancers, and what they have served",
        returns cloud::LoadBalancers;
    get "/loadbalancers/{id}" => cloud::load_balancer: "One load balancer, and what it has served",
        returns cloud::LoadBalancer;
    delete "/loadbalancers/{id}" => cloud::reset_load_balancer:
        "Restores the initial state of one load balancer", returns CloudState;
    get "/differences" => cloud::differences:
        "What differs between the cloud and the cluster of --kubeconfig", returns cloud::Differences;
    get "/observe" => cloud::observe: "The load balancers that LBCF uses", returns Observation;
    post "/observe/foreign" => cloud::bind: "Binds a backend that LBCF has not registered",
        reads cloud::BackendChange, returns Observation;
    post "/observe/unbind" => cloud::unbind: "Unbinds a backend behind the driver's back",
        reads cloud::BackendChange, returns Observation;
    post "/observe/attributes" => cloud::attributes: "Replaces attributes behind the driver's back",
        reads cloud::AttributesChange, returns Observation;
    get "/requests" [query] => requests::list: "The last webhook calls, oldest first";
    get "/requests/{number}" => requests::one: "One call with its bodies", returns JournalEntry;
    get "/requests/wait" [query] => requests::wait: "Waits until there are `count` calls, for `timeout`";
    get "/requests/stream" [query] => requests::follow: "Calls as they end, as server-sent events";
    get "/requests/export" [query] => requests::export:
        "The calls with their bodies, for `lbcf conformance replay`";
    get "/faults" => switches::faults: "The fault rules, with how many calls they matched and hit";
    post "/faults" => switches::add_faults:
        "Adds a fault rule, a list of them, or `{\"rules\":[],\"preset\":\"chaos\"}`", reads FaultRule;
    put "/faults" => switches::replace_faults: "Replaces all fault rules", reads Vec<FaultRule>;
    delete "/faults" => switches::clear_faults: "Removes all fault rules";
    delete "/faults/{id}" => switches::remove_fault: "Removes a fault rule";
    post "/creations/release" => switches::release_creations:
        "Completes creations that are held, all by default", reads switches::Release;
    get "/clock" => switches::clock: "The time of the cloud";
    post "/clock/advance" => switches::advance_clock: "Moves the time of the cloud forward",
        reads switches::Advance;
    post "/reset" => cloud::reset: "Restores the initial state, with the fault rules of the start",
        returns CloudState;
    get "/fault" => switches::outage: "Whether the cloud's API is unavailable", returns switches::Fault;
    post "/fault" => switches::set_outage: "Starts or ends an outage of the cloud's API",
        reads switches::Fault, returns switches::Fault;
    post "/load" => switches::set_load: "Sends requests to the listeners, or ends that",
        reads switches::LoadRate;
    post "/restart" => switches::restart: "Kills the driver and starts it again", returns RestartReport;
    get "/openapi.json" => document: "This document";
}

/// The endpoints, without their prefix.
pub(crate) fn router(inspected: Inspected) -> Router {
    let routes = ENDPOINTS.iter().fold(Router::new(), |router, endpoint| {
        router.route(endpoint.path, (endpoint.route)())
    });
    routes
        .method_not_allowed_fallback(wrong_method)
        .fallback(not_found)
        .with_state(inspected)
}

/// Its type names no future, which would depend on itself by way of the table.
fn document() -> Ready<Response> {
    ready(http::shown(&openapi::document(ENDPOINTS)))
}

async fn not_found(uri: Uri) -> EndpointError {
    EndpointError::not_found(format!("{uri}: {}", listed()))
}

async fn wrong_method(method: Method, uri: Uri) -> EndpointError {
    let message = format!("{method} {uri}: {}", listed());
    EndpointError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

fn listed() -> String {
    let listed = ENDPOINTS
        .iter()
        .map(|endpoint| format!("{} {}", endpoint.method.to_uppercase(), endpoint.path));
    format!(
        "under /_mock the mock has {}",
        Vec::from_iter(listed).join(", ")
    )
}
