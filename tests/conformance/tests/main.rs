//! Integration tests of the kit.
#![allow(
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping, in their helpers too"
)]

mod bent;
mod checks_drg;
mod checks_elb;
mod checks_generate;
mod checks_hlth;
mod checks_jpd;
mod checks_lst;
mod checks_vbe;
mod checks_vlb;
mod checks_wire;
mod command;
mod hopeless;
mod hostile;
mod kit;
mod left_behind;
mod matrix;
mod mutants;
mod observer;
mod output;
mod restart;
mod served;
mod setup;
mod strangers;
