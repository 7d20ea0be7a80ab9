//! A driver with repeated outages.

use crate::World;
use crate::seed::scrambled;
use lbcf_controller::CallCounts;
use mock_driver::{MockOptions, MockServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The end of an outage in which the controller attempts nothing: it begins nothing with a driver that did not respond
/// to `healthz`, which is not counted.
const LONGEST: Duration = Duration::from_secs(1);

/// Stops the driver after a few calls, or before the first, and starts it again after a few more attempts
/// of the controller, until this is dropped. How many calls those are depends only on the seed.
#[derive(Debug)]
pub struct Outages {
    happened: Arc<AtomicUsize>,
    running: JoinHandle<()>,
}

impl Outages {
    /// Takes over the world's driver. `calls` counts the controller's attempts.
    #[must_use]
    pub fn start(world: &mut World, calls: CallCounts, seed: u64) -> Self {
        let mut driver = world.mock.take();
        let (cloud, addr) = (world.cloud.clone(), world.driver_addr);
        let happened = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&happened);
        let running = tokio::spawn(async move {
            for number in 0.. {
                until_called(&calls, scrambled(seed, number) % 4).await;
                if let Some(driver) = driver.take() {
                    driver.stop().await;
                }
                counted.fetch_add(1, Ordering::SeqCst);
                let attempts = until_called(&calls, 1 + scrambled(seed, number) / 4 % 4);
                let _ = timeout(LONGEST, attempts).await;
                driver = MockServer::start(cloud.clone(), addr, MockOptions::default())
                    .await
                    .ok();
            }
        });
        Self { happened, running }
    }

    /// The number of outages so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.happened.load(Ordering::SeqCst)
    }
}

impl Drop for Outages {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn until_called(calls: &CallCounts, times: u64) {
    let total = || calls.snapshot().values().sum::<u64>();
    let goal = total() + times;
    while total() < goal {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
