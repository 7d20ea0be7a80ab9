//! The mock as a command: its flags, and what it does until it is told to end. Whichever binary
//! has the command calls this.

mod duration;

use crate::cloud::Cloud;
use crate::{Defect, MockError, MockOptions, MockServer};
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

    /// Misbehave on purpose in this way, to test what judges drivers; may be given several times
    #[arg(
        long = "defect",
        env = "LBCF_MOCK_DEFECT",
        value_name = "ID",
        value_delimiter = ','
    )]
    pub defects: Vec<Defect>,

    /// List the defects and the conformance checks that find them, and end
    #[arg(long, env = "LBCF_MOCK_LIST_DEFECTS")]
    pub list_defects: bool,
}

impl From<&MockDriverArgs> for MockOptions {
    fn from(args: &MockDriverArgs) -> Self {
        Self {
            stage_duration: args.stage_duration,
            journal_size: args.journal_size,
            defects: args.defects.clone(),
            ..Self::default()
        }
    }
}

/// Serves until Ctrl-C or SIGTERM, or until a defect has killed it. The URL is the one line on
/// standard output, written when connections are accepted.
///
/// # Errors
/// [`MockError`], when the address cannot be had or the URL cannot be written.
pub async fn run(args: MockDriverArgs) -> Result<(), MockError> {
    if args.list_defects {
        return list_defects(&mut std::io::stdout().lock()).map_err(MockError::Output);
    }
    let cloud = if args.empty {
        Cloud::empty()
    } else {
        Cloud::with_samples()
    };
    let options = MockOptions::from(&args);
    let server = MockServer::start(cloud, args.listen, options).await?;
    let stopped = until_told_to_end()?;
    writeln!(std::io::stdout(), "{}", server.url()).map_err(MockError::Output)?;
    tokio::select! {
        () = stopped => {}
        () = server.died() => {}
    }
    server.stop().await;
    Ok(())
}

/// One line each: its id, what is wrong, and which checks find it.
fn list_defects(out: &mut impl std::io::Write) -> std::io::Result<()> {
    let ids = Defect::ALL.iter().map(|defect| defect.id().len());
    let width = ids.max().unwrap_or_default();
    for defect in Defect::ALL {
        let (id, checks) = (defect.id(), defect.found_by().join(" "));
        writeln!(out, "{id:width$}  {} [{checks}]", defect.about())?;
    }
    Ok(())
}

/// Listens from the call on, so that no signal is lost before somebody waits.
#[cfg(unix)]
fn until_told_to_end() -> Result<impl Future<Output = ()>, MockError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).map_err(MockError::Signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(MockError::Signals)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn until_told_to_end() -> Result<impl Future<Output = ()>, MockError> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
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
    fn defects_are_named_by_flags_and_unknown_ones_refused() {
        let args = [
            "lbcf",
            "--defect",
            "http-201",
            "--defect",
            "addr-random,null-500",
        ];
        let options = MockOptions::from(&Command::parse_from(args).args);
        assert_eq!(
            options.defects,
            [Defect::Http201, Defect::AddrRandom, Defect::Null500]
        );
        let error = Command::try_parse_from(["lbcf", "--defect", "adr-random"]);
        let error = error.err().unwrap();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("addr-random"), "{error}");
        assert!(error.to_string().contains("--list-defects"), "{error}");
    }

    #[test]
    fn the_list_has_a_line_for_each_defect() {
        let mut list = Vec::new();
        list_defects(&mut list).unwrap();
        let list = String::from_utf8(list).unwrap();
        assert_eq!(list.lines().count(), Defect::ALL.len());
        assert!(list.contains("\nhttp-201 "), "{list}");
        assert!(list.contains(" [WIRE-01]\n"), "{list}");
    }

    #[test]
    fn flags_reach_the_options() {
        let args = ["lbcf", "--stage-duration", "2s", "--journal-size", "7"];
        let options = MockOptions::from(&Command::parse_from(args).args);
        assert_eq!(options.stage_duration, Duration::from_secs(2));
        assert_eq!(options.journal_size, 7);
    }
}
