//! Stores objects with one revision counter, as etcd does, and keeps a watch cache of each resource.
//!
//! With a data directory every write is on disk before it is visible; see [`disk`].

mod database;
mod disk;
mod error;
mod key;
mod resource_store;
mod state;
mod stored;
mod watch_cache;

pub(crate) use database::{Store, WatchCursor};
#[cfg(test)]
pub(crate) use disk::tests::TempDirectory;
pub(crate) use error::{DiskError, OpenError, WriteError};
pub(crate) use key::Resource;
pub(crate) use resource_store::{Found, Range, Scan};
pub(crate) use stored::Stored;
#[cfg(test)]
pub(crate) use stored::count::serialised;
pub(crate) use watch_cache::{EventType, Expired, StoreEvent};
