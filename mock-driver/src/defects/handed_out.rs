//! What defects add to the identities that are handed out. The mock's own endpoints tell the
//! truth, so there the identities are seen as callers got them.

use super::answer::{Answer, Content};
use super::memory::Memory;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

const SCOPE: &str = "handed out";

/// The additions; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct HandedOut(Memory);

impl HandedOut {
    /// Notes what was added to the identity of this instance.
    pub(super) fn note(&self, instance: &str, field: &str, value: &str) {
        self.0.put(SCOPE, instance, json!({ field: value }));
    }

    /// The endpoints under `/_mock`, with the identities as they were handed out.
    pub(crate) fn seen_in(self, endpoints: Router) -> Router {
        endpoints.layer(from_fn_with_state(self, look))
    }

    fn dress(&self, observation: &mut Value) {
        let load_balancers = observation.get_mut("loadBalancers");
        let load_balancers = load_balancers.and_then(Value::as_array_mut);
        for load_balancer in load_balancers.into_iter().flatten() {
            let lb_info = load_balancer.get_mut("lbInfo");
            let Some(lb_info) = lb_info.and_then(Value::as_object_mut) else {
                continue;
            };
            let instance = lb_info.get("lbID").and_then(Value::as_str);
            if let Some(Value::Object(more)) = self.0.get(SCOPE, instance.unwrap_or_default()) {
                lb_info.extend(more);
            }
        }
    }
}

async fn look(State(handed_out): State<HandedOut>, request: Request, next: Next) -> Response {
    let is_observation = request.uri().path() == "/observe";
    let response = next.run(request).await;
    if !is_observation {
        return response;
    }
    let mut answer = Answer::read(response).await;
    if let Content::Json(observation) = &mut answer.body {
        handed_out.dress(observation);
    }
    answer.into_response()
}
