//! The vocabulary: what a cause is, its code, its evidence, and the page that explains it.

use serde::Serialize;

use crate::model::node::Taint;
use crate::model::quantity::Quantity;

pub mod alert;
pub mod command;
pub mod registry;

/// Where on its way from template to healthy pod the cause lies; also the order of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The controller wants no pod on the node.
    Controller,
    /// The pod could not be created.
    Creation,
    /// The scheduler has not placed the pod.
    Scheduling,
    /// The kubelet refused or evicted the pod.
    Kubelet,
    /// The pod is on its node, not healthy.
    Running,
    /// The pod is of an old revision, or the bookkeeping disagrees.
    Rollout,
}

/// How much a cause matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// By design, or on its way.
    Info,
    /// Likely not meant, harms nothing now.
    Warning,
    /// A wanted pod is absent or unhealthy, or will be.
    Error,
}

/// A fact of the API that shows a cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// `Kind/name` or `Kind/namespace/name`.
    pub object: String,
    /// The field's path, `spec.taints[0]`.
    pub field: String,
    /// The field's value, or a number computed from it.
    pub value: serde_json::Value,
}

impl Evidence {
    /// Evidence from parts.
    pub fn new(object: impl Into<String>, field: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        Evidence { object: object.into(), field: field.into(), value: value.into() }
    }
}

/// What a remedy touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RemedyKind {
    /// Only looks.
    Inspect,
    /// Changes the DaemonSet (and so may restart its pods).
    Daemonset,
    /// Changes a node or another object of the cluster.
    Node,
    /// Ends or moves other work.
    Disruptive,
}

/// What a remedy would achieve, found by applying it to the snapshot and evaluating again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// Nodes that would then run the pod.
    pub fixed: Vec<String>,
    /// Nodes that would still lack it, with the codes of what blocks them.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub still_blocked: std::collections::BTreeMap<String, Vec<String>>,
}

/// Something to do about a cause. Nothing is ever applied.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remedy {
    /// What to do, in a few words.
    pub title: String,
    /// What it touches.
    pub kind: RemedyKind,
    /// A command to copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it would achieve, where it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

impl Remedy {
    /// A command that only looks.
    pub fn inspect(title: impl Into<String>, command: impl Into<String>) -> Self {
        Remedy { title: title.into(), kind: RemedyKind::Inspect, command: Some(command.into()), effect: None }
    }
}

/// The typed core of a cause, for remedies and grouping; the sentence is only its display.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Fact {
    /// Nothing beside the evidence.
    #[default]
    None,
    /// An untolerated taint.
    Taint(Taint),
    /// A node selector entry that the node's labels lack.
    NodeSelector {
        /// The label's key.
        key: String,
        /// The value it should have.
        value: String,
        /// True if admission added it, not the template.
        added: bool,
    },
    /// A requirement of the required node affinity that the node does not meet.
    NodeAffinity {
        /// The term it stands in.
        term: usize,
        /// True for `matchFields`.
        field: bool,
        /// Key, operator, values.
        requirement: crate::model::affinity::NodeSelectorRequirement,
    },
    /// A host port in use.
    HostPort {
        /// `TCP`, `UDP`, `SCTP`.
        protocol: String,
        /// The port.
        port: i32,
        /// The address wanted.
        ip: String,
        /// Namespace and name of the pod that holds it.
        holder: (String, String),
    },
    /// A claim that keeps the pod away from every node: missing, lost, being deleted, not bound.
    Claim {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: ClaimProblem,
    },
    /// A volume that the node cannot use.
    VolumeElsewhere {
        /// The volume.
        volume: String,
        /// Namespace and name of its claim.
        claim: (String, String),
    },
    /// A volume that another pod holds.
    VolumeInUse {
        /// Namespace and name of that pod.
        holder: (String, String),
    },
    /// More volumes of a CSI driver than the node takes.
    VolumeLimit {
        /// The driver.
        driver: String,
        /// How many the node takes.
        limit: i64,
        /// How many are attached.
        used: i64,
        /// How many the pod adds.
        wanted: i64,
    },
    /// Too few devices of a class.
    Devices {
        /// The device class.
        class: String,
        /// How many the pod asks for.
        wanted: i64,
        /// How many the node has.
        there: i64,
        /// How many of these others hold.
        held: i64,
    },
    /// Too little of a resource.
    Shortage {
        /// The resource's name.
        resource: String,
        /// What the pod requests (millicores, bytes, devices, or 1 pod).
        requested: i64,
        /// What is taken by the pods on the node.
        used: i64,
        /// What the node has.
        allocatable: i64,
    },
    /// A quota without room.
    Quota {
        /// The ResourceQuota.
        name: String,
        /// The resource, as the quota spells it.
        resource: String,
        /// What it allows.
        hard: Quantity,
        /// What is used.
        used: Quantity,
        /// What one pod needs.
        amount: Quantity,
    },
    /// A pod: namespace and name.
    Pod(String, String),
    /// A topology spread constraint.
    TopologySpread {
        /// Its index in the spec.
        constraint: usize,
        /// The label that the node lacks, if that is why.
        missing_label: Option<String>,
    },
    /// A required pod affinity or anti-affinity.
    PodAffinity {
        /// Whose term it is and of which kind.
        rule: PodRule,
        /// The topology key.
        key: String,
        /// Namespace and name of the pods that repel or are repelled; only some of many.
        pods: Vec<(String, String)>,
        /// How many pods there are.
        in_all: i64,
    },
}

