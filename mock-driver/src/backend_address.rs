//! The address that identifies a backend in both clouds: JSON with IP, port and protocol. It depends on
//! the request alone, so the same backend always has the same address (GEN-03).

use lbcf_driver_sdk::Rejection;
use lbcf_driver_sdk::fields::Json;
use lbcf_driver_sdk::request::Target;
use lbcf_driver_sdk::webhook::Protocol;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Written in this order of fields. LBCF's examples of static addresses have the other names.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BackendAddress {
    #[serde(alias = "eniIP")]
    pub(crate) ip: String,
    #[serde(alias = "backendPort")]
    port: u16,
    #[serde(skip_deserializing)]
    protocol: Option<Protocol>,
}

impl BackendAddress {
    /// The address of a backend.
    pub(crate) fn write(target: Target<'_>) -> String {
        let address = Self {
            ip: target.host.to_owned(),
            port: target.port,
            protocol: Some(target.protocol),
        };
        Json(address).to_string()
    }

    /// Absent where users have written another text as a static address.
    pub(crate) fn read(address: &str) -> Option<Self> {
        serde_json::from_str(address).ok()
    }

    /// IP and port, such as `10.0.0.1:80`.
    pub(crate) fn ip_and_port(&self) -> String {
        match &self.ip {
            ip if ip.contains(':') => format!("[{ip}]:{}", self.port),
            ip => format!("{ip}:{}", self.port),
        }
    }
}

/// Refuses a text to which no cloud can send anything: users may write any as a static address (ENS-10).
pub(crate) fn usable(address: &str) -> Result<(), Rejection> {
    let is_usable = match BackendAddress::read(address) {
        Some(BackendAddress { ip, port, .. }) => is_host(&ip) && port != 0,
        None => address.rsplit_once(':').is_some_and(|(host, port)| {
            let port = port.parse::<u16>();
            is_host(host.trim_matches(['[', ']'])) && port.is_ok_and(|port| port != 0)
        }),
    };
    match is_usable {
        true => Ok(()),
        false => Err(Rejection::new(format!(
            "backendAddr: {address:?}: expected HOST:PORT, or JSON with ip and port"
        ))),
    }
}

/// The IP address or the domain name of a server.
fn is_host(text: &str) -> bool {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '.';
    match text.parse::<IpAddr>() {
        Ok(ip) => !ip.is_unspecified() && !ip.is_multicast(),
        Err(_) => !text.is_empty() && text.chars().all(is_of_name),
    }
}

/// The socket address of a target: that of a driver's JSON, or of text such as
/// `10.0.0.1:80`, which users may write for static addresses.
///
/// # Errors
/// Why nothing can be forwarded to it. Domain names are not looked up, so that no test depends on
/// the network.
pub(crate) fn socket_addr(address: &str) -> Result<SocketAddr, String> {
    if let Ok(addr) = address.parse() {
        return with_port(addr);
    }
    let Some(BackendAddress { ip, port, .. }) = BackendAddress::read(address) else {
        return Err("neither IP:PORT nor JSON with ip and port".to_owned());
    };
    match ip.parse::<IpAddr>() {
        Ok(ip) => with_port(SocketAddr::new(ip, port)),
        Err(_) => Err(format!("{ip:?} is not an IP address")),
    }
}

fn with_port(addr: SocketAddr) -> Result<SocketAddr, String> {
    match addr.port() {
        0 => Err("port 0: not a number from 1 to 65535".to_owned()),
        _ => Ok(addr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_text_lead_to_the_same() {
        let json = r#"{"ip":"10.0.0.1","port":80,"protocol":"TCP"}"#;
        assert_eq!(socket_addr(json).unwrap().to_string(), "10.0.0.1:80");
        assert_eq!(socket_addr("10.0.0.1:80"), socket_addr(json));
        let v6 = r#"{"ip":"fd00::1","port":80}"#;
        assert_eq!(socket_addr(v6).unwrap().to_string(), "[fd00::1]:80");
    }

    #[test]
    fn addresses_that_the_cloud_cannot_use_are_refused() {
        for (address, is_usable) in [
            ("10.0.0.1:80", true),
            ("[fd00::1]:80", true),
            ("my-web.com:8080", true),
            (r#"{"ip":"db.example","port":5432}"#, true),
            (r#"{"eniIP":"10.9.9.9","backendPort":80}"#, true),
            ("", false),
            ("10.0.0.1", false),
            (":80", false),
            ("10.0.0.1:0", false),
            ("10.0.0.1:65536", false),
            ("not an address", false),
            ("not an address:80", false),
            (r#"{"ip":"","port":80}"#, false),
            (r#"{"ip":"10.0.0.1","port":0}"#, false),
        ] {
            assert_eq!(usable(address).is_ok(), is_usable, "{address}");
        }
    }

    #[test]
    fn other_addresses_lead_nowhere_and_say_why() {
        let neither = "neither IP:PORT nor JSON with ip and port";
        for (address, why) in [
            ("", neither),
            ("10.0.0.1", neither),
            ("10.0.0.1:65536", neither),
            (r#"{"ip":"10.0.0.1"}"#, neither),
            (r#"{"ip":"10.0.0.1","port":-1}"#, neither),
            (
                r#"{"ip":"db.example","port":1}"#,
                r#""db.example" is not an IP address"#,
            ),
            ("10.0.0.1:0", "port 0: not a number from 1 to 65535"),
        ] {
            assert_eq!(socket_addr(address).unwrap_err(), why, "{address}");
        }
    }
}
