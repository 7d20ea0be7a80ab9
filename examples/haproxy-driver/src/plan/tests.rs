use super::*;
use crate::fields::{Attributes, LbSpec, Mode};
use std::num::NonZeroU16;

const NAME: &str = "lb-192.0.2.1-80/10.0.0.7-80";

fn address() -> SocketAddr {
    ([10, 0, 0, 7], 80).into()
}

fn wanted() -> Balancer {
    let spec = LbSpec {
        address: [192, 0, 2, 1].into(),
        port: NonZeroU16::MIN.saturating_add(79),
        mode: Mode::Tcp,
    };
    Balancer {
        owner: "owner".into(),
        spec,
        attributes: Attributes::default(),
        servers: [(address(), Member::default())].into(),
    }
}

fn running() -> RunningServer {
    RunningServer {
        target: address(),
        weight: 100,
        admin: Admin::Ready,
        changed_seconds_ago: 0,
        sessions: 0,
    }
}

fn loaded(server: Option<RunningServer>) -> RunningBalancer {
    RunningBalancer {
        revision: wanted().revision(),
        servers: server
            .map(|server| (address(), server))
            .into_iter()
            .collect(),
    }
}

fn commands_for(server: Option<RunningServer>) -> Vec<String> {
    commands(&wanted(), Some(&loaded(server)), None).unwrap_or_default()
}

#[test]
fn nothing_is_done_where_nothing_differs() {
    assert_eq!(commands_for(Some(running())), Vec::<String>::new());
}

#[test]
fn a_missing_server_is_added_checked_and_made_ready() {
    let expected = [
        format!("add server {NAME} 10.0.0.7:80 weight 100 check inter 2000ms"),
        format!("enable health {NAME}"),
        format!("set server {NAME} state ready"),
    ];
    assert_eq!(commands_for(None), expected);
    // The driver ended after the first command.
    let added = RunningServer {
        admin: Admin::Maintenance,
        ..running()
    };
    assert_eq!(commands_for(Some(added)), expected[1..]);
}

#[test]
fn a_call_for_one_server_sends_no_commands_for_others() {
    let mut wanted = wanted();
    let other = ([10, 0, 0, 8], 80).into();
    wanted.servers.insert(other, Member::default());
    let commands = commands(&wanted, Some(&loaded(None)), Some(other)).unwrap_or_default();
    assert_eq!(commands.len(), 3);
    let of_other = |command: &String| command.contains("10.0.0.8-80");
    assert!(commands.iter().all(of_other), "{commands:?}");
}

#[test]
fn what_users_have_changed_is_set_right() {
    let changed = RunningServer {
        target: ([10, 0, 0, 8], 81).into(),
        weight: 1,
        admin: Admin::Drain,
        ..running()
    };
    let expected = [
        format!("set server {NAME} addr 10.0.0.7 port 80"),
        format!("set server {NAME} weight 100"),
        format!("set server {NAME} state ready"),
    ];
    assert_eq!(commands_for(Some(changed)), expected);
}

#[test]
fn a_server_drains_once_and_then_goes() {
    let drain = |server| drain("lb-192.0.2.1-80", address(), Some(&loaded(server)));
    let expected = [format!("set server {NAME} state drain")];
    assert_eq!(drain(Some(running())), expected);
    let draining = RunningServer {
        admin: Admin::Drain,
        ..running()
    };
    assert_eq!(drain(Some(draining)), Vec::<String>::new());
    assert_eq!(drain(None), Vec::<String>::new());
    let expected = [
        format!("set server {NAME} state maint"),
        format!("del server {NAME}"),
    ];
    assert_eq!(remove("lb-192.0.2.1-80", address()), expected);
}

#[test]
fn only_servers_that_take_sessions_are_kept_as_added_by_hand() {
    let mut wanted = wanted();
    wanted.servers.clear();
    for (admin, kept) in [
        (Admin::Ready, 1),
        (Admin::Drain, 0),
        (Admin::Maintenance, 0),
    ] {
        let server = RunningServer { admin, ..running() };
        let balancer = loaded(Some(server));
        assert_eq!(foreign(&wanted, &balancer).len(), kept, "{admin:?}");
        assert_eq!(commands(&wanted, Some(&balancer), None), Some(Vec::new()));
    }
}

#[test]
fn another_revision_needs_a_reload() {
    let mut running = loaded(Some(running()));
    assert!(commands(&wanted(), None, None).is_none());
    assert!(commands(&wanted(), Some(&running), None).is_some());
    "rev-0".clone_into(&mut running.revision);
    assert!(commands(&wanted(), Some(&running), None).is_none());
}
