//! One connection to the mock. It ends with the run of the driver's process in which it was made.

use crate::process::{Killed, Life};
use axum::Router;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use tokio::net::TcpStream;

/// The driver was killed before it answered: the connection breaks.
#[derive(Debug, thiserror::Error)]
#[error("the driver was killed before it answered")]
struct NoAnswer;

/// Answers calls until the client, or the driver's life, is over. A call to the mock's own
/// endpoints, such as the one that kills the driver, is still answered then.
pub(super) async fn serve(stream: TcpStream, router: Router, life: Life) {
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request| {
        let answer = router.call(request);
        async {
            let response: Response = answer.await.unwrap_or_else(|never| match never {});
            match response.extensions().get::<Killed>() {
                Some(Killed) => Err(NoAnswer),
                None => Ok(response),
            }
        }
    });
    let heard = life.connection();
    let mut connection =
        pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = life.is_over() => {
            connection.as_mut().graceful_shutdown();
            // One that nobody calls on, or whose caller gets no answer, is over at once; only
            // then does the restart end, so nobody takes it for one that is still alive.
            let now = poll_fn(|context| Poll::Ready(connection.as_mut().poll(context))).await;
            drop(heard);
            match now {
                Poll::Ready(result) => result,
                Poll::Pending => connection.await,
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
