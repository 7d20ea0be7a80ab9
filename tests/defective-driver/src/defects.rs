//! Which defects a driver has, and the way of a request through them.

use crate::driver::{self, Driver};
use crate::hook_request::HookRequest;
use crate::overlay::ObservationOverlay;
use crate::reply::Reply;
use crate::{
    Defect, DefectPace, address, concurrency, create, deregister, dry_run, ensure_backend, judge,
    list, load_balancer, malformed, reply_form, request_form, retry, running, validate_backend,
    validate_load_balancer,
};
use axum::Router;
use mock_driver::{Cloud, Middleware};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The defects of one driver, to be put around the right one as its
/// [`Middleware`](mock_driver::Middleware). Without any, the driver stays right.
#[derive(Debug, Clone, Default)]
pub struct Defects {
    pub(crate) defects: Vec<Defect>,
    pub(crate) pace: DefectPace,
    /// Outlives restarts of the driver, like the cloud.
    pub(crate) overlay: ObservationOverlay,
    pub(crate) crash: CancellationToken,
}

impl Defects {
    /// These defects, at the default [`DefectPace`].
    #[must_use]
    pub fn new(defects: impl IntoIterator<Item = Defect>) -> Self {
        Self {
            defects: defects.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Sets how long the defects take that are about time.
    #[must_use]
    pub fn pace(self, pace: DefectPace) -> Self {
        Self { pace, ..self }
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
        let driver = Driver::new(webhooks, cloud.clone(), self);
        Router::new()
            .fallback(driver::serve)
            .with_state(Arc::new(driver))
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

/// What a defect does before the driver: it may change the request, or reply in the driver's place.
pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    concurrency::before(defect, driver, request);
    request_form::before(defect, request)
        .or_else(|| malformed::before(defect, driver, request))
        .or_else(|| dry_run::before(defect, driver, request))
        .or_else(|| retry::before(defect, driver, request))
        .or_else(|| validate_load_balancer::before(defect, driver, request))
        .or_else(|| create::before(defect, driver, request))
        .or_else(|| running::before(defect, driver, request))
        .or_else(|| load_balancer::before(defect, driver, request))
        .or_else(|| validate_backend::before(defect, driver, request))
        .or_else(|| address::before(defect, request))
        .or_else(|| ensure_backend::before(defect, driver, request))
        .or_else(|| deregister::before(defect, driver, request))
        .or_else(|| judge::before(defect, request))
}

/// What a defect does after the driver: it may change the cloud and the reply.
pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    concurrency::after(defect, driver, request, reply);
    validate_load_balancer::after(defect, driver, request, reply);
    create::after(defect, driver, request, reply);
    running::after(defect, driver, request, reply);
    load_balancer::after(defect, driver, request, reply);
    validate_backend::after(defect, driver, request, reply);
    address::after(defect, driver, request, reply);
    ensure_backend::after(defect, driver, request, reply);
    deregister::after(defect, driver, request, reply);
    judge::after(defect, request, reply);
    list::after(defect, driver, request, reply);
    retry::after(defect, driver, request, reply);
    dry_run::after(defect, driver, request, reply);
    malformed::after(defect, driver, request, reply);
    reply_form::after(defect, driver, request, reply);
}
