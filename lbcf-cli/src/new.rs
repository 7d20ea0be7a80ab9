//! `lbcf new NAME`: a driver project that works from the start.
//!
//! The project is made of the files in `templates/driver/`. Everything that can be wrong is looked
//! at before anything is written, and what is written appears whole or not at all.

mod folder;
mod name;
mod project;
mod sdk;

use clap::builder::RangedU64ValueParser;
use name::{Name, Namespace};
use project::Project;
use sdk::Sdk;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What kind of project, and where.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct NewArgs {
    /// Name of the project, of its image and of its Service, such as demo-driver
    name: Name,

    /// Folder to make, which must not be there or be empty [default: NAME, in this folder]
    #[arg(long, env = "LBCF_NEW_PATH", value_name = "DIR")]
    path: Option<PathBuf>,

    /// Take lbcf-driver-sdk from this folder, such as one in a checkout, instead of the registry
    #[arg(long, env = "LBCF_NEW_SDK_PATH", value_name = "DIR")]
    sdk_path: Option<PathBuf>,

    /// Port that the driver listens on
    // Those below are not for a process without privileges.
    #[arg(long, env = "LBCF_NEW_PORT", value_name = "PORT", default_value_t = 8080,
        value_parser = RangedU64ValueParser::<u16>::new().range(1024..=65535))]
    port: u16,

    /// Namespace that the driver runs in; in kube-system it is for all, elsewhere for its own
    #[arg(
        long,
        env = "LBCF_NEW_NAMESPACE",
        value_name = "NAMESPACE",
        default_value = "kube-system"
    )]
    namespace: Namespace,
}

pub(crate) fn run(args: NewArgs) -> Result<(), Box<dyn Error>> {
    let target = args
        .path
        .unwrap_or_else(|| PathBuf::from(args.name.as_str()));
    let target = folder::Target::check(&target)?;
    let sdk = match &args.sdk_path {
        Some(path) => Sdk::checkout(path, target.path())?,
        None => Sdk::registry(),
    };
    let project = Project {
        driver: name::driver_object(&args.name, &args.namespace)?,
        name: args.name,
        namespace: args.namespace,
        port: args.port,
        sdk,
    };
    target.write(&project.files())?;
    let told = said(&project, target.as_given());
    Ok(std::io::stdout().write_all(told.as_bytes())?)
}

/// What was made, and what to do with it.
fn said(project: &Project, folder: &Path) -> String {
    let folder = sdk::quoted(&folder.display().to_string());
    let url = format!("http://127.0.0.1:{}", project.port);
    format!(
        "\
{folder}: a driver that works, against a load balancer's API in its memory. Yours to fill in:
  src/fields.rs   the fields that users write, as types
  src/driver.rs   what to do, in five functions
  src/cloud.rs    the way to your load balancer's API
`grep -rn FILL-IN {folder}` shows every place; README.md there tells the rest.

Next:
  cd {folder} && cargo test
  cargo run{listen}
  lbcf demo --once --driver-url {url}   # in another terminal
",
        listen = project.listen_flag(),
    )
}
