//! The routes of each port, and those that need a token.

use super::probes::{self, HEALTHZ, LIVEZ, READYZ, Readiness};
use crate::server::auth::{TokenAuth, guarded};
use crate::server::path_prefix::PathPrefix;
use crate::server::reject::reject;
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::routing::any;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

/// The routes by port.
pub(super) struct Surface {
    pub(super) main: Router,
    /// Those of the port for probes.
    pub(super) probes: Router,
    pub(super) prefix: PathPrefix,
}

/// Routes beside the webhooks, at the root.
#[derive(Default)]
pub(super) struct Pages {
    /// `/metrics`, also on the port for probes.
    pub(super) metrics: Router,
    pub(super) documents: Router,
}

pub(super) fn surface(
    driver: Router,
    pages: Pages,
    prefix: PathPrefix,
    ready: &Readiness,
    auth: Option<TokenAuth>,
) -> Surface {
    let healthz = {
        let driver = TowerToHyperService::new(driver.clone());
        Router::new().route(HEALTHZ, any(move |request: Request| driver.call(request)))
    };
    let probes = probes::routes(ready);
    let below = driver.merge(probes.clone());
    let root = if prefix.as_str().is_empty() {
        below
    } else {
        let outside = {
            let prefix = prefix.clone();
            move |uri: Uri| async move {
                let (path, prefix) = (uri.path(), prefix.as_str());
                let error = format!("{path}: not found; webhooks are below {prefix}/");
                reject(StatusCode::NOT_FOUND, error)
            }
        };
        Router::new()
            .nest(prefix.as_str(), below)
            .merge(probes.clone())
            .merge(healthz.clone())
            .fallback(outside)
    };
    let main = root.merge(pages.metrics.clone()).merge(pages.documents);
    let main = match auth {
        Some(auth) => guarded(main, auth, open(&prefix)),
        None => main,
    };
    let probes = probes
        .merge(healthz)
        .merge(pages.metrics)
        .fallback(|uri: Uri| async move {
            let error = format!(
                "{}: not found; this port has {LIVEZ}, {READYZ} and {HEALTHZ}",
                uri.path()
            );
            reject(StatusCode::NOT_FOUND, error)
        });
    Surface {
        main,
        probes,
        prefix,
    }
}

/// The paths that need no token.
fn open(prefix: &PathPrefix) -> Vec<String> {
    let probes = [LIVEZ, READYZ, HEALTHZ];
    let mut open: Vec<String> = probes.map(str::to_owned).into();
    if !prefix.as_str().is_empty() {
        open.extend(probes.map(|probe| prefix.of(probe)));
    }
    open
}
