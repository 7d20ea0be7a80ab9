use lbcf_driver_client::{HttpClient, HttpClientError, HttpClientSettings, Proxies};
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

    /// File with a bearer token that is sent to drivers in kube-system, over https only
    #[arg(long, value_name = "PATH")]
    pub driver_token_file: Option<PathBuf>,

    /// Send the token over plain http as well, where it can be intercepted
    #[arg(long, requires = "driver_token_file")]
    pub driver_token_over_http: bool,

    /// Send token and client certificate to drivers in other namespaces as well. A user that
    /// creates one can then receive the token, and have other drivers called with both
    #[arg(long)]
    pub driver_credentials_for_tenants: bool,
}

impl DriverArgs {
    /// The clients for drivers in kube-system and in other namespaces. Reads the files.
    ///
    /// # Errors
    /// The file that cannot be used.
    pub fn clients(&self) -> Result<[HttpClient; 2], HttpClientError> {
        let (cert, key) = (&self.driver_client_cert_file, &self.driver_client_key_file);
        let settings = HttpClientSettings {
            ca_files: self.driver_ca_file.iter().cloned().collect(),
            trust_system_roots: self.driver_trust_system_cas,
            client_certificate: cert.clone().zip(key.clone()),
            token_file: self.driver_token_file.clone(),
            allow_token_over_http: self.driver_token_over_http,
            ..HttpClientSettings::default()
        };
        let of_system = HttpClient::with(HttpClientSettings {
            proxies: Proxies::from_environment(),
            ..settings.clone()
        })?;
        // A tenant's driver could be any host that a proxy reaches.
        let of_tenants = match self.driver_credentials_for_tenants {
            true => settings,
            false => HttpClientSettings {
                client_certificate: None,
                token_file: None,
                ..settings
            },
        };
        Ok([of_system, HttpClient::with(of_tenants)?])
    }
}
