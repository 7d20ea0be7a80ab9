//! The settings of a driver's router and server, as fields and as flags.

#[cfg(feature = "cli")]
use super::path_prefix::PathPrefix;
use super::{Secret, ServerError};
use lbcf_serving::listener::Limits;
use lbcf_serving::tls::TlsFiles;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
#[cfg(feature = "cli")]
use {clap::builder::RangedU64ValueParser, lbcf_serving::duration::parse_up_to_a_day};

/// Named for each flag: set for the whole struct it would go on to the driver's own flags.
#[cfg(feature = "cli")]
const HEADING: &str = "Server";

/// Settings of a [`Server`](super::Server) and of a [`DriverRouter`](super::DriverRouter), which needs the
/// limits of hooks alone. With the feature `cli` most are flags, too: see `ServerArgs`.
///
/// ```
/// use lbcf_driver_sdk::server::Settings;
/// use std::time::Duration;
///
/// let settings = Settings { answer_within: Duration::from_secs(4), ..Settings::default() };
/// ```
///
/// * `answer_within`: at this time an unfinished operation is answered with `Running` and an unfinished
///   decision with "no"; with zero, all are.
/// * `max_running_hooks`: further operations wait, and are answered with `Running` meanwhile; further decisions
///   wait until their deadline and are then "no". `healthz` never waits. An operation that waits for another
///   one does not count, so hooks cannot block each other, however low the limit; 0 counts as 1.
/// * `max_waiting_hooks`: beyond it, or while the requests of waiting hooks take more than 256 MiB, a hook does
///   not start: an operation is answered at once with `Running` and a delay, a decision with "no".
/// * `client_ca` holds for the whole port, probes included, which therefore have `probes_on`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(mut_args = lbcf_serving::flags::variables("LBCF_DRIVER_")))]
pub struct Settings {
    /// Address to listen on; port 0 takes a free one
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "ADDR",
        default_value = "127.0.0.1:8080"
    ))]
    pub listen: SocketAddr,

    /// Host name by which clients may call a loopback address without TLS, beside localhost and loopback
    /// addresses; a web page that calls by any other gets 403
    #[cfg_attr(feature = "cli", arg(
        long = "allow-host", help_heading = HEADING,
        value_name = "NAME",
        value_delimiter = ','
    ))]
    pub allow_hosts: Vec<String>,

    /// Path below which the webhooks are, such as /lbcf [default: none]
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "PATH",
        default_value = "",
        hide_default_value = true,
        value_parser = PathPrefix::text
    ))]
    pub path_prefix: String,

    /// PEM file of the certificate, followed by those that lead to its CA; read again when it
    /// changes, like every file here
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "FILE",
        requires = "tls_key"
    ))]
    pub tls_cert: Option<PathBuf>,

    /// PEM file of the certificate's private key
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "FILE",
        requires = "tls_cert"
    ))]
    pub tls_key: Option<PathBuf>,

    /// PEM file of the CAs whose clients are let in; others get no connection
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "FILE",
        requires = "tls_cert"
    ))]
    pub client_ca: Option<PathBuf>,

    /// File of the token that callers have to send as Authorization: Bearer
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "FILE",
        conflicts_with = "token"
    ))]
    pub token_file: Option<PathBuf>,

    /// The token itself; prefer the variable, as flags are seen by all who see the process
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "TOKEN",
        hide_env_values = true
    ))]
    pub token: Option<Secret>,

    /// Address to serve probes on, without TLS and token, next to the other one [default: none]
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "ADDR"
    ))]
    pub probes_on: Option<SocketAddr>,

    /// Time after which a call is answered at the latest; stay below the controller's timeout
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "DURATION",
        default_value = "8s",
        value_parser = parse_up_to_a_day
    ))]
    pub answer_within: Duration,

    /// Number of bytes that a request's body may have
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "BYTES",
        default_value_t = BODY_LIMIT,
        value_parser = count()
    ))]
    pub body_limit: usize,

    /// Number of hooks that run at a time; others wait
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "COUNT",
        default_value_t = MAX_RUNNING_HOOKS,
        value_parser = count()
    ))]
    pub max_running_hooks: usize,

    /// Number of hooks that wait for their turn; what comes on top is answered with Running
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "COUNT",
        default_value_t = MAX_WAITING_HOOKS,
        value_parser = count()
    ))]
    pub max_waiting_hooks: usize,

    /// Number of hooks that start in a second, of those that change something; others wait. A batch counts
    /// once [default: no limit]
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..)
    ))]
    pub max_hooks_per_second: Option<u32>,

    /// Apply --max-hooks-per-second to each serial key, such as a load balancer, instead of to all together
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        requires = "max_hooks_per_second"
    ))]
    pub hook_rate_by_key: bool,

    /// Number of connections at a time; for others idle ones are closed
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "COUNT",
        default_value_t = Limits::default().connections,
        value_parser = count()
    ))]
    pub max_connections: usize,

    /// Time that the shutdown waits for running hooks; stay below the pod's grace period
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = HEADING,
        value_name = "DURATION",
        default_value = "30s",
        value_parser = parse_up_to_a_day
    ))]
    pub shutdown_within: Duration,

    /// Time that the result of an operation waits for the next call to collect it (default 10 minutes); after
    /// it the next call runs the hook again. Set it above the controller's longest retry interval. With zero,
    /// an operation that takes longer than `answer_within` only succeeds if it finds its work done when it is
    /// called again.
    #[cfg_attr(feature = "cli", arg(skip = KEEP_RESULTS))]
    pub keep_results: Duration,

    /// Interval at which files are read again (default 5 s, at least 10 ms).
    #[cfg_attr(feature = "cli", arg(skip = RELOAD_EVERY))]
    pub reload_every: Duration,

    /// Time that a TLS handshake may take (default 10 s).
    #[cfg_attr(feature = "cli", arg(skip = Limits::default().handshake))]
    pub handshake_within: Duration,

    /// Time that the head of a request may take to arrive once it has begun (default 10 s).
    #[cfg_attr(feature = "cli", arg(skip = Limits::default().head))]
    pub head_within: Duration,

    /// Time that a connection may be without a request (default 2 min). Controllers close idle connections after
    /// 90 s at most. They should be first, as a request may be on its way when the server closes.
    #[cfg_attr(feature = "cli", arg(skip = Limits::default().idle))]
    pub idle_within: Duration,

    /// The driver's conformance fixture, served at `/.well-known/lbcf/conformance` below the path prefix (default:
    /// none), so that `lbcf conformance run --url` needs no `--fixture`. Callers need the token where there is
    /// one. The kit runs no command that it names: keep those in a file.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub conformance_fixture: Option<String>,

    /// Further routes below the path prefix, behind the token if there is one: for what belongs to the driver and
    /// is no webhook, such as an observer for `lbcf conformance`. Fallbacks are not allowed, and neither are the
    /// paths of webhooks: axum panics at the start.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub routes: axum::Router,
}