/// Which rule between pods refuses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodRule {
    /// The pod's own affinity finds no pod.
    Affinity,
    /// The pod's own anti-affinity finds a pod.
    AntiAffinity,
    /// Another pod's anti-affinity repels the pod.
    OfAnother,
}

/// What keeps a claim from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimProblem {
    /// It does not exist.
    Missing,
    /// It is made for the pod itself, after the pod.
    NotMade,
    /// It is an ephemeral volume's and was made for another pod.
    NotOwned,
    /// Its volume is gone.
    Lost,
    /// It is being deleted.
    Deleting,
    /// It should be bound at once and is not.
    Unbound,
}

/// One reason why a node lacks a healthy, current pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cause {
    /// The stable code.
    pub code: &'static str,
    /// Which object, key, port or number: `code` and `detail` together name the cause.
    pub detail: String,
    /// One sentence.
    pub message: String,
    /// How much it matters.
    pub severity: Severity,
    /// The facts that show it.
    pub evidence: Vec<Evidence>,
    /// What to do.
    pub remedies: Vec<Remedy>,
    /// The typed core.
    #[serde(skip)]
    pub fact: Fact,
    /// Where it lies.
    #[serde(skip)]
    pub stage: Stage,
}

impl Cause {
    /// A cause of severity *error*, without evidence yet.
    pub fn new(entry: &'static Entry, detail: impl Into<String>, message: impl Into<String>) -> Self {
        Cause {
            code: entry.code,
            detail: detail.into(),
            message: message.into(),
            severity: Severity::Error,
            evidence: Vec::new(),
            remedies: Vec::new(),
            fact: Fact::None,
            stage: entry.stage,
        }
    }

    /// With this severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// With one more piece of evidence.
    #[must_use]
    pub fn evidence(mut self, object: impl Into<String>, field: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.evidence.push(Evidence::new(object, field, value));
        self
    }

    /// With one more remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// With this typed core.
    #[must_use]
    pub fn fact(mut self, fact: Fact) -> Self {
        self.fact = fact;
        self
    }

    /// At this stage instead of the code's usual one.
    #[must_use]
    pub fn stage(mut self, stage: Stage) -> Self {
        self.stage = stage;
        self
    }

    /// The order of causes in a report.
    pub fn order(&self) -> (Stage, &'static str, &str) {
        (self.stage, self.code, &self.detail)
    }
}

/// A code of the vocabulary with its page, as `--explain` and the docs show it.
#[derive(Debug)]
pub struct Entry {
    /// The stable code.
    pub code: &'static str,
    /// The stage it usually belongs to.
    pub stage: Stage,
    /// The meaning in one line.
    pub summary: &'static str,
    /// The page: the headings of [`HEADINGS`] in this order.
    pub doc: &'static str,
}

/// The headings that every page has.
pub const HEADINGS: [&str; 4] = ["## What it means", "## How it is recognised", "## How to check by hand", "## How to fix it"];
