//! The store's copy on disk: an SQLite database that every write goes to before it can be seen.
//!
//! What is acknowledged survives the end of the process, however it ends: a write is in the system's
//! hands when it is committed. It is not awaited that the system brings it to the medium, so the end
//! of the machine (power loss, a crash of the kernel) can cost the writes since the last checkpoint,
//! which comes after about 4 MB of writes. What is left is then a state that there was, never half a
//! write. Opening leaps ahead, so that no version that was lost so is given to something else.
//!
//! Changes are not kept, only what came of them: who watches from, or lists at, a version from before
//! a restart is told that it has expired.

mod load;
mod lock;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior, params};

use load::Contents;
pub(crate) use load::Unreadable;
use lock::{File, Lock};

use super::{DiskError, OpenError, Resource, Stored};

/// The database within the directory.
const FILE: &str = "cluster.db";
/// Marks a database as one of these ("LBCF").
const APPLICATION: i32 = 0x4c42_4346;
/// The form of what is in it. To be raised when an older program could not read it.
const FORMAT: i32 = 1;
/// More revisions than the writes that the end of the machine can cost: one takes a page of the log
/// at least, and a checkpoint comes after a thousand pages.
const LEAP: u64 = 10_000;

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
/// A put tells the revision by itself; only of what is removed nothing would tell.
const COUNT: &str = "UPDATE counter SET revision = ?1";

/// An open data directory. One process at a time has it.
#[derive(Debug)]
pub(super) struct Disk {
    directory: PathBuf,
    /// `None` when it was let go of.
    open: Option<Open>,
    /// Which parts of the seed were made.
    pub(super) seeded: HashSet<String>,
}

/// Dropped in this order: the lock outlives the connection.
#[derive(Debug)]
struct Open {
    connection: Connection,
    file: File,
    _lock: Lock,
}

/// Makes the directory if it is not there. Secrets are kept in it, so it is its owner's alone.
fn make(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

impl Disk {
    /// Opens a directory, or makes it, and reads what is there. Revisions begin above `first`.
    pub(super) fn open(directory: &Path, first: u64) -> Result<(Self, Contents), OpenError> {
        make(directory)?;
        let lock = Lock::take(directory)?;
        let path = directory.join(FILE);
        let mut connection = Connection::open(&path)?;
        prepare(&mut connection, &path)?;
        let mut contents = load::contents(&connection)?;
        let before = contents.revision;
        contents.revision = before.max(first);
        if before > 0 {
            contents.revision += LEAP;
            count(&connection, contents.revision)?;
            // Brought to the medium, so that the leap cannot be lost.
            connection.query_one("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
        }
        let disk = Self {
            directory: directory.to_owned(),
            open: Some(Open {
                connection,
                file: File::at(path)?,
                _lock: lock,
            }),
            seeded: std::mem::take(&mut contents.seeded),
        };
        Ok((disk, contents))
    }

    /// Writes an object, new or not.
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

    /// Removes an object; the revision says when.
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

    /// Remembers that part of the seed was made.
    pub(super) fn set_seeded(&mut self, part: &str) -> Result<(), DiskError> {
        self.write(|connection| {
            connection.execute("INSERT OR IGNORE INTO seeded VALUES (?1)", [part])?;
            Ok(())
        })?;
        self.seeded.insert(part.to_owned());
        Ok(())
    }

    /// Lets go of the directory.
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
        // A file that was deleted can be written to all the same, for nobody.
        open.file.check().map_err(failed)?;
        write(&mut open.connection).map_err(|error| failed(error.to_string()))
    }
}

fn count(connection: &Connection, revision: u64) -> rusqlite::Result<()> {
    let revision = number(revision);
    connection.prepare_cached(COUNT)?.execute([revision])?;
    Ok(())
}

/// SQLite's numbers have a sign; no cluster lives to see the difference.
fn number(revision: u64) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// Makes sure that it is a database of the form that is written here.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let refuse = |why: String| OpenError::Format(format!("{} {why}", path.display()));
    let not_ours = || refuse("is not a local cluster's database".to_owned());
    // Nobody else reads it, so the log's index need not be shared.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let asked = connection.pragma_query_value(None, "application_id", |row| row.get(0));
    let application: i32 = match asked {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(not_ours());
        }
        asked => asked?,
    };
    let format: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 =
        connection.query_one("SELECT count(*) FROM sqlite_schema", (), |r| r.get(0))?;
    let is_new = (application, format, tables) == (0, 0, 0);
    if !is_new && application != APPLICATION {
        return Err(not_ours());
    }
    if !is_new && format != FORMAT {
        return Err(refuse(format!(
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
