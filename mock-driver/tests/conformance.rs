//! The checks of the conformance kit, by their ids: those that the other modules here do not have
//! already. Nothing of the kit is used, so that the mock is right even where the kit is wrong.

mod backends;
mod bad_input;
mod fixture;
mod load_balancers;
mod repeated;
mod wire;
