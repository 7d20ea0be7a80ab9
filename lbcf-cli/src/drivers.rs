//! Drivers that a command calls itself.

use lbcf_controller::ObjectKey;
use lbcf_controller::cli::{DriverArgs, host_and_url};
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_driver_client::{DriverClient, HttpClient, HttpClientError, InvalidUrl};
use std::collections::BTreeMap;

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
    /// The client of a driver with this URL.
    pub(crate) fn client(&self, driver: &ObjectKey, url: &str) -> Result<DriverClient, InvalidUrl> {
        let http = match *driver.namespace == *SYSTEM_NAMESPACE {
            true => &self.of_system,
            false => &self.of_tenants,
        };
        let replaced = host_of(url).and_then(|host| self.connect_to.get(&host));
        DriverClient::with_http(http.clone(), replaced.map_or(url, |it| it))
    }
}

/// The host of a driver's URL, which is that of a Service in a cluster.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let uri: axum::http::Uri = url.parse().ok()?;
    uri.host().map(str::to_owned)
}
