//! The address that identifies a backend in the cloud: JSON with IP, port and protocol. It depends on
//! the request alone, so the same backend always has the same address (GEN-03).

use lbcf_driver_sdk::fields::Json;
use lbcf_driver_sdk::request::Target;
use lbcf_driver_sdk::webhook::Protocol;
use serde::Serialize;

/// Written in this order of fields.
#[derive(Debug, Serialize)]
struct TargetAddress<'a> {
    ip: &'a str,
    port: u16,
    protocol: Protocol,
}

pub(crate) fn backend_addr(target: Target<'_>) -> String {
    let address = TargetAddress {
        ip: target.host,
        port: target.port,
        protocol: target.protocol,
    };
    Json(address).to_string()
}
