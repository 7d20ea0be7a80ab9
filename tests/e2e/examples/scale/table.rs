//! The figures of several measurements side by side.

use std::collections::BTreeMap;

/// The figures of one number of pods, in the order in which they were measured.
#[derive(Default)]
pub(crate) struct Figures(Vec<(&'static str, f64, &'static str)>);

impl Figures {
    pub(crate) fn add(&mut self, name: &'static str, value: f64, unit: &'static str) {
        self.0.push((name, value, unit));
    }
}

/// Prints a row for each figure and a column for each measurement; then the last as a multiple of the first.
pub(crate) fn print(columns: &[(String, Figures)]) {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (_, figures) in columns {
        for (name, value, unit) in &figures.0 {
            let known = values.entry(name).or_default();
            if known.is_empty() {
                rows.push((name, unit));
            }
            known.push(*value);
        }
    }
    print!("{:<52}", "pods");
    for (pods, _) in columns {
        print!("{pods:>12}");
    }
    println!("{:>10}", "last/first");
    for (name, unit) in rows {
        print!("{:<52}", format!("{name} ({unit})"));
        let values = &values[name];
        for value in values {
            print!("{:>12}", rounded(*value));
        }
        match (values.first(), values.last()) {
            (Some(first), Some(last)) if *first > 0.0 && values.len() > 1 => {
                println!("{:>9.2}x", last / first);
            }
            _ => println!(),
        }
    }
}

/// Three significant digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
