//! Data survives the store, and a write that is not on disk is not visible.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::object::{Object, object};
use crate::store::{Store, WriteError};

/// A temporary directory, removed when dropped.
pub(crate) struct TempDirectory(pub(crate) PathBuf);

impl TempDirectory {
    pub(crate) fn new() -> Self {
        let name = format!("local-cluster-{}", uuid::Uuid::new_v4());
        Self(std::env::temp_dir().join(name))
    }

    fn store(&self) -> Arc<Store> {
        let (store, unreadable) = Store::open(100, &self.0).unwrap();
        assert_eq!(unreadable, []);
        store
    }

    fn log(&self) -> String {
        fs::read_to_string(self.0.join(FILE)).unwrap()
    }

    /// Appends to the log what another process could have left there.
    fn append(&self, text: &str) {
        let mut log = OpenOptions::new()
            .append(true)
            .open(self.0.join(FILE))
            .unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for TempDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn things() -> Resource {
    Resource::new("example.com", "things")
}

fn thing(name: &str, value: u64) -> Object {
    object(json!({"metadata": {"name": name, "namespace": "d"}, "value": value}))
}

fn values(store: &Store) -> Vec<(String, u64, u64)> {
    let (objects, _) = store.list(&things(), None);
    let of = |o: &Arc<Stored>| {
        let value = o.object["value"].as_u64().unwrap();
        (o.name.clone(), value, o.revision)
    };
    objects.iter().map(of).collect()
}

impl Store {
    /// Replaces the file of the log, for example by one that refuses writes. Returns the former one.
    pub(crate) fn swap_log(&self, file: File) -> File {
        let mut disk = self.disk();
        let open = disk.as_mut().unwrap().open.as_mut().unwrap();
        std::mem::replace(&mut open.log.file, file)
    }
}

#[test]
fn data_survives_a_restart() {
    let directory = TempDirectory::new();
    let store = directory.store();
    let a = store.insert(&things(), thing("a", 1), false).unwrap();
    store.insert(&things(), thing("b", 1), false).unwrap();
    let c = store.insert(&things(), thing("c", 1), false).unwrap();
    store.replace(&things(), &a, thing("a", 2)).unwrap();
    let last = store.remove(&things(), &c, thing("c", 1)).unwrap();
    store.set_seeded("x").unwrap();
    let before = values(&store);
    assert_eq!(store.revision(), last.revision);
    drop(store);

    let store = directory.store();
    assert_eq!(values(&store), before);
    assert!(store.is_seeded("x") && !store.is_seeded("y"));
    // The last write was a deletion, and its revision is not used again.
    assert!(store.revision() > last.revision);
    let again = store.insert(&things(), thing("c", 3), false).unwrap();
    assert!(again.revision > last.revision);
    let body = store.get(&things(), "d", "a").unwrap();
    assert_eq!(
        body.body(),
        serde_json::to_vec(&body.object).unwrap().as_slice()
    );
}

#[test]
fn revisions_from_before_a_restart_have_expired() {
    let directory = TempDirectory::new();
    let store = directory.store();
    let a = store.insert(&things(), thing("a", 1), false).unwrap();
    drop(store);
    let store = directory.store();
    let others = Resource::new("", "others");
    let now = store.revision();
    for resource in [&things(), &others] {
        let after = |position| store.events_after(Some(resource), position, 10);
        assert_eq!(after(a.revision).unwrap_err().oldest, now);
        assert!(after(now).unwrap().0.is_empty());
        let mut scan = super::super::Scan {
            resource,
            range: super::super::Range::default(),
            at: Some(a.revision),
            take: None,
            counts: false,
        };
        assert_eq!(store.find(&scan).unwrap_err().oldest, now);
        scan.at = Some(now);
        assert!(store.find(&scan).is_ok());
    }
    assert!(store.events_after(None, a.revision, 10).is_err());
}

#[test]
fn opening_advances_the_revision() {
    let directory = TempDirectory::new();
    assert_eq!(directory.store().revision(), 1);
    let written = directory.store();
    let a = written.insert(&things(), thing("a", 1), false).unwrap();
    drop(written);
    let first = directory.store().revision();
    let gap = u64::from(log::SYNC_AFTER);
    assert!(first > a.revision + gap);
    assert!(directory.store().revision() > first + gap);
}

#[test]
fn a_directory_is_locked() {
    let directory = TempDirectory::new();
    let store = directory.store();
    assert!(matches!(
        Store::open(100, &directory.0),
        Err(OpenError::InUse)
    ));
    // Closing a store releases it, even while clients hold the store.
    store.close();
    let refused = store.insert(&things(), thing("a", 1), false);
    let Err(WriteError::Disk(error)) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().contains("the cluster has ended"));
    assert!(error.to_string().contains(directory.0.to_str().unwrap()));
    directory.store();
}

#[test]
fn other_files_and_other_formats_are_rejected() {
    let error = |directory: &TempDirectory| match Store::open(100, &directory.0) {
        Err(OpenError::Format(why)) => why,
        other => panic!("{other:?}"),
    };
    let file = |name: &str, text: &str| {
        let directory = TempDirectory::new();
        fs::create_dir_all(&directory.0).unwrap();
        fs::write(directory.0.join(name), text).unwrap();
        directory
    };
    for (name, text, expected) in [
        (
            FILE,
            "{\"local-cluster\":7}\n",
            "has format 7, this version reads and writes format 2",
        ),
        (FILE, "some notes of mine\n", "is not a local cluster's log"),
        (
            OLD_FILE,
            "SQLite format 3",
            "cluster.db was stored by an earlier version, and this version cannot read it: use the version that stored it, or another directory",
        ),
    ] {
        let directory = file(name, text);
        let why = error(&directory);
        assert!(why.contains(expected), "{why}");
        // It is left as it was.
        assert_eq!(fs::read_to_string(directory.0.join(name)).unwrap(), text);
    }
    let directory = TempDirectory::new();
    fs::write(&directory.0, "a file").unwrap();
    assert!(matches!(
        Store::open(100, &directory.0),
        Err(OpenError::Io(_))
    ));
    fs::remove_file(&directory.0).unwrap();
}

#[test]
fn a_line_that_was_not_finished_does_not_count() {
    let directory = TempDirectory::new();
    let store = directory.store();
    store.insert(&things(), thing("a", 1), false).unwrap();
    let kept = directory.log();
    store.insert(&things(), thing("b", 2), false).unwrap();
    drop(store);
    let whole = directory.log();
    for end in kept.len()..whole.len() {
        fs::write(directory.0.join(FILE), &whole[..end]).unwrap();
        let store = directory.store();
        assert_eq!(values(&store).len(), 1, "{end}");
        store.insert(&things(), thing("c", 3), false).unwrap();
        drop(store);
        assert_eq!(values(&directory.store()).len(), 2, "{end}");
    }
}

#[test]
fn opening_keeps_the_present_objects_only() {
    let directory = TempDirectory::new();
    let store = directory.store();
    let mut a = store.insert(&things(), thing("a", 0), false).unwrap();
    for value in 1..100 {
        a = store.replace(&things(), &a, thing("a", value)).unwrap();
    }
    let b = store.insert(&things(), thing("b", 1), false).unwrap();
    store.remove(&things(), &b, thing("b", 1)).unwrap();
    store.set_seeded("x").unwrap();
    drop(store);
    // A process that was killed while it compacted the log.
    fs::write(directory.0.join("cluster.log.next"), "{\"local-cl").unwrap();
    let store = directory.store();
    assert_eq!(directory.log().lines().count(), 4);
    assert_eq!(values(&store), [("a".to_owned(), 99, a.revision)]);
    assert!(store.is_seeded("x"));
}

#[test]
fn unreadable_lines_are_reported_and_the_others_served() {
    let directory = TempDirectory::new();
    drop(directory.store());
    let unreadable = [
        "\0\u{fffd}",
        "[]",
        r#"{"put":["example.com"],"revision":7,"object":{}}"#,
        r#"{"put":["example.com","things"],"revision":7,"object":{"metadata":{}}}"#,
        r#"{"put":["example.com","things"],"revision":"x","object":{"metadata":{"name":"e"}}}"#,
    ];
    directory.append(&format!("{}\n", unreadable.join("\n")));
    directory.append(
        "{\"put\":[\"example.com\",\"things\"],\"revision\":900,\"object\":{\"metadata\":{\"name\":\"f\"},\"value\":1}}\n",
    );
    for _ in 0..2 {
        let (store, reported) = Store::open(100, &directory.0).unwrap();
        let lines: Vec<&[u8]> = reported.iter().map(|it| it.line.as_slice()).collect();
        assert_eq!(lines, unreadable.map(str::as_bytes));
        assert!(reported.iter().all(|it| !it.why.is_empty()));
        assert_eq!(values(&store), [("f".to_owned(), 1, 900)]);
        assert!(store.revision() > 900);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn writes_that_the_disk_refuses_change_nothing() {
    let directory = TempDirectory::new();
    let store = directory.store();
    let mut a = store.insert(&things(), thing("a", 1), false).unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let read_only = File::open("/dev/null").unwrap();
    for (value, refuses, words) in [
        (2, full, "No space left on device"),
        (3, read_only, "Bad file descriptor"),
    ] {
        let before = (values(&store), store.revision());
        let failures = store.failures();
        let log = store.swap_log(refuses);
        let Err(WriteError::Disk(error)) = store.insert(&things(), thing("b", 9), false) else {
            panic!("inserted");
        };
        assert!(error.why.contains(words), "{error}");
        for refused in [
            store.replace(&things(), &a, thing("a", 9)),
            store.remove(&things(), &a, thing("a", 1)),
        ] {
            assert!(matches!(refused, Err(WriteError::Disk(_))), "{refused:?}");
        }
        assert_eq!(store.failures(), failures + 3);
        assert_eq!((values(&store), store.revision()), before);
        // A part of the line may have been written, which the next write removes.
        directory.append("{\"put\":[\"exa");
        store.swap_log(log);
        // Once there is space again, writes succeed.
        a = store.replace(&things(), &a, thing("a", value)).unwrap();
        assert_eq!(a.revision, before.1 + 1);
    }
    drop(store);
    assert_eq!(values(&directory.store())[0].1, 3);
}

#[test]
fn writes_to_a_deleted_directory_fail() {
    let directory = TempDirectory::new();
    let store = directory.store();
    store.insert(&things(), thing("a", 1), false).unwrap();
    std::fs::remove_dir_all(&directory.0).unwrap();
    let refused = store.insert(&things(), thing("b", 1), false);
    let Err(WriteError::Disk(error)) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.why.contains(FILE), "{error}");
    assert_eq!(values(&store).len(), 1);
    // So do writes to a new one in its place.
    std::fs::create_dir_all(&directory.0).unwrap();
    std::fs::write(directory.0.join(FILE), "").unwrap();
    assert!(store.insert(&things(), thing("b", 1), false).is_err());
}

#[cfg(unix)]
#[test]
fn the_directory_and_its_files_are_accessible_to_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDirectory::new();
    let _store = directory.store();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.0), 0o700);
    // In a directory that exists, the files have to protect themselves.
    for entry in fs::read_dir(&directory.0).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
