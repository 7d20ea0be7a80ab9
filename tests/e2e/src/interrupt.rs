//! A client whose process dies at a chosen write, or whenever it is told to.

use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tower::Service;

/// Just when the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the write reaches the API server.
    Before,
    /// After the API server did it, before the answer is heard.
    After,
}

/// What is seen of the client from outside. Clones see the same client.
#[derive(Debug, Clone, Default)]
pub struct Interrupted {
    writes: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    reached: Arc<Notify>,
}

impl Interrupted {
    /// How many writes there were by now, events apart.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// From now on none of the client's requests ends.
    pub fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.reached.notify_one();
    }

    /// Whether it has died.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Waits until it dies.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }
}

/// A client that never hears of its write number `at` (from 0), nor of anything after it. Without
/// a number it lives until it is told to [die](Interrupted::die).
#[must_use]
pub fn interrupt_at(
    cluster: &LocalCluster,
    at: Option<usize>,
    moment: Moment,
) -> (Client, Interrupted) {
    let seen = Interrupted::default();
    let service = Interrupting {
        inner: cluster.service().named("lbcf-controller"),
        at,
        moment,
        seen: seen.clone(),
    };
    (Client::new(service, "default"), seen)
}

#[derive(Clone)]
struct Interrupting {
    inner: InProcess,
    at: Option<usize>,
    moment: Moment,
    seen: Interrupted,
}

type Answer = Pin<
    Box<
        dyn Future<Output = <<InProcess as Service<Request<Body>>>::Future as Future>::Output>
            + Send,
    >,
>;

impl Service<Request<Body>> for Interrupting {
    type Response = <InProcess as Service<Request<Body>>>::Response;
    type Error = std::convert::Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if self.seen.is_dead() {
            return Box::pin(std::future::pending());
        }
        let seen = self.seen.clone();
        let is_write = request.method() != Method::GET && !request.uri().path().contains("/events");
        let number = is_write.then(|| seen.writes.fetch_add(1, Ordering::SeqCst));
        match (number, self.at) {
            (Some(number), Some(at)) if number > at => Box::pin(std::future::pending()),
            (Some(number), Some(at)) if number == at => {
                seen.dead.store(true, Ordering::SeqCst);
                let done = (self.moment == Moment::After).then(|| self.inner.call(request));
                Box::pin(async move {
                    if let Some(done) = done {
                        let _ = done.await;
                    }
                    seen.die();
                    std::future::pending().await
                })
            }
            _ => {
                let answer = self.inner.call(request);
                Box::pin(async move {
                    let answer = answer.await;
                    if seen.is_dead() {
                        std::future::pending().await
                    } else {
                        answer
                    }
                })
            }
        }
    }
}
