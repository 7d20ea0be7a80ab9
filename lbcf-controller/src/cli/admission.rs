//! Where the controller checks what users write.

use super::Listen;
use std::path::PathBuf;

/// Where the controller checks what users write.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Admission")]
pub struct AdmissionArgs {
    /// Address to serve admission at over TLS, such as 0.0.0.0:443; off serves none
    #[arg(
        long,
        env = "LBCF_ADMISSION_ADDRESS",
        value_name = "ADDR",
        default_value = "off"
    )]
    pub admission_address: Listen,

    /// Service by which the API server reaches that address
    #[arg(
        long,
        env = "LBCF_ADMISSION_SERVICE",
        value_name = "NAME",
        default_value = "lbcf-controller"
    )]
    pub admission_service: String,

    /// Namespace of that service and of the secret [default: the pod's, outside of pods
    /// kube-system]
    #[arg(long, env = "LBCF_ADMISSION_NAMESPACE", value_name = "NAMESPACE")]
    pub admission_namespace: Option<String>,

    /// Secret that keeps the certificate which is made where --server-crt is not given
    #[arg(
        long,
        env = "LBCF_ADMISSION_SECRET",
        value_name = "NAME",
        default_value = "lbcf-controller-admission"
    )]
    pub admission_secret: String,

    /// Certificate to serve admission with, in PEM
    #[arg(
        long,
        env = "LBCF_SERVER_CRT",
        value_name = "PATH",
        requires = "server_key"
    )]
    pub server_crt: Option<PathBuf>,

    /// That certificate's key, in PEM
    #[arg(
        long,
        env = "LBCF_SERVER_KEY",
        value_name = "PATH",
        requires = "server_crt"
    )]
    pub server_key: Option<PathBuf>,
}
