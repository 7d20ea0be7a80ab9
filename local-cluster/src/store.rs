//! Stores objects with one revision counter, as etcd does, and keeps a watch cache of each resource.
//!
//! With a data directory every write is on disk before it is visible; see [`disk`].

mod database;
mod disk;
mod draft;
mod error;
mod key;
mod resource;
mod resource_store;
mod scan;
mod state;
mod stored;
mod watch_cache;
mod watch_cursor;

pub(crate) use database::Store;
#[cfg(test)]
pub(crate) use disk::tests::TempDirectory;
#[cfg(test)]
pub(crate) use draft::count::serialised;
pub(crate) use error::{DiskError, InsertError, OpenError, TooLarge, WriteError};
pub(crate) use resource::Resource;
pub(crate) use scan::{Found, Range, Scan};
pub(crate) use stored::Stored;
pub(crate) use watch_cache::{EventType, Expired, StoreEvent};
pub(crate) use watch_cursor::WatchCursor;
