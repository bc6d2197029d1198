//! Why a saved cluster cannot be read: what, where, and what to do, in one line.

use std::io;

/// A snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A path does not exist.
    #[error("{path}: no such file or directory")]
    Missing {
        /// The path as it was given.
        path: String,
    },
    /// The operating system refuses, or compressed data is damaged.
    #[error("{path}: cannot be read: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file has nothing in it.
    #[error("{path}: is empty; save a cluster with: kubectl get ds,pods,nodes,controllerrevisions,events -A -o yaml > cluster.yaml")]
    Empty {
        /// The file.
        path: String,
    },
    /// The directory has no file that could be a snapshot.
    #[error("{path}: there is no JSON or YAML file in this directory")]
    EmptyDirectory {
        /// The directory.
        path: String,
    },
    /// The file is not text.
    #[error("{path}: is neither JSON nor YAML but binary data")]
    Binary {
        /// The file.
        path: String,
    },
    /// The file is packed in a way that is not read.
    #[error("{path}: is a zip archive; unpack it and give the folder")]
    Zip {
        /// The file.
        path: String,
    },
    /// The text is not JSON or YAML.
    #[error("{path}:{line}:{column}: not valid {format}: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// `JSON` or `YAML`.
        format: &'static str,
        /// What is wrong.
        message: String,
    },
    /// The file is JSON or YAML, but holds no Kubernetes object.
    #[error("{path}: holds no Kubernetes object (nothing with apiVersion and kind)")]
    NoObjects {
        /// The file.
        path: String,
    },
    /// The manifest to be judged holds no DaemonSet.
    #[error("{path}: holds no DaemonSet; -f judges manifests that are not applied, a saved cluster is read with --snapshot")]
    NoDaemonSet {
        /// The files.
        path: String,
    },
    /// An object is not what its kind requires.
    #[error("{path}: {object}: {field}: {message}")]
    Object {
        /// The file.
        path: String,
        /// `Kind namespace/name`.
        object: String,
        /// The path of the field.
        field: String,
        /// What is wrong.
        message: String,
    },
    /// Something is larger than a saved cluster ever is.
    #[error("{path}: {what}")]
    TooLarge {
        /// The file.
        path: String,
        /// What is too large, and how large it may be.
        what: String,
    },
    /// The version that was asked for is none.
    #[error(transparent)]
    Version(#[from] crate::model::version::InvalidVersion),
}

/// The refusal of a stream within a file, which is to be named yet.
impl From<io::Error> for ReadError {
    fn from(source: io::Error) -> Self {
        ReadError::Io { path: String::new(), source }
    }
}

impl ReadError {
    /// The system's refusal to read a path.
    pub fn io(path: &str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return ReadError::Missing { path: path.into() };
        }
        ReadError::Io { path: path.into(), source }
    }
}
