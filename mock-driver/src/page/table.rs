//! Tables of the page.

use maud::{Markup, Render, html};

/// The number of rows of one table that the page shows.
pub(super) const SHOWN: usize = 200;

/// A table that scrolls by itself where the window is narrow.
pub(super) fn table(caption: Option<&dyn Render>, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div .scroll {
            table {
                @if let Some(caption) = caption { caption { (caption) } }
                @if !heads.is_empty() {
                    thead { tr { @for head in heads { th { (head) } } } }
                }
                tbody { (rows) }
            }
        }
    }
}

/// The number of those that are not shown, and a link to the document with all.
pub(super) fn more(count: usize, shown: usize, path: &str, document: &str) -> Markup {
    html! {
        @if let Some(rest @ 1..) = count.checked_sub(shown) {
            p .about { "and " (rest) " more, in " a href=(path) { (document) } }
        }
    }
}
