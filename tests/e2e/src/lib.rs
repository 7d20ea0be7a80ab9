//! What whole-system tests share: a cluster, a cloud with its driver, and a controller, all in
//! this process and each on its own legs, and the waiting for what shall become of them.
//!
//! Tests wait for conditions with a deadline, never for a time; what they judge by is the cloud's
//! own state.
//!
//! ```no_run
//! use lbcf_e2e::{World, manifests};
//!
//! # async fn example() {
//! let world = World::new().await;
//! let _controller = world.start_controller();
//! world.apply_basics(2).await;
//! world.until_targets(&["web-0", "web-1"], "50").await;
//! # }
//! ```

// Helpers of tests fail as tests do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc
)]

mod admitting;
mod doctored;
mod faulty;
mod front;
mod held;
mod interrupt;
mod lost;
pub mod manifests;
mod nodes;
mod outages;
mod seed;
mod view;
mod world;

pub use admitting::Admitting;
pub use doctored::doctored;
pub use faulty::{Faults, faulty};
pub use front::{Call, Front, Gate, Reaction};
pub use held::{Release, hold_list};
pub use interrupt::{Interrupted, Moment, interrupt_at};
pub use lost::lose_answer;
pub use outages::Outages;
pub use seed::scrambled;
pub use world::{World, until, until_is, until_within};
