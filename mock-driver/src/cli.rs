//! The mock as a command, for binaries that offer it: its flags, and serving until a signal.

use crate::cloud::{Cloud, Traffic};
use crate::differences::ClusterReader;
use crate::error::MockError;
use crate::faults::{self, FaultPreset};
use crate::journal::{CallFollower, CallQuery};
use crate::middleware::Middleware;
use crate::options::MockOptions;
use crate::resources::Quotas;
use crate::server::MockServer;
use crate::traffic::TrafficOptions;
use lbcf_serving::{duration, flags, streams};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The port of the endpoints, where they are not beside the webhooks.
const ENDPOINTS_PORT: u16 = 8081;
/// The time of each stage of a creation, where neither a flag nor a preset sets it.
const STAGE_DURATION: Duration = Duration::from_millis(100);

/// Runs the mock cloud and its driver until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = flags::variables("LBCF_MOCK_"))]
pub struct MockDriverArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,

    /// Address of the page and of the endpoints under /_mock [default: that of --listen if it is a loopback
    /// address, as they have no password; otherwise 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR")]
    pub endpoints_listen: Option<SocketAddr>,

    /// Host name by which clients may call a loopback address, beside localhost and loopback addresses; a web
    /// page that calls by any other gets 403
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allow_host: Vec<String>,

    /// Which cloud: clb has a load balancer for each service, azure one for many, with public IPs and
    /// security groups
    #[arg(long, value_name = "NAME", default_value = "clb")]
    pub profile: Profile,

    /// Time that each stage of creating a load balancer takes, such as 500ms or 2s; 0 is at once
    /// [default: 100ms, or that of --preset]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub stage_duration: Option<Duration>,

    /// Number of calls that creating a load balancer takes, instead of a time
    #[arg(long, value_name = "CALLS", conflicts_with = "stage_duration")]
    pub creation_polls: Option<u32>,

    /// Create load balancers only when POST /_mock/creations/release says so
    #[arg(long, conflicts_with = "creation_polls")]
    pub hold_creations: bool,

    /// Fault rules and times of a whole character of cloud
    #[arg(long, value_name = "NAME")]
    pub preset: Option<FaultPreset>,

    /// File of fault rules, YAML or JSON, which come before those of --preset
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,

    /// Seed that decides which calls a fault with a share or jitter hits
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub fault_seed: u64,

    /// File with the state of the cloud at the start, as GET /_mock/state shows it, YAML or JSON
    #[arg(long, value_name = "FILE", conflicts_with = "empty")]
    pub seed_file: Option<PathBuf>,

    /// File in which the cloud is kept: it continues with what it has, and saves every change
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<PathBuf>,

    /// Number of load balancers that the cloud allows, those from the start included
    #[arg(long, value_name = "NUMBER")]
    pub max_load_balancers: Option<usize>,

    /// Number of backends that each load balancer allows
    #[arg(long, value_name = "NUMBER")]
    pub max_backends: Option<usize>,

    /// Number of calls of its API that the cloud allows in a second; azure counts those that write
    #[arg(long, value_name = "NUMBER")]
    pub max_calls_per_second: Option<u32>,

    /// Number of backends that the cloud allows in one call of its API
    #[arg(long, value_name = "NUMBER")]
    pub max_targets_per_call: Option<usize>,

    /// Number of backends that the driver puts into one call; 1 for single calls [default: 20, or 100 with
    /// azure]
    #[arg(long, value_name = "NUMBER")]
    pub batch_size: Option<usize>,

    /// Number of hooks that the driver starts in a second, of those that change something; below
    /// --max-calls-per-second, the cloud refuses none
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_hooks_per_second: Option<u32>,

    /// Print each webhook call with its bodies to standard output, as a line of JSON
    #[arg(long)]
    pub print_calls: bool,

    /// Number of webhook calls that /_mock/requests shows
    #[arg(long, value_name = "CALLS", default_value_t = MockOptions::default().journal_size)]
    pub journal_size: usize,

    /// Start without the load balancers that the sample manifests name
    #[arg(long)]
    pub empty: bool,

    /// Have load balancers listen, each on an address in 127.0.0.0/8, and forward to their backends;
    /// ports below 1024 get 8000 more
    #[arg(long)]
    pub traffic: bool,

    /// Time that connections and requests on a deregistered backend may take with --traffic, up to 24h
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "5s",
        value_parser = duration::parse_up_to_a_day
    )]
    pub drain_time: Duration,

    /// The cluster to compare with: see [`MockOptions::cluster`]. Not a flag, as the mock knows no Kubernetes.
    #[arg(skip)]
    pub cluster: Option<Arc<dyn ClusterReader>>,
}

