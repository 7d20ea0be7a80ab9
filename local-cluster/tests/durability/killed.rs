//! Kills a cluster under load: everything that was acknowledged or watched is there after a restart.
//!
//! The cluster runs in its own process, which is this test binary. Each writer has its own object names, so
//! it knows their state, except for the write without a response when the cluster was killed.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Client, Config};
use local_cluster::LocalCluster;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::DataDirectory;
use crate::fixture::quick;

const ROUNDS: u64 = 8;
const WRITERS: u64 = 4;
const DIRECTORY: &str = "LOCAL_CLUSTER_TEST_DIRECTORY";
/// A round takes about a second.
const DEADLINE: Duration = Duration::from_secs(60);

/// The process that is killed.
#[tokio::test]
#[ignore = "it is started by the test below"]
async fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let mut options = quick();
    options.data_dir = Some(directory.into());
    let cluster = LocalCluster::start(options).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    println!("{}", server.url());
    // It ends with its parent.
    let parent = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    tokio::task::spawn_blocking(parent).await.unwrap().unwrap();
}

struct Server {
    process: Child,
    maps: Api<ConfigMap>,
}

impl Server {
    async fn start(directory: &DataDirectory) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["durability::killed::child", "--exact", "--ignored"])
            .arg("--nocapture")
            .env(DIRECTORY, &directory.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some(start) = line.find("http://") {
                break line[start..].parse().unwrap();
            }
        };
        let client = Client::try_from(Config::new(url)).unwrap();
        Self {
            process,
            maps: Api::namespaced(client, "default"),
        }
    }
}

/// A reproducible random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The state of a writer's objects, as acknowledged.
#[derive(Clone, Debug, Default)]
struct WriterState {
    /// The acknowledged values by name.
    objects: BTreeMap<String, u64>,
    /// The write without a response, if any: name and value.
    uncertain: Option<(String, Option<u64>)>,
    /// The highest acknowledged version.
    version: u64,
    written: u64,
}

impl WriterState {
    /// Whether an object may have this value.
    fn allows(&self, name: &str, found: Option<u64>) -> bool {
        let acknowledged = self.objects.get(name).copied();
        let uncertain = self.uncertain.as_ref().filter(|(of, _)| of == name);
        found == acknowledged || uncertain.is_some_and(|(_, value)| found == *value)
    }
}

fn map(name: &str, value: u64) -> serde_json::Value {
    // Long enough that a partial write would be detected.
    let text = format!("{value} ").repeat(200);
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"value": value.to_string(), "text": text}})
}

fn value(map: &ConfigMap) -> u64 {
    let data = map.data.as_ref().unwrap();
    let value: u64 = data["value"].parse().unwrap();
    assert_eq!(data["text"], format!("{value} ").repeat(200));
    value
}

fn version(version: Option<&String>) -> u64 {
    version.unwrap().parse().unwrap()
}

/// Writes until the server is killed.
async fn write(
    maps: Api<ConfigMap>,
    writer: u64,
    mut known: WriterState,
    mut random: Random,
    written: Arc<AtomicU64>,
) -> WriterState {
    known.uncertain = None;
    loop {
        known.written += 1;
        let value = known.written;
        let count = known.objects.len() as u64;
        let pick = usize::try_from(random.below(count.max(1))).unwrap();
        let existing = known.objects.keys().nth(pick).cloned();
        let result = match (existing, random.below(4)) {
            (Some(name), 0) => {
                known.uncertain = Some((name.clone(), None));
                let deleted = maps.delete(&name, &DeleteParams::default()).await;
                deleted.map(|_| None)
            }
            (Some(name), 1 | 2) => {
                known.uncertain = Some((name.clone(), Some(value)));
                let patch = Patch::Merge(map(&name, value));
                let patched = maps.patch(&name, &PatchParams::default(), &patch).await;
                patched.map(Some)
            }
            _ => {
                let name = format!("w{writer}-{value}");
                known.uncertain = Some((name.clone(), Some(value)));
                let new = serde_json::from_value(map(&name, value)).unwrap();
                let created = maps.create(&PostParams::default(), &new).await;
                created.map(Some)
            }
        };
        match result {
            Ok(response) => {
                let (name, value) = known.uncertain.take().unwrap();
                match value {
                    Some(value) => known.objects.insert(name, value),
                    None => known.objects.remove(&name),
                };
                if let Some(map) = response {
                    let acknowledged = version(map.metadata.resource_version.as_ref());
                    known.version = known.version.max(acknowledged);
                }
                written.fetch_add(1, Ordering::Relaxed);
            }
            // The server rejects none of these writes, so it was killed.
            Err(kube::Error::Api(status)) => panic!("{status:?}"),
            Err(_) => return known,
        }
    }
}

