//! `lbcf conformance init`: writes a first fixture.
//!
//! It probes a running driver, and adds its responses as suggestions in comments. The file works
//! unchanged for any driver.

mod probe;
mod schema;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use probe::{EmptySpec, Findings, ProbeResult, Url};
pub use schema::{Field, Maps};
pub use write::InitError;

use crate::fixture::placeholders::DriverAddress;
use crate::output::word;
use crate::transport::{Transport, without_user};
use std::path::{Path, PathBuf};

/// The default name of a fixture.
pub const FILE: &str = "conformance.yaml";

/// The supported CI systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Ci {
    /// GitHub Actions: writes a workflow
    Github,
    /// GitLab CI: prints a job for .gitlab-ci.yml
    Gitlab,
}

/// The path of the workflow below the folder.
const WORKFLOW: &str = ".github/workflows/lbcf-conformance.yml";

/// The workflow for GitHub, with lines to fill in.
const GITHUB: &str = include_str!("init/templates/github.yaml");

/// The job for GitLab.
const GITLAB: &str = include_str!("init/templates/gitlab.yaml");

/// The files to write.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_INIT_"))]
pub struct InitArgs {
    /// Folder for conformance.yaml; created if it does not exist
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,

    /// URL of a running driver, to probe for suggestions in the file
    // The URL may contain a password, and help texts show the values of variables.
    #[arg(long, env = "LBCF_CONFORMANCE_URL", value_name = "URL")]
    #[arg(hide_env_values = true)]
    pub url: Option<String>,

    /// Overwrite files that exist already
    #[arg(long)]
    pub force: bool,

    /// Also write a workflow for GitHub, or print a job for GitLab
    #[arg(long, value_name = "CI")]
    pub ci: Option<Ci>,
}

/// Probes the driver if a URL is given, writes the files and returns a message for the user.
/// `connect` creates a transport to a URL. The files are also written when the driver cannot be
/// reached.
///
/// ```
/// use lbcf_conformance::init::{self, InitArgs};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), init::InitError> {
/// # let dir = std::env::temp_dir().join(format!("lbcf-init-doc-{}", std::process::id()));
/// let args = InitArgs { dir: dir.clone(), url: None, force: false, ci: None };
/// let message = init::run(&args, |_url| Err("no network".into())).await?;
/// assert!(message.contains("lbcf conformance run"));
/// assert!(dir.join(init::FILE).exists());
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`InitError`] with the file. Nothing is written if one of the files exists.
pub async fn run(
    args: &InitArgs,
    connect: impl Fn(&str) -> Result<Transport, String>,
) -> Result<String, InitError> {
    let path = args.dir.join(FILE);
    let workflow = (args.ci == Some(Ci::Github)).then(|| args.dir.join(WORKFLOW));
    write::check(&path, args.force)?;
    if let Some(workflow) = &workflow {
        write::check(workflow, args.force)?;
    }
    let findings = match &args.url {
        Some(url) => find(url, connect).await,
        None => Findings::default(),
    };
    write::write(&path, &text::fixture(&findings), args.force)?;
    if let Some(workflow) = &workflow {
        write::write(workflow, GITHUB, args.force)?;
    }
    Ok(message(&findings, &path, workflow.as_deref(), args.ci))
}

async fn find(url: &str, connect: impl Fn(&str) -> Result<Transport, String>) -> Findings {
    let found = match connect(url) {
        Ok(driver) => {
            let root = root_of(url).and_then(|root| connect(&root).ok());
            probe::probe(&driver, root.as_ref()).await
        }
        Err(problem) => Findings {
            result: ProbeResult::Unreachable(schema::one_line(&problem, 500)),
            ..Findings::default()
        },
    };
    Findings {
        url: written(url),
        ..found
    }
}

/// The URL without user and password; `None`, unless it is valid.
fn written(url: &str) -> Option<Url> {
    DriverAddress::of(url)?;
    if url.contains(['{', '}']) {
        return None;
    }
    let shown = without_user(url);
    let is_cut = shown.len() < url.len();
    Some(Url { shown, is_cut })
}

/// The URL without its path; `None`, if it has no path.
fn root_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#'])?;
    let (authority, path) = rest.split_at(end);
    let has_path = path.starts_with('/') && !path.trim_start_matches('/').is_empty();
    has_path.then(|| format!("{scheme}://{authority}"))
}

/// The written files, and the next commands.
fn message(findings: &Findings, path: &Path, workflow: Option<&Path>, ci: Option<Ci>) -> String {
    let written = [path].into_iter().chain(workflow);
    let written = written.map(|path| format!("{}: written\n", path.display()));
    let written: String = written.collect();
    let probe = about_probe(findings);
    let fixture = word(&path.display().to_string());
    let url = findings.url.as_ref().map(|url| word(&url.shown));
    let url = url.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
    let ci = match ci {
        None => "--ci github or --ci gitlab helps with CI.\n".to_owned(),
        Some(Ci::Github) => "In the workflow, replace the lines after FILL-IN.\n".to_owned(),
        Some(Ci::Gitlab) => format!("\n{GITLAB}"),
    };
    format!(
        "{written}{probe}
Next:
  lbcf conformance run --url {url} --fixture {fixture}
  or let the kit start the driver:
  lbcf conformance run --exec './driver --port {{port}}' --fixture {fixture}
The file works unchanged; the end of a run lists the skipped checks, and what they need.
{ci}"
    )
}

fn about_probe(findings: &Findings) -> String {
    let about = about_result(&findings.result);
    match findings.optional.join(" and ") {
        none if none.is_empty() => about,
        webhooks => format!("{about}It has {webhooks}, which `features` names.\n"),
    }
}

fn about_result(result: &ProbeResult) -> String {
    match result {
        ProbeResult::NotProbed => {
            "No driver was probed; pass a running one with --url.\n".to_owned()
        }
        ProbeResult::Unreachable(why) => format!(
            "The driver could not be probed, so the file has no suggestions for it: {why}\n"
        ),
        ProbeResult::Probed {
            empty_spec,
            has_document,
        } => {
            let document = match has_document {
                true => "The file contains the descriptions of fields in its openapi.json.\n",
                false => "",
            };
            match empty_spec {
                EmptySpec::Accepted => format!("The driver accepts an empty lbSpec.\n{document}"),
                EmptySpec::Rejected(message) => format!(
                    "The driver rejects an empty lbSpec, so fill in loadBalancer.valid; its \
                     message: {message}\n{document}"
                ),
                EmptySpec::Invalid(problem) => format!(
                    "The driver's response to validateLoadBalancer is invalid: {problem}\n{document}"
                ),
            }
        }
    }
}
