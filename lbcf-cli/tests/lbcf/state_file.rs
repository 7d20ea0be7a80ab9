//! The mock driver is killed while it saves its state.

use crate::process::{DEADLINE, Running, TempFile};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often it is killed, in the exhaustive run and otherwise.
const KILLS: [u64; 2] = [200, 10];

#[test]
fn a_killed_mock_leaves_one_of_two_states_exhaustive() {
    let is_exhaustive = std::env::var_os("LBCF_EXHAUSTIVE").is_some();
    let kills = KILLS[usize::from(!is_exhaustive)];
    eprintln!("kills: {kills} of {}", KILLS[0]);
    let file = TempFile::new("state.json");
    let mut weight = 0;
    let mut in_the_middle = 0;
    for number in 0..kills {
        let flag = format!("--state-file={}", file.as_str());
        let mock = Running::start(&["mock-driver", "--listen=127.0.0.1:0", &flag]);
        let url = mock.line_with("http://").trim().to_owned();
        let address = url.trim_start_matches("http://");
        assert_eq!(stored(file.path()), weight, "it continues with what it had");
        let acknowledged = AtomicU64::new(weight);
        let found = std::thread::scope(|scope| {
            let calls = scope.spawn(|| {
                // Each call is another state: weights from 1 to 100 and again.
                let mut next = weight;
                loop {
                    next = next % 100 + 1;
                    if !ensure(address, next) {
                        return next;
                    }
                    acknowledged.store(next, Ordering::SeqCst);
                }
            });
            let deadline = Instant::now() + DEADLINE;
            while acknowledged.load(Ordering::SeqCst) == weight {
                assert!(Instant::now() < deadline, "no call succeeds");
                std::thread::yield_now();
            }
            // At another moment each time.
            std::thread::sleep(Duration::from_micros(number * 7919 % 5000));
            mock.signal("KILL");
            let unanswered = calls.join().unwrap();
            let acknowledged = acknowledged.load(Ordering::SeqCst);
            let found = stored(file.path());
            assert!(
                found == acknowledged || found == unanswered,
                "{found} is neither {acknowledged} nor {unanswered}"
            );
            in_the_middle += u64::from(found == unanswered);
            found
        });
        weight = found;
    }
    eprintln!("{in_the_middle} of them after the change was saved and before the answer");
}

/// The weight of the only backend in the file; 0 without one.
fn stored(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).unwrap();
    let state: serde_json::Value = serde_json::from_str(&text).expect("the file is whole");
    let lbs = state["loadBalancers"].as_array().unwrap();
    let lb = lbs.iter().find(|lb| lb["id"] == "lb-1234").unwrap();
    let backend = &lb["listeners"][0]["targets"][0];
    backend["weight"].as_u64().unwrap_or_default()
}

/// Whether the mock has acknowledged the weight.
fn ensure(address: &str, weight: u64) -> bool {
    let body = format!(
        r#"{{"recordID":"e","retryID":"r","lbInfo":{{"lbID":"lb-1234","lblID":"lbl-2234"}},"backendAddr":"a:1","parameters":{{"weight":"{weight}"}}}}"#
    );
    let length = body.len();
    let request = format!(
        "POST /ensureBackend HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut reply = String::new();
    let sent = TcpStream::connect(address).and_then(|mut stream| {
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut reply)
    });
    match sent {
        Ok(_) => reply.contains("\"Succ\""),
        Err(error) => {
            let gone = [
                ErrorKind::ConnectionRefused,
                ErrorKind::ConnectionReset,
                ErrorKind::BrokenPipe,
            ];
            assert!(gone.contains(&error.kind()), "{error}");
            false
        }
    }
}
