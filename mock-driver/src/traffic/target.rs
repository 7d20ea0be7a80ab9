//! Where the address of a target leads.

use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};

/// The fields of the reference driver's addresses; see `backend_addr.rs`.
#[derive(Debug, Deserialize)]
struct TargetAddress {
    ip: String,
    port: u16,
}

/// The socket address of a target: that of the reference driver's JSON, or of text such as
/// `10.0.0.1:80`, which users may write for static addresses.
///
/// # Errors
/// Why nothing can be forwarded to it. Domain names are not looked up, so that no test depends on
/// the network.
pub(super) fn socket_addr(address: &str) -> Result<SocketAddr, String> {
    if let Ok(addr) = address.parse() {
        return with_port(addr);
    }
    match serde_json::from_str::<TargetAddress>(address) {
        Ok(TargetAddress { ip, port }) => match ip.parse::<IpAddr>() {
            Ok(ip) => with_port(SocketAddr::new(ip, port)),
            Err(_) => Err(format!("{ip:?} is not an IP address")),
        },
        Err(_) => Err("neither IP:PORT nor JSON with ip and port".to_owned()),
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
