//! The thread that runs what outlives a test, as the runtime of each test ends with it.

use std::future::Future;
use std::pin::Pin;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

type Task = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A thread that lives as long as this.
#[derive(Debug)]
pub(super) struct Worker(UnboundedSender<Task>);

impl Worker {
    pub(super) fn start() -> Self {
        let (sender, mut tasks) = unbounded_channel::<Task>();
        std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            let tasks = async move {
                while let Some(task) = tasks.recv().await {
                    tokio::task::spawn_local(task());
                }
            };
            LocalSet::new().block_on(&runtime.expect("a runtime"), tasks);
        });
        Self(sender)
    }

    /// Starts a task on the thread, whether or not the caller waits for its result.
    pub(super) fn spawn<T, F>(
        &self,
        task: impl FnOnce() -> F + Send + 'static,
    ) -> oneshot::Receiver<T>
    where
        T: 'static + Send,
        F: Future<Output = T> + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let task: Task = Box::new(|| {
            let task = task();
            Box::pin(async move {
                // The caller may have ended.
                let _ = sender.send(task.await);
            })
        });
        assert!(self.0.send(task).is_ok(), "the thread lives");
        receiver
    }
}
