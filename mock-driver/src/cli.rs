//! The mock as a command, for binaries that offer it: its flags, and serving until a signal.

use crate::cloud::Cloud;
use crate::{Middleware, MockError, MockOptions, MockServer};
use lbcf_serving::duration;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The port of the endpoints, where they are not beside the webhooks.
const ENDPOINTS_PORT: u16 = 8081;

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
}

impl From<&MockDriverArgs> for MockOptions {
    fn from(args: &MockDriverArgs) -> Self {
        Self {
            stage_duration: args.stage_duration,
            journal_size: args.journal_size,
            endpoints_listen: args.endpoints_listen.or_else(|| {
                let default = SocketAddr::from((Ipv4Addr::LOCALHOST, ENDPOINTS_PORT));
                (!args.listen.ip().is_loopback()).then_some(default)
            }),
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
}
