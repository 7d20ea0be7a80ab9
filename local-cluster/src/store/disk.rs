//! The store on disk: an SQLite database that stores every write before it is visible.
//!
//! An acknowledged write survives the end of the process, even by `kill -9`, because it is in the operating
//! system's hands when it is committed. It is not synced to the medium, so a power loss or a kernel crash can
//! lose the writes since the last checkpoint, which follows about every 4 MB of writes. The database is then
//! in an earlier state, never in the middle of a write. Opening advances the revision, so that a revision
//! that was lost is not used again.
//!
//! Events are not stored: a watch or list at a revision from before a restart has expired.

mod load;
mod lock;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior, params};

use load::Contents;
pub(crate) use load::Unreadable;
use lock::{Lock, WatchedFile};

use super::{DiskError, OpenError, Resource, Stored};

const FILE: &str = "cluster.db";
/// The `application_id` of these databases ("LBCF").
const APPLICATION: i32 = 0x4c42_4346;
/// The version of the tables; to be raised when older versions of this crate cannot read them.
const FORMAT: i32 = 1;
/// By how much opening advances the revision: more than the writes that a power loss can lose, since each
/// takes a page of the log and a checkpoint follows after a thousand pages.
const REVISION_GAP: u64 = 10_000;

const TABLES: &str = "
    CREATE TABLE objects (
        \"group\" TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        revision INTEGER NOT NULL, json BLOB NOT NULL,
        PRIMARY KEY (\"group\", plural, namespace, name)
    );
    CREATE TABLE counter (only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL);
    CREATE TABLE seeded (part TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO counter VALUES (1, 0);
";
const PUT: &str = "INSERT INTO objects VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET revision = excluded.revision, json = excluded.json";
const REMOVE: &str = "DELETE FROM objects
    WHERE \"group\" = ?1 AND plural = ?2 AND namespace = ?3 AND name = ?4";
/// Run by removals only: a put stores its revision with the object.
const COUNT: &str = "UPDATE counter SET revision = ?1";

/// A data directory, locked against other processes.
#[derive(Debug)]
pub(super) struct Disk {
    directory: PathBuf,
    open: Option<Open>,
    /// The parts of the initial objects that were created.
    pub(super) seeded: HashSet<String>,
}

/// The lock is dropped after the connection.
#[derive(Debug)]
struct Open {
    connection: Connection,
    file: WatchedFile,
    _lock: Lock,
}

/// Creates the directory, accessible to its owner only because it contains Secrets.
fn create_directory(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

impl Disk {
    /// Opens or creates a directory and reads its contents. Revisions start after `first`.
    pub(super) fn open(directory: &Path, first: u64) -> Result<(Self, Contents), OpenError> {
        create_directory(directory)?;
        let lock = Lock::take(directory)?;
        let path = directory.join(FILE);
        let mut connection = Connection::open(&path)?;
        prepare(&mut connection, &path)?;
        let mut contents = load::contents(&connection)?;
        let before = contents.revision;
        contents.revision = before.max(first);
        if before > 0 {
            contents.revision += REVISION_GAP;
            count(&connection, contents.revision)?;
            // Synced, so that the new revision cannot be lost.
            connection.query_one("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
        }
        let disk = Self {
            directory: directory.to_owned(),
            open: Some(Open {
                connection,
                file: WatchedFile::at(path)?,
                _lock: lock,
            }),
            seeded: std::mem::take(&mut contents.seeded),
        };
        Ok((disk, contents))
    }

    /// Inserts or replaces an object.
    pub(super) fn put(&mut self, resource: &Resource, stored: &Stored) -> Result<(), DiskError> {
        let revision = number(stored.revision);
        self.write(|connection| {
            connection.prepare_cached(PUT)?.execute(params![
                &*resource.group,
                &*resource.plural,
                stored.namespace,
                stored.name,
                revision,
                &*stored.body(),
            ])?;
            Ok(())
        })
    }

    pub(super) fn remove(
        &mut self,
        resource: &Resource,
        stored: &Stored,
        revision: u64,
    ) -> Result<(), DiskError> {
        self.write(|connection| {
            let behavior = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            transaction.prepare_cached(REMOVE)?.execute(params![
                &*resource.group,
                &*resource.plural,
                stored.namespace,
                stored.name,
            ])?;
            count(&transaction, revision)?;
            transaction.commit()
        })
    }

    pub(super) fn set_seeded(&mut self, part: &str) -> Result<(), DiskError> {
        self.write(|connection| {
            connection.execute("INSERT OR IGNORE INTO seeded VALUES (?1)", [part])?;
            Ok(())
        })?;
        self.seeded.insert(part.to_owned());
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
    ) -> Result<(), DiskError> {
        let directory = &self.directory;
        let failed = |why: String| DiskError {
            directory: directory.clone(),
            why,
        };
        let Some(open) = &mut self.open else {
            return Err(failed("the cluster has ended".to_owned()));
        };
        // Writes to a deleted file succeed, but are lost.
        open.file.check().map_err(failed)?;
        write(&mut open.connection).map_err(|error| failed(error.to_string()))
    }
}

fn count(connection: &Connection, revision: u64) -> rusqlite::Result<()> {
    let revision = number(revision);
    connection.prepare_cached(COUNT)?.execute([revision])?;
    Ok(())
}

/// The revision as an SQLite integer, which is signed.
fn number(revision: u64) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// Checks that the database is new or of this format, and creates the tables of a new one.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let invalid = |why: String| OpenError::Format(format!("{} {why}", path.display()));
    let not_ours = || invalid("is not a local cluster's database".to_owned());
    // No other process reads it, so the log's index need not be shared.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let found = connection.pragma_query_value(None, "application_id", |row| row.get(0));
    let application: i32 = match found {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(not_ours());
        }
        found => found?,
    };
    let format: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 =
        connection.query_one("SELECT count(*) FROM sqlite_schema", (), |r| r.get(0))?;
    let is_new = (application, format, tables) == (0, 0, 0);
    if !is_new && application != APPLICATION {
        return Err(not_ours());
    }
    if !is_new && format != FORMAT {
        return Err(invalid(format!(
            "has format {format}, this version reads and writes format {FORMAT}: use the version that wrote it, or another directory"
        )));
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if is_new {
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
