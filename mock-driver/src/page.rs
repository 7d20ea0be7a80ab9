//! The page at `/`: what the cloud holds, the last webhook calls, and switches for what can go wrong.
//!
//! The server renders all of it, so it shows the state without a script, too. The script asks for the same
//! page again, and replaces the sections that differ. Everything comes from the binary.

mod azure;
mod calls;
mod chart;
mod differences;
mod load_balancers;
mod switches;
mod table;

use crate::cloud::Cloud;
use crate::differences::ClusterReader;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use maud::{DOCTYPE, Markup, html};
use std::sync::Arc;

/// Nothing is loaded from elsewhere, and no text of the page is run.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
     connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// An empty icon, so that no browser asks the driver for one.
const NO_ICON: &str = "data:,";

/// The page, and its style and script.
pub(crate) fn router(cloud: Cloud, cluster: Option<Arc<dyn ClusterReader>>) -> Router {
    let style = asset("text/css", include_str!("page/style.css"));
    let script = asset("text/javascript", include_str!("page/script.js"));
    Router::new()
        .route("/", get(show))
        .route("/_mock/page.css", get(style))
        .route("/_mock/page.js", get(script))
        .with_state(Shown { cloud, cluster })
}

#[derive(Clone)]
struct Shown {
    cloud: Cloud,
    cluster: Option<Arc<dyn ClusterReader>>,
}

async fn show(State(Shown { cloud, cluster }): State<Shown>) -> impl IntoResponse {
    let load_balancers = load_balancers::list(&cloud);
    let mut sections = vec![
        ("load-balancers", "Load balancers", load_balancers),
        ("requests", "Requests", chart::list(&cloud)),
    ];
    if let Some(cluster) = cluster {
        let differences = differences::show(&*cluster, &cloud);
        sections.push(("differences", "Cluster and cloud", differences));
    }
    sections.extend([
        ("switches", "Faults", switches::show(&cloud)),
        ("clock", "Clock", switches::clock(&cloud)),
        ("calls", "Webhook calls", calls::list(&cloud)),
    ]);
    let page = page(&sections);
    let headers = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(page.into_string()))
}

/// Sections by ID and title.
fn page(sections: &[(&str, &str, Markup)]) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "lbcf mock cloud" }
                link rel="icon" href=(NO_ICON);
                link rel="stylesheet" href="/_mock/page.css";
                script src="/_mock/page.js" defer {}
            }
            body {
                header {
                    h1 { "Mock cloud" }
                    nav aria-label="Sections" {
                        @for (id, title, _) in sections {
                            a href={ "#" (id) } { (title) }
                        }
                    }
                    p #connection role="status" { "Reload the page to see changes." }
                }
                main {
                    @for (id, title, content) in sections {
                        section aria-labelledby={ (id) "-title" } {
                            h2 #{ (id) "-title" } { (title) }
                            div #(id) { (content) }
                        }
                    }
                }
                footer { a href="/docs/" { "Documentation of the API" } }
            }
        }
    }
}

/// A text of the binary, which is its own response.
fn asset(
    content_type: &'static str,
    text: &'static str,
) -> ([(HeaderName, &'static str); 1], &'static str) {
    ([(header::CONTENT_TYPE, content_type)], text)
}
