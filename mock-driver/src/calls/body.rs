//! Bodies of requests that are read ahead, and of responses that break off.

use axum::BoxError;
use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use lbcf_serving::body::{BodyBudget, BodyMemory};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The limit of a body that is read ahead, in bytes: that of the SDK.
const LIMIT: usize = 4 << 20;
/// The memory of all bodies that are read ahead, in bytes: enough for the largest, whatever pods it has.
const MEMORY: usize = 32 << 20;
/// The memory of an entry of a map of strings, in bytes.
const ENTRY: usize = 128;
/// The limit of waiting for a body. One that takes longer reaches the SDK in parts, which then waits for
/// the rest itself.
const TIMEOUT: Duration = Duration::from_secs(4);

pub(super) fn budget() -> BodyBudget {
    BodyBudget::new(MEMORY, ENTRY)
}

/// Reads a whole body, and returns it with a body that has the same. Of one that is too long, too slow,
/// broken off or beyond the budget, only the beginning is read.
pub(super) async fn read_ahead(
    mut body: Body,
    budget: &BodyBudget,
    memory: &mut BodyMemory,
) -> (Bytes, Body) {
    let deadline = Instant::now() + TIMEOUT;
    let mut read = Vec::new();
    let rest = loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(None) => {
                let read = Bytes::from(read);
                return (read.clone(), Body::from(read));
            }
            Ok(Some(Ok(frame))) => {
                let part = frame.data_ref().map_or(&[][..], |data| data);
                read.extend_from_slice(part);
                if read.len() > LIMIT || memory.add(part, budget).is_err() {
                    break body;
                }
            }
            Ok(Some(Err(error))) => {
                break Body::from_stream(stream::iter([Err::<Bytes, _>(error)]));
            }
            Err(_) => break body,
        }
    };
    let read = Bytes::from(read);
    let begin = stream::iter([Ok(read.clone())]);
    (
        read,
        Body::from_stream(begin.chain(rest.into_data_stream())),
    )
}

/// The first half of a body, then an error, which breaks the connection off.
pub(super) fn truncated(whole: &Bytes) -> Body {
    let half = whole.slice(..whole.len() / 2);
    let cut = async {
        // The server first sends what it has.
        tokio::task::yield_now().await;
        Err(BoxError::from("the response was cut off by a fault"))
    };
    Body::from_stream(stream::iter([Ok(half)]).chain(stream::once(cut)))
}
