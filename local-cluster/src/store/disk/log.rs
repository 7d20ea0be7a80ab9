//! The log of a data directory: a line of JSON for each write, behind a line with the format.
//!
//! A line without its end was not acknowledged and does not count. Opening replaces the log by one with the
//! present objects only; until that one is complete, the old one stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use lbcf_serving::private_file;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::object::{Object, name, namespace};
use crate::store::{OpenError, Resource, Stored};

pub(super) const FILE: &str = "cluster.log";
/// The log while it is compacted.
const NEXT_FILE: &str = "cluster.log.next";
/// The format of the lines; to be raised when older versions of this crate cannot read them.
const FORMAT: u64 = 2;
/// The number of writes after which the log is synced to the medium.
pub(super) const SYNC_AFTER: u32 = 1_000;
/// The revisions that opening skips: more than the writes that a power loss can lose.
const REVISION_GAP: u64 = 10 * SYNC_AFTER as u64;

/// The key of an object: group, resource, namespace and name.
type LogKey = [String; 4];

/// A line; which of the fields it has depends on the kind of write.
#[derive(Deserialize)]
struct LogLine {
    /// Group and resource of `object`.
    put: Option<[String; 2]>,
    object: Option<Object>,
    remove: Option<LogKey>,
    seeded: Option<String>,
    #[serde(default)]
    revision: u64,
}

#[derive(Debug, Default)]
pub(in crate::store) struct Contents {
    pub(in crate::store) objects: Vec<(Resource, Stored)>,
    /// The revision from which this process goes on.
    pub(in crate::store) revision: u64,
    pub(super) seeded: BTreeSet<String>,
    pub(in crate::store) unreadable: Vec<Unreadable>,
}

/// A line that cannot be decoded. It stays in the log, and is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: Vec<u8>,
    pub(crate) number: usize,
    pub(crate) why: String,
}

impl Contents {
    pub(super) fn read(path: &Path, first: u64) -> Result<Self, OpenError> {
        let mut contents = Self::default();
        let mut objects: BTreeMap<LogKey, (u64, Object)> = BTreeMap::new();
        match File::open(path) {
            Ok(file) => contents.read_lines(path, file, &mut objects)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        contents.revision = match contents.revision {
            0 => first,
            last => last.max(first) + REVISION_GAP,
        };
        let stored = |([group, plural, ..], (revision, object)): (LogKey, (u64, Object))| {
            let resource = Resource::new(&group, &plural);
            (resource, Stored::new(object, revision))
        };
        contents.objects = objects.into_iter().map(stored).collect();
        Ok(contents)
    }

    fn read_lines(
        &mut self,
        path: &Path,
        file: File,
        objects: &mut BTreeMap<LogKey, (u64, Object)>,
    ) -> Result<(), OpenError> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                break;
            }
            if number == 1 {
                check_format(path, &line)?;
            } else if let Err(why) = self.apply(&line, objects) {
                self.unreadable.push(Unreadable {
                    line: line.clone(),
                    number,
                    why,
                });
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        line: &[u8],
        objects: &mut BTreeMap<LogKey, (u64, Object)>,
    ) -> Result<(), String> {
        let line: LogLine = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        self.revision = self.revision.max(line.revision);
        if let (Some([group, plural]), Some(object)) = (line.put, line.object) {
            if name(&object).is_empty() {
                return Err("the object has no name".to_owned());
            }
            let (namespace, name) = (namespace(&object).to_owned(), name(&object).to_owned());
            objects.insert([group, plural, namespace, name], (line.revision, object));
        }
        if let Some(key) = line.remove {
            objects.remove(&key);
        }
        self.seeded.extend(line.seeded);
        Ok(())
    }
}

fn check_format(path: &Path, line: &[u8]) -> Result<(), OpenError> {
    let invalid = |why: String| Err(OpenError::Format(format!("{} {why}", path.display())));
    let header: Value = serde_json::from_slice(line).unwrap_or_default();
    match header["local-cluster"].as_u64() {
        Some(FORMAT) => Ok(()),
        None => invalid("is not a local cluster's log".to_owned()),
        Some(format) => invalid(format!(
            "has format {format}, this version reads and writes format {FORMAT}: use the version that wrote it, or another directory"
        )),
    }
}

pub(super) fn put(resource: &Resource, stored: &Stored) -> Vec<u8> {
    let put = json!([&*resource.group, &*resource.plural]);
    let start = format!(
        "{{\"put\":{put},\"revision\":{},\"object\":",
        stored.revision
    );
    [start.as_bytes(), &*stored.body(), b"}".as_slice()].concat()
}

pub(super) fn remove(resource: &Resource, stored: &Stored, revision: u64) -> Vec<u8> {
    let key = [
        &*resource.group,
        &*resource.plural,
        &stored.namespace,
        &stored.name,
    ];
    json!({"remove": key, "revision": revision})
        .to_string()
        .into_bytes()
}

pub(super) fn seeded(part: &str) -> Vec<u8> {
    json!({"seeded": part}).to_string().into_bytes()
}

/// The log, open for appending.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) file: File,
    /// The length of all acknowledged lines.
    length: u64,
    unsynced: u32,
    /// The last line could not be written, but a part of it may have been.
    is_torn: bool,
}

impl Log {
    /// Replaces the log of a directory by one with these contents.
    pub(super) fn compact(directory: &Path, contents: &Contents) -> io::Result<Self> {
        let (next, path) = (directory.join(NEXT_FILE), directory.join(FILE));
        let mut writer = BufWriter::new(private_file::options().open(&next)?);
        let mut write = |line: &[u8]| {
            writer.write_all(line)?;
            writer.write_all(b"\n")
        };
        write(json!({"local-cluster": FORMAT}).to_string().as_bytes())?;
        write(
            json!({"revision": contents.revision})
                .to_string()
                .as_bytes(),
        )?;
        for part in &contents.seeded {
            write(&seeded(part))?;
        }
        for unreadable in &contents.unreadable {
            write(&unreadable.line)?;
        }
        for (resource, stored) in &contents.objects {
            write(&put(resource, stored))?;
        }
        writer.into_inner()?.sync_all()?;
        fs::rename(&next, &path)?;
        // The directory's entry, so that the new revision cannot be lost.
        #[cfg(unix)]
        File::open(directory)?.sync_all()?;
        let file = OpenOptions::new().append(true).open(&path)?;
        Ok(Self {
            length: file.metadata()?.len(),
            file,
            unsynced: 0,
            is_torn: false,
        })
    }

    /// Appends a line. If that fails, the log is as before.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.unsynced >= SYNC_AFTER {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        if self.is_torn {
            self.file.set_len(self.length)?;
        }
        self.is_torn = true;
        let line = [line, b"\n"].concat();
        self.file.write_all(&line)?;
        self.is_torn = false;
        self.length += line.len() as u64;
        self.unsynced += 1;
        Ok(())
    }
}
