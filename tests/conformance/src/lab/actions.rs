//! Restarting the driver and making its cloud fail, as the fixture defines it.

use super::Lab;
use crate::fixture::Action;
use crate::outcome::{CheckError, CheckOutcome, Failure};
use crate::program;
use crate::run::reachable;
use crate::transport::Request;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

impl Lab {
    /// Restarts the driver and waits until it responds again.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when it cannot be restarted; [`CheckError::Failed`], when it does not
    /// respond afterwards.
    pub(crate) async fn restart(&self) -> CheckOutcome {
        let restarted = match (&self.run.fixture.restart, &self.run.driver.0) {
            (Some(Action::Exec), Some(exec)) => {
                exec.restart().await.map_err(|error| error.to_string())
            }
            (Some(action), _) => self.perform(action, &json!({})).await,
            (None, _) => Err("the fixture does not define it".to_owned()),
        };
        restarted.map_err(|problem| CheckError::Skipped(format!("restart: {problem}")))?;
        self.run.transport.begin_generation();
        let Err(problem) = reachable::wait_for(&self.run).await else {
            return Ok(());
        };
        let got = format!("{problem}, {:?} after its restart", self.run.settings.wait);
        let failure = Failure::new("the driver responds again after a restart", got);
        // What it wrote last, rather than what this check usually finds.
        let hint = match self.run.driver.last_output().await {
            Some(output) => format!("the driver does not come up: {output}"),
            None => "The driver does not come up: see its log.".to_owned(),
        };
        Err(CheckError::from(failure).hint(hint))
    }

    /// Makes the cloud fail, or work again.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when that is not possible.
    pub(crate) async fn fault(&self, on: bool) -> CheckOutcome {
        let word = if on { "on" } else { "off" };
        let body = json!({ "on": on });
        // Set before the call, so that a run that ends here switches the fault off.
        self.run.fault_is_on.store(true, Ordering::Relaxed);
        let done = match &self.run.fixture.fault {
            Some(action) => self.perform(&action.switched(on), &body).await,
            None => Err("the fixture does not define it".to_owned()),
        };
        if !on && done.is_ok() {
            self.run.fault_is_on.store(false, Ordering::Relaxed);
        }
        done.map_err(|problem| CheckError::Skipped(format!("fault {word}: {problem}")))
    }

    async fn perform(&self, action: &Action, body: &Value) -> Result<(), String> {
        match action {
            Action::Url(url) => {
                let transport = self.run.transport.for_url(url);
                let (transport, path) = transport.map_err(|error| error.to_string())?;
                let request = Request::post(path, body.to_string());
                match transport.send(&request, TIMEOUT).await {
                    Ok(received) if (200..300).contains(&received.status) => Ok(()),
                    Ok(received) => Err(format!("{url}: HTTP {}", received.status)),
                    Err(problem) => Err(format!("{url}: {problem}")),
                }
            }
            Action::Command(words) => {
                let done = program::run(words, TIMEOUT).await.map(drop);
                done.map_err(|problem| format!("{}: {problem}", words.join(" ")))
            }
            Action::Exec => Err("exec only restarts a driver".to_owned()),
        }
    }
}
