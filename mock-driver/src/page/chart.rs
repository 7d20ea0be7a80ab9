//! The last two minutes of each load balancer: a row for each target, with a bar for each second and a sign for
//! each change. Rows have names and signs have shapes, so that nothing depends on colors.

use super::calls::time_of_day;
use super::switches;
use crate::cloud::Cloud;
use crate::traffic::{NOT_SERVED, SECONDS, TargetHistory, Timeline};
use jiff::Timestamp;
use maud::{Markup, html};
use std::fmt::Write as _;

/// The most charts.
const CHARTS: usize = 20;
/// The most rows of a chart; those of targets that have changed come first.
const ROWS: usize = 12;
/// The most characters of a name beside its row.
const NAME: usize = 24;
/// The seconds between two times on the axis.
const TICK: i64 = 30;
/// Lengths in the units of the picture: the names, a second, a row, and the longest bar.
const NAMES: i64 = 190;
const SECOND: i64 = 6;
const ROW: i64 = 40;
const BAR: u64 = 20;

pub(super) fn list(cloud: &Cloud) -> Markup {
    let Some(plane) = cloud.data_plane().clone() else {
        return html! { p { "The load balancers do not listen. With --traffic those of the profile clb do, and get requests here." } };
    };
    let now = Timestamp::now().as_second();
    let timelines = plane.timelines(now - SECONDS + 1);
    let has_some = |row: &TargetHistory| !row.changes.is_empty() || !row.seconds.is_empty();
    let timelines = timelines.iter().filter(|(_, it)| it.values().any(has_some));
    html! {
        (switches::load(&plane))
        @for (id, timeline) in timelines.take(CHARTS) {
            article { h3 { (id) } (chart(timeline, now)) }
        }
    }
}

fn chart(timeline: &Timeline, now: i64) -> Markup {
    let mut rows = Vec::from_iter(timeline);
    rows.sort_by_key(|(name, row)| row.changes.is_empty() && *name != NOT_SERVED);
    rows.truncate(ROWS);
    let counts = rows.iter().flat_map(|(_, row)| row.seconds.values());
    let most = counts.flatten().copied().max().unwrap_or(1).max(1);
    let x = |second: i64| NAMES + SECOND * (SECONDS - now + second);
    let bottom = rows.iter().fold(0, |sum, _| sum + ROW);
    html! {
        div .scroll {
            svg viewBox={ "0 0 " (x(now + 6)) " " (bottom + 20) } role="img" {
                title { "Requests by target in the last two minutes" }
                desc { @for (name, row) in &rows { (name) ": " (in_words(row)) ". " } }
                @for second in (now - SECONDS..=now).filter(|second| second % TICK == 0) {
                    path .grid d={ "M" (x(second)) " 0V" (bottom) } {}
                    text x=(x(second)) y=(bottom + 15) text-anchor="middle" { (clock(second)) }
                }
                @for (base, (name, row)) in (ROW - 12..).step_by(ROW as usize).zip(&rows) {
                    text x="0" y=(base) { (name.chars().take(NAME).collect::<String>()) }
                    path .grid d={ "M" (NAMES) " " (base) "H" (x(now)) } {}
                    path .served d=(bars(row, 0, x, base, most)) {}
                    path .failed d=(bars(row, 1, x, base, most)) {}
                    @for (second, words) in &row.changes {
                        @let x = x(*second);
                        path .change d={ "M" (x) " " (base - 15) "V" (base + 10) } {}
                        text x=(x) y=(base - 17) text-anchor="middle" { (words.chars().take(1).collect::<String>()) }
                    }
                }
            }
        }
        p .about { "Bars upwards: served in that second, at most " (most) ". Bars downwards: failed." }
        ul {
            @for (name, row) in rows.iter().filter(|(_, row)| !row.changes.is_empty()) {
                li { strong { (name) } " " (in_words(row)) }
            }
        }
    }
}

/// The changes of a row, and its requests in all.
fn in_words(row: &TargetHistory) -> Markup {
    let sum = |what: usize| row.seconds.values().map(|it| it[what]).sum::<u64>();
    let last = row.seconds.iter().rfind(|(_, counts)| counts[0] > 0);
    html! {
        @for (second, words) in &row.changes { (words) " at " (clock(*second)) ", " }
        (sum(0)) " served, "
        @if let Some((second, _)) = last { "the last at " (clock(*second)) ", " }
        (sum(1)) " failed"
    }
}

/// A path with a bar for each second, upwards for 0, which were served, and half as long downwards for 1, which
/// failed. Of what is not zero, something can be seen.
fn bars(row: &TargetHistory, what: usize, x: impl Fn(i64) -> i64, base: i64, most: u64) -> String {
    let mut path = String::new();
    let (sign, longest) = [("-", BAR), ("", BAR / 2)][what];
    for (second, counts) in row.seconds.iter().filter(|(_, counts)| counts[what] > 0) {
        let length = (counts[what] * longest).div_ceil(most);
        let _ = write!(path, "M{} {base}v{sign}{length}", x(*second));
    }
    path
}

fn clock(second: i64) -> String {
    let time = Timestamp::from_second(second).unwrap_or_default();
    time_of_day(&time.to_string()).to_owned()
}
