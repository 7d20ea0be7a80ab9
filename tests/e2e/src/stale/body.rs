//! The body of a watch that reports late, not at all, or again.

use super::Staleness;
use axum::body::{Body, Bytes};
use futures::stream;
use http_body_util::BodyExt;
use serde_json::json;
use std::convert::Infallible;
use tokio::sync::{mpsc, watch};

/// The body of a watch, as a client receives it whose view is wrong in this way at times.
pub(super) fn stale(body: Body, how: Staleness, is_wrong: watch::Receiver<bool>) -> Body {
    let (frames, received) = mpsc::channel(1);
    tokio::spawn(forward(body, how, is_wrong, frames));
    Body::from_stream(stream::unfold(received, async |mut received| {
        let frame = received.recv().await?;
        Some((Ok::<_, Infallible>(frame), received))
    }))
}

/// Returns when the watch ends, or `None` when the client does not read on.
async fn forward(
    mut body: Body,
    how: Staleness,
    mut is_wrong: watch::Receiver<bool>,
    frames: mpsc::Sender<Bytes>,
) -> Option<()> {
    let mut sent = Vec::new();
    // What began with an older list stays with it.
    is_wrong.wait_for(|wrong| !wrong).await.ok()?;
    loop {
        let frame = tokio::select! {
            frame = body.frame() => Some(frame?.ok()?.into_data().ok()?),
            wrong = is_wrong.wait_for(|wrong| *wrong) => {
                wrong.ok()?;
                None
            }
            () = frames.closed() => return None,
        };
        // It may have become wrong with this frame.
        if *is_wrong.borrow() {
            let half = sent.len() / 2;
            match how {
                Staleness::Lags | Staleness::SkipsToTheEnd => {}
                Staleness::Repeats => send(&frames, &sent[..half]).await?,
                Staleness::RestartsFromAnOlderList => return send(&frames, &[expired()]).await,
            }
            is_wrong.wait_for(|wrong| !wrong).await.ok()?;
            match how {
                Staleness::SkipsToTheEnd => return send(&frames, &[expired()]).await,
                Staleness::Repeats => send(&frames, &sent[half..]).await?,
                _ => {}
            }
        }
        if let Some(frame) = frame {
            send(&frames, std::slice::from_ref(&frame)).await?;
            if how == Staleness::Repeats {
                sent.push(frame);
            }
        }
    }
}

async fn send(frames: &mpsc::Sender<Bytes>, all: &[Bytes]) -> Option<()> {
    for frame in all {
        frames.send(frame.clone()).await.ok()?;
    }
    Some(())
}

fn expired() -> Bytes {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": 410, "reason": "Expired", "message": "made to expire by the test",
    });
    format!("{}\n", json!({"type": "ERROR", "object": status})).into()
}