/// The events of a watch by name: the version, and whether the object existed then.
async fn watch(maps: Api<ConfigMap>, from: u64) -> BTreeMap<String, (u64, bool)> {
    let mut seen = BTreeMap::new();
    let params = WatchParams::default();
    let Ok(events) = maps.watch(&params, &from.to_string()).await else {
        return seen;
    };
    let mut events = events.boxed();
    let mut last = from;
    while let Ok(Some(event)) = events.try_next().await {
        let (map, exists) = match event {
            WatchEvent::Added(map) | WatchEvent::Modified(map) => (map, true),
            WatchEvent::Deleted(map) => (map, false),
            other => panic!("{other:?}"),
        };
        let at = version(map.metadata.resource_version.as_ref());
        assert!(at > last, "{at} after {last}");
        last = at;
        seen.insert(map.metadata.name.unwrap(), (at, exists));
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_acknowledged_or_seen_is_lost() {
    let directory = DataDirectory::new("killed");
    let mut random = Random(20_26);
    let mut known = vec![WriterState::default(); WRITERS as usize];
    let mut seen = BTreeMap::new();
    for round in 0..=ROUNDS {
        let mut server = tokio::time::timeout(DEADLINE, Server::start(&directory))
            .await
            .unwrap();
        let list = server.maps.list(&ListParams::default()).await.unwrap();
        let now = version(list.metadata.resource_version.as_ref());
        let found: BTreeMap<String, (u64, u64)> = list
            .items
            .iter()
            .map(|map| {
                let at = version(map.metadata.resource_version.as_ref());
                (map.metadata.name.clone().unwrap(), (value(map), at))
            })
            .collect();
        check(&known, &seen, &found, now);
        resolve(&mut known, &found);
        if round == ROUNDS {
            break;
        }

        let written = Arc::new(AtomicU64::new(0));
        let watcher = tokio::spawn(watch(server.maps.clone(), now));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let random = Random(random.below(u64::MAX));
                let known = std::mem::take(&mut known[writer as usize]);
                let written = Arc::clone(&written);
                tokio::spawn(write(server.maps.clone(), writer, known, random, written))
            })
            .collect();
        let enough = 100 + random.below(1_400);
        let wait = async {
            while written.load(Ordering::Relaxed) < enough {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.unwrap();
        server.process.kill().await.unwrap();
        for (writer, done) in writers.into_iter().enumerate() {
            known[writer] = done.await.unwrap();
        }
        seen = watcher.await.unwrap();
        assert!(!seen.is_empty());
    }
}

/// Checks the objects against everything that was acknowledged or watched.
fn check(
    known: &[WriterState],
    seen: &BTreeMap<String, (u64, bool)>,
    found: &BTreeMap<String, (u64, u64)>,
    now: u64,
) {
    for known in known {
        assert!(now > known.version || known.version == 0);
        for name in known.objects.keys() {
            let value = found.get(name).map(|(value, _)| *value);
            assert!(known.allows(name, value), "{name}: {value:?}, {known:?}");
        }
    }
    for (name, (value, at)) in found {
        assert!(*at <= now);
        let is_allowed = |known: &WriterState| known.allows(name, Some(*value));
        assert!(known.iter().any(is_allowed), "{name}: {value}");
    }
    for (name, (at, existed)) in seen {
        match found.get(name) {
            Some((_, after)) => assert!(after >= at && (*existed || after > at), "{name}"),
            None if *existed => {
                let is_allowed = |known: &WriterState| known.allows(name, None);
                assert!(known.iter().all(is_allowed), "{name} was seen at {at}");
            }
            None => {}
        }
    }
}

/// Resolves the uncertain writes.
fn resolve(known: &mut [WriterState], found: &BTreeMap<String, (u64, u64)>) {
    for known in known {
        if let Some((name, _)) = known.uncertain.take() {
            match found.get(&name) {
                Some((value, _)) => known.objects.insert(name, *value),
                None => known.objects.remove(&name),
            };
        }
    }
}
