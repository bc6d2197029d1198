//! `kubectl ds-doctor`: a shim around the library.
#![forbid(unsafe_code)]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// The stack of the main thread on Linux and macOS unless `ulimit -s` says otherwise; Windows gives an eighth.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    // A panic is a bug, here or in a library: its place is told, not its words, which may hold data.
    std::panic::set_hook(Box::new(|panic| {
        // What runs on the side is awaited, and who awaits it tells.
        if std::thread::current().name() != Some("tokio-rt-worker") {
            let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
            let _ = writeln!(io::stderr(), "error: this is a bug{place}; please report it, with the command that you ran");
        }
    }));
    // On a stack of its own the depth of what can be read does not depend on where it is run.
    match std::thread::Builder::new().stack_size(STACK).spawn(answer) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
        Err(_) => answer(),
    }
}

fn answer() -> ExitCode {
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
