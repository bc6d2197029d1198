//! `kubectl ds-doctor`: a shim around the library.
#![forbid(unsafe_code)]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    // A panic is a bug, here or in a library: its place is told, not its words, which may hold data.
    std::panic::set_hook(Box::new(|panic| {
        // What runs on the side is awaited, and who awaits it tells.
        if std::thread::current().name() != Some("tokio-rt-worker") {
            let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
            let _ = writeln!(io::stderr(), "error: this is a bug{place}; please report it, with the command that you ran");
        }
    }));
    let task = match ds_doctor::cli::parse(std::env::args_os()) {
        Ok(task) => task,
        Err(error) => {
            // Help and version are "errors" of clap that succeed.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let result = ds_doctor::run::run(task, &mut out).and_then(|code| Ok(out.flush().map(|()| code)?));
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", ds_doctor::source::failure::clean(&format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}

/// The reader of our output has seen enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|e| e.downcast_ref::<io::Error>()).any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
