//! The runtime API of workers: what runs, and changes of servers without a reload.

use super::socket::ask;
use super::{HaproxyError, Layout, master};
use crate::balancer::{named_address, server_name};
use crate::plan::{Admin, RunningBalancer, RunningServer};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The load balancers that the current worker runs, by name; only one, if `name` is given.
///
/// # Errors
/// [`HaproxyError::Unreachable`].
pub async fn running(
    layout: &Layout,
    name: Option<&str>,
) -> Result<BTreeMap<String, RunningBalancer>, HaproxyError> {
    let path = layout.runtime_socket();
    let stat = format!("show stat {} -1 -1", name.unwrap_or("-1"));
    let state = format!("show servers state {}", name.unwrap_or_default());
    let (stat, state) = (
        ask("runtime", &path, &stat).await?,
        ask("runtime", &path, state.trim_end()).await?,
    );
    Ok(read_running(&stat, &state))
}

/// Executes commands, one after the other.
///
/// # Errors
/// [`HaproxyError::Refused`] by the first one that HAProxy refuses; [`HaproxyError::Unreachable`].
pub async fn execute(layout: &Layout, commands: &[String]) -> Result<(), HaproxyError> {
    for command in commands {
        let message = ask("runtime", &layout.runtime_socket(), command).await?;
        // Success has two texts, and is silent otherwise.
        if !["", "New server registered.", "Server deleted."].contains(&message.as_str()) {
            let command = command.clone();
            return Err(HaproxyError::Refused { command, message });
        }
        tracing::info!(command, "changed HAProxy");
    }
    Ok(())
}

/// The sessions of a server in workers of earlier reloads, and the time that it has drained there.
///
/// # Errors
/// [`HaproxyError::Unreachable`], if the master is.
pub async fn sessions_of_old_workers(
    layout: &Layout,
    name: &str,
    address: SocketAddr,
) -> Result<(u64, u64), HaproxyError> {
    let (mut sessions, mut drained_seconds) = (0, 0);
    for worker in master::processes(layout).await?.old_workers {
        // A worker may end at any time, and then has no sessions.
        let stat = master::ask_worker(layout, worker, &format!("show stat {name} 4 -1")).await;
        for row in rows(&stat.unwrap_or_default()) {
            if row.get("svname") == Some(&server_name(address).as_str()) {
                sessions += number(&row, "scur");
                if row.get("status").is_some_and(|it| it.starts_with("DRAIN")) {
                    drained_seconds = drained_seconds.max(number(&row, "lastchg"));
                }
            }
        }
    }
    Ok((sessions, drained_seconds))
}

/// Ends all sessions of a server, in all workers.
///
/// # Errors
/// As [`execute`].
pub async fn shut_down_sessions(
    layout: &Layout,
    name: &str,
    address: SocketAddr,
) -> Result<(), HaproxyError> {
    let server = server_name(address);
    if running(layout, Some(name))
        .await?
        .get(name)
        .is_some_and(|it| it.servers.contains_key(&address))
    {
        let command = format!("shutdown sessions server {name}/{server}");
        execute(layout, &[command]).await?;
    }
    for worker in master::processes(layout).await?.old_workers {
        // The proxies of an old worker are disabled, so it ends sessions only one by one.
        let listed = master::ask_worker(layout, worker, "show sess").await;
        let (backend, server) = (format!(" be={name} "), format!(" srv={server} "));
        for line in listed.unwrap_or_default().lines() {
            let session = line.split(':').next().filter(|it| it.starts_with("0x"));
            if let Some(session) = session
                && line.contains(&backend)
                && line.contains(&server)
            {
                let command = format!("shutdown session {session}");
                let _ended_already = master::ask_worker(layout, worker, &command).await;
            }
        }
    }
    Ok(())
}

type Row<'a> = BTreeMap<&'a str, &'a str>;

/// Tables have their columns' names in a line that begins with `#`; others vary between versions.
fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let separator = if table.starts_with("# pxname,") {
        ','
    } else {
        ' '
    };
    let mut lines = table.lines().skip_while(|line| !line.starts_with('#'));
    let header = lines.next().unwrap_or_default().trim_start_matches("# ");
    lines.map(move |line| header.split(separator).zip(line.split(separator)).collect())
}

fn number(row: &Row<'_>, column: &str) -> u64 {
    row.get(column)
        .and_then(|it| it.parse().ok())
        .unwrap_or_default()
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
        let port = u16::try_from(number(&row, "srv_port")).unwrap_or_default();
        let (Some(address), Some(ip)) = (named_address(name), ip) else {
            continue;
        };
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
        found
            .entry((*proxy).to_owned())
            .or_default()
            .servers
            .insert(address, server);
    }
    found
}

#[cfg(test)]
mod tests;
