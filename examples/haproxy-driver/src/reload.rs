//! Reloads HAProxy, without losing what only HAProxy knows.

use crate::HaproxyDriver;
use crate::haproxy::{master, runtime};
use crate::plan;
use lbcf_driver_sdk::HookError;

impl HaproxyDriver {
    /// Reloads HAProxy, or joins others that wait for it. `false` if it cannot load its files and goes on
    /// with the previous ones. The caller must not hold `changes`.
    pub(crate) async fn reload(&self) -> Result<bool, HookError> {
        let reload = async {
            // A server that is added between the reading of its file and the end of the old worker would
            // be in neither.
            let _changes = self.changes.lock().await;
            self.keep_foreign_servers().await?;
            master::reload(&self.layout).await
        };
        self.reloads.join(reload).await
    }

    /// Writes servers that were added by hand to the files, because the new worker knows only those.
    async fn keep_foreign_servers(&self) -> Result<(), HookError> {
        let running = runtime::balancers(&self.layout).await?;
        for mut balancer in self.files.read_all().await?.into_values() {
            if let Some(running) = running.get(&balancer.name()) {
                let foreign = plan::foreign(&balancer, running);
                balancer.servers.extend(foreign);
                self.write(&balancer).await?;
            }
        }
        Ok(())
    }
}
