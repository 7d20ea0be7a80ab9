use super::*;
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use std::num::NonZeroU16;

fn balancer(attributes: &str) -> Balancer {
    let spec = LbSpec {
        address: [192, 0, 2, 1].into(),
        port: NonZeroU16::MIN.saturating_add(79),
        mode: Mode::Http,
    };
    Balancer {
        owner: "an \"object\"\n(of any text)".into(),
        spec,
        attributes: serde_json::from_str(attributes).unwrap_or_default(),
        servers: [(([10, 0, 0, 7], 8080).into(), Member::default())].into(),
    }
}

#[test]
fn the_directives_are_what_haproxy_reads() {
    let balancer = balancer(r#"{"balance":"source","healthCheck":"http","healthCheckPath":"/ok"}"#);
    let revision = balancer.revision();
    assert_eq!(
        balancer.directives(),
        format!(
            "listen lb-192.0.2.1-80\n  mode http\n  bind 192.0.2.1:80 name {revision}\n  \
             option socket-stats\n  balance source\n  hash-type consistent\n  timeout client 60s\n  \
             timeout server 60s\n  option httpchk GET /ok\n  # server options: check inter 2000ms\n  \
             server 10.0.0.7-8080 10.0.0.7:8080 weight 100 check inter 2000ms\n"
        )
    );
}

#[test]
fn servers_are_no_part_of_the_revision_and_everything_else_is() {
    let first = balancer("{}");
    let mut other = first.clone();
    other.servers.clear();
    assert_eq!(first.revision(), other.revision());
    for changed in [
        r#"{"balance":"random"}"#,
        r#"{"healthCheck":"none"}"#,
        r#"{"healthCheckMillis":500}"#,
        r#"{"idleSeconds":5}"#,
    ] {
        assert_ne!(first.revision(), balancer(changed).revision(), "{changed}");
    }
}

#[test]
fn names_of_servers_are_read_back() {
    for address in ["10.0.0.7:80", "[2001:db8::1]:443"] {
        let address = address.parse().ok();
        assert_eq!(
            address.and_then(|it| named_address(&server_name(it))),
            address
        );
    }
    for other in ["web-1", "10.0.0.7", "10.0.0.7-0x50", "-", ""] {
        assert_eq!(named_address(other), None, "{other}");
    }
}

#[test]
fn bad_values_are_refused_with_field_value_and_what_is_allowed() {
    let map = |key: &str, value: &str| StringMap::from([(key.to_owned(), value.to_owned())]);
    let refused = |problem: Result<(), fields::FieldError>, expected: &str| {
        assert_eq!(
            problem.err().map(|it| it.to_string()).as_deref(),
            Some(expected)
        );
    };
    let read = fields::read::<Parameters>("parameters", &map("weight", "257")).map(drop);
    refused(
        read,
        "parameters.weight: \"257\": not a number from 0 to 256",
    );
    let read = fields::read::<LbSpec>("lbSpec", &map("port", "080")).map(drop);
    refused(
        read,
        "lbSpec.port: \"080\": not a number from 1 to 65535 in plain digits: write 80",
    );
    for path in ["ok", "/a b", "/a\n  server x", "/#", "/\"", "/\\", "/é"] {
        let read = fields::read::<Attributes>("attributes", &map("healthCheckPath", path));
        assert!(read.is_err(), "{path}");
    }
}
