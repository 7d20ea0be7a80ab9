//! Data survives the store, and a write that is not on disk is not visible.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::object::{Object, object};
use crate::store::{InsertError, Store, WriteError};

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

    fn database(&self) -> Connection {
        Connection::open(self.0.join(FILE)).unwrap()
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
    /// Sets a pragma of the database.
    pub(crate) fn set_pragma(&self, pragma: &str, value: i64) {
        let mut disk = self.disk();
        let open = disk.as_mut().unwrap().open.as_mut().unwrap();
        open.connection
            .pragma_update_and_check(None, pragma, value, |_| Ok(()))
            .or_else(|_| open.connection.pragma_update(None, pragma, value))
            .unwrap();
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
    assert!(first >= a.revision + REVISION_GAP);
    assert!(directory.store().revision() >= first + REVISION_GAP);
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
    let Err(InsertError::Disk(error)) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().contains("the cluster has ended"));
    assert!(error.to_string().contains(directory.0.to_str().unwrap()));
    directory.store();
}

#[test]
fn other_files_and_newer_formats_are_rejected() {
    let error = |directory: &TempDirectory| match Store::open(100, &directory.0) {
        Err(OpenError::Format(why)) => why,
        other => panic!("{other:?}"),
    };
    let directory = TempDirectory::new();
    drop(directory.store());
    directory
        .database()
        .pragma_update(None, "user_version", 7)
        .unwrap();
    let why = error(&directory);
    assert!(why.contains("has format 7, this version reads and writes format 1"));

    let directory = TempDirectory::new();
    std::fs::create_dir_all(&directory.0).unwrap();
    directory
        .database()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    assert!(error(&directory).contains("is not a local cluster's database"));

    let directory = TempDirectory::new();
    std::fs::create_dir_all(&directory.0).unwrap();
    std::fs::write(directory.0.join(FILE), "some notes of mine".repeat(100)).unwrap();
    assert!(error(&directory).contains("is not a local cluster's database"));

    let directory = TempDirectory::new();
    std::fs::write(&directory.0, "a file").unwrap();
    assert!(matches!(
        Store::open(100, &directory.0),
        Err(OpenError::Io(_))
    ));
    std::fs::remove_file(&directory.0).unwrap();
}

#[test]
fn unreadable_objects_are_reported_and_the_others_served() {
    let directory = TempDirectory::new();
    let store = directory.store();
    for name in ["a", "b", "c", "d", "e", "f"] {
        store.insert(&things(), thing(name, 1), false).unwrap();
    }
    drop(store);
    let database = directory.database();
    for damage in [
        "json = x'00ff' WHERE name = 'b'",
        "json = '{\"metadata\":{}}' WHERE name = 'c'",
        "json = 5 WHERE name = 'd'",
        "revision = 'x' WHERE name = 'e'",
        "revision = 900 WHERE name = 'f'",
    ] {
        let changed = database.execute(&format!("UPDATE objects SET {damage}"), ());
        assert_eq!(changed.unwrap(), 1);
    }
    drop(database);
    let (store, unreadable) = Store::open(100, &directory.0).unwrap();
    let names: Vec<String> = values(&store).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["a"]);
    let keys: Vec<&str> = unreadable.iter().map(|u| u.key.as_str()).collect();
    let wanted = ["b", "c", "d", "e", "f"].map(|name| format!("example.com/things/d/{name}"));
    assert_eq!(keys, wanted);
    assert!(unreadable.iter().all(|u| !u.why.is_empty()));
    assert!(store.revision() > 900);
    // The name can be used again.
    store.insert(&things(), thing("b", 2), false).unwrap();
    drop(store);
    let (store, unreadable) = Store::open(100, &directory.0).unwrap();
    assert_eq!((values(&store).len(), unreadable.len()), (2, 4));
}

#[test]
fn writes_that_the_disk_refuses_change_nothing() {
    let directory = TempDirectory::new();
    let store = directory.store();
    let a = store.insert(&things(), thing("a", 1), false).unwrap();
    let before = (values(&store), store.revision());
    let large = |name: &str| {
        let mut thing = thing(name, 9);
        thing.insert("filler".to_owned(), "x".repeat(100_000).into());
        thing
    };
    let refused = |name: &str, words: &str| {
        for error in [
            match store.insert(&things(), large(name), false) {
                Err(InsertError::Disk(error)) => error,
                other => panic!("{other:?}"),
            },
            match store.replace(&things(), &a, large("a")) {
                Err(WriteError::Disk(error)) => error,
                other => panic!("{other:?}"),
            },
        ] {
            assert!(error.why.contains(words), "{error}");
        }
        assert_eq!((values(&store), store.revision()), before);
    };
    // Full.
    store.set_pragma("max_page_count", 1);
    refused("b", "full");
    assert_eq!(store.failures(), 2);
    store.set_pragma("max_page_count", 1 << 30);
    // Read-only.
    store.set_pragma("query_only", 1);
    refused("c", "readonly");
    assert!(matches!(
        store.remove(&things(), &a, thing("a", 1)),
        Err(WriteError::Disk(_))
    ));
    store.set_pragma("query_only", 0);
    // Once there is space again, writes succeed.
    let again = store.replace(&things(), &a, thing("a", 2)).unwrap();
    assert_eq!(again.revision, before.1 + 1);
    drop(store);
    assert_eq!(values(&directory.store())[0].1, 2);
}

#[test]
fn writes_to_a_deleted_directory_fail() {
    let directory = TempDirectory::new();
    let store = directory.store();
    store.insert(&things(), thing("a", 1), false).unwrap();
    std::fs::remove_dir_all(&directory.0).unwrap();
    let refused = store.insert(&things(), thing("b", 1), false);
    let Err(InsertError::Disk(error)) = refused else {
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
fn the_directory_is_accessible_to_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDirectory::new();
    let _store = directory.store();
    let mode = std::fs::metadata(&directory.0)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}
