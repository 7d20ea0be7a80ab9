//! The guide: from a load balancer's API to a driver in production.
//!
//! 1. [Concepts](concepts): the calls, when they are made, and what follows from each response.
//! 2. [The first driver](first_driver): to the first request; five types, five functions, a server.
//! 3. [Fields](fields): a driver's own types for lbSpec, lbInfo, attributes and parameters.
//! 4. [Outcomes](outcomes): success, failure, still running, rejection; errors and `?`.
//! 5. [Long jobs](long_jobs): operations that take longer than a call.
//! 6. [Draining](draining): clients of a backend that is deregistered.
//! 7. [Local load balancers](local): a process or a file on the same machine instead of a cloud.
//! 8. [Testing](testing): calling a driver in process.
//! 9. [A real cloud](real_cloud): calls, credentials, limits, batches; a skeleton.
//! 10. [Going to production](production): a check list.
//! 11. [Other languages](other_languages): the wire, for drivers that are not written in Rust.

#[doc = include_str!("docs/concepts.md")]
pub mod concepts {}

#[cfg_attr(feature = "server", doc = include_str!("docs/first_driver.md"))]
#[cfg_attr(
    not(feature = "server"),
    doc = "The first driver: this chapter comes with the feature `server`."
)]
pub mod first_driver {}

#[doc = include_str!("docs/fields.md")]
pub mod fields {}

#[doc = include_str!("docs/outcomes.md")]
pub mod outcomes {}

#[doc = include_str!("docs/long_jobs.md")]
pub mod long_jobs {}

#[doc = include_str!("docs/draining.md")]
pub mod draining {}

#[doc = include_str!("docs/local.md")]
pub mod local {}

#[cfg_attr(feature = "testing", doc = include_str!("docs/testing.md"))]
#[cfg_attr(
    not(feature = "testing"),
    doc = "Testing: this chapter comes with the feature `testing`."
)]
pub mod testing {}

#[cfg_attr(feature = "server", doc = include_str!("docs/real_cloud.md"))]
#[cfg_attr(
    not(feature = "server"),
    doc = "A real cloud: this chapter comes with the feature `server`."
)]
pub mod real_cloud {}

#[cfg_attr(feature = "server", doc = include_str!("docs/production.md"))]
#[cfg_attr(
    not(feature = "server"),
    doc = "Going to production: this chapter comes with the feature `server`."
)]
pub mod production {}

#[doc = include_str!("docs/other_languages.md")]
pub mod other_languages {}
