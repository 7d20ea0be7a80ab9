//! `lbcf diff`: the backends that are declared against those that drivers list.

use crate::drivers::{CalledDrivers, Drivers};
use crate::inspect::UserArgs;
use lbcf_controller::names::resolve;
use lbcf_driver_sdk::webhook::{
    HealthzResponse, ListBackends, ListedBackend, Status, StringMap, Webhook,
};
use lbcf_inspect::diff::{LoadBalancer, load_balancers};
use lbcf_inspect::{Cluster, push_line};
use lbcf_serving::streams;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep};

/// The time that a driver has to list a load balancer's backends.
const PATIENCE: Duration = Duration::from_secs(60);
/// The backends of a page, and the most of all pages.
const PAGE: i32 = 500;
const MOST: usize = 100_000;

/// Show where the cloud differs from what is declared: backends that are missing, left over, or other
///
/// Asks each driver by its webhook listBackends, and changes nothing. The exit code is 0 if nothing differs, 1 if
/// something does, and 2 for errors and for load balancers that could not be compared.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_DIFF_"))]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    user: UserArgs,

    /// LoadBalancer or Bind [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    drivers: CalledDrivers,
}

pub(crate) async fn run(args: DiffArgs) -> Result<ExitCode, Box<dyn Error>> {
    let drivers = args.drivers.open()?;
    let (client, namespace) = args.user.client().await?;
    let cluster = Cluster::read(&client, &args.user.scope(&namespace)).await?;
    let only = args.name.as_deref().map(|name| resolve(&namespace, name));
    let found = load_balancers(&cluster, only.as_ref());
    if found.is_empty() && (only.is_some() || !cluster.unseen.is_empty()) {
        let unseen = cluster.unseen.first();
        let unseen = unseen.map(|it| format!("; not seen: {}: {}", it.what, it.why));
        let name = args.name.unwrap_or_else(|| "all".to_owned());
        return Err(format!(
            "{name}: no load balancer exists{}",
            unseen.unwrap_or_default()
        )
        .into());
    }
    let (mut text, mut code) = (String::new(), 0);
    for lb in found {
        let lines = match compare(&lb, &drivers).await {
            Ok(lines) if lines.is_empty() => vec!["no difference".to_owned()],
            Ok(lines) => {
                code = code.max(1);
                lines
            }
            Err(why) => {
                code = 2;
                vec![format!("not compared: {why}")]
            }
        };
        push_line(&mut text, &lb.name);
        for line in lines {
            push_line(&mut text, &format!("  {line}"));
        }
    }
    for unseen in &cluster.unseen {
        push_line(
            &mut text,
            &format!("not seen: {}: {}", unseen.what, unseen.why),
        );
    }
    if text.is_empty() {
        text.push_str("no load balancers\n");
    }
    streams::print(&text)?;
    Ok(ExitCode::from(code))
}

/// The differences of a load balancer to what its driver lists.
///
/// # Errors
/// The reason why there is no list, or why it could not be compared.
pub async fn compare(lb: &LoadBalancer<'_>, drivers: &Drivers) -> Result<Vec<String>, String> {
    let listed = list(lb, drivers).await?;
    Ok(lb.differences(&listed))
}

async fn list(lb: &LoadBalancer<'_>, drivers: &Drivers) -> Result<Vec<ListedBackend>, String> {
    if !lb.is_whole {
        return Err("backends of other namespaces are not read (-A)".to_owned());
    }
    let (key, driver) = lb.driver.as_ref().ok_or("its driver cannot be seen")?;
    let webhooks = driver.list("/spec/webhooks").iter();
    if !webhooks
        .clone()
        .any(|it| it["name"] == <ListBackends>::INFO.name)
    {
        return Err(format!(
            "LoadBalancerDriver {key} does not name listBackends in spec.webhooks"
        ));
    }
    let client = drivers.client(key, driver.text("/spec/url"));
    let client = client.map_err(|error| error.to_string())?;
    let has_pages = driver
        .texts("/status/features")
        .contains(&HealthzResponse::PAGES);
    // Another one for each listing: the result of an earlier one would be outdated.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let number = since.unwrap_or_default().as_nanos();
    let lb_info: Vec<_> = lb.lb_info.clone().into_iter().collect();
    let mut request = ListBackends {
        record_id: format!("listBackends(diff-{number})"),
        lb_info: StringMap::from_iter(lb_info),
        limit: if has_pages { PAGE } else { 0 },
        ..ListBackends::default()
    };
    let (deadline, mut listed) = (Instant::now() + PATIENCE, Vec::new());
    while Instant::now() < deadline && listed.len() < MOST {
        let response = client.call_within(&request, PATIENCE).await;
        let response = response.map_err(|error| format!("LoadBalancerDriver {key}: {error}"))?;
        match response.status {
            Status::Succ => {
                listed.extend(response.backends);
                if response.continue_token.is_empty() || !has_pages {
                    return Ok(listed);
                }
                request.continue_token = response.continue_token;
            }
            Status::Running => sleep(Duration::from_secs(1)).await,
            Status::Fail => {
                return Err(format!("LoadBalancerDriver {key}: {}", response.msg));
            }
        }
    }
    Err(format!(
        "LoadBalancerDriver {key} did not list all within {} s",
        PATIENCE.as_secs()
    ))
}
