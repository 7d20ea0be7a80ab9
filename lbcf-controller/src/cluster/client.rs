//! The client of the API server: limits on its requests, and their number as a metric.

mod layers;

use crate::process::metrics::Metrics;
use kube::client::ClientBuilder;
use kube::{Client, Config};
use layers::RequestCount;
pub(crate) use layers::RequestRate;
use tower::limit::ConcurrencyLimitLayer;

/// The limits on requests to the API server. By default only their number at a time is limited: the API
/// server itself shares its capacity among its clients, and responds with 429 and Retry-After.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientLimits {
    /// The number of requests that wait for a response at a time, which includes the delay of a Retry-After. A watch
    /// that has begun does not count.
    pub(crate) in_flight: usize,
    pub(crate) rate: Option<RequestRate>,
}

/// A client that keeps these limits.
pub(crate) fn build(
    config: Config,
    limits: ClientLimits,
    metrics: &Metrics,
) -> kube::Result<Client> {
    let count = RequestCount(metrics.clone());
    let in_flight = ConcurrencyLimitLayer::new(limits.in_flight);
    let builder = ClientBuilder::try_from(config)?
        .with_layer(&count)
        .with_layer(&in_flight);
    Ok(match &limits.rate {
        Some(rate) => builder.with_layer(rate).build(),
        None => builder.build(),
    })
}

/// True for an error after which the same request may succeed a moment later.
pub(crate) fn is_transient(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
