//! The service of one connection, which closes at the end of the run of the driver's process in
//! which it was made.

use crate::no_answer::NoAnswer;
use crate::process::RunHandle;
use axum::Router;
use axum::http::Request;
use axum::response::Response;
use hyper::service::{Service, service_fn};
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::{Connection, RequestBody};
use std::sync::{Arc, Mutex, PoisonError};

/// The connection breaks off instead of carrying a response.
#[derive(Debug, thiserror::Error)]
#[error("the call gets no response")]
pub(super) struct NoResponse;

/// Serves until the client closes the connection or the run ends. A request to the mock's own
/// endpoints, such as the one that kills the driver, still gets its response then.
pub(super) fn service(
    connection: Connection,
    router: TowerToHyperService<Router>,
    run: RunHandle,
) -> impl Service<
    Request<RequestBody>,
    Response = Response,
    Error = NoResponse,
    Future = impl Future<Output = Result<Response, NoResponse>> + Send,
> + Send {
    let over = run.clone();
    let closing = connection.closing().clone();
    tokio::spawn(async move {
        tokio::select! {
            () = over.ended() => closing.cancel(),
            () = closing.cancelled() => {}
        }
    });
    // A restart waits until the connections without a request are closed, so that no client takes
    // one of them for a connection to the new run.
    let idle = Arc::new(Mutex::new(Some(run.connection())));
    service_fn(move |request| {
        let (idle, run) = (Arc::clone(&idle), run.clone());
        let connection = connection.clone();
        let hold = move |token| *idle.lock().unwrap_or_else(PoisonError::into_inner) = token;
        hold(None);
        let response = router.call(request);
        async move {
            let response: Response = response.await.unwrap_or_else(|never| match never {});
            if let Some(how) = response.extensions().get::<NoAnswer>() {
                if *how == NoAnswer::Reset {
                    connection.reset_at_end();
                }
                return Err(NoResponse);
            }
            hold(Some(run.connection()));
            Ok(response)
        }
    })
}
