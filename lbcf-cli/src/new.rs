//! `lbcf new NAME`: a driver project that works from the start.
//!
//! The project is generated from `templates/`. All arguments are validated before anything is
//! written, and the project is written completely or not at all.

mod folder;
mod language;
mod name;
mod project;
mod sdk;

use crate::shell;
use clap::builder::RangedU64ValueParser;
use language::{Kind, Language};
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_serving::streams;
use name::Name;
pub(crate) use name::Namespace;
use project::Project;
use sdk::Sdk;
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_NEW_"))]
pub(crate) struct NewArgs {
    /// Name of the project, of its image and of its Service, such as demo-driver
    name: Name,

    /// Language of the driver
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    lang: Language,

    /// Stand-in that forwards connections until there is a real load balancer
    #[arg(long, value_enum, default_value_t = Kind::Memory)]
    kind: Kind,

    /// Folder to create; an existing one has to be empty [default: NAME in the current folder]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,

    /// Use lbcf-driver-sdk from this folder, for example in a checkout [default: the checkout that this program was
    /// built in, else the registry]
    #[arg(long, value_name = "DIR")]
    sdk_path: Option<PathBuf>,

    /// Port that the driver listens on
    // Lower ports need privileges.
    #[arg(long, value_name = "PORT", default_value_t = 8080,
        value_parser = RangedU64ValueParser::<u16>::new().range(1024..=65535))]
    port: u16,

    /// Namespace of the driver; in kube-system all namespaces may use it, elsewhere only its own
    #[arg(long, value_name = "NAMESPACE", default_value = SYSTEM_NAMESPACE)]
    namespace: Namespace,
}

pub(crate) fn run(args: NewArgs) -> Result<(), Box<dyn Error>> {
    let target = args
        .path
        .unwrap_or_else(|| PathBuf::from(args.name.as_str()));
    let target = folder::Target::check(&target)?;
    let sdk = match &args.sdk_path {
        Some(_) if args.lang != Language::Rust => {
            return Err("--sdk-path: only drivers in Rust have lbcf-driver-sdk".into());
        }
        Some(path) => Sdk::checkout(path, target.path())?,
        None => Sdk::beside_this_program(target.path()).unwrap_or_else(Sdk::registry),
    };
    let project = Project {
        driver: name::driver_object(&args.name, &args.namespace)?,
        name: args.name,
        namespace: args.namespace,
        port: args.port,
        language: args.lang,
        kind: args.kind,
        sdk,
    };
    target.write(&project.files())?;
    let summary = summary(&project, target.as_given());
    Ok(streams::print(&summary)?)
}

/// The files to fill in, and the commands to run next.
fn summary(project: &Project, folder: &Path) -> String {
    let folder = shell::quote(&folder.display().to_string());
    let (language, name) = (project.language, project.name.to_string());
    let sdk = match language {
        Language::Rust => project.sdk.note() + "\n",
        Language::Go | Language::Python | Language::Typescript => String::new(),
    };
    format!(
        "\
{folder}: a driver that works as it is, with a load balancer API in memory. Fill in:
{fill_in}
`grep -rn FILL-IN {folder}` lists every place; its README.md explains the rest.
{sdk}
Next:
  cd {folder} && {test}
  lbcf conformance run --exec '{command} --observe'
  lbcf dev --exec '{command} --forward' --apply deploy/30-driver.yaml --apply deploy/example
  curl http://127.0.0.1:8888/   # in another terminal: a pod responds, through the load balancer
",
        fill_in = language.to_fill_in(),
        test = language.test(&name),
        command = language.command(&name),
    )
}
