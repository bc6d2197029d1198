//! Files of which a kubeconfig or a flag names the path and that are read whole: none may be without end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No kubeconfig, certificate, key or token is longer.
const LONGEST: u64 = 16 << 20;

/// Nothing if the file can be read whole, or cannot be read at all, which its reader tells.
///
/// # Errors
/// If it is larger than 16 MiB, or a device that gives anything (`/dev/null` is an empty file).
pub fn check(path: &Path) -> io::Result<()> {
    let Ok(about) = std::fs::metadata(path) else { return Ok(()) };
    if about.len() > LONGEST {
        return Err(io::Error::other("is larger than 16 MiB"));
    }
    if !(about.is_file() || about.is_dir() || is_pipe(&about)) && gives_anything(path) {
        return Err(io::Error::other("is no file"));
    }
    Ok(())
}

fn gives_anything(path: &Path) -> bool {
    File::open(path).and_then(|mut file| file.read(&mut [0])).is_ok_and(|length| length > 0)
}

/// True for a pipe, as of `<(...)`: its writer ends it.
#[cfg(unix)]
fn is_pipe(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_ends() {
        let large = tempfile::NamedTempFile::new().unwrap();
        large.as_file().set_len(LONGEST + 1).unwrap();
        for (path, want) in
            [(Path::new("/dev/null"), true), (Path::new("/dev/zero"), false), (Path::new("/nonexistent"), true), (large.path(), false)]
        {
            assert_eq!(check(path).is_ok(), want, "{path:?}");
        }
    }
}
