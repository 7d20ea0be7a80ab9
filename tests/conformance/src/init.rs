//! `lbcf conformance init`: a fixture to begin with, and what to do with it.
//!
//! A driver that runs is looked at first; what it tells becomes suggestions, in comments. The
//! file works as it is, for any driver.

mod ci;
mod findings;
mod look;
mod schema;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use ci::Ci;
pub use findings::{EmptySpec, Findings, Seen, Url};
pub use look::Ask;
pub use schema::{Field, Maps};
pub use write::InitError;

use crate::fixture::places::DriverAddress;
use std::path::PathBuf;
use write::ToWrite;

/// The name of a fixture's file, as `init` writes it.
pub const FILE: &str = "lbcf-conformance.yaml";

/// What is to be written, and where.
#[derive(Debug, Clone, clap::Args)]
pub struct InitArgs {
    /// Folder for lbcf-conformance.yaml; it is made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,

    /// URL of a driver that runs, to be looked at for what the file suggests
    // It may have a password, and help texts show variables' values.
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    pub url: Option<String>,

    /// Write over files that are there
    #[arg(long, env = "LBCF_CONFORMANCE_INIT_FORCE")]
    pub force: bool,

    /// Also write a workflow for GitHub, or print a job for GitLab
    #[arg(long, env = "LBCF_CONFORMANCE_INIT_CI", value_name = "CI")]
    pub ci: Option<Ci>,
}

/// Looks at the driver, if a URL is given, writes the files and gives what to tell people.
/// `connect` makes a way to a URL; a driver that cannot be reached is told in one line, and the
/// files are written all the same.
///
/// ```
/// use lbcf_conformance::init::{self, InitArgs};
/// # use lbcf_conformance::transport::Transport;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), init::InitError> {
/// # let dir = std::env::temp_dir().join(format!("lbcf-init-doc-{}", std::process::id()));
/// let args = InitArgs { dir: dir.clone(), url: None, force: false, ci: None };
/// let told = init::run(&args, |_url| Err::<Transport, _>("no network in here".into())).await?;
/// assert!(told.contains("lbcf conformance run"));
/// assert!(dir.join(init::FILE).exists());
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`InitError`], which names the file. Nothing is written if one of the files is there already.
pub async fn run<A: Ask>(
    args: &InitArgs,
    connect: impl Fn(&str) -> Result<A, String>,
) -> Result<String, InitError> {
    let path = args.dir.join(FILE);
    let workflow = args.dir.join(ci::WORKFLOW);
    write::check(&path, args.force)?;
    if args.ci == Some(Ci::Github) {
        write::check(&workflow, args.force)?;
    }
    let findings = match &args.url {
        Some(url) => find(url, connect).await,
        None => Findings::default(),
    };
    let mut files = vec![ToWrite {
        path,
        text: text::fixture(&findings),
    }];
    if args.ci == Some(Ci::Github) {
        files.push(ToWrite {
            path: workflow,
            text: ci::GITHUB.to_owned(),
        });
    }
    for file in &files {
        write::write(file, args.force)?;
    }
    let paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    Ok(told(&findings, &paths, args.ci))
}

async fn find<A: Ask>(url: &str, connect: impl Fn(&str) -> Result<A, String>) -> Findings {
    let found = match connect(url) {
        Ok(driver) => {
            let root = root_of(url).and_then(|root| connect(&root).ok());
            look::look(&driver, root.as_ref()).await
        }
        Err(problem) => Findings {
            seen: Seen::Away(schema::one_line(&problem, 500)),
            ..Findings::default()
        },
    };
    Findings {
        url: written(url),
        ..found
    }
}

/// The URL without user and password; nothing, if it is none.
fn written(url: &str) -> Option<Url> {
    DriverAddress::of(url)?;
    if url.contains(['{', '}']) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    Some(Url {
        shown: format!("{scheme}://{host}{path}"),
        is_cut: host.len() < authority.len(),
    })
}

/// The same server without a path; nothing, if there is none.
fn root_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#'])?;
    let (authority, path) = rest.split_at(end);
    let has_path = path.starts_with('/') && !path.trim_start_matches('/').is_empty();
    has_path.then(|| format!("{scheme}://{authority}"))
}

/// What was done, and what to do next.
fn told(findings: &Findings, paths: &[PathBuf], ci: Option<Ci>) -> String {
    let mut told = String::new();
    for path in paths {
        told.push_str(&format!("{}: written\n", path.display()));
    }
    let fixture = paths
        .first()
        .map(|path| word(&path.display().to_string()))
        .unwrap_or_default();
    let url = match &findings.url {
        Some(url) => format!(" --url {}", word(&url.shown)),
        None => " --url http://127.0.0.1:8080".to_owned(),
    };
    told.push_str(&match &findings.seen {
        Seen::NotAsked => "No driver was looked at; --url names one that runs.\n".to_owned(),
        Seen::Away(why) => format!(
            "The driver could not be looked at, so the file suggests nothing of its own: {why}\n"
        ),
        Seen::There {
            empty_spec,
            has_document,
        } => {
            let spec = match empty_spec {
                EmptySpec::Accepted => "The driver takes an empty lbSpec.\n".to_owned(),
                EmptySpec::Refused(message) => format!(
                    "The driver refuses an empty lbSpec, so fill in loadBalancer.valid; it said: \
                     {message}\n"
                ),
                EmptySpec::NoVerdict(problem) => {
                    format!("The driver gave no proper answer to validateLoadBalancer: {problem}\n")
                }
            };
            let document = if *has_document {
                "What its openapi.json says of fields stands in the file.\n"
            } else {
                ""
            };
            format!("{spec}{document}")
        }
    });
    told.push_str(&format!(
        "
Next:
  lbcf conformance run{url} --fixture {fixture}
  or let it start the driver itself:
  lbcf conformance run --exec './driver --port {{port}}' --fixture {fixture}
The file works as it is; what was skipped, and what would add it, is said at the end of a run.
"
    ));
    match ci {
        None => told.push_str("--ci github or --ci gitlab helps with CI.\n"),
        Some(Ci::Github) => {
            told.push_str("In the workflow, grep for FILL-IN: what only you can know.\n");
        }
        Some(Ci::Gitlab) => {
            told.push('\n');
            told.push_str(ci::GITLAB);
        }
    }
    told
}

/// A text as one word for a shell.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
