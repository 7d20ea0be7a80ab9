//! The server's settings as flags and environment variables, to flatten into a clap command.

mod log;

use super::serve::PathPrefix;
use super::{Ending, Server, ServerError, TlsFiles};
use crate::RawDriver;
use lbcf_serving::duration;
use lbcf_serving::secret::Secret;
use lbcf_serving::signals::Signals;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Named for each flag: set for the whole struct it would go on to the driver's own flags.
const HEADING: &str = "Server";

/// Every setting of a [`Server`] as a flag, to flatten into a driver's own command line. Each flag
/// has an environment variable, `LBCF_DRIVER_` with the flag's name.
///
/// ```no_run
/// use clap::Parser;
/// use lbcf_driver_sdk::server::ServerArgs;
/// # use lbcf_driver_sdk::webhook::{
/// #     DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
/// # };
/// # use lbcf_driver_sdk::{HookError, RawDriver};
/// # struct MyCloud { region: String }
/// # impl RawDriver for MyCloud {
/// #     async fn generate_backend_addr(&self, _: GenerateBackendAddrRequest) -> Result<String, HookError> {
/// #         Ok(self.region.clone())
/// #     }
/// #     async fn ensure_backend(&self, _: EnsureBackendRequest) -> Result<StringMap, HookError> {
/// #         Ok(StringMap::new())
/// #     }
/// #     async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), HookError> {
/// #         Ok(())
/// #     }
/// # }
///
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
/// #[tokio::main]
/// async fn main() -> std::process::ExitCode {
///     let args = Args::parse();
///     let driver = MyCloud { region: args.region };
///     args.server.serve(driver).await
/// }
/// ```
#[derive(Debug, Clone, clap::Args)]
pub struct ServerArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:8080"
    )]
    listen: SocketAddr,

    /// Path below which the webhooks are, such as /lbcf [default: none]
    #[arg(long, help_heading = HEADING, env = "LBCF_DRIVER_PATH_PREFIX", value_name = "PATH")]
    path_prefix: Option<PathPrefix>,

    /// PEM file of the certificate, followed by those that lead to its CA; read again when it
    /// changes, like every file here
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// PEM file of the certificate's private key
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,

    /// PEM file of the CAs whose clients are let in; others get no connection
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    client_ca: Option<PathBuf>,

    /// File of the token that callers have to send as Authorization: Bearer
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_TOKEN_FILE",
        value_name = "FILE",
        conflicts_with = "token"
    )]
    token_file: Option<PathBuf>,

    /// The token itself; prefer the variable, as flags are seen by all who see the process
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    token: Option<Secret>,

    /// Address to serve probes on, without TLS and token, next to the other one [default: none]
    #[arg(long, help_heading = HEADING, env = "LBCF_DRIVER_PROBES_ON", value_name = "ADDR")]
    probes_on: Option<SocketAddr>,

    /// Time after which a call is answered at the latest; stay below the controller's timeout
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_ANSWER_WITHIN",
        value_name = "DURATION",
        default_value = "8s",
        value_parser = duration::parse_up_to_a_day
    )]
    answer_within: Duration,

    /// Number of bytes that a request's body may have
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_BODY_LIMIT",
        value_name = "BYTES",
        default_value_t = 4 << 20,
        value_parser = limit()
    )]
    body_limit: u64,

    /// Number of hooks that run at a time; others wait
    #[arg(
        long,
        help_heading = HEADING,
        env = "LBCF_DRIVER_MAX_RUNNING_HOOKS",
        value_name = "COUNT",
        default_value_t = 256,
        value_parser = limit()
    )]
    max_running_hooks: u64,

    /// Number of hooks that wait for their turn; what comes on top is answered with Running
    #[arg(
        long,
        help_heading = HEADING,
        env = "LBCF_DRIVER_MAX_WAITING_HOOKS",
        value_name = "COUNT",
        default_value_t = 10_000,
        value_parser = limit()
    )]
    max_waiting_hooks: u64,

    /// Number of connections at a time; others wait
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_MAX_CONNECTIONS",
        value_name = "COUNT",
        default_value_t = 1024,
        value_parser = limit()
    )]
    max_connections: u64,

    /// Time that the shutdown waits for running hooks; stay below the pod's grace period
    #[arg(
        long, help_heading = HEADING,
        env = "LBCF_DRIVER_SHUTDOWN_WITHIN",
        value_name = "DURATION",
        default_value = "30s",
        value_parser = duration::parse_up_to_a_day
    )]
    shutdown_within: Duration,

    #[command(flatten)]
    log: log::LogArgs,

    #[arg(skip)]
    conformance_fixture: Option<String>,

    #[arg(skip)]
    routes: Option<axum::Router>,
}

fn limit() -> clap::builder::RangedU64ValueParser<u64> {
    clap::builder::RangedU64ValueParser::new().range(1..=1 << 40)
}

