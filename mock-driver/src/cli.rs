//! The mock as a command, for binaries that offer it: its flags, and serving until a signal.

use crate::cloud::{Cloud, Quotas};
use crate::faults::{self, FaultPreset};
use crate::journal::{CallFollower, CallQuery};
use crate::{
    ClusterReader, Middleware, MockError, MockOptions, MockServer, Traffic, TrafficOptions,
};
use lbcf_serving::duration;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The port of the endpoints, where they are not beside the webhooks.
const ENDPOINTS_PORT: u16 = 8081;
/// How long each stage of a creation takes, where neither a flag nor a preset says so.
const STAGE_DURATION: Duration = Duration::from_millis(100);

/// Runs the mock cloud and its driver until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub struct MockDriverArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(
        long,
        env = "LBCF_MOCK_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,

    /// Address of the page and of the endpoints under /_mock [default: that of --listen if it is a loopback
    /// address, as they have no password; otherwise 127.0.0.1:8081]
    #[arg(long, env = "LBCF_MOCK_ENDPOINTS_LISTEN", value_name = "ADDR")]
    pub endpoints_listen: Option<SocketAddr>,

    /// Which cloud: clb has a load balancer for each service, azure one for many, with public IPs and
    /// security groups
    #[arg(
        long,
        env = "LBCF_MOCK_PROFILE",
        value_name = "NAME",
        default_value = "clb"
    )]
    pub profile: Profile,

    /// Time that each stage of creating a load balancer takes, such as 500ms or 2s; 0 is at once
    /// [default: 100ms, or that of --preset]
    #[arg(
        long,
        env = "LBCF_MOCK_STAGE_DURATION",
        value_name = "DURATION",
        value_parser = duration::parse
    )]
    pub stage_duration: Option<Duration>,

    /// Number of calls that creating a load balancer takes, instead of a time
    #[arg(
        long,
        env = "LBCF_MOCK_CREATION_POLLS",
        value_name = "CALLS",
        conflicts_with = "stage_duration"
    )]
    pub creation_polls: Option<u32>,

    /// Create load balancers only when POST /_mock/creations/release says so
    #[arg(
        long,
        env = "LBCF_MOCK_HOLD_CREATIONS",
        conflicts_with = "creation_polls"
    )]
    pub hold_creations: bool,

    /// Fault rules and times of a whole character of cloud
    #[arg(long, env = "LBCF_MOCK_PRESET", value_name = "NAME")]
    pub preset: Option<FaultPreset>,

    /// File of fault rules, YAML or JSON, which come before those of --preset
    #[arg(long, env = "LBCF_MOCK_FAULTS", value_name = "FILE")]
    pub faults: Option<PathBuf>,

    /// Seed that decides which calls a fault with a share or jitter hits
    #[arg(
        long,
        env = "LBCF_MOCK_FAULT_SEED",
        value_name = "NUMBER",
        default_value_t = 0
    )]
    pub fault_seed: u64,

    /// File with the state of the cloud at the start, as GET /_mock/state shows it, YAML or JSON
    #[arg(
        long,
        env = "LBCF_MOCK_SEED_FILE",
        value_name = "FILE",
        conflicts_with = "empty"
    )]
    pub seed_file: Option<PathBuf>,

    /// File in which the cloud is kept: it continues with what it has, and saves every change
    #[arg(long, env = "LBCF_MOCK_STATE_FILE", value_name = "FILE")]
    pub state_file: Option<PathBuf>,

    /// Number of load balancers that the cloud allows, those from the start included
    #[arg(long, env = "LBCF_MOCK_MAX_LOAD_BALANCERS", value_name = "NUMBER")]
    pub max_load_balancers: Option<usize>,

    /// Number of backends that each load balancer allows
    #[arg(long, env = "LBCF_MOCK_MAX_BACKENDS", value_name = "NUMBER")]
    pub max_backends: Option<usize>,

    /// Number of calls of its API that the cloud allows in a second
    #[arg(long, env = "LBCF_MOCK_MAX_CALLS_PER_SECOND", value_name = "NUMBER")]
    pub max_calls_per_second: Option<u32>,

    /// Print each webhook call with its bodies to standard output, as a line of JSON
    #[arg(long, env = "LBCF_MOCK_PRINT_CALLS")]
    pub print_calls: bool,

    /// Number of webhook calls that /_mock/requests shows
    #[arg(
        long,
        env = "LBCF_MOCK_JOURNAL_SIZE",
        value_name = "CALLS",
        default_value_t = MockOptions::default().journal_size
    )]
    pub journal_size: usize,

    /// Start without the load balancers that the sample manifests name
    #[arg(long, env = "LBCF_MOCK_EMPTY")]
    pub empty: bool,

    /// Have load balancers listen, each on an address in 127.0.0.0/8, and forward to their backends;
    /// ports below 1024 get 8000 more
    #[arg(long, env = "LBCF_MOCK_TRAFFIC")]
    pub traffic: bool,

    /// Time that connections and requests on a deregistered backend may take with --traffic, up to 24h
    #[arg(
        long,
        env = "LBCF_MOCK_DRAIN_TIME",
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
            journal_size: args.journal_size,
            endpoints_listen: args.endpoints_listen.or_else(|| {
                let default = SocketAddr::from((Ipv4Addr::LOCALHOST, ENDPOINTS_PORT));
                (!args.listen.ip().is_loopback()).then_some(default)
            }),
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
        }
    }
}

