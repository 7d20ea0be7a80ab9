//! The right driver with defects around it: each request passes the defects on its way in, and its
//! reply on its way out.

use crate::dispatch::{after, before};
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::last_reply::PolledOperation;
use crate::reply::Reply;
use crate::{history, latency, two_step};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

/// The largest request body that is read, in bytes; above the right driver's own limit.
const BODY_LIMIT: usize = 64 << 20;
/// How long a request body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// Serves all webhooks, by the right driver where no defect replies in its place.
pub(crate) fn router(driver: Driver, right_driver: Router) -> Router {
    Router::new()
        .fallback(serve)
        .with_state((Arc::new(driver), right_driver))
}

async fn serve(
    State((driver, right_driver)): State<(Arc<Driver>, Router)>,
    request: Request,
) -> Response {
    if driver.crash.is_cancelled() {
        return broken_connection();
    }
    let (head, body) = request.into_parts();
    let body = match timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => {
            let message = format!("the body cannot be read: {error}");
            return Reply::error(StatusCode::PAYLOAD_TOO_LARGE, &message).into_response();
        }
        Err(_) => {
            let message = "the body did not arrive in time";
            return Reply::error(StatusCode::REQUEST_TIMEOUT, message).into_response();
        }
    };
    let mut request = HookRequest::new(head.method, &head.uri, head.headers, body);
    let operation = PolledOperation::of(&request);
    // Cancelled when the caller disconnects, as in drivers that are not careful.
    two_step::attached(&driver, &mut request).await;
    // Detached: completes even if the caller disconnects.
    let worker = Arc::clone(&driver);
    let detached = tokio::spawn(async move { reply(&worker, right_driver, request).await });
    let reply = match detached.await {
        Ok(reply) => reply,
        Err(error) => Reply::crash(&format!("the driver panicked: {error}")),
    };
    operation.record_reply(&driver, &reply);
    reply.into_response()
}

async fn reply(driver: &Driver, right_driver: Router, mut request: HookRequest) -> Reply {
    history::before(driver, &mut request);
    let mut defects = driver.defects.iter();
    let mut early = defects.find_map(|defect| before(*defect, driver, &mut request));
    history::record_ensured(driver, &request);
    if early.is_none() {
        early = two_step::detached(driver, &request).await;
    }
    let mut reply = match early {
        Some(reply) => reply,
        None => forward(right_driver, &request).await,
    };
    for defect in &driver.defects {
        after(*defect, driver, &request, &mut reply);
    }
    two_step::answered(driver, &request, &mut reply).await;
    history::after(driver, &request, &reply);
    let defects = driver.defects.iter();
    let delays = defects.map(|defect| latency::delay(*defect, &request, &reply));
    sleep(delays.max().unwrap_or_default()).await;
    reply
}

async fn forward(right_driver: Router, request: &HookRequest) -> Reply {
    match right_driver.oneshot(request.to_request()).await {
        Ok(response) => Reply::read(response).await,
        Err(never) => match never {},
    }
}

/// The response of a crashed driver where no port can be closed: its body breaks off.
fn broken_connection() -> Response {
    let reset: io::Result<&str> = Err(io::ErrorKind::ConnectionReset.into());
    Body::from_stream(futures::stream::iter([reset])).into_response()
}
