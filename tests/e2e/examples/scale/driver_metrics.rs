//! The metrics of a driver, and requests to a server for what it shows.

use http::Request;
use kube::{Client, Config};

#[derive(Default)]
pub(crate) struct DriverMetrics(String);

impl DriverMetrics {
    pub(crate) async fn read(driver: &Client) -> Self {
        Self(text(driver, "/metrics").await)
    }

    /// The sum of a metric for a webhook, of the lines that have this text, too.
    fn sum(&self, name: &str, webhook: &str, and: &str) -> f64 {
        let webhook = format!("webhook=\"{webhook}\"");
        let is_of = |it: &&str| it.starts_with(name) && it.contains(&webhook) && it.contains(and);
        let values = self.0.lines().filter(is_of);
        values
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// The mean number of backends in a batch since `before`; not finite without batches.
    pub(crate) fn batch(&self, webhook: &str, before: &Self) -> f64 {
        let since = |name| self.sum(name, webhook, "") - before.sum(name, webhook, "");
        since("lbcf_driver_hook_duration_seconds_count") / since("lbcf_driver_batches_total")
    }

    /// The calls that failed since `before`.
    pub(crate) fn failed(&self, webhook: &str, before: &Self) -> f64 {
        let failed = |it: &Self| it.sum("lbcf_driver_calls_total", webhook, "\"fail\"");
        failed(self) - failed(before)
    }
}

pub(crate) fn client_of(url: &str) -> Client {
    let config = Config::new(url.parse().expect("a URL"));
    Client::try_from(config).expect("a client")
}

pub(crate) async fn text(client: &Client, path: &str) -> String {
    let request = Request::get(path).body(Vec::new()).expect("a request");
    client.request_text(request).await.expect("a response")
}
