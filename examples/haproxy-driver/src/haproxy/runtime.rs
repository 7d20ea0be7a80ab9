//! The runtime API of workers: what runs, and changes of servers without a reload.

#[cfg(test)]
mod tests;

use super::socket::ask;
use super::{Layout, master};
use crate::balancer::{named_address, server_name};
use crate::plan::{Admin, RunningBalancer, RunningServer};
use lbcf_driver_sdk::HookError;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// A load balancer, if the current worker runs it.
pub async fn balancer(layout: &Layout, name: &str) -> Result<Option<RunningBalancer>, HookError> {
    let mut found = query(layout, &format!("{name} -1 -1"), name).await?;
    Ok(found.remove(name))
}

/// All load balancers that the current worker runs, by name.
pub async fn balancers(layout: &Layout) -> Result<BTreeMap<String, RunningBalancer>, HookError> {
    query(layout, "", "").await
}

async fn query(
    layout: &Layout,
    stat: &str,
    state: &str,
) -> Result<BTreeMap<String, RunningBalancer>, HookError> {
    let stat = ask(&layout.runtime_socket, &format!("show stat {stat}")).await?;
    let state = ask(
        &layout.runtime_socket,
        &format!("show servers state {state}"),
    )
    .await?;
    Ok(read_running(&stat, &state))
}

/// Executes commands in order, and stops at the first that HAProxy refuses.
pub async fn execute(layout: &Layout, commands: &[String]) -> Result<(), HookError> {
    for command in commands {
        let response = ask(&layout.runtime_socket, command).await?;
        // Success has two texts, and is silent otherwise.
        if !["", "New server registered.", "Server deleted."].contains(&response.as_str()) {
            let message = format!("HAProxy refused {command:?}: {response}");
            return Err(HookError::fail(message));
        }
        tracing::info!(command, "changed HAProxy");
    }
    Ok(())
}

/// The sessions of a server in workers of earlier reloads.
pub async fn sessions_of_old_workers(
    layout: &Layout,
    name: &str,
    address: SocketAddr,
) -> Result<u64, HookError> {
    let (server, mut sessions) = (server_name(address), 0);
    for worker in master::processes(layout).await?.old_workers {
        let stat = master::ask_worker(layout, worker, &format!("show stat {name} 4 -1")).await;
        let rows = rows(&stat).filter(|row| row.get("svname") == Some(&server.as_str()));
        sessions += rows.map(|row| number(&row, "scur")).sum::<u64>();
    }
    Ok(sessions)
}

/// Ends all sessions of a server, in all workers.
pub async fn shut_down_sessions(
    layout: &Layout,
    name: &str,
    address: SocketAddr,
) -> Result<(), HookError> {
    let server = server_name(address);
    let command = format!("shutdown sessions server {name}/{server}");
    // After a reload, the current worker does not know the server any more.
    let _unknown_server = ask(&layout.runtime_socket, &command).await?;
    for worker in master::processes(layout).await?.old_workers {
        // The proxies of an old worker are disabled, so it ends sessions only one by one.
        let sessions = master::ask_worker(layout, worker, "show sess").await;
        let (backend, server) = (format!(" be={name} "), format!(" srv={server} "));
        for line in sessions.lines() {
            let id = line.split(':').next().filter(|it| it.starts_with("0x"));
            if let Some(id) = id.filter(|_| line.contains(&backend) && line.contains(&server)) {
                master::ask_worker(layout, worker, &format!("shutdown session {id}")).await;
            }
        }
    }
    Ok(())
}

type Row<'a> = BTreeMap<&'a str, &'a str>;

/// Tables have their columns' names in a line that begins with `#`; others vary between versions.
fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let is_csv = table.starts_with("# pxname,");
    let separator = if is_csv { ',' } else { ' ' };
    let mut lines = table.lines().skip_while(|line| !line.starts_with('#'));
    let header = lines.next().unwrap_or_default().trim_start_matches("# ");
    lines.map(move |line| header.split(separator).zip(line.split(separator)).collect())
}

fn number(row: &Row<'_>, column: &str) -> u64 {
    let text = row.get(column);
    text.and_then(|it| it.parse().ok()).unwrap_or_default()
}

fn read_running(stat: &str, state: &str) -> BTreeMap<String, RunningBalancer> {
    /// The type of a listener's row.
    const LISTENER: u64 = 3;
    let mut found: BTreeMap<String, RunningBalancer> = BTreeMap::new();
    let mut sessions = BTreeMap::new();
    for row in rows(stat) {
        let (Some(proxy), Some(name)) = (row.get("pxname"), row.get("svname")) else {
            continue;
        };
        let balancer = found.entry((*proxy).to_owned()).or_default();
        if number(&row, "type") == LISTENER && name.starts_with("rev-") {
            (*name).clone_into(&mut balancer.revision);
        }
        sessions.insert((*proxy, *name), number(&row, "scur"));
    }
    for row in rows(state) {
        let (Some(proxy), Some(name)) = (row.get("be_name"), row.get("srv_name")) else {
            continue;
        };
        let ip = row.get("srv_addr").and_then(|it| it.parse::<IpAddr>().ok());
        let (Some(address), Some(ip)) = (named_address(name), ip) else {
            continue;
        };
        let port = u16::try_from(number(&row, "srv_port")).unwrap_or_default();
        // Bits of HAProxy's server states: 0x3f has all, 0x07 those of maintenance.
        let admin = match number(&row, "srv_admin_state") {
            bits if bits & 0x07 != 0 => Admin::Maintenance,
            bits if bits & 0x38 != 0 => Admin::Drain,
            _ => Admin::Ready,
        };
        let server = RunningServer {
            target: SocketAddr::new(ip, port),
            weight: u32::try_from(number(&row, "srv_uweight")).unwrap_or_default(),
            admin,
            changed_seconds_ago: number(&row, "srv_time_since_last_change"),
            sessions: sessions.get(&(*proxy, *name)).copied().unwrap_or_default(),
        };
        let balancer = found.entry((*proxy).to_owned()).or_default();
        balancer.servers.insert(address, server);
    }
    found
}
