//! Explains, node by node, why a DaemonSet lacks a healthy, current pod.
//!
//! Data flows one way: arguments → source → [`model::snapshot::Snapshot`] →
//! [`diagnose::diagnose`] → [`report::Report`] → [`render`]. Everything from the snapshot to the
//! report is pure.
#![forbid(unsafe_code)]

pub mod cause;
pub mod cli;
pub mod completion;
pub mod controller;
pub mod diagnose;
pub mod filter;
pub mod follow;
pub mod lifecycle;
pub mod lint;
pub mod model;
pub mod plan;
pub mod preflight;
pub mod proposal;
pub mod remedy;
pub mod render;
pub mod report;
pub mod rollout;
pub mod run;
pub mod safe;
pub mod scheduling;
pub mod source;
