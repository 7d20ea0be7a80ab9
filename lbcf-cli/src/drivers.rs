//! Drivers that a command calls itself.

use lbcf_controller::cli::{DriverArgs, host_and_url};
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_controller::{DriverAddresses, ObjectKey};
use lbcf_driver_client::{DriverClient, HttpClient, HttpClientError, InvalidUrl};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Flags of the ways to drivers.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub(crate) struct CalledDrivers {
    /// Call drivers at HOST under this base URL instead; can be repeated
    #[arg(long, value_name = "HOST=URL", value_delimiter = ',', value_parser = host_and_url)]
    connect_to: Vec<(String, String)>,

    #[command(flatten)]
    connection: DriverArgs,
}

/// The ways to drivers.
#[derive(Debug, Clone, Default)]
pub struct Drivers {
    of_system: HttpClient,
    of_tenants: HttpClient,
    connect_to: BTreeMap<String, String>,
}

impl CalledDrivers {
    pub(crate) fn open(self) -> Result<Drivers, HttpClientError> {
        let [of_system, of_tenants] = self.connection.clients()?;
        Ok(Drivers {
            of_system,
            of_tenants,
            connect_to: self.connect_to.into_iter().collect(),
        })
    }
}

impl Drivers {
    /// The client of a driver with this URL. A tenant could otherwise choose a local server that this command calls.
    pub(crate) fn client(&self, driver: &ObjectKey, url: &str) -> Result<DriverClient, InvalidUrl> {
        let replaced = host_of(url).and_then(|host| self.connect_to.get(&host));
        let is_of_system = *driver.namespace == *SYSTEM_NAMESPACE;
        let http = match (is_of_system, replaced) {
            (true, _) => self.of_system.clone(),
            (false, Some(_)) => self.of_tenants.clone(),
            (false, None) => self.of_tenants.with_address_check(check),
        };
        DriverClient::with_http(http, replaced.map_or(url, |it| it))
    }
}

fn check(scheme: &str, address: IpAddr) -> Result<(), String> {
    match DriverAddresses::any().allow(scheme, address, &[]) {
        true => Ok(()),
        false => Err(format!(
            "a driver outside kube-system is not called at {address}, unless --connect-to says so"
        )),
    }
}

/// The host of a driver's URL, which is that of a Service in a cluster.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let uri: axum::http::Uri = url.parse().ok()?;
    uri.host().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_driver_of_a_tenant_is_called_here_only_if_the_user_says_so() {
        let nobody = "http://127.0.0.1:9";
        let replaced = Drivers {
            connect_to: [("web.shop".to_owned(), nobody.to_owned())].into(),
            ..Drivers::default()
        };
        let own = Drivers::default();
        for (drivers, namespace, url, is_called) in [
            (&own, "kube-system", nobody, true),
            (&own, "shop", nobody, false),
            (&own, "shop", "http://169.254.169.254", false),
            (&replaced, "shop", "http://web.shop", true),
        ] {
            let client = drivers
                .client(&ObjectKey::new(namespace, "d"), url)
                .unwrap();
            let error = client.raw_call("healthz", "{}").await.unwrap_err();
            let is_refused = error.to_string().contains("--connect-to");
            assert_eq!(is_refused, !is_called, "{namespace} {url}: {error}");
        }
    }
}
