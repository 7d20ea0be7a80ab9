//! Batches: the operation that holds the serial key of a load balancer takes along those that wait for it.
//!
//! A batch is of one webhook, and no two of its requests are about the same address. What is taken along overtakes neither an operation
//! on the same address nor one that is in no batch, such as a deletion, and it waits for no earlier operation of its record. No timer
//! is needed: while the cloud is slow, more operations wait.

use crate::server::keyed_mutex::KeyedMutex;
use crate::server::metrics::WebhookMetrics;
use crate::{HookError, Reason};
use std::any::Any;
use std::collections::HashSet;
use std::hash::RandomState;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// The operations that hold a load balancer or wait for it. Those without a place are in no batch.
pub(in crate::server) type LoadBalancers = KeyedMutex<String, RandomState, Option<Arc<Place>>>;

/// The place of an operation in the queue of its load balancer.
#[derive(Debug)]
pub(in crate::server) struct Place {
    address: String,
    /// True when it waits for nothing but the load balancer.
    is_ready: AtomicBool,
    taken: Notify,
    /// A [`Seat`], of which each webhook has another type.
    seat: Box<dyn Any + Send + Sync>,
}

/// Where a request waits for its turn.
type Seat<W, T> = Mutex<Request<W, T>>;

/// The outcome of one request of a batch.
type Outcome<T> = Result<T, HookError>;

enum Request<W, T> {
    Waits(W),
    TakenAlong(oneshot::Receiver<Outcome<T>>),
    Left,
}

impl<W, T> Request<W, T> {
    const fn leave(&mut self) -> Self {
        std::mem::replace(self, Self::Left)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    pub(in crate::server) fn new<W, T>(address: &str, request: W) -> Arc<Self>
    where
        W: Send + 'static,
        T: Send + 'static,
    {
        let seat: Seat<W, T> = Mutex::new(Request::Waits(request));
        Arc::new(Self {
            address: address.to_owned(),
            is_ready: AtomicBool::new(false),
            taken: Notify::new(),
            seat: Box::new(seat),
        })
    }

    fn seat<W: 'static, T: 'static>(&self) -> Option<&Seat<W, T>> {
        self.seat.downcast_ref()
    }

    /// From now on it may be taken along; returns when it is.
    pub(super) async fn taken(&self) {
        self.is_ready.store(true, Ordering::Release);
        self.taken.notified().await;
    }

    /// Takes the request along, if it is of this webhook and waits for nothing else.
    fn take<W: 'static, T: 'static>(&self) -> Option<(W, oneshot::Sender<Outcome<T>>)> {
        if !self.is_ready.load(Ordering::Acquire) {
            return None;
        }
        let mut seat = lock(self.seat::<W, T>()?);
        match seat.leave() {
            Request::Waits(request) => {
                let (sender, outcome) = oneshot::channel();
                *seat = Request::TakenAlong(outcome);
                self.taken.notify_one();
                Some((request, sender))
            }
            other => {
                *seat = other;
                None
            }
        }
    }
}

/// An operation that may be in a batch, when its turn has come.
pub(in crate::server) struct Boarding {
    pub(in crate::server) place: Arc<Place>,
    pub(in crate::server) serial_key: String,
    pub(in crate::server) queue: LoadBalancers,
    /// The most requests of a batch.
    pub(in crate::server) size: usize,
    pub(in crate::server) metrics: Arc<WebhookMetrics>,
}

impl Boarding {
    /// The operation's outcome. If no other has taken it along, it takes along what waits.
    pub(in crate::server) async fn outcome<W, T, F>(
        self,
        call: impl FnOnce(Vec<W>) -> F,
    ) -> Outcome<T>
    where
        W: Send + 'static,
        T: Send + 'static,
        F: Future<Output = Vec<Outcome<T>>>,
    {
        let seat = self.place.seat::<W, T>();
        let request = seat.map_or(Request::Left, |seat| lock(seat).leave());
        let own = match request {
            Request::Waits(own) => own,
            Request::TakenAlong(outcome) => {
                let panicked = "the driver panicked in the batch of this request";
                let outcome = outcome.await;
                return outcome.unwrap_or_else(|_| Err(internal(panicked)));
            }
            // A hook runs once.
            Request::Left => return Err(internal("the request has left")),
        };
        let (requests, callers) = self.board(own);
        self.metrics.batches.inc();
        tracing::debug!(requests = requests.len(), "a batch");
        let mut outcomes = call(requests).await.into_iter();
        let own = outcomes.next();
        for (caller, outcome) in callers.into_iter().zip(outcomes) {
            // The receiver is dropped if the runtime is shutting down.
            let _ = caller.send(outcome);
        }
        own.unwrap_or_else(|| Err(internal("the driver answered nothing")))
    }

    /// The requests of the batch, its own first, and who waits for the outcomes of the others.
    fn board<W: 'static, T: 'static>(&self, own: W) -> (Vec<W>, Vec<oneshot::Sender<Outcome<T>>>) {
        let (mut requests, mut callers) = (vec![own], Vec::new());
        let mut addresses = HashSet::from([self.place.address.clone()]);
        self.queue.visit(&self.serial_key, |place| {
            let Some(place) = place else {
                return ControlFlow::Break(());
            };
            let is_first = addresses.insert(place.address.clone());
            if let Some((request, caller)) = is_first.then(|| place.take()).flatten() {
                requests.push(request);
                callers.push(caller);
            }
            match requests.len() < self.size {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        (requests, callers)
    }
}

fn internal(problem: &str) -> HookError {
    HookError::new(Reason::Internal, problem)
}
