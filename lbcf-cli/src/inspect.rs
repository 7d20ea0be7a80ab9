//! `lbcf check`, `lbcf why`, `lbcf tree`, `lbcf pause` and `lbcf resume`: what stops an object, what a load balancer has, and stopping on purpose.

use clap::ValueEnum;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use lbcf_controller::api::{BackendGroup, Bind, LoadBalancer};
use lbcf_controller::cli::without_needless_proxy;
use lbcf_controller::names::{ANNOTATION_PAUSED, resolve};
use lbcf_inspect::{Cluster, Kind, ObjectRef, Scope, check, tree, why};
use lbcf_serving::streams;
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The interval at which `--watch` reads the cluster.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// The cluster, and the part of it, that a command is about.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Cluster", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub(crate) struct UserArgs {
    /// Kubeconfig of the cluster [default: the one that kubectl uses]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Namespace of the objects [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Look at all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
}

impl UserArgs {
    /// The client, and the namespace of names without one.
    pub(crate) async fn client(&self) -> Result<(Client, String), Box<dyn Error>> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = match (&self.kubeconfig, &self.context) {
            (Some(path), _) => {
                let kubeconfig = Kubeconfig::read_from(path)?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await?
            }
            (None, Some(_)) => Config::from_kubeconfig(&options).await?,
            (None, None) => Config::infer().await?,
        };
        let config = without_needless_proxy(config);
        let namespace = self.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        Ok((Client::try_from(config)?, namespace))
    }

    pub(crate) fn scope(&self, namespace: &str) -> Scope {
        match self.all_namespaces {
            true => Scope::All,
            false => Scope::Namespace(namespace.to_owned()),
        }
    }
}

/// A format of results.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Output {
    /// Paragraphs for reading
    #[default]
    Text,
    /// One JSON document for programs
    Json,
}

/// Explain what stops an object from being as declared: the first cause first, with a line that helps
///
///   lbcf why bg/web            lbcf why pod/web-1 -n shop
///   lbcf why svc/web           lbcf why -A
///
/// Reads the cluster and changes nothing. The exit code is 0 if nothing is found, 1 if something is, and 2 for
/// errors. What the user may not see is named.
#[derive(Debug, Clone, clap::Args)]
#[command(verbatim_doc_comment, mut_args = lbcf_serving::flags::variables("LBCF_WHY_"))]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    user: UserArgs,

    /// Object, such as bg/web, lb/web, svc/web, pod/web-1 or node/a [default: all that are not as declared]
    #[arg(value_name = "KIND/NAME")]
    object: Option<String>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Output,
}

pub(crate) async fn run_why(args: WhyArgs) -> Result<ExitCode, Box<dyn Error>> {
    let (client, namespace) = args.user.client().await?;
    let object = args
        .object
        .as_deref()
        .map(|text| ObjectRef::parse(text, &namespace));
    let object = object.transpose()?;
    let cluster = Cluster::read(&client, &args.user.scope(&namespace)).await?;
    let chains = match &object {
        Some(object) => why::why(&cluster, object),
        None => why::everything(&cluster),
    };
    let text = match args.output {
        Output::Json => format!("{:#}\n", why::json(&chains, &cluster.unseen)),
        Output::Text if chains.is_empty() => {
            let about = object.map_or_else(|| "everything".to_owned(), |it| it.to_string());
            format!(
                "{about}: nothing is found that stops it\n{}",
                why::text(&chains, &cluster.unseen)
            )
        }
        Output::Text => why::text(&chains, &cluster.unseen),
    };
    streams::print(&text)?;
    Ok(ExitCode::from(u8::from(!chains.is_empty())))
}

/// Show load balancers with their owners and backends: addresses, states, parameters, ages
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_TREE_"))]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    user: UserArgs,

    /// LoadBalancer or Bind [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Show it again whenever it changes
    #[arg(short, long)]
    watch: bool,
}

pub(crate) async fn run_tree(args: TreeArgs) -> Result<ExitCode, Box<dyn Error>> {
    let (client, namespace) = args.user.client().await?;
    let only = args.name.as_deref().map(|name| resolve(&namespace, name));
    let mut shown = String::new();
    loop {
        let cluster = Cluster::read(&client, &args.user.scope(&namespace)).await?;
        let mut text = tree(&cluster, only.as_ref());
        for unseen in &cluster.unseen {
            text.push_str(&format!("not seen: {}: {}\n", unseen.what, unseen.why));
        }
        if text.is_empty() {
            text.push_str("no load balancers\n");
        }
        if text != shown {
            let space = if shown.is_empty() { "" } else { "\n" };
            streams::print(&format!("{space}{text}"))?;
            shown = text;
        }
        if !args.watch {
            return Ok(ExitCode::SUCCESS);
        }
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
}

/// Keep the controller from calling drivers for a LoadBalancer, BackendGroup or Bind and its backends
///
/// Sets the annotation lbcf.tkestack.io/paused. What is registered stays so; what would have to change waits, with the
/// reason Paused.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_PAUSE_"))]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    user: UserArgs,

    /// Object, such as bg/web, lb/web or bind/web
    #[arg(value_name = "KIND/NAME")]
    object: String,
}

pub(crate) async fn run_pause(args: PauseArgs, pause: bool) -> Result<ExitCode, Box<dyn Error>> {
    let (client, namespace) = args.user.client().await?;
    let object = ObjectRef::parse(&args.object, &namespace)?;
    let resource = match object.kind {
        Kind::LoadBalancer => ApiResource::erase::<LoadBalancer>(&()),
        Kind::BackendGroup => ApiResource::erase::<BackendGroup>(&()),
        Kind::Bind => ApiResource::erase::<Bind>(&()),
        kind => {
            return Err(
                format!("{kind}: only a LoadBalancer, BackendGroup or Bind is paused").into(),
            );
        }
    };
    let objects: Api<DynamicObject> =
        Api::namespaced_with(client, &object.key.namespace, &resource);
    let value = pause.then_some("true");
    let patch = json!({"metadata": {"annotations": {ANNOTATION_PAUSED: value}}});
    let patch = Patch::Merge(&patch);
    objects
        .patch(&object.key.name, &PatchParams::default(), &patch)
        .await?;
    streams::print(&format!(
        "{object} {}\n",
        if pause { "paused" } else { "resumed" }
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Check the installation: CRDs, admission and its certificates, the controller, and each driver
///
/// Asks admission to admit a driver in a dry run, which stores nothing; else it only reads. The exit code is 0 if all
/// that can be seen works, 1 if something does not, with a line that helps, and 2 for errors.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CHECK_"))]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    user: UserArgs,
}

pub(crate) async fn run_check(args: CheckArgs) -> Result<ExitCode, Box<dyn Error>> {
    let (client, namespace) = args.user.client().await?;
    let parts = check::check(&client, &args.user.scope(&namespace)).await?;
    streams::print(&check::text(&parts))?;
    let is_broken = parts
        .iter()
        .any(|it| matches!(it.state, check::State::Broken(..)));
    Ok(ExitCode::from(u8::from(is_broken)))
}
