use super::cluster::ClusterArgs;
use super::error::CommandError;
use super::listen::Listen;
use crate::admission::{AdmissionServer, Certificates};
use crate::api::{ObjectKey, names};
use std::path::PathBuf;
use tokio::net::TcpListener;

/// Flags of the admission webhooks.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Admission", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct AdmissionArgs {
    /// Address at which to serve admission over TLS, such as 0.0.0.0:443, or off
    #[arg(long, value_name = "ADDR", default_value = "off")]
    pub admission_address: Listen,

    /// Service through which the API server reaches that address
    #[arg(long, value_name = "NAME", default_value = names::CONTROLLER)]
    pub admission_service: String,

    /// Namespace of that service and of the secret [default: the pod's, or kube-system outside of a
    /// pod]
    #[arg(long, value_name = "NAMESPACE")]
    pub admission_namespace: Option<String>,

    /// Secret for the certificate that is issued when --server-crt is not set
    #[arg(long, value_name = "NAME", default_value = "lbcf-controller-admission")]
    pub admission_secret: String,

    /// Additional DNS names and IP addresses of that certificate, for API servers that do not use
    /// the service
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub admission_names: Vec<String>,

    /// Serving certificate in PEM
    #[arg(long, value_name = "PATH", requires = "server_key")]
    pub server_crt: Option<PathBuf>,

    /// Private key of the serving certificate in PEM
    #[arg(long, value_name = "PATH", requires = "server_crt")]
    pub server_key: Option<PathBuf>,

    /// CAs in PEM whose clients alone may call admission: API servers then need a certificate for
    /// it; read again when it changes
    #[arg(long, value_name = "PATH")]
    pub admission_client_ca: Option<PathBuf>,
}

impl AdmissionArgs {
    pub(super) async fn server(
        &self,
        cluster: &ClusterArgs,
    ) -> Result<Option<AdmissionServer>, CommandError> {
        let Some(addr) = self.admission_address.addr() else {
            return Ok(None);
        };
        let namespace = self
            .admission_namespace
            .clone()
            .or_else(|| cluster.pod_namespace())
            .unwrap_or_else(|| names::SYSTEM_NAMESPACE.to_owned());
        let certificates = match (&self.server_crt, &self.server_key) {
            (Some(cert), Some(key)) => Certificates::Files {
                cert: cert.clone(),
                key: key.clone(),
            },
            _ => Certificates::SelfSignedCa {
                service: ObjectKey::new(namespace.clone(), self.admission_service.clone()),
                secret: ObjectKey::new(namespace, self.admission_secret.clone()),
                names: self.admission_names.clone(),
            },
        };
        let listener = TcpListener::bind(addr)
            .await
            .map_err(|source| CommandError::address("--admission-address", addr, source))?;
        let server = AdmissionServer::new(listener, certificates)?;
        let server = server.client_ca(self.admission_client_ca.clone());
        if let Ok(addr) = server.addr() {
            tracing::info!(%addr, "listening for admission requests");
        }
        Ok(Some(server))
    }
}
