//! Carries faults out, around the request that they strike.

use std::future::Future;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::StatusCode;
use tokio_util::sync::CancellationToken;

use super::Faults;
use super::asked::{Asked, Verb};
use super::fault::{Effect, Trouble};
use super::watched::{self, Early, Watched};

/// A connection that ends without an answer: an answer's extension, and a server's error.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault was injected")]
pub(crate) struct Cut;

impl Faults {
    /// Carries a request out, unless a fault keeps it from that, and has happen to it what is to.
    pub(crate) async fn around<E>(
        &self,
        asked: &Asked<'_>,
        carry_out: impl Future<Output = Result<Response, E>>,
    ) -> Result<Response, E> {
        let plan = self.plan(asked);
        for (effect, ended) in &plan {
            if let Effect::Before(trouble) = effect
                && let Some(response) = suffer(trouble, ended, asked).await
            {
                return Ok(response);
            }
        }
        let mut answered = carry_out.await;
        for (effect, ended) in &plan {
            if let Effect::After(trouble) = effect
                && let Some(response) = suffer(trouble, ended, asked).await
            {
                answered = Ok(response);
            }
        }
        let watches = asked.verb == Verb::Watch;
        answered.map(|response| {
            if !watches || response.status() != StatusCode::OK {
                return response;
            }
            let early = plan.iter().find_map(|(effect, ended)| match effect {
                Effect::Watch(end, after) => Some(Early {
                    end: *end,
                    after: *after,
                    called_off: ended.clone(),
                }),
                _ => None,
            });
            let running = watched::register(&self.0.watches, asked);
            response.map(|body| Body::new(Watched::new(body, running, early)))
        })
    }
}

/// Waits as long as there is to be waited, or gives an answer.
async fn suffer(
    trouble: &Trouble,
    ended: &CancellationToken,
    asked: &Asked<'_>,
) -> Option<Response> {
    match trouble {
        Trouble::Delay(time) => {
            tokio::select! {
                () = tokio::time::sleep(*time) => {}
                () = ended.cancelled() => {}
            }
            None
        }
        Trouble::Hold => {
            ended.cancelled().await;
            None
        }
        Trouble::Refuse(refusal) => Some(refusal.response(asked)),
        Trouble::Cut => Some(cut()),
    }
}

/// An answer that never comes. Servers end the connection; in process, its body fails.
fn cut() -> Response {
    let failing = stream::once(async { Err::<Bytes, _>(watched::reset()) });
    let mut response = Response::new(Body::from_stream(failing));
    response.extensions_mut().insert(Cut);
    response
}
