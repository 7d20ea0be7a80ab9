//! How the controller connects to drivers.

use lbcf_driver_sdk::client::{HttpClient, HttpClientError};
use std::path::PathBuf;

/// How the controller connects to drivers. It is the same for all of them; files are read again
/// when they change.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Drivers")]
pub struct DriverArgs {
    /// CAs that certificates of drivers are trusted for, in PEM, instead of the system's
    #[arg(long, env = "LBCF_DRIVER_CA_FILE", value_name = "PATH")]
    pub driver_ca_file: Option<PathBuf>,

    /// Trust the system's CAs as well as those of --driver-ca-file
    #[arg(
        long,
        env = "LBCF_DRIVER_TRUST_SYSTEM_CAS",
        requires = "driver_ca_file"
    )]
    pub driver_trust_system_cas: bool,

    /// Certificate to show drivers that ask for one, in PEM
    #[arg(
        long,
        env = "LBCF_DRIVER_CLIENT_CERT_FILE",
        value_name = "PATH",
        requires = "driver_client_key_file"
    )]
    pub driver_client_cert_file: Option<PathBuf>,

    /// That certificate's key, in PEM
    #[arg(
        long,
        env = "LBCF_DRIVER_CLIENT_KEY_FILE",
        value_name = "PATH",
        requires = "driver_client_cert_file"
    )]
    pub driver_client_key_file: Option<PathBuf>,

    /// File with a token that all drivers get with each call, over https only. Whoever may create
    /// a LoadBalancerDriver can have it sent to a server of theirs, unless --driver-ca-file says
    /// whose servers are trusted
    #[arg(long, env = "LBCF_DRIVER_TOKEN_FILE", value_name = "PATH")]
    pub driver_token_file: Option<PathBuf>,

    /// Send the token over plain http as well, where others can read it
    #[arg(
        long,
        env = "LBCF_DRIVER_TOKEN_OVER_HTTP",
        requires = "driver_token_file"
    )]
    pub driver_token_over_http: bool,
}

impl DriverArgs {
    /// The client that these flags ask for; none where they say nothing. Reads the files.
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