/// etcd limits a pod to 1.5 MiB, and judgePodDeregister sends several.
const BODY_LIMIT: usize = 4 << 20;
const MAX_RUNNING_HOOKS: usize = 256;
const MAX_WAITING_HOOKS: usize = 10_000;
const KEEP_RESULTS: Duration = Duration::from_secs(600);
const RELOAD_EVERY: Duration = Duration::from_secs(5);
/// Reading files without a pause would leave no time for anything else.
const SHORTEST_RELOAD: Duration = Duration::from_millis(10);

#[cfg(feature = "cli")]
fn count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1 << 40)
}

impl Default for Settings {
    /// Those of a server on `127.0.0.1:8080`, without TLS and without a token.
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            allow_hosts: Vec::new(),
            path_prefix: String::new(),
            tls_cert: None,
            tls_key: None,
            client_ca: None,
            token_file: None,
            token: None,
            probes_on: None,
            // The controller hangs up after 10 s by default.
            answer_within: Duration::from_secs(8),
            body_limit: BODY_LIMIT,
            max_running_hooks: MAX_RUNNING_HOOKS,
            max_waiting_hooks: MAX_WAITING_HOOKS,
            max_hooks_per_second: None,
            hook_rate_by_key: false,
            max_connections: limits.connections,
            shutdown_within: Duration::from_secs(30),
            keep_results: KEEP_RESULTS,
            reload_every: RELOAD_EVERY,
            handshake_within: limits.handshake,
            head_within: limits.head,
            idle_within: limits.idle,
            conformance_fixture: None,
            routes: axum::Router::new(),
        }
    }
}

impl Settings {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            handshake: self.handshake_within,
            head: self.head_within,
            idle: self.idle_within,
            ..Limits::default()
        }
    }

    pub(super) fn reload_every(&self) -> Duration {
        self.reload_every.max(SHORTEST_RELOAD)
    }

    /// clap checks such combinations on the command line, but not in environment variables.
    pub(super) fn tls_files(&self) -> Result<Option<TlsFiles>, ServerError> {
        match (&self.tls_cert, &self.tls_key, &self.client_ca) {
            (Some(cert), Some(key), _) => Ok(Some(TlsFiles::new(cert, key))),
            (None, None, None) => Ok(None),
            (None, None, Some(_)) => Err(ServerError::Settings(
                "a CA for clients needs TLS: set a certificate and its key too",
            )),
            _ => Err(ServerError::Settings(
                "TLS needs a certificate and its key: set both or none",
            )),
        }
    }
}
