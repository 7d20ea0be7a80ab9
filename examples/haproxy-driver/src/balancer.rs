//! A load balancer as it is wanted, and the directives from which HAProxy serves it. Pure: nothing here touches a disk.

#[cfg(test)]
mod tests;

use crate::fields::{Attributes, Balance, HealthCheck, LbInfo, LbSpec, Mode, Parameters};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balancer {
    /// The object in the cluster that this belongs to.
    pub owner: String,
    pub spec: LbSpec,
    pub attributes: Attributes,
    pub servers: BTreeMap<SocketAddr, Member>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub parameters: Parameters,
    /// The `recordID` that registered it; none if somebody else did.
    pub record_id: Option<String>,
}

impl Balancer {
    /// Its identity for the controller.
    pub fn info(&self) -> LbInfo {
        let (listener, owner) = (self.listener(), self.owner.clone());
        LbInfo { listener, owner }
    }

    pub fn listener(&self) -> SocketAddr {
        SocketAddr::new(self.spec.address, self.spec.port.get())
    }

    /// Its name in HAProxy, and that of its file.
    pub fn name(&self) -> String {
        name(self.listener())
    }

    /// Its name for `StateFiles`, whose files' names begin with `lb-`, too.
    pub fn key(&self) -> String {
        server_name(self.listener())
    }

    /// Identifies all that HAProxy only reads at a reload. It is the name of the `bind` line, where the
    /// runtime socket shows it: so the driver sees which version of a file HAProxy has loaded.
    pub fn revision(&self) -> String {
        // FNV-1a, which unlike the standard library's hash is the same in every version.
        let fnv = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = self.structure("").bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        format!("rev-{hash:016x}")
    }

    /// The options after the address of each server, in the file and in `add server`.
    pub fn check_options(&self) -> String {
        match self.attributes.health_check {
            HealthCheck::None => String::new(),
            _ => format!(" check inter {}ms", self.attributes.health_check_millis),
        }
    }

    fn structure(&self, revision: &str) -> String {
        let mode = match self.spec.mode {
            Mode::Tcp => "tcp",
            Mode::Http => "http",
        };
        let balance = match self.attributes.balance {
            Balance::Roundrobin => "roundrobin",
            Balance::Leastconn => "leastconn",
            Balance::Random => "random",
            // Only with consistent hashing may servers be added while HAProxy runs.
            Balance::Source => "source\n  hash-type consistent",
        };
        let (name, listener) = (self.name(), self.listener());
        let idle = self.attributes.idle_seconds;
        let mut text = format!(
            "listen {name}\n  mode {mode}\n  bind {listener} name {revision}\n  option socket-stats\n  \
             balance {balance}\n  timeout client {idle}s\n  timeout server {idle}s\n"
        );
        if self.attributes.health_check == HealthCheck::Http {
            let path = self.attributes.health_check_path.as_deref().unwrap_or("/");
            let _ = writeln!(text, "  option httpchk GET {path}");
        }
        // Part of the revision, as servers keep the options that they were added with.
        let _ = writeln!(text, "  # server options:{}", self.check_options());
        text
    }

    /// The section that HAProxy reads.
    pub fn directives(&self) -> String {
        let mut text = self.structure(&self.revision());
        let options = self.check_options();
        for (address, member) in &self.servers {
            let (name, weight) = (server_name(*address), member.parameters.weight);
            let _ = writeln!(text, "  server {name} {address} weight {weight}{options}");
        }
        text
    }
}

/// The name of the load balancer that listens there.
pub fn name(listener: SocketAddr) -> String {
    format!("lb-{}", server_name(listener))
}

/// The name of a server: its address in the characters that HAProxy allows, so without brackets.
pub fn server_name(address: SocketAddr) -> String {
    format!("{}-{}", address.ip(), address.port())
}

/// The address that a server was named after; none for other names.
pub fn named_address(name: &str) -> Option<SocketAddr> {
    let (ip, port) = name.rsplit_once('-')?;
    let ip: IpAddr = ip.parse().ok()?;
    Some(SocketAddr::new(ip, port.parse().ok()?))
}
