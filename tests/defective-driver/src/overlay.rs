//! What a defective driver adds to the cloud as callers see it at `/_mock/observe`. The cloud itself
//! does not contain it: one field more in an identity, a backend that is bound more than once.

use crate::memory::Memory;
use crate::reply::{Reply, ReplyBody};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

const IDENTITY: &str = "identity";
const BOUND_AGAIN: &str = "bound again";

/// The additions; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObservationOverlay(Memory);

impl ObservationOverlay {
    /// Adds a field to the identity of this instance.
    pub(crate) fn add_to_identity(&self, instance: &str, field: &str, value: &str) {
        self.0.put(IDENTITY, instance, json!({ field: value }));
    }

    /// Shows a backend once more than before, while it is bound.
    pub(crate) fn bind_again(&self, backend_key: &str) {
        self.0.count(BOUND_AGAIN, backend_key);
    }

    /// Shows a backend no more than once.
    pub(crate) fn bind_once(&self, backend_key: &str) {
        self.0.remove(BOUND_AGAIN, backend_key);
    }

    /// Puts the overlay around the endpoints under `/_mock`.
    pub(crate) fn around(self, endpoints: Router) -> Router {
        endpoints.layer(from_fn_with_state(self, overlay_observation))
    }

    fn apply(&self, load_balancer: &mut Value) {
        let id = |field: &str| load_balancer["lbInfo"][field].as_str().unwrap_or_default();
        let instance = id("lbID").to_owned();
        let endpoint = format!("{instance}/{}", id("lblID"));
        if let Some(Value::Object(fields)) = self.0.get(IDENTITY, &instance)
            && let Some(lb_info) = load_balancer["lbInfo"].as_object_mut()
        {
            lb_info.extend(fields);
        }
        if let Some(backends) = load_balancer["backends"].as_array_mut() {
            for backend in backends.clone() {
                let addr = backend["addr"].as_str().unwrap_or_default();
                let again = self.0.number(BOUND_AGAIN, &format!("{endpoint} {addr}"));
                backends.extend((0..again).map(|_| backend.clone()));
            }
        }
    }
}

async fn overlay_observation(
    State(overlay): State<ObservationOverlay>,
    request: Request,
    next: Next,
) -> Response {
    let is_observation = request.uri().path() == "/observe";
    let response = next.run(request).await;
    if !is_observation {
        return response;
    }
    let mut reply = Reply::read(response).await;
    if let ReplyBody::Json(observation) = &mut reply.body {
        let load_balancers = observation["loadBalancers"].as_array_mut();
        for load_balancer in load_balancers.into_iter().flatten() {
            overlay.apply(load_balancer);
        }
    }
    reply.into_response()
}
