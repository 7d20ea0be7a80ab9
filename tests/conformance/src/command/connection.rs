//! How the driver is reached beyond its URL: headers, certificates, a token.

use super::Stop;
use super::values::{Header, Secret};
use crate::fixture::Endpoint;
use crate::transport::{Settings, Transport};
use http::{HeaderName, HeaderValue};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No token is longer, in bytes.
const LONGEST_TOKEN: u64 = 64 << 10;

/// How the driver is reached beyond its URL.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reaching the driver")]
pub struct ConnectionArgs {
    /// Header to send with each call, such as 'X-Tenant: me'; may be repeated, and is never shown
    #[arg(
        long = "header",
        env = "LBCF_CONFORMANCE_HEADER",
        value_name = "NAME: VALUE",
        hide_env_values = true,
        value_delimiter = '\n'
    )]
    // Taken as it is: clap shows what it cannot read.
    pub headers: Vec<Secret>,

    /// PEM file with the certificates to trust instead of the system's, for https; may be repeated
    #[arg(
        long = "ca-file",
        env = "LBCF_CONFORMANCE_CA_FILE",
        value_name = "FILE"
    )]
    pub ca_files: Vec<PathBuf>,

    /// PEM file with the kit's own certificate, for drivers that ask for one
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_CLIENT_CERT_FILE",
        value_name = "FILE",
        requires = "client_key_file"
    )]
    pub client_cert_file: Option<PathBuf>,

    /// PEM file with the key of --client-cert-file
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_CLIENT_KEY_FILE",
        value_name = "FILE",
        requires = "client_cert_file"
    )]
    pub client_key_file: Option<PathBuf>,

    /// File with a token, sent as 'Authorization: Bearer …'
    #[arg(long, env = "LBCF_CONFORMANCE_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

impl ConnectionArgs {
    /// The way to a driver; headers that the fixture has are sent where the flags do not name them.
    pub(super) fn transport(&self, url: &str, endpoint: &Endpoint) -> Result<Transport, Stop> {
        let mut settings = Settings {
            ca_files: self.ca_files.clone(),
            client_certificate: self
                .client_cert_file
                .clone()
                .zip(self.client_key_file.clone()),
            token: self.token_file.as_deref().map(token).transpose()?,
            ..Settings::default()
        };
        for (name, value) in &endpoint.headers {
            // Whoever read the fixture looked at them.
            if let (Ok(name), Ok(mut value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(value))
            {
                value.set_sensitive(true);
                settings.headers.insert(name, value);
            }
        }
        let headers = self.read_headers()?;
        for header in &headers {
            settings.headers.remove(&header.name);
        }
        for Header { name, value } in headers {
            settings.headers.append(name, value);
        }
        Transport::to_url(url, &settings).map_err(Stop::usage)
    }

    /// The headers of the flags.
    pub(super) fn read_headers(&self) -> Result<Vec<Header>, Stop> {
        let texts = self.headers.iter().map(|Secret(text)| text.trim());
        texts
            .filter(|text| !text.is_empty())
            .map(|text| {
                let header = text.parse::<Header>();
                header.map_err(|problem| Stop::usage(format!("--header: {problem}")))
            })
            .collect()
    }
}

/// The token in a file. What the file has in it is in no error.
fn token(path: &Path) -> Result<String, Stop> {
    let wrong =
        |problem: String| Stop::usage(format!("--token-file {}: {problem}", path.display()));
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST_TOKEN + 1).read_to_end(&mut text))
        .map_err(|problem| wrong(problem.to_string()))?;
    if text.len() as u64 > LONGEST_TOKEN {
        return Err(wrong(format!("longer than {LONGEST_TOKEN} bytes")));
    }
    let text = String::from_utf8(text).map_err(|_| wrong("not a text in UTF-8".to_owned()))?;
    match text.trim() {
        "" => Err(wrong("it is empty".to_owned())),
        token => Ok(token.to_owned()),
    }
}
