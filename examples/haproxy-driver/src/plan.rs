//! Compares what is wanted with what HAProxy has, and names the commands that make them equal. Pure.

use crate::balancer::{Balancer, Member, server_name};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A load balancer as HAProxy runs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningBalancer {
    /// [`Balancer::revision`] of the file that was loaded; empty for a proxy of somebody else.
    pub revision: String,
    /// Its servers.
    pub servers: BTreeMap<SocketAddr, RunningServer>,
}

/// A server as HAProxy runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningServer {
    /// Where it sends traffic: a user may have changed it.
    pub target: SocketAddr,
    /// The configured weight, not the effective one.
    pub weight: u32,
    /// Whether it takes new sessions, as somebody has set it; health is another matter.
    pub admin: Admin,
    /// Seconds since the last change of its state.
    pub changed_seconds_ago: u64,
    /// Open sessions.
    pub sessions: u64,
}

/// The administrative state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admin {
    /// Takes sessions.
    Ready,
    /// Takes no new sessions.
    Drain,
    /// Takes none, and is neither checked nor used.
    Maintenance,
}

/// Whether only a reload makes HAProxy run this load balancer as its file says.
#[must_use]
pub fn needs_reload(wanted: &Balancer, running: Option<&RunningBalancer>) -> bool {
    running.is_none_or(|running| running.revision != wanted.revision())
}

/// The commands that register a server, or set it right; none if nothing differs.
#[must_use]
pub fn register(
    balancer: &Balancer,
    address: SocketAddr,
    member: &Member,
    running: Option<&RunningServer>,
) -> Vec<String> {
    let server = format!("{}/{}", balancer.spec.name(), server_name(address));
    let weight = member.parameters.weight.get();
    let options = balancer.check_options();
    let mut commands = Vec::new();
    match running {
        None => commands.push(format!(
            "add server {server} {address} weight {weight}{options}"
        )),
        Some(running) => {
            if running.target != address {
                let (ip, port) = (address.ip(), address.port());
                commands.push(format!("set server {server} addr {ip} port {port}"));
            }
            if running.weight != weight {
                commands.push(format!("set server {server} weight {weight}"));
            }
        }
    }
    // A server is added in maintenance, without checks. If the driver ended before the next command, the
    // server is still there in maintenance.
    let admin = running.map_or(Admin::Maintenance, |running| running.admin);
    if admin == Admin::Maintenance && !options.is_empty() {
        commands.push(format!("enable health {server}"));
    }
    if admin != Admin::Ready {
        commands.push(format!("set server {server} state ready"));
    }
    commands
}

/// The commands that remove a server without sessions.
#[must_use]
pub fn remove(name: &str, address: SocketAddr) -> [String; 2] {
    let server = format!("{name}/{}", server_name(address));
    [
        format!("set server {server} state maint"),
        format!("del server {server}"),
    ]
}

/// What sets a whole load balancer right that HAProxy has loaded. Servers that the file does not have are
/// left alone: they are draining, or somebody else has added them.
#[must_use]
pub fn repair(wanted: &Balancer, running: &RunningBalancer) -> Vec<String> {
    let servers = wanted.servers.iter();
    servers
        .flat_map(|(address, member)| {
            register(wanted, *address, member, running.servers.get(address))
        })
        .collect()
}

/// The servers that somebody else has added to HAProxy. A reload would forget them, so they are written
/// to the file before it.
#[must_use]
pub fn foreign(wanted: &Balancer, running: &RunningBalancer) -> Vec<(SocketAddr, RunningServer)> {
    let servers = running.servers.iter();
    servers
        .filter(|(address, server)| {
            server.admin == Admin::Ready && !wanted.servers.contains_key(*address)
        })
        .map(|(address, server)| (*address, *server))
        .collect()
}

#[cfg(test)]
mod tests;
