//! The mock over HTTP: the SDK's webhooks, and the mock's own endpoints beside them.

use crate::defects::{self, Death, HandedOut};
use crate::driver::ClbDriver;
use crate::inspect;
use crate::journal::Journaled;
use crate::process::{Life, Mortal, Process};
use axum::Router;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::map_response;
use axum::response::Response;
use lbcf_driver_sdk::server::{DriverRouter, RunningHooks};

/// Tells that it is a mock that answers, and which.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-lbcf-mock");

/// The webhooks of `driver`, and `/_mock` beside them.
pub fn router(driver: ClbDriver) -> Router {
    with_process(driver).0
}

/// [`router`], with the process that serves the webhooks, and the end that a defect may come to.
pub(crate) fn with_process(driver: ClbDriver) -> (Router, Process, Death) {
    let cloud = driver.cloud().clone();
    let (handed_out, death) = (HandedOut::default(), Death::default());
    let defects = (handed_out.clone(), death.clone());
    let process = Process::start(move |life| with_hooks(driver.clone(), life, defects.clone()));
    let webhooks = process.clone();
    let router = Router::new()
        .nest(
            "/_mock",
            handed_out.seen_in(inspect::router(cloud, process.clone())),
        )
        .fallback(async move |request| webhooks.answer(request).await)
        .layer(map_response(mark));
    (router, process, death)
}

/// The webhooks of one run of the driver's process, with a view of the hooks that run. What the
/// driver keeps in memory is made here, and so is gone with the run.
fn with_hooks(
    driver: ClbDriver,
    life: Life,
    (handed_out, death): (HandedOut, Death),
) -> (Router, RunningHooks) {
    let cloud = driver.cloud().clone();
    let options = driver.options().clone();
    let driver = Journaled {
        size: driver.options().journal_size,
        cloud: cloud.clone(),
        driver,
    };
    let webhooks = DriverRouter::new(Mortal { driver, life });
    let hooks = webhooks.running_hooks();
    let webhooks = defects::around(webhooks.build(), cloud, &options, handed_out, death);
    (webhooks, hooks)
}

async fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(
        VERSION_HEADER,
        HeaderValue::from_static(env!("CARGO_PKG_VERSION")),
    );
    response
}