/// A kind of cloud, with the driver for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// CLB instances with listeners and targets, one for each service.
    Clb,
    /// Load balancers that services share, with public IPs and security groups.
    Azure,
}

impl From<&MockDriverArgs> for MockOptions {
    fn from(args: &MockDriverArgs) -> Self {
        Self {
            stage_duration: args.stage_duration.unwrap_or_else(|| {
                let preset = args.preset.map(FaultPreset::stage_duration);
                preset.unwrap_or(STAGE_DURATION)
            }),
            creation_polls: args.creation_polls,
            hold_creations: args.hold_creations,
            batch_size: args.batch_size,
            max_hooks_per_second: args.max_hooks_per_second,
            journal_size: args.journal_size,
            endpoints_listen: args.endpoints_listen.or_else(|| {
                let default = SocketAddr::from((Ipv4Addr::LOCALHOST, ENDPOINTS_PORT));
                (!args.listen.ip().is_loopback()).then_some(default)
            }),
            allow_hosts: args.allow_host.clone(),
            cluster: args.cluster.clone(),
            ..Self::default()
        }
    }
}

impl From<&MockDriverArgs> for Quotas {
    fn from(args: &MockDriverArgs) -> Self {
        Self {
            load_balancers: args.max_load_balancers,
            backends: args.max_backends,
            calls_per_second: args.max_calls_per_second,
            targets_per_call: args.max_targets_per_call,
        }
    }
}

/// Serves until a signal or a crash of the driver. The URL is the first line on standard
/// output, written when connections are accepted; the only one without `--print-calls`.
///
/// # Errors
/// [`MockError`], when the rules are invalid, the server cannot listen or the URL cannot be written.
pub async fn run(args: MockDriverArgs, middleware: impl Middleware) -> Result<(), MockError> {
    let cloud = cloud(&args)?;
    let options = MockOptions::from(&args);
    let calls = CallFollower::new(cloud.call_log(), CallQuery::default());
    let _traffic = args.traffic.then(|| {
        let options = TrafficOptions {
            drain_time: args.drain_time,
            ..TrafficOptions::default()
        };
        Traffic::start(&cloud, options)
    });
    let server = MockServer::start_with(cloud, args.listen, options, middleware).await?;
    let stopped = lbcf_serving::signals::shutdown().map_err(MockError::Signals)?;
    streams::print(&format!("{}\n", server.url())).map_err(MockError::Output)?;
    let ended = tokio::select! {
        () = stopped => Ok(()),
        () = server.crashed() => Ok(()),
        failed = print_calls(calls), if args.print_calls => failed,
    };
    server.stop().await;
    ended
}

/// The cloud with the rules and quotas of the flags.
fn cloud(args: &MockDriverArgs) -> Result<Cloud, MockError> {
    let by_calls = args.hold_creations || args.creation_polls.is_some();
    if args.profile == Profile::Azure && (by_calls || args.traffic) {
        return Err(MockError::Profile(
            "--creation-polls, --hold-creations and --traffic",
        ));
    }
    let cloud = match &args.seed_file {
        Some(file) => Cloud::from_file(file).map_err(MockError::State)?,
        None if args.profile == Profile::Azure => Cloud::azure(),
        None if args.empty => Cloud::empty(),
        None => Cloud::with_samples(),
    };
    if let Some(file) = &args.state_file {
        cloud.keep_in_file(file).map_err(MockError::State)?;
    }
    if cloud.is_azure() != (args.profile == Profile::Azure) {
        let problem = "is not of a cloud with this --profile".to_owned();
        return Err(MockError::State(problem));
    }
    let file = args.faults.as_deref().map(faults::read_file).transpose()?;
    let preset = args.preset.map(FaultPreset::rules);
    let rules = file.into_iter().chain(preset).flatten().collect();
    let declared = cloud.faults().declare(rules, args.fault_seed);
    declared.map_err(MockError::Faults)?;
    cloud.set_quotas(args.into());
    Ok(cloud)
}

/// Prints each call, until standard output is closed.
async fn print_calls(mut calls: CallFollower) -> Result<(), MockError> {
    loop {
        let line = serde_json::to_string(&calls.next().await);
        match streams::write(&format!("{}\n", line.unwrap_or_default())) {
            Err(error) if streams::is_closed(&error) => return Ok(()),
            written => written.map_err(MockError::Output)?,
        }
    }
}

#[cfg(test)]
mod tests;
