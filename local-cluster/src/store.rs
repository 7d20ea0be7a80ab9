//! The memory behind the API: objects, one revision counter, and a log of changes per resource.
//!
//! With a data directory every write goes to disk before anybody can see it; see [`disk`].

mod database;
mod disk;
mod draft;
mod failure;
mod follower;
mod journal;
mod key;
mod resource;
mod scan;
mod shelf;
mod state;
mod stored;

pub(crate) use database::Store;
#[cfg(test)]
pub(crate) use disk::tests::Directory;
#[cfg(test)]
pub(crate) use draft::count::serialised;
pub(crate) use failure::{DiskError, InsertError, OpenError, WriteError};
pub(crate) use follower::Follower;
pub(crate) use journal::{Change, ChangeKind, Expired};
pub(crate) use resource::Resource;
pub(crate) use scan::{Found, Range, Scan};
pub(crate) use stored::Stored;
