//! Reads the database of an earlier process.

use std::collections::HashSet;

use bytes::Bytes;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::object::{self, Object};
use crate::store::{OpenError, Resource, Stored};

#[derive(Debug)]
pub(in crate::store) struct Contents {
    pub(in crate::store) objects: Vec<(Resource, Stored)>,
    /// The last revision that was used; 0 for a new database.
    pub(in crate::store) revision: u64,
    pub(super) seeded: HashSet<String>,
    pub(in crate::store) unreadable: Vec<Unreadable>,
}

/// An object that cannot be decoded. It stays in the database and is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The non-empty ones of group, resource, namespace and name, joined by `/`.
    pub(crate) key: String,
    pub(crate) why: String,
}

pub(super) fn contents(connection: &Connection) -> Result<Contents, OpenError> {
    let counted: i64 = connection.query_one("SELECT revision FROM counter", (), |r| r.get(0))?;
    let mut contents = Contents {
        objects: Vec::new(),
        revision: u64::try_from(counted).unwrap_or(0),
        seeded: HashSet::new(),
        unreadable: Vec::new(),
    };
    let mut statement = connection.prepare("SELECT part FROM seeded")?;
    for part in statement.query_map((), |row| row.get(0))? {
        contents.seeded.insert(part?);
    }
    let mut statement = connection.prepare("SELECT * FROM objects")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let key: [String; 4] = [0, 1, 2, 3].map(|column| text(row.get_ref(column)));
        let revision = row
            .get::<_, i64>(4)
            .ok()
            .and_then(|r| u64::try_from(r).ok());
        contents.revision = contents.revision.max(revision.unwrap_or(0));
        match row_object(&key, revision, row.get_ref(5)) {
            Ok(object) => contents.objects.push(object),
            Err(why) => contents.unreadable.push(Unreadable {
                key: key
                    .into_iter()
                    .filter(|k| !k.is_empty())
                    .collect::<Vec<_>>()
                    .join("/"),
                why,
            }),
        }
    }
    Ok(contents)
}

fn text(value: rusqlite::Result<ValueRef<'_>>) -> String {
    match value {
        Ok(ValueRef::Text(text) | ValueRef::Blob(text)) => {
            String::from_utf8_lossy(text).into_owned()
        }
        Ok(ValueRef::Integer(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn row_object(
    [group, plural, namespace, name]: &[String; 4],
    revision: Option<u64>,
    json: rusqlite::Result<ValueRef<'_>>,
) -> Result<(Resource, Stored), String> {
    let revision = revision.ok_or("its revision is not a number")?;
    let (Ok(ValueRef::Blob(json)) | Ok(ValueRef::Text(json))) = json else {
        return Err("it is not text".to_owned());
    };
    let object: Object = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    if name.is_empty() || object::name(&object) != name || object::namespace(&object) != namespace {
        return Err("its name differs from its key".to_owned());
    }
    if object::meta(&object, "resourceVersion") != Some(&revision.to_string()) {
        return Err("its resourceVersion differs from its revision".to_owned());
    }
    let body = Bytes::copy_from_slice(json);
    let stored = Stored::of_parts(object, body, revision);
    Ok((Resource::new(group, plural), stored))
}
