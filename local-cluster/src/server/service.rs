//! The service of a connection: passes requests with the token to the router.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::header::AUTHORIZATION;
use lbcf_serving::body::BodyBudget;
use lbcf_serving::listener::RequestBody;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use super::options::{Token, admits};
use crate::http::{Disconnect, Stop, unauthorized};

/// The state that the connections of a server share.
pub(super) struct Api {
    pub(super) router: Router,
    pub(super) token: Option<Token>,
    pub(super) bodies: BodyBudget,
}

impl Api {
    /// Responds to one request; an error cuts the connection. Watches end when it is `closing`.
    pub(super) async fn respond(
        &self,
        request: Request<RequestBody>,
        closing: CancellationToken,
    ) -> Result<Response, Disconnect> {
        let mut request = request.map(Body::new);
        if let Some(token) = &self.token {
            if !admits(token, request.uri().path(), request.headers()) {
                return Ok(unauthorized(&request));
            }
            // Not needed any more, so that nothing can log it by mistake.
            request.headers_mut().remove(AUTHORIZATION);
        }
        request.extensions_mut().insert(Stop(closing));
        request.extensions_mut().insert(self.bodies.clone());
        let Ok(response) = self.router.clone().call(request).await;
        match response.extensions().get::<Disconnect>() {
            Some(_) => Err(Disconnect),
            None => Ok(response),
        }
    }
}
