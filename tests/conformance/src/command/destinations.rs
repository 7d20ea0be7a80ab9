//! The destinations of reports.

use super::console::CommandError;
use super::run_args::RunArgs;
use crate::output::{Format, Output};
use std::path::Path;

/// All reports to write. The human-readable report is written to standard output, unless another one
/// is, or it has another destination.
pub(super) fn of(args: &RunArgs) -> Result<Vec<Output>, CommandError> {
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
            return Err(CommandError::usage(format!(
                "{} and {} both go to {}: use a different file for each",
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

/// Reports a wrong path before the run starts.
fn is_in_a_folder(path: &Path, output: &Output) -> Result<(), CommandError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(CommandError::usage(format!("{output}: this is a folder")));
    }
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(CommandError::usage(format!(
            "{output}: the folder {folder} does not exist"
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
