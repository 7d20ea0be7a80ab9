//! `lbcf`: see the library's front page.

/// That of musl takes half as much processor time again.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    lbcf_cli::main()
}
