//! The memory behind the API: objects, one revision counter, and a log of changes per resource.

mod follower;
mod journal;
mod resource;
mod shelf;
mod stored;

pub(crate) use follower::Follower;
pub(crate) use journal::{Change, ChangeKind, Expired};
pub(crate) use resource::Resource;
pub(crate) use shelf::{InsertError, Stale, Store};
pub(crate) use stored::Stored;
