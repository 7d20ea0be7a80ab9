//! LoadBalancer: creating, ensuring and deleting (section 14 of the behaviour list).

mod act;
mod decide;

pub(crate) use act::act;
