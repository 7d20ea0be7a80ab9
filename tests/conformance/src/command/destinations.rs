//! Where reports go.

use super::Stop;
use super::run_args::RunArgs;
use crate::output::{Format, Output};
use std::path::Path;

/// Every report to write. One for people goes to standard output, unless another does, or people's
/// goes elsewhere.
pub(super) fn of(args: &RunArgs) -> Result<Vec<Output>, Stop> {
    let mut outputs = Vec::new();
    if let Some(format) = args.format {
        outputs.push(Output { format, path: None });
    }
    outputs.extend(args.outputs.iter().cloned());
    outputs.extend(args.report.clone().map(|path| Output {
        format: Format::Yaml,
        path: Some(path),
    }));
    for (index, output) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..index].iter().find(|o| o.path == output.path) {
            return Err(Stop::usage(format!(
                "{} and {} both go to {}: give each a file of its own",
                other.format,
                output.format,
                place(output)
            )));
        }
        if let Some(path) = &output.path {
            is_in_a_folder(path, output)?;
        }
    }
    let is_taken = |output: &Output| output.path.is_none() || output.format == Format::Human;
    if !outputs.iter().any(is_taken) {
        outputs.insert(
            0,
            Output {
                format: Format::Human,
                path: None,
            },
        );
    }
    Ok(outputs)
}

/// What cannot be written at the end is said before anything is done.
fn is_in_a_folder(path: &Path, output: &Output) -> Result<(), Stop> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(Stop::usage(format!("{output}: that is a folder")));
    }
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Stop::usage(format!(
            "{output}: there is no folder {folder}"
        )));
    }
    Ok(())
}

fn place(output: &Output) -> String {
    match &output.path {
        Some(path) => path.display().to_string(),
        None => "standard output".to_owned(),
    }
}
