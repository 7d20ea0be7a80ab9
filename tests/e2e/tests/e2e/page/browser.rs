//! Chromium, driven through its WebDriver.

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use lbcf_e2e::until_within;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const TIMEOUT: Duration = Duration::from_secs(60);

/// One window, which closes with the drop of its driver.
pub(super) struct Browser {
    client: Client,
    _driver: Child,
}

impl Browser {
    /// Opens a page with these members of `goog:chromeOptions`; nothing, with a word about it, where no
    /// browser is installed.
    pub(super) async fn open(url: &str, options: Value) -> Option<Self> {
        let Some((driver, port)) = start_driver().await else {
            // Not `println!`: the test harness discards what a passing test prints.
            let line = b"SKIPPED: the page in a browser: chromedriver is not on the PATH\n";
            std::io::stderr().write_all(line).unwrap();
            return None;
        };
        let mut chrome = options;
        let sandbox = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ];
        let args = chrome["args"].as_array().cloned().unwrap_or_default();
        chrome["args"] = sandbox.into_iter().map(Value::from).chain(args).collect();
        let capabilities = json!({ "goog:chromeOptions": chrome });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().unwrap().clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromedriver starts a browser");
        client.goto(url).await.unwrap();
        Some(Self {
            client,
            _driver: driver,
        })
    }

    pub(super) async fn text(&self, css: &str) -> String {
        // The script may replace the element between the two requests.
        let element = self.client.find(Locator::Css(css)).await;
        match element {
            Ok(element) => element.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// Waits until the visible text of an element is as wanted.
    pub(super) async fn until(&self, css: &str, what: &str, holds: impl Fn(&str) -> bool) {
        until_within(TIMEOUT, what, async || {
            holds(&self.text(css).await).then_some(())
        })
        .await;
    }

    /// The value of an expression.
    pub(super) async fn value(&self, expression: &str) -> Value {
        let script = format!("return {expression}");
        self.client.execute(&script, Vec::new()).await.unwrap()
    }

    /// Presses Tab until the element with this ID has the focus, then the space bar.
    pub(super) async fn press(&self, id: &str) {
        for _ in 0..50 {
            if self.value("document.activeElement.id").await == id {
                return self.key(' ').await;
            }
            self.key('\u{e004}').await;
        }
        panic!("#{id} cannot be reached by the keyboard");
    }

    /// Presses and releases a key, on whichever element has the focus.
    async fn key(&self, value: char) {
        let down = KeyAction::Down { value };
        let keys = KeyActions::new("keyboard".to_owned()).then(down);
        let keys = keys.then(KeyAction::Up { value });
        self.client.perform_actions(keys).await.unwrap();
    }

    /// Keeps a picture of the window for people, in the target folder.
    pub(super) async fn screenshot(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
        self.screenshot_at(&folder.join(format!("{name}.png")))
            .await;
    }

    pub(super) async fn screenshot_at(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let png = self.client.screenshot().await.unwrap();
        std::fs::write(path, png).unwrap();
    }

    pub(super) async fn close(self) {
        self.client.close().await.unwrap();
    }
}

/// A chromedriver with its port; nothing where there is none. It takes a free port of one address family and
/// ends if that of the other is taken, which other programs of a busy machine bring about: another one is
/// started then.
async fn start_driver() -> Option<(Child, u16)> {
    for _ in 0..20 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        if let Some(port) = port(&mut driver).await {
            return Some((driver, port));
        }
    }
    panic!("chromedriver ends before it listens");
}

/// The port that the system chose, which chromedriver prints, or nothing if it ends first.
async fn port(driver: &mut Child) -> Option<u16> {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let read = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            let after = line.split("started successfully on port ").nth(1);
            if let Some(port) = after.and_then(|it| it.trim_end_matches('.').parse().ok()) {
                return Some(port);
            }
        }
        None
    };
    let port = tokio::time::timeout(TIMEOUT, read)
        .await
        .expect("it starts in time")?;
    // It must never block on a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some(port)
}
