//! An example as a process.

use lbcf_driver_client::DriverClient;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A driver that runs until this is dropped.
pub(super) struct Example {
    child: Child,
    log: Option<thread::JoinHandle<String>>,
    url: String,
}

impl Example {
    /// Starts it on a free port and waits for the URL that it prints.
    pub(super) fn start(name: &str, args: &[&str]) -> Self {
        let mut child = Command::new(binary(name))
            .args(["--listen", "127.0.0.1:0"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (line_sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // Read to the end, so that the process never blocks on a full pipe.
                let _ = line_sender.send(line);
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut log = Vec::new();
            let _ = stderr.read_to_end(&mut log);
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut example = Self {
            child,
            log: Some(log),
            url: String::new(),
        };
        while let Ok(line) = lines.recv_timeout(Duration::from_secs(60)) {
            if let Some(url) = url_in(&line) {
                example.url = url;
                return example;
            }
        }
        panic!("{name} prints no URL: {}", example.stop());
    }

    pub(super) fn driver(&self) -> DriverClient {
        DriverClient::new(&self.url).unwrap()
    }

    /// The response to a GET of a path below the root, without the driver's prefix.
    pub(super) async fn get(&self, path: &str) -> String {
        let authority = self.url.strip_prefix("http://").unwrap();
        let authority = authority.split('/').next().unwrap();
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Sends SIGTERM, like the kubelet.
    pub(super) fn tell_to_stop(&self) {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status();
        assert!(killed.unwrap().success());
    }

    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Ends it and returns its stderr.
    pub(super) fn stop(mut self) -> String {
        self.kill();
        self.log.take().unwrap().join().unwrap()
    }

    fn kill(&mut self) {
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        self.kill();
    }
}

fn url_in(line: &str) -> Option<String> {
    let begin = line.find("http://")?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || ":/.-_[]".contains(c);
    let url: String = line[begin..].chars().take_while(|c| is_part(*c)).collect();
    Some(url)
}

/// Cargo sets no variables for examples, whose binaries are beside those of tests.
fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let binary = profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        binary.exists(),
        "{} is not built. `cargo test` of the whole package builds it, `--test main` does not: \
         run `cargo build -p lbcf-driver-sdk --all-features --examples` first",
        binary.display()
    );
    binary
}
