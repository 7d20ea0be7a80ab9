//! Serves the driver's description for `lbcf conformance`, which then needs no file of it.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::routing::get;

/// Where the kit looks for it, below the driver's URL.
const PATH: &str = "/.well-known/lbcf/conformance";

/// `GET /.well-known/lbcf/conformance`, to merge into the router of the webhooks: the text of the
/// driver's conformance fixture, YAML or JSON. [`Settings::conformance_fixture`](super::Settings::conformance_fixture)
/// does so for a [`Server`](super::Server).
///
/// ```
/// # fn example(driver: impl lbcf_driver_sdk::Driver) -> axum::Router {
/// use lbcf_driver_sdk::server::{conformance_router, router};
///
/// let fixture = "apiVersion: lbcf.dev/v1\nkind: ConformanceFixture\n";
/// router(driver).merge(conformance_router(fixture))
/// # }
/// ```
pub fn conformance_router(fixture: impl Into<String>) -> Router {
    let text = Bytes::from(fixture.into());
    let yaml = HeaderValue::from_static("application/yaml");
    let fixture = get(move || async move { ([(header::CONTENT_TYPE, yaml)], text) });
    Router::new().route(PATH, fixture)
}