impl ServerArgs {
    /// [`Server::conformance_fixture`]: no flag, as the text belongs to the program.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::{RawDriver, server::ServerArgs};
    /// # async fn example(driver: impl RawDriver, args: ServerArgs) -> std::process::ExitCode {
    /// # const FIXTURE: &str = "";
    /// // const FIXTURE: &str = include_str!("../conformance.yaml");
    /// args.conformance_fixture(FIXTURE).serve(driver).await
    /// # }
    /// ```
    #[must_use]
    pub fn conformance_fixture(mut self, text: impl Into<String>) -> Self {
        self.conformance_fixture = Some(text.into());
        self
    }

    /// [`Server::routes`]: further routes, for which there is no flag either.
    #[must_use]
    pub fn routes(mut self, routes: axum::Router) -> Self {
        self.routes = Some(self.routes.take().unwrap_or_default().merge(routes));
        self
    }

    /// Starts logging to standard error and serves the driver until SIGINT or SIGTERM. The URL is
    /// the one line on standard output, written when connections are accepted. A process that has
    /// its own `tracing` subscriber keeps it.
    ///
    /// Returns the exit code for `main`: 0, or 1 when running hooks were aborted, or 2 with a message
    /// on standard error when it cannot serve.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::{RawDriver, server::ServerArgs};
    /// # async fn example(driver: impl RawDriver, args: ServerArgs) -> std::process::ExitCode {
    /// args.serve(driver).await
    /// # }
    /// ```
    pub async fn serve<D: RawDriver>(&self, driver: D) -> ExitCode {
        match self.try_serve(driver).await {
            Ok(Ending { hooks_left: 0, .. }) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => {
                // There is no other place to report to where stderr is closed.
                let _ = writeln!(std::io::stderr(), "error: {error}");
                ExitCode::from(2)
            }
        }
    }

    async fn try_serve<D: RawDriver>(&self, driver: D) -> Result<Ending, ServerError> {
        self.start_log()?;
        let server = Server::from_args(driver, self)?.bind().await?;
        // The reader of the URL may send a signal, which must not be lost.
        let signals = Signals::listen().map_err(ServerError::Signals)?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", server.url())
            .and_then(|()| stdout.flush())
            .map_err(ServerError::Output)?;
        Ok(server.run_with(signals).await)
    }

    /// Starts logging to standard error as the flags say: for those who call
    /// [`Server::from_args`]. A process that has its own `tracing` subscriber keeps it.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::RawDriver;
    /// # use lbcf_driver_sdk::server::{Server, ServerArgs, ServerError};
    /// # async fn example(driver: impl RawDriver, args: ServerArgs) -> Result<(), ServerError> {
    /// args.start_log()?;
    /// Server::from_args(driver, &args)?.run().await?;
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

impl<D: RawDriver> Server<D> {
    /// With the settings that flags give (feature `cli`), to change or to add to.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::RawDriver;
    /// # use lbcf_driver_sdk::server::{Server, ServerArgs, ServerError};
    /// # use std::time::Duration;
    /// # async fn example(driver: impl RawDriver, args: ServerArgs) -> Result<(), ServerError> {
    /// Server::from_args(driver, &args)?
    ///     .configure(|driver| driver.keep_results(Duration::from_secs(60)))
    ///     .run()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError`], when settings do not go together.
    pub fn from_args(driver: D, args: &ServerArgs) -> Result<Self, ServerError> {
        let mut server = Self::new(driver)
            .listen(args.listen)
            .answer_within(args.answer_within)
            .body_limit(count(args.body_limit))
            .configure(|driver| {
                driver
                    .max_running_hooks(count(args.max_running_hooks))
                    .max_waiting_hooks(count(args.max_waiting_hooks))
            })
            .max_connections(count(args.max_connections))
            .shutdown_within(args.shutdown_within);
        if let Some(prefix) = &args.path_prefix {
            server = server.path_prefix(prefix.as_str());
        }
        server = match (&args.tls_cert, &args.tls_key, &args.client_ca) {
            (Some(cert), Some(key), None) => server.tls(TlsFiles::new(cert, key)),
            (Some(cert), Some(key), Some(ca)) => server.tls(TlsFiles::new(cert, key)).client_ca(ca),
            (None, None, None) => server,
            _ => return Err(ServerError::Settings(TLS_FLAGS)),
        };
        server = match (&args.token, &args.token_file) {
            (None, None) => server,
            (Some(token), None) => server.token(&token.0),
            (None, Some(path)) => server.token_file(path),
            (Some(_), Some(_)) => return Err(ServerError::Settings(TOKEN_FLAGS)),
        };
        if let Some(addr) = args.probes_on {
            server = server.probes_on(addr);
        }
        if let Some(text) = &args.conformance_fixture {
            server = server.conformance_fixture(text);
        }
        if let Some(routes) = &args.routes {
            server = server.routes(routes.clone());
        }
        Ok(server)
    }
}

/// clap checks such combinations on the command line, but not in environment variables.
const TLS_FLAGS: &str = "--tls-cert, --tls-key: both or none; --client-ca needs them";
const TOKEN_FLAGS: &str = "--token, --token-file: one of the two";

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
