//! The server's settings as flags and environment variables, to flatten into a clap command.

mod log;

use super::{Ending, Server, ServerError, Settings};
use crate::Driver;
use lbcf_serving::signals::Signals;
use lbcf_serving::{streams, traces};
use std::io::Write as _;
use std::process::ExitCode;

/// The [`Settings`] of a server and of its log as flags, to flatten into a driver's own command line. Each flag
/// has an environment variable, `LBCF_DRIVER_` with the flag's name.
///
/// ```no_run
/// use clap::Parser;
/// use lbcf_driver_sdk::server::ServerArgs;
/// /// A driver for my cloud
/// #[derive(Parser)]
/// struct Args {
///     #[command(flatten)]
///     server: ServerArgs,
///
///     /// Region of the cloud
///     #[arg(long, env = "MY_CLOUD_REGION")]
///     region: String,
/// }
///
/// # async fn example<D: lbcf_driver_sdk::Driver>(my_cloud: fn(String) -> D) -> std::process::ExitCode {
/// let args = Args::parse();
/// args.server.serve(my_cloud(args.region)).await
/// # }
/// ```
#[derive(Debug, Clone, clap::Args)]
#[non_exhaustive]
pub struct ServerArgs {
    /// Those that flags give; others, such as the [fixture](Settings::conformance_fixture), may be set.
    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    log: log::LogArgs,
}

impl ServerArgs {
    /// Starts logging to standard error and serves the driver until SIGINT, SIGTERM, SIGHUP or SIGQUIT. The URL is
    /// the one line on standard output, written when connections are accepted. A process that has
    /// its own `tracing` subscriber keeps it.
    ///
    /// Returns the exit code for `main`: 0, or 1 when running hooks were aborted, or 2 with a message
    /// on standard error when it cannot serve.
    pub async fn serve<D: Driver>(self, driver: D) -> ExitCode {
        let ended = self.try_serve(driver).await;
        traces::flush();
        match ended {
            Ok(Ending { hooks_left: 0, .. }) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => {
                // There is no other place to report to where stderr is closed.
                let _ = writeln!(std::io::stderr(), "error: {error}");
                ExitCode::from(2)
            }
        }
    }

    async fn try_serve<D: Driver>(self, driver: D) -> Result<Ending, ServerError> {
        self.start_log()?;
        let server = Server::with(driver, self.settings).bind().await?;
        // The reader of the URL may send a signal, which must not be lost.
        let signals = Signals::listen().map_err(ServerError::Signals)?;
        streams::print(&format!("{}\n", server.url())).map_err(ServerError::Output)?;
        Ok(server.run_with(signals).await)
    }

    /// Starts logging to standard error as the flags say: for those who serve the
    /// [settings](Self::settings) themselves. A process that has its own `tracing` subscriber keeps it.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::Driver;
    /// # use lbcf_driver_sdk::server::{Server, ServerArgs, ServerError};
    /// # async fn example(driver: impl Driver, args: ServerArgs) -> Result<(), ServerError> {
    /// args.start_log()?;
    /// Server::with(driver, args.settings).run().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError::Log`], when the filter is not understood.
    pub fn start_log(&self) -> Result<(), ServerError> {
        self.log.start()
    }
}

#[cfg(test)]
mod tests;
