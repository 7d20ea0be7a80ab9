//! Writes a manual page for `lbcf` and one for each subcommand: `cargo run -p lbcf-cli --example man_pages -- FOLDER`.

use std::io;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1);
    let folder = folder.ok_or_else(|| io::Error::other("name the folder of the pages"))?;
    clap_mangen::generate_to(lbcf_cli::command(), folder)
}
