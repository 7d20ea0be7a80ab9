//! The differences between the cluster and the cloud, or why they are not known.

use super::table::{more, table};
use crate::cloud::Cloud;
use crate::differences::{self, ClusterReader, Difference, DifferenceKind};
use maud::{Markup, html};

/// The number of differences that the page shows; `/_mock/differences` has all.
const SHOWN: usize = 100;

pub(super) fn show(cluster: &dyn ClusterReader, cloud: &Cloud) -> Markup {
    let view = match cluster.read() {
        Ok(view) => view,
        Err(problem) => return html! { p .bad { "Cannot read the cluster: " (problem) } },
    };
    let differences = differences::differences(&view, &cloud.state());
    if differences.is_empty() {
        return html! {
            p {
                "Cluster and cloud agree about "
                (count(view.load_balancers.len(), "load balancer")) " and "
                (count(view.backends.len(), "backend")) "."
            }
        };
    }
    let rows = html! { @for difference in differences.iter().take(SHOWN) { (row(difference)) } };
    html! {
        (table(None, &["Difference", "Load balancer", "Backend"], &rows))
        (more(differences.len(), SHOWN, "/_mock/differences", "the list"))
    }
}

fn row(difference: &Difference) -> Markup {
    html! {
        tr {
            // First of all what it is, which a narrow window shows without scrolling.
            th scope="row" {
                span .bad { (text(difference.kind)) }
                @if let Some(object) = &difference.object { p { code { (object) } } }
                @if let Some(record_id) = &difference.record_id { p { "bound by " code { (record_id) } } }
                @for field in &difference.fields {
                    p {
                        (field.name) ": "
                        (value(field.cluster.as_deref())) " in the cluster, "
                        (value(field.cloud.as_deref())) " in the cloud"
                    }
                }
            }
            td {
                @for (index, value) in difference.lb_info.values().enumerate() {
                    @if index > 0 { " · " }
                    (value)
                }
            }
            td { @if let Some(address) = &difference.address { (address) } }
        }
    }
}

const fn text(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::LoadBalancerNotInCloud => "load balancer is not in the cloud",
        DifferenceKind::LoadBalancerNotInCluster => "load balancer is not in the cluster",
        DifferenceKind::AttributesDiffer => "attributes differ",
        DifferenceKind::BackendNotInCloud => "registered, but not in the cloud",
        DifferenceKind::BackendNotInCluster => "in the cloud, but no record names it",
        DifferenceKind::ParametersDiffer => "parameters differ",
    }
}

fn value(value: Option<&str>) -> Markup {
    html! {
        @match value {
            Some(value) => code { (value) },
            None => "none",
        }
    }
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
