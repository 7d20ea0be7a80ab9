//! The clouds that drivers call: of CLB instances, or with the profile `azure`. They live in memory and, like
//! a provider's, outlive the drivers that call them.

mod api;
mod azure_api;
mod changes;
mod clock;
mod handle;
mod state_file;
mod traffic;

pub use azure_api::AzureApi;
pub use clock::Clock;
pub use handle::Cloud;
pub use traffic::Traffic;

#[cfg(test)]
mod tests;