/// Serves until Ctrl-C, SIGTERM or a crash of the driver. The URL is the first line on standard
/// output, written when connections are accepted; the only one without `--print-calls`.
///
/// # Errors
/// [`MockError`], when the rules are invalid, the server cannot listen or the URL cannot be written.
pub async fn run(args: MockDriverArgs, middleware: impl Middleware) -> Result<(), MockError> {
    let cloud = cloud(&args)?;
    let options = MockOptions::from(&args);
    let calls = CallFollower::new(cloud.clone(), CallQuery::default());
    let _traffic = args.traffic.then(|| {
        let options = TrafficOptions {
            drain_time: args.drain_time,
            ..TrafficOptions::default()
        };
        Traffic::start(&cloud, options)
    });
    let server = MockServer::start_with(cloud, args.listen, options, middleware).await?;
    let stopped = lbcf_serving::signals::shutdown().map_err(MockError::Signals)?;
    print(&server.url())?;
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
        print(&line.unwrap_or_default())?;
    }
}

fn print(line: &str) -> Result<(), MockError> {
    writeln!(std::io::stdout(), "{line}").map_err(MockError::Output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreationPace, FaultAction};
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: MockDriverArgs,
    }

    #[test]
    fn flags_have_defaults() {
        let args = Command::parse_from(["lbcf"]).args;
        assert_eq!(args.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(args.journal_size, 1000);
        assert!(!args.empty);
        assert!(!args.traffic);
        assert_eq!(args.drain_time, TrafficOptions::default().drain_time);
        let options = MockOptions::from(&args);
        assert_eq!(options.creation(), Duration::from_millis(100).into());
        assert_eq!(Quotas::from(&args), Quotas::default());
        let cloud = cloud(&args).unwrap();
        assert_eq!((cloud.faults().list().len(), cloud.faults().seed()), (0, 0));
    }

    #[test]
    fn endpoints_without_a_password_are_on_loopback() {
        let endpoints = |flags: &[&str]| {
            let args = Command::parse_from([&["lbcf"], flags].concat()).args;
            let addr = MockOptions::from(&args).endpoints_listen;
            addr.map(|addr| addr.to_string())
        };
        assert_eq!(endpoints(&[]), None);
        assert_eq!(endpoints(&["--listen", "[::1]:80"]), None);
        let elsewhere = ["--listen", "0.0.0.0:80"];
        assert_eq!(endpoints(&elsewhere).as_deref(), Some("127.0.0.1:8081"));
        let chosen = ["--endpoints-listen", "10.0.0.1:90"];
        let chosen = endpoints(&[elsewhere, chosen].concat());
        assert_eq!(chosen.as_deref(), Some("10.0.0.1:90"));
    }

    #[test]
    fn flags_reach_the_options() {
        let args = ["lbcf", "--stage-duration", "2s", "--journal-size", "7"];
        let options = MockOptions::from(&Command::parse_from(args).args);
        assert_eq!(options.stage_duration, Duration::from_secs(2));
        assert_eq!(options.journal_size, 7);
    }

    fn parsed(flags: &[&str]) -> MockDriverArgs {
        Command::parse_from([&["lbcf"], flags].concat()).args
    }

    #[test]
    fn creations_take_a_time_or_calls_or_are_held() {
        let pace = |flags: &[&str]| MockOptions::from(&parsed(flags)).creation();
        assert_eq!(pace(&["--creation-polls=3"]), CreationPace::Polls(3));
        assert_eq!(pace(&["--hold-creations"]), CreationPace::Held);
        assert_eq!(pace(&["--preset=fast"]), Duration::ZERO.into());
        let both = ["--preset=realistic", "--stage-duration=5s"];
        assert_eq!(pace(&both), Duration::from_secs(5).into());
    }

    #[test]
    fn quotas_reach_the_cloud() {
        let flags = [
            "--max-load-balancers=1",
            "--max-backends=2",
            "--max-calls-per-second=3",
        ];
        let quotas = Quotas {
            load_balancers: Some(1),
            backends: Some(2),
            calls_per_second: Some(3),
        };
        assert_eq!(Quotas::from(&parsed(&flags)), quotas);
    }

    #[test]
    fn rules_of_a_file_come_before_those_of_the_preset() {
        let folder = std::env::temp_dir().join(format!("lbcf-mock-faults-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("faults.yaml");
        let with_file = || {
            let flag = format!("--faults={}", file.display());
            cloud(&parsed(&[&flag, "--preset=chaos", "--fault-seed=7"]))
        };
        let missing = with_file().unwrap_err().to_string();
        assert!(missing.contains("faults.yaml: "), "{missing}");
        let rules =
            "- match: {webhook: ensureBackend, times: 2}\n  action: loseAnswer\n- action: hang\n";
        std::fs::write(&file, rules).unwrap();
        let cloud = with_file().unwrap();
        let listed = cloud.faults().list();
        assert_eq!(listed.len(), 2 + FaultPreset::Chaos.rules().len());
        assert_eq!(
            (&listed[1].rule.action, cloud.faults().seed()),
            (&FaultAction::Hang, 7)
        );
        for (text, expected) in [
            (
                "- action: hung",
                "faults.yaml: rules[0].action: unknown variant `hung`",
            ),
            ("rules: [", "faults.yaml: not YAML: "),
            ("", "faults.yaml: "),
            (
                "- {action: hang, match: {webhok: x}}",
                "did you mean webhook?",
            ),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = with_file().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        std::fs::write(&file, " ".repeat(2 << 20)).unwrap();
        let error = with_file().unwrap_err().to_string();
        assert!(error.contains("has more than 1048576 bytes"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_cloud_begins_with_its_seed_and_continues_with_its_file() {
        let folder = std::env::temp_dir().join(format!("lbcf-mock-seed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [seed, kept] = ["seed.yaml", "state.json"].map(|name| folder.join(name));
        let flag = |name: &str, path: &std::path::Path| format!("--{name}={}", path.display());
        let flags = [flag("seed-file", &seed), flag("state-file", &kept)];
        let start = || cloud(&parsed(&[&flags[0], &flags[1]]));
        let missing = start().unwrap_err().to_string();
        assert!(
            missing.contains("seed.yaml: there is no such file"),
            "{missing}"
        );
        std::fs::write(&seed, "loadBalancers:\n- id: lb-7\n").unwrap();
        let ids = |cloud: &Cloud| {
            cloud
                .state()
                .load_balancers
                .into_iter()
                .map(|it| it.id)
                .collect::<Vec<_>>()
        };
        let first = start().unwrap();
        assert_eq!(ids(&first), ["lb-7"]);
        assert!(first.reset_load_balancer("lb-7"));
        let empty = serde_json::from_str(r#"{"loadBalancers": []}"#).unwrap();
        first.restore(&empty).unwrap();
        let next = start().unwrap();
        assert_eq!(ids(&next), [""; 0], "it continues");
        next.reset();
        assert_eq!(ids(&next), ["lb-7"], "a reset returns to the seed");
        std::fs::write(&kept, "{").unwrap();
        let damaged = start().unwrap_err().to_string();
        assert!(
            damaged.contains("state: ") && damaged.contains("state.json: not JSON"),
            "{damaged}"
        );
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn wrong_flags_are_refused() {
        for flags in [
            ["--creation-polls=-1"].as_slice(),
            &["--stage-duration=soon"],
            &["--creation-polls=1", "--stage-duration=1s"],
            &["--creation-polls=1", "--hold-creations"],
            &["--preset=wild"],
            &["--empty", "--seed-file=x"],
            &["--fault-seed=x"],
            &["--max-load-balancers=-1"],
            &["--max-backends=many"],
            &["--max-calls-per-second=1.5"],
        ] {
            let parsed = Command::try_parse_from([&["lbcf"], flags].concat());
            assert_eq!(parsed.err().unwrap().exit_code(), 2, "{flags:?}");
        }
    }
}
