//! Writes a manual page for `lbcf` and one for each subcommand: `cargo run -p lbcf-cli --example man_pages -- FOLDER`.

use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: man_pages FOLDER");
        return Ok(ExitCode::from(2));
    };
    clap_mangen::generate_to(lbcf_cli::command(), folder)?;
    Ok(ExitCode::SUCCESS)
}
