//! Commands whose environment names a proxy for the internet.

use crate::process::{Running, TempFile, ended, lbcf, words};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A proxy that connects to the server at this address, whatever it is asked for.
fn proxy(behind: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            let first = String::from_utf8(head).unwrap();
            seen.lock()
                .unwrap()
                .extend(first.lines().next().map(str::to_owned));
            let server = TcpStream::connect(&behind).unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            copy(client.try_clone().unwrap(), server.try_clone().unwrap());
            copy(server, client);
        }
    });
    (url, requests)
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
}

#[test]
fn d123_the_api_server_is_called_by_a_proxy_unless_it_is_excepted_or_here() {
    let [here, elsewhere] = [0, 1].map(|_| TempFile::new("kubeconfig"));
    let flags = "local-cluster --listen 127.0.0.1:0 --tls --tls-san cluster.example --kubeconfig";
    let cluster = Running::start(&[&words(flags)[..], &[here.as_str()]].concat());
    let address = cluster.line_with("https://");
    let address = address.trim_start_matches("https://").to_owned();
    let text = std::fs::read_to_string(here.path()).unwrap();
    let text = text.replace(&address, "cluster.example:6443");
    std::fs::write(elsewhere.path(), text).unwrap();
    let (url, requests) = proxy(address);
    let why = |kubeconfig: &str, except: &str, code| {
        let mut command = lbcf(&["why", "-A", "--kubeconfig", kubeconfig]);
        command.env("HTTPS_PROXY", &url).env("NO_PROXY", except);
        let printed = ended(&command.output().unwrap(), code);
        assert!(!printed.contains("forbidden"), "{printed}");
        std::mem::take(&mut *requests.lock().unwrap())
    };
    let asked = why(elsewhere.as_str(), "other.example,10.0.0.0/8", 0);
    assert!(!asked.is_empty());
    assert!(
        asked
            .iter()
            .all(|it| it == "CONNECT cluster.example:6443 HTTP/1.1"),
        "{asked:?}"
    );
    let nothing: [String; 0] = [];
    assert_eq!(why(elsewhere.as_str(), ".example", 2), nothing);
    assert_eq!(why(here.as_str(), "other.example", 0), nothing);
}
