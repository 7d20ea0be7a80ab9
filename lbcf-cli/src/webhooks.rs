//! `lbcf webhooks`: prints the admission webhook configurations.

use lbcf_controller::admission::{Endpoint, configurations_yaml};
use lbcf_controller::names::{CONTROLLER, SYSTEM_NAMESPACE};
use lbcf_serving::streams;
use std::error::Error;

/// Where the configurations send requests.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_ADMISSION_"))]
pub(crate) struct WebhooksArgs {
    /// Name of the controller's Service
    #[arg(long, value_name = "NAME", default_value = CONTROLLER)]
    service: String,

    /// Namespace of the Service
    #[arg(long, value_name = "NAMESPACE", default_value = SYSTEM_NAMESPACE)]
    namespace: String,

    /// Port of the Service
    #[arg(long, value_name = "PORT", default_value_t = 443)]
    port: u16,

    /// URL outside the cluster in place of the Service, such as https://192.0.2.1:8443
    #[arg(long, value_name = "URL", conflicts_with_all = ["service", "namespace", "port"])]
    url: Option<String>,
}

pub(crate) fn print(args: WebhooksArgs) -> Result<(), Box<dyn Error>> {
    let endpoint = match args.url {
        Some(url) if url.starts_with("https://") => Endpoint::Url(url),
        Some(url) => {
            return Err(format!("--url {url:?}: must begin with https://").into());
        }
        None => Endpoint::Service {
            namespace: args.namespace,
            name: args.service,
            port: args.port,
        },
    };
    let yaml = configurations_yaml(&endpoint, None)?;
    Ok(streams::print(&yaml)?)
}
