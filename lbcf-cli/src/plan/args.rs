//! The command.

use super::rehearsal::rehearse;
use super::text::text;
use crate::drivers::CalledDrivers;
use crate::inspect::UserArgs;
use crate::manifests::{Manifest, apply_any, parse, read_all};
use kube::api::DynamicObject;
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_inspect::{Cluster, Scope};
use lbcf_serving::streams;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Show what applying manifests would do, webhook by webhook, without doing it
///
///   lbcf plan -f web.yaml      lbcf plan -k overlays/test
///
/// Rehearses it with a copy of the objects that you may read. Nothing is written, and drivers are
/// asked for validations, addresses and verdicts, and for dry runs if they accept them. One that
/// does not respond from here is assumed to succeed. Pods that workloads in the manifests would
/// start or end are not foreseen. The exit code is 0 if no driver would be called, 1 if one would
/// be, and 2 for errors, for manifests that would be refused, and where you may not read all that
/// the plan depends on.
#[derive(Debug, Clone, clap::Args)]
#[command(verbatim_doc_comment, mut_args = lbcf_serving::flags::variables("LBCF_PLAN_"))]
#[command(group = clap::ArgGroup::new("manifests").required(true))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    user: UserArgs,

    /// File or folder of manifests; may be given several times
    #[arg(
        short,
        long,
        value_name = "PATH",
        value_delimiter = ',',
        group = "manifests"
    )]
    filename: Vec<PathBuf>,

    /// Folder of a kustomization, which kubectl reads
    #[arg(short, long, value_name = "DIR", group = "manifests")]
    kustomize: Option<PathBuf>,

    #[command(flatten)]
    drivers: CalledDrivers,
}

pub(crate) async fn run(args: PlanArgs) -> Result<ExitCode, Box<dyn Error>> {
    let manifests = match &args.kustomize {
        Some(folder) => kustomized(folder)?,
        None => read_all(&args.filename).map_err(|problem| format!("--filename {problem}"))?,
    };
    let drivers = args.drivers.open()?;
    let (client, namespace) = args.user.client().await?;
    let scope = args.user.scope(&namespace);
    let cluster = Cluster::read(&client, &scope).await?;
    let objects = manifests.iter().map(|it| {
        let mut object = it.object.clone();
        let own = &mut object.metadata.namespace;
        own.get_or_insert_with(|| namespace.clone());
        object
    });
    let objects: Vec<_> = objects.collect();
    let change = async |client| {
        let (mut refused, mut notes) = (Vec::new(), Vec::new());
        for manifest in &manifests {
            let object = &manifest.object;
            if WORKLOADS.contains(&manifest.kind()) {
                notes.push(format!(
                    "{manifest}: pods that it starts or ends are not foreseen"
                ));
                continue;
            }
            match apply_any(&client, object, &namespace).await {
                Ok(()) => {}
                // Most likely it is of a kind that only the user's cluster has.
                Err(error) if error.may_pass => {
                    notes.push(format!("not rehearsed: {}", error.problem));
                }
                Err(error) => refused.push(error.problem),
            }
        }
        (refused, notes)
    };
    let rehearsed = rehearse(&cluster, &objects, &drivers, change).await?;
    let (mut plan, (refused, notes)) = rehearsed;
    plan.notes.extend(notes);
    if scope != Scope::All {
        plan.notes.extend(not_read(&objects, &namespace));
    }
    streams::print(&text(&plan, &refused))?;
    let is_whole = refused.is_empty() && cluster.unseen.is_empty();
    Ok(match (is_whole, plan.calls.is_empty()) {
        (false, _) => ExitCode::from(2),
        (true, is_empty) => ExitCode::from(u8::from(!is_empty)),
    })
}

/// Kinds whose controllers are not those of the cluster in a rehearsal.
const WORKLOADS: [&str; 6] = [
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
];

/// The namespaces of manifests that a user who asked about one namespace does not get a whole plan for.
fn not_read(objects: &[DynamicObject], namespace: &str) -> Vec<String> {
    let others = objects
        .iter()
        .filter_map(|it| it.metadata.namespace.as_deref());
    let others: BTreeSet<_> = others
        .filter(|it| ![namespace, SYSTEM_NAMESPACE].contains(it))
        .collect();
    let note = |other| format!("what namespace {other} has already is not read (-A reads all)");
    others.into_iter().map(note).collect()
}

fn kustomized(folder: &Path) -> Result<Vec<Manifest>, Box<dyn Error>> {
    let mut kubectl = Command::new("kubectl");
    let output = kubectl.arg("kustomize").arg(folder).output();
    let output = output.map_err(|error| format!("--kustomize: kubectl is needed: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("--kustomize {}: {}", folder.display(), errors.trim()).into());
    }
    let name = folder.display().to_string();
    Ok(parse(&name, String::from_utf8(output.stdout)?)?)
}
