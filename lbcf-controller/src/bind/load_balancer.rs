//! One load balancer of a Bind (b127 to b134).

mod act;
mod decide;

pub(crate) use act::act;
