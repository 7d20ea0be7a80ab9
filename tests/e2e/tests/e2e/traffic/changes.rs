//! Changes that users make every week, and outages meanwhile, with a cloud that takes its time: no request is lost.

mod outages;
mod owners;
mod rollouts;
mod scene;
mod selection;

use self::rollouts::First;
use self::scene::{Before, Scene};
use super::clients::{Clients, Counted};
use crate::concurrently::run_concurrently;
use clap::ValueEnum;
use kube::api::ListParams;
use kube::{Api, Client};
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_e2e::{World, is_exhaustive};
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

/// In the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Change {
    RollingUpdate,
    RollingUpdateWithoutSurge,
    DriverDownDuringRollingUpdate,
    ScaledDownAndUp,
    PodEvicted,
    NodeDrained,
    NodeLost,
    PodKilled,
    PodBlinks,
    AllPodsBlink,
    SelectorOfGroup,
    SelectorOfBind,
    SelectorOfService,
    SelectorOfClassService,
    SelectorAndWeight,
    SelectorWithoutRoom,
    Weight,
    PortRenamed,
    PortAddedAndFirstRemoved,
    TargetPort,
    OneNewPodRefused,
    GroupRenamed,
    GroupOfOtherWeight,
    GroupsSwap,
    GroupMoved,
    BindAndGroup,
    SourceOfBind,
    Attribute,
    SettingsOfClass,
    NamesAndControllerKilled,
    ControllerKilledAtRandom,
    LeaderChanged,
    DriverRestarted,
    CloudDown,
    ApiServerDown,
    AdmissionDown,
}

impl Change {
    const fn before(self) -> Before {
        match self {
            Self::NamesAndControllerKilled => Before::GroupByName,
            Self::GroupsSwap => Before::TwoGroups,
            Self::SelectorOfService | Self::PortRenamed => Before::GroupOfService,
            Self::SelectorOfBind | Self::SourceOfBind => Before::Bind,
            Self::BindAndGroup => Before::BindAndLoadBalancer,
            Self::SelectorOfClassService | Self::SettingsOfClass | Self::AdmissionDown => {
                Before::ClassService
            }
            _ => Before::Group,
        }
    }

    fn options(self) -> Options {
        let mut options = World::quick();
        match self {
            Self::OneNewPodRefused => options.replacement_timeout = Duration::from_secs(4),
            // It is what this is about.
            Self::PortRenamed => {}
            Self::AllPodsBlink => {
                options.readiness_brake = Options::default().readiness_brake / 10;
                options.driver_health_period = Some(Duration::from_millis(50));
            }
            // As the cloud at a tenth of scale, or else it hides how endpoints are replaced.
            _ => options.endpoint_grace_period = Duration::from_millis(300),
        }
        options
    }

    /// Makes the change, and waits until it is carried out.
    async fn make(self, scene: &mut Scene) {
        match self {
            Self::RollingUpdate => rollouts::rolling_update(scene, First::New).await,
            Self::RollingUpdateWithoutSurge => rollouts::rolling_update(scene, First::Old).await,
            Self::DriverDownDuringRollingUpdate => rollouts::driver_down_meanwhile(scene).await,
            Self::ScaledDownAndUp => rollouts::scaled_down_and_up(scene).await,
            Self::PodEvicted => rollouts::evicted(scene).await,
            Self::NodeDrained => rollouts::node_drained(scene).await,
            Self::NodeLost => rollouts::node_lost(scene).await,
            Self::PodKilled => rollouts::pod_killed(scene).await,
            Self::PodBlinks => rollouts::pod_blinks(scene).await,
            Self::AllPodsBlink => rollouts::all_pods_blink(scene).await,
            Self::SelectorOfGroup => selection::of_group(scene).await,
            Self::SelectorOfBind => selection::of_bind(scene).await,
            Self::SelectorOfService | Self::SelectorOfClassService => {
                selection::of_service(scene).await;
            }
            Self::SelectorAndWeight => selection::with_weight(scene).await,
            Self::SelectorWithoutRoom => selection::without_room(scene).await,
            Self::Weight => selection::weight(scene).await,
            Self::PortRenamed => selection::port_renamed(scene).await,
            Self::PortAddedAndFirstRemoved => selection::port_added_and_first_removed(scene).await,
            Self::TargetPort => selection::target_port(scene).await,
            Self::OneNewPodRefused => selection::one_new_pod_refused(scene).await,
            Self::GroupRenamed => owners::group_renamed(scene).await,
            Self::GroupOfOtherWeight => owners::group_of_other_weight(scene).await,
            Self::GroupsSwap => owners::groups_swap(scene).await,
            Self::GroupMoved => owners::group_moved(scene).await,
            Self::BindAndGroup => owners::bind_and_group(scene).await,
            Self::SourceOfBind => owners::source_of_bind(scene).await,
            Self::Attribute => owners::attribute(scene).await,
            Self::SettingsOfClass => owners::settings_of_class(scene).await,
            Self::NamesAndControllerKilled => outages::names_and_controller_killed(scene).await,
            Self::ControllerKilledAtRandom => outages::controller_killed_at_random(scene).await,
            Self::LeaderChanged => outages::leader_changed(scene).await,
            Self::DriverRestarted => outages::driver_restarted(scene).await,
            Self::CloudDown => outages::cloud_down(scene).await,
            Self::ApiServerDown => outages::api_server_down(scene).await,
            Self::AdmissionDown => outages::admission_down(scene).await,
        }
    }
}

