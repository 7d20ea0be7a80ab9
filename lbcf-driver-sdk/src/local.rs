//! Load balancers that are a process and its files on the driver's machine: see
//! [the chapter](crate::guide::local) for how such a driver works.

mod shared_reload;
mod state_files;

pub use shared_reload::SharedReload;
pub use state_files::StateFiles;
