//! The mock as a command, for binaries that offer it: its flags, and serving until a signal.

use crate::cloud::Cloud;
use crate::{Middleware, MockError, MockOptions, MockServer, Traffic, TrafficOptions};
use lbcf_serving::duration;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

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

    /// Time that each stage of creating a load balancer takes, such as 500ms or 2s; 0 is at once
    #[arg(
        long,
        env = "LBCF_MOCK_STAGE_DURATION",
        value_name = "DURATION",
        default_value = "100ms",
        value_parser = duration::parse
    )]
    pub stage_duration: Duration,

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
}

impl From<&MockDriverArgs> for MockOptions {
    fn from(args: &MockDriverArgs) -> Self {
        Self {
            stage_duration: args.stage_duration,
            journal_size: args.journal_size,
        }
    }
}

/// Serves until Ctrl-C, SIGTERM or a crash of the driver. The URL is the one line on standard
/// output, written when connections are accepted.
///
/// # Errors
/// [`MockError`], when the server cannot listen or the URL cannot be written.
pub async fn run(args: MockDriverArgs, middleware: impl Middleware) -> Result<(), MockError> {
    let cloud = if args.empty {
        Cloud::empty()
    } else {
        Cloud::with_samples()
    };
    let options = MockOptions::from(&args);
    let _traffic = args.traffic.then(|| {
        let options = TrafficOptions {
            drain_time: args.drain_time,
            ..TrafficOptions::default()
        };
        Traffic::start(&cloud, options)
    });
    let server = MockServer::start_with(cloud, args.listen, options, middleware).await?;
    let stopped = lbcf_serving::signals::shutdown().map_err(MockError::Signals)?;
    writeln!(std::io::stdout(), "{}", server.url()).map_err(MockError::Output)?;
    tokio::select! {
        () = stopped => {}
        () = server.crashed() => {}
    }
    server.stop().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(args.stage_duration, Duration::from_millis(100));
        assert_eq!(args.journal_size, 1000);
        assert!(!args.empty);
        assert!(!args.traffic);
        assert_eq!(args.drain_time, TrafficOptions::default().drain_time);
    }

    #[test]
    fn flags_reach_the_options() {
        let args = ["lbcf", "--stage-duration", "2s", "--journal-size", "7"];
        let options = MockOptions::from(&Command::parse_from(args).args);
        assert_eq!(options.stage_duration, Duration::from_secs(2));
        assert_eq!(options.journal_size, 7);
    }
}
