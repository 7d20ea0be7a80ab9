//! The right driver with defects around it: each request passes the defects on its way in, and its
//! reply on its way out.

use crate::defects::{after, before};
use crate::hook_request::HookRequest;
use crate::last_reply::PolledOperation;
use crate::memory::Memory;
use crate::overlay::ObservationOverlay;
use crate::reply::Reply;
use crate::{Defect, DefectPace, Defects, history, latency, two_step};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mock_driver::Cloud;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The largest request body that is read, in bytes; above the right driver's own limit.
const BODY_LIMIT: usize = 64 << 20;
/// How long a request body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// One run of a driver with defects. Its memory ends with it.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) cloud: Cloud,
    pub(crate) memory: Memory,
    pub(crate) pace: DefectPace,
    pub(crate) crash: CancellationToken,
    pub(crate) overlay: ObservationOverlay,
    pub(crate) started: Instant,
    defects: Vec<Defect>,
    right_driver: Router,
}

impl Driver {
    pub(crate) fn new(right_driver: Router, cloud: Cloud, defects: &Defects) -> Self {
        Self {
            cloud,
            memory: Memory::default(),
            pace: defects.pace,
            crash: defects.crash.clone(),
            overlay: defects.overlay.clone(),
            started: Instant::now(),
            defects: defects.defects.clone(),
            right_driver,
        }
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defects.contains(&defect)
    }

    async fn forward(&self, request: &HookRequest) -> Reply {
        match self
            .right_driver
            .clone()
            .oneshot(request.to_request())
            .await
        {
            Ok(response) => Reply::read(response).await,
            Err(never) => match never {},
        }
    }

    async fn reply(&self, mut request: HookRequest) -> Reply {
        history::before(self, &mut request);
        let mut early = self
            .defects
            .iter()
            .find_map(|defect| before(*defect, self, &mut request));
        history::record_ensured(self, &request);
        if early.is_none() {
            early = two_step::detached(self, &request).await;
        }
        let mut reply = match early {
            Some(reply) => reply,
            None => self.forward(&request).await,
        };
        for defect in &self.defects {
            after(*defect, self, &request, &mut reply);
        }
        history::after(self, &request, &reply);
        let delays = self
            .defects
            .iter()
            .map(|defect| latency::delay(*defect, self.pace, &request, &reply));
        sleep(delays.max().unwrap_or_default()).await;
        reply
    }
}

/// Handles every request to the webhooks.
pub(crate) async fn serve(State(driver): State<Arc<Driver>>, request: Request) -> Response {
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
    let reply = match tokio::spawn(async move { worker.reply(request).await }).await {
        Ok(reply) => reply,
        Err(error) => Reply::crash(&format!("the driver panicked: {error}")),
    };
    operation.record_reply(&driver, &reply);
    reply.into_response()
}

/// The response of a crashed driver where no port can be closed: its body breaks off.
fn broken_connection() -> Response {
    let reset: io::Result<&str> = Err(io::ErrorKind::ConnectionReset.into());
    Body::from_stream(futures::stream::iter([reset])).into_response()
}
