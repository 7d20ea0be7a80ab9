use lbcf_driver_sdk::client::{HttpClient, HttpClientError};
use std::path::PathBuf;

/// Flags of the connections to drivers, the same for all drivers. Files are read again when they
/// change.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Drivers", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct DriverArgs {
    /// CA certificates in PEM to verify drivers with, instead of the system's
    #[arg(long, value_name = "PATH")]
    pub driver_ca_file: Option<PathBuf>,

    /// Trust the system's CA certificates in addition to --driver-ca-file
    #[arg(long, requires = "driver_ca_file")]
    pub driver_trust_system_cas: bool,

    /// Client certificate in PEM, for drivers that require one
    #[arg(long, value_name = "PATH", requires = "driver_client_key_file")]
    pub driver_client_cert_file: Option<PathBuf>,

    /// Private key of the client certificate in PEM
    #[arg(long, value_name = "PATH", requires = "driver_client_cert_file")]
    pub driver_client_key_file: Option<PathBuf>,

    /// File with a bearer token that is sent to all drivers, over https only. A user who may create a
    /// LoadBalancerDriver can receive it, unless --driver-ca-file limits which servers are trusted
    #[arg(long, value_name = "PATH")]
    pub driver_token_file: Option<PathBuf>,

    /// Send the token over plain http as well, where it can be intercepted
    #[arg(long, requires = "driver_token_file")]
    pub driver_token_over_http: bool,
}

impl DriverArgs {
    /// The client, or `None` if no flag is set. Reads the files.
    pub(super) fn client(&self) -> Result<Option<HttpClient>, HttpClientError> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut builder = HttpClient::builder();
        if let Some(path) = &self.driver_ca_file {
            builder = builder.ca_file(path);
        }
        if self.driver_trust_system_cas {
            builder = builder.trust_system_roots();
        }
        if let (Some(cert), Some(key)) =
            (&self.driver_client_cert_file, &self.driver_client_key_file)
        {
            builder = builder.client_certificate_files(cert, key);
        }
        if let Some(path) = &self.driver_token_file {
            builder = builder.token_file(path);
        }
        if self.driver_token_over_http {
            builder = builder.allow_token_over_http();
        }
        builder.build().map(Some)
    }
}