async fn requests_during((change, seed): (Change, u64)) -> (Change, Counted) {
    let mut scene = Scene::start(change.before(), seed, change.options()).await;
    let paths = [
        ["/"; 3].as_slice(),
        &["/slow?ms=100"; 3],
        &["/slow?ms=200"; 3],
        &["/slow?ms=300"; 2],
        &["/slow?ms=500"; 2],
    ];
    let clients = Clients::start(&scene.world, &paths.concat(), Duration::from_millis(20));
    scene.excused.clone_from(&clients.excused);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let stuck = show_if_stuck(scene.world.client());
    tokio::select! {
        () = change.make(&mut scene) => {}
        () = stuck => {}
    }
    scene.one_call().await;
    let counted = clients.stop().await;
    if let Some(failure) = counted.failures.first() {
        let _ = writeln!(std::io::stderr(), "{change:?}, seed {seed}: {failure}");
    }
    (change, counted)
}

/// Shows what a change waits for that takes longer than any bound of the controller's, and never ends.
async fn show_if_stuck(client: Client) {
    tokio::time::sleep(Duration::from_secs(300)).await;
    let records = Api::<BackendRecord>::all(client.clone());
    let groups = Api::<BackendGroup>::all(client);
    let all = ListParams::default();
    let records = serde_json::to_string(&records.list(&all).await.unwrap().items);
    let groups = serde_json::to_string(&groups.list(&all).await.unwrap().items);
    let _ = writeln!(std::io::stderr(), "stuck: {records:?} {groups:?}");
    std::future::pending::<()>().await;
}

/// A row for each change, and one for all.
fn table(results: &[(Change, Counted)]) -> String {
    let mut table = "\
| change | seeds | requests | lost | longest time without a target, ms |
|---|---:|---:|---:|---:|
"
    .to_owned();
    let mut add = |name: &str, counted: Vec<&Counted>| {
        let requests: usize = counted.iter().map(|it| it.requests()).sum();
        let lost: usize = counted.iter().map(|it| it.failures.len()).sum();
        let gap = counted.iter().map(|it| it.longest_gap.as_millis()).max();
        let (seeds, gap) = (counted.len(), gap.unwrap_or_default());
        let _ = writeln!(table, "| {name} | {seeds} | {requests} | {lost} | {gap} |");
    };
    for change in Change::value_variants() {
        let of_change = results.iter().filter(|(it, _)| it == change);
        let counted: Vec<&Counted> = of_change.map(|(_, counted)| counted).collect();
        if !counted.is_empty() {
            add(&format!("{change:?}"), counted);
        }
    }
    add("all", results.iter().map(|(_, counted)| counted).collect());
    table
}

/// One seed, or with `LBCF_EXHAUSTIVE` five; SEEDS=20 for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_exhaustive_no_change_loses_a_request() {
    if lbcf_e2e::needs_embedded("pods that answer") {
        return;
    }
    let seeds = match std::env::var("SEEDS") {
        Ok(seeds) => seeds.parse().expect("SEEDS is a number"),
        Err(_) if is_exhaustive() => 5,
        Err(_) => 1,
    };
    // For one who works on some: CHANGES=PortRenamed,GroupsSwap
    let only = std::env::var("CHANGES").unwrap_or_default();
    let wanted = |it: &Change| only.is_empty() || only.split(',').any(|id| id == format!("{it:?}"));
    let changes = Change::value_variants().iter().copied().filter(wanted);
    let cases = changes.flat_map(|it| (1..=seeds).map(move |seed| (it, seed)));
    let results = run_concurrently(cases, requests_during).await;
    let _ = writeln!(std::io::stderr(), "{}", table(&results));
    let lost = results.iter().filter(|(_, it)| !it.failures.is_empty());
    let lost: Vec<Change> = lost.map(|(change, _)| *change).collect();
    assert!(lost.is_empty(), "requests were lost: {lost:?}");
}
