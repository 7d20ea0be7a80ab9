//! Doing something to the driver as a whole, or to its cloud, as the fixture says how.

use super::Lab;
use crate::driver::Driver;
use crate::fixture::Action;
use crate::fixture::places::switched;
use crate::run::reachable;
use crate::transport::{Request, Settings, Transport};
use crate::verdict::{Failure, NotPassed};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::process::Command;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Lab {
    /// Restarts the driver and waits until it answers again.
    ///
    /// # Errors
    /// [`NotPassed::Skipped`], when it cannot be restarted; [`NotPassed::Failed`], when it does not
    /// come back.
    pub(crate) async fn restart(&self) -> Result<(), NotPassed> {
        let restarted = match (&self.fixture().restart, &self.run.driver) {
            (Some(Action::Exec), Driver::Ours(exec)) => {
                exec.restart().await.map_err(|error| error.to_string())
            }
            (Some(action), _) => self.act(action, &json!({})).await,
            (None, _) => Err("the fixture does not say how".to_owned()),
        };
        restarted.map_err(|problem| NotPassed::Skipped(format!("restart: {problem}")))?;
        reachable::wait_for(&self.run).await.map_err(|problem| {
            let got = format!("{problem}, {:?} after its restart", self.run.settings.wait);
            Failure::new("the driver answers again after a restart", got).into()
        })
    }

    /// Makes the cloud fail, or work again.
    ///
    /// # Errors
    /// [`NotPassed::Skipped`], when that cannot be done.
    pub(crate) async fn fault(&self, on: bool) -> Result<(), NotPassed> {
        let word = if on { "on" } else { "off" };
        // Noted before it is made, so that a run that ends here does not leave it.
        self.run.fault_is_on.store(true, Ordering::Relaxed);
        let done = match &self.fixture().fault {
            Some(action) => self.act(&switched(action, on), &json!({ "on": on })).await,
            None => Err("the fixture does not say how".to_owned()),
        };
        if !on && done.is_ok() {
            self.run.fault_is_on.store(false, Ordering::Relaxed);
        }
        done.map_err(|problem| NotPassed::Skipped(format!("fault {word}: {problem}")))
    }

    async fn act(&self, action: &Action, body: &Value) -> Result<(), String> {
        match action {
            Action::Url(url) => {
                let over = |transport: &Transport, path: String| {
                    (transport.clone(), Request::post(path, body.to_string()))
                };
                let (transport, request) = match self.run.transport.path_below(url) {
                    Some(path) => over(&self.run.transport, path),
                    None => {
                        let settings = Settings::default();
                        let to_url = Transport::to_url(url, &settings);
                        over(&to_url.map_err(|error| error.to_string())?, String::new())
                    }
                };
                let received = transport
                    .send(&request, PATIENCE)
                    .await
                    .map_err(|problem| format!("{url}: {problem}"))?;
                if (200..300).contains(&received.status) {
                    return Ok(());
                }
                Err(format!("{url}: HTTP {}", received.status))
            }
            Action::Command(words) => {
                let Some((program, arguments)) = words.split_first() else {
                    return Err("the command is empty".to_owned());
                };
                let mut command = Command::new(program);
                command
                    .args(arguments)
                    .stdin(Stdio::null())
                    .kill_on_drop(true);
                let output = tokio::time::timeout(PATIENCE, command.output())
                    .await
                    .map_err(|_| format!("{program}: still running after {PATIENCE:?}"))?
                    .map_err(|error| format!("{program}: {error}"))?;
                if output.status.success() {
                    return Ok(());
                }
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("{program}: {}: {}", output.status, said.trim()))
            }
            Action::Exec => Err("exec restarts a driver, and does nothing else".to_owned()),
        }
    }
}
