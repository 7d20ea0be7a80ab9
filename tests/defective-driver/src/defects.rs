//! Which defects a driver has.

use crate::Defect;
use crate::driver::Driver;
use crate::overlay::ObservationOverlay;
use crate::serving;
use axum::Router;
use mock_driver::{Cloud, Middleware};
use tokio_util::sync::CancellationToken;

/// The defects of one driver, to be put around the right one as its
/// [`Middleware`](mock_driver::Middleware). Without any, the driver stays right.
#[derive(Debug, Clone, Default)]
pub struct Defects {
    defects: Vec<Defect>,
    /// Outlives restarts of the driver, like the cloud.
    overlay: ObservationOverlay,
    crash: CancellationToken,
}

impl Defects {
    /// These defects.
    #[must_use]
    pub fn new(defects: impl IntoIterator<Item = Defect>) -> Self {
        Self {
            defects: defects.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Middleware for Defects {
    fn wrap_webhooks(&self, webhooks: Router, cloud: &Cloud) -> Router {
        if self.defects.is_empty() {
            return webhooks;
        }
        for defect in &self.defects {
            tracing::warn!(%defect, about = defect.about(), "the mock driver is wrong on purpose");
        }
        let (defects, overlay) = (self.defects.clone(), self.overlay.clone());
        let driver = Driver::new(cloud.clone(), defects, overlay, self.crash.clone());
        serving::router(driver, webhooks)
    }

    fn wrap_endpoints(&self, endpoints: Router) -> Router {
        if self.defects.is_empty() {
            return endpoints;
        }
        self.overlay.clone().around(endpoints)
    }

    fn crashed(&self) -> CancellationToken {
        self.crash.clone()
    }
}
