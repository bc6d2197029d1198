//! The completion scripts in `completions/` are those that the command line of now gives.
//! `UPDATE_COMPLETIONS=1 cargo test --test completions` writes them.

use std::path::Path;

use clap_complete::{Shell, generate};

#[test]
fn scripts_are_those_of_the_command_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let scripts = [
        (Shell::Bash, "kubectl-ds_doctor.bash"),
        (Shell::Zsh, "_kubectl-ds_doctor"),
        (Shell::Fish, "kubectl-ds_doctor.fish"),
        (Shell::PowerShell, "kubectl-ds_doctor.ps1"),
    ];
    for (shell, name) in scripts {
        let mut script = Vec::new();
        generate(shell, &mut ds_doctor::cli::command(), "kubectl-ds_doctor", &mut script);
        let path = folder.join(name);
        if std::env::var_os("UPDATE_COMPLETIONS").is_some() {
            std::fs::write(&path, &script).unwrap();
        }
        let kept = std::fs::read(&path).unwrap_or_default();
        assert!(kept == script, "{name} is out of date: run UPDATE_COMPLETIONS=1 cargo test --test completions");
    }
}
