//! The connection to the driver besides its URL: headers, certificates, a token.

use super::console::CommandError;
use crate::fixture::Endpoint;
use crate::transport::{Settings, Transport, parse_header};
use http::{HeaderName, HeaderValue};
use lbcf_serving::secret::Secret;
use std::path::{Path, PathBuf};

/// The limit of a token, in bytes.
const LONGEST_TOKEN: u64 = 64 << 10;

/// The connection to the driver besides its URL.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Connection")]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_"))]
pub struct ConnectionArgs {
    /// Header of each call, such as 'X-Tenant: me'; may be repeated, and is never shown
    #[arg(long = "header", value_name = "NAME: VALUE", hide_env_values = true)]
    #[arg(value_delimiter = '\n')]
    // Not parsed by clap, which shows values that it cannot parse.
    pub headers: Vec<Secret>,

    /// PEM file with the trusted certificates instead of the system's, for https; may be repeated
    #[arg(long = "ca-file", value_name = "FILE")]
    pub ca_files: Vec<PathBuf>,

    /// PEM file with the client certificate, for drivers that require one
    #[arg(long, value_name = "FILE", requires = "client_key_file")]
    pub client_cert_file: Option<PathBuf>,

    /// PEM file with the key of --client-cert-file
    #[arg(long, value_name = "FILE", requires = "client_cert_file")]
    pub client_key_file: Option<PathBuf>,

    /// File with a token, sent as 'Authorization: Bearer …'
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

impl ConnectionArgs {
    /// The transport to a driver; headers of the flags replace those of the fixture.
    pub(super) fn transport(
        &self,
        url: &str,
        endpoint: &Endpoint,
    ) -> Result<Transport, CommandError> {
        let certificate = self.client_cert_file.clone();
        let mut settings = Settings {
            ca_files: self.ca_files.clone(),
            client_certificate: certificate.zip(self.client_key_file.clone()),
            token: self.token_file.as_deref().map(token).transpose()?,
            ..Settings::default()
        };
        for (name, value) in &endpoint.headers {
            // The fixture's headers are valid.
            settings.headers.extend(parse_header(name, value));
        }
        let headers = self.read_headers()?;
        for (name, _) in &headers {
            settings.headers.remove(name);
        }
        for (name, value) in headers {
            settings.headers.append(name, value);
        }
        Transport::to_url(url, &settings).map_err(CommandError::usage)
    }

    pub(super) fn read_headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, CommandError> {
        let texts = self.headers.iter().map(|Secret(text)| text.trim());
        let given = texts.filter(|text| !text.is_empty());
        let headers: Result<_, String> = given.map(header).collect();
        headers.map_err(|problem| CommandError::usage(format!("--header: {problem}")))
    }
}

/// A header of the form `Name: value`. The text is not in the errors, because it may contain a secret.
fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parts = text.split_once(':');
    let (name, value) = parts.ok_or("expected 'Name: value', with a colon")?;
    let name = name.trim();
    parse_header(name, value.trim()).map_err(|problem| match name.parse::<HeaderName>() {
        Ok(name) => format!("{name}: {problem}"),
        Err(_) => format!("before the colon: {problem}"),
    })
}

/// The token in a file. Errors do not contain its content.
fn token(path: &Path) -> Result<String, CommandError> {
    let wrong = |problem: String| {
        CommandError::usage(format!("--token-file {}: {problem}", path.display()))
    };
    let text = crate::files::read_text(path, LONGEST_TOKEN).map_err(wrong)?;
    match text.trim() {
        "" => Err(wrong("it is empty".to_owned())),
        token => Ok(token.to_owned()),
    }
}
