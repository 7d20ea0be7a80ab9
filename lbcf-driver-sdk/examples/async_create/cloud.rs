//! A simulated cloud in memory, with the interface of a real client: asynchronous, with errors of its
//! own, and with tasks for creations.

use crate::Zone;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Implements `Error`, so `?` in a hook converts it to a `Fail` with this text for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CloudError {
    #[error("the cloud has no load balancer {0}")]
    NoSuchLoadBalancer(String),
    #[error("the cloud has no task {0}")]
    NoSuchTask(u64),
}

#[derive(Clone)]
pub(crate) struct Cloud {
    creating_takes: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    tasks: HashMap<u64, Task>,
    load_balancers: HashMap<String, LoadBalancer>,
}

struct Task {
    token: String,
    zone: Zone,
    begun: Instant,
    cancelled: bool,
}

#[derive(Default)]
struct LoadBalancer {
    bandwidth_mbps: u32,
    weights: HashMap<SocketAddr, u8>,
}

pub(crate) enum TaskState {
    AtWork { percent: u128 },
    Made { id: String },
    Cancelled,
}

impl Cloud {
    pub(crate) fn new(creating_takes: Duration) -> Self {
        Self {
            creating_takes,
            state: Arc::default(),
        }
    }

    /// Accepts a creation, or returns the existing task of the token.
    pub(crate) async fn create(&self, token: &str, zone: Zone) -> Result<u64, CloudError> {
        if let Some(task) = self.find_task(token, Some(zone)).await? {
            return Ok(task);
        }
        let mut state = self.lock();
        let number = state.tasks.len() as u64 + 1;
        let task = Task {
            token: token.to_owned(),
            zone,
            begun: Instant::now(),
            cancelled: false,
        };
        state.tasks.insert(number, task);
        Ok(number)
    }

    pub(crate) async fn find_task(
        &self,
        token: &str,
        zone: Option<Zone>,
    ) -> Result<Option<u64>, CloudError> {
        let state = self.lock();
        let mut tasks = state.tasks.iter().filter(|(_, task)| {
            task.token == token && !task.cancelled && zone.is_none_or(|zone| zone == task.zone)
        });
        Ok(tasks.next().map(|(number, _)| *number))
    }

    pub(crate) async fn task(&self, number: u64) -> Result<TaskState, CloudError> {
        let mut state = self.lock();
        let task = state.tasks.get(&number);
        let task = task.ok_or(CloudError::NoSuchTask(number))?;
        let spent = task.begun.elapsed();
        if task.cancelled {
            return Ok(TaskState::Cancelled);
        }
        if spent < self.creating_takes {
            let percent = spent.as_millis() * 100 / self.creating_takes.as_millis();
            return Ok(TaskState::AtWork { percent });
        }
        let id = format!("lb-{number}");
        state.load_balancers.entry(id.clone()).or_default();
        Ok(TaskState::Made { id })
    }

    /// Cancels the task, unless it is done.
    pub(crate) async fn cancel_task(&self, number: u64) -> Result<TaskState, CloudError> {
        if let TaskState::Made { id } = self.task(number).await? {
            return Ok(TaskState::Made { id });
        }
        let mut state = self.lock();
        if let Some(task) = state.tasks.get_mut(&number) {
            task.cancelled = true;
        }
        Ok(TaskState::Cancelled)
    }

    pub(crate) async fn set_bandwidth(&self, id: &str, mbps: u32) -> Result<(), CloudError> {
        self.with(id, |balancer| balancer.bandwidth_mbps = mbps)
    }

    pub(crate) async fn delete(&self, id: &str) -> Result<(), CloudError> {
        let mut state = self.lock();
        let gone = state.load_balancers.remove(id);
        // The task must not create it again.
        state.tasks.iter_mut().for_each(|(number, task)| {
            task.cancelled |= format!("lb-{number}") == id;
        });
        gone.map(drop)
            .ok_or_else(|| CloudError::NoSuchLoadBalancer(id.to_owned()))
    }

    pub(crate) async fn register(
        &self,
        id: &str,
        address: SocketAddr,
        weight: u8,
    ) -> Result<(), CloudError> {
        self.with(id, |balancer| {
            balancer.weights.insert(address, weight);
        })
    }

    pub(crate) async fn deregister(&self, id: &str, address: SocketAddr) -> Result<(), CloudError> {
        self.with(id, |balancer| {
            balancer.weights.remove(&address);
        })
    }

    fn with(&self, id: &str, change: impl FnOnce(&mut LoadBalancer)) -> Result<(), CloudError> {
        let mut state = self.lock();
        let balancer = state.load_balancers.get_mut(id);
        balancer
            .map(change)
            .ok_or_else(|| CloudError::NoSuchLoadBalancer(id.to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
