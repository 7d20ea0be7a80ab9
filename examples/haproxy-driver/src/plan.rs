//! Compares what is wanted with what HAProxy has, and names the commands that make them equal. Pure.

#[cfg(test)]
mod tests;

use crate::balancer::{Balancer, Member, server_name};
use lbcf_driver_sdk::fields::Number;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A load balancer as HAProxy runs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningBalancer {
    /// [`Balancer::revision`] of the file that was loaded; empty for a proxy of somebody else.
    pub revision: String,
    pub servers: BTreeMap<SocketAddr, RunningServer>,
}

/// A server as HAProxy runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningServer {
    /// Where it sends traffic: a user may have changed it.
    pub target: SocketAddr,
    /// The configured weight, not the effective one.
    pub weight: u32,
    /// As set by commands, not by health checks.
    pub admin: Admin,
    /// Seconds since the last change of its state.
    pub changed_seconds_ago: u64,
    pub sessions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admin {
    Ready,
    /// Takes no new sessions.
    Drain,
    /// Takes none, and is neither checked nor used.
    Maintenance,
}

/// The commands that make HAProxy run a load balancer as its file says; none if only a reload does. With
/// `only`, those for one server: HAProxy may refuse another one. Servers that the file does not have are
/// left alone: they are draining, or were added by hand.
pub fn commands(
    wanted: &Balancer,
    running: Option<&RunningBalancer>,
    only: Option<SocketAddr>,
) -> Option<Vec<String>> {
    let running = running.filter(|running| running.revision == wanted.revision())?;
    let servers = wanted.servers.iter();
    let servers = servers.filter(|(address, _)| only.is_none_or(|only| only == **address));
    let servers = servers.flat_map(|(address, member)| {
        register(wanted, *address, member, running.servers.get(address))
    });
    Some(servers.collect())
}

fn register(
    wanted: &Balancer,
    address: SocketAddr,
    member: &Member,
    running: Option<&RunningServer>,
) -> Vec<String> {
    let server = format!("{}/{}", wanted.name(), server_name(address));
    let (weight, options) = (member.parameters.weight, wanted.check_options());
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
            if running.weight != weight.get() {
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

/// The commands that send a server no new sessions.
pub fn drain(name: &str, address: SocketAddr, running: Option<&RunningBalancer>) -> Vec<String> {
    let server = running.and_then(|running| running.servers.get(&address));
    let ready = server.filter(|server| server.admin == Admin::Ready);
    let command = |_| format!("set server {name}/{} state drain", server_name(address));
    ready.map(command).into_iter().collect()
}

/// The commands that remove a server without sessions.
pub fn remove(name: &str, address: SocketAddr) -> [String; 2] {
    let server = format!("{name}/{}", server_name(address));
    ["set server {} state maint", "del server {}"].map(|command| command.replace("{}", &server))
}

/// The servers that were added to HAProxy by hand. A reload would forget them, so the driver writes them to
/// the file first.
pub fn foreign(wanted: &Balancer, running: &RunningBalancer) -> BTreeMap<SocketAddr, Member> {
    let servers = running.servers.iter().filter(|(address, server)| {
        server.admin == Admin::Ready && !wanted.servers.contains_key(*address)
    });
    servers
        .map(|(address, server)| {
            let mut member = Member::default();
            member.parameters.weight = Number::new(server.weight).unwrap_or_default();
            (*address, member)
        })
        .collect()
}
