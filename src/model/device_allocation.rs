//! Whether a node has the devices that claims ask for.
//!
//! Upstream: `Allocate` of `k8s.io/dynamic-resource-allocation/structured/internal` (v0.34.3
//! stable, v0.37.2 incubating). The search is exhaustive there, so a solution exists here if and
//! only if it does there (`device_search.rs`). What cannot be judged (a selector, capacity that is shared out) is tried
//! as if it fitted: if there is no solution even so, there is none; else the answer is unknown.

use std::collections::{HashMap, HashSet};

use super::device_pool::{DeviceId, Pool};
use super::device_search::Search;
use super::device_selector::{Answer, Selector};
use super::node::ResourceList;
use super::resource_claim::{
    Device, DeviceClass, DeviceConstraint, DeviceRequest, DeviceSelector, DeviceTaint, DeviceTaintRule, DeviceToleration,
};
use super::version::{Features, ServerVersion};

/// With how many pools every order is tried.
const MOST_ORDERED: usize = 4;

/// A claim to allocate.
pub struct Wanted<'a> {
    /// `namespace/name`.
    pub name: String,
    /// What it asks for.
    pub requests: &'a [DeviceRequest],
    /// What its devices have to have in common.
    pub constraints: &'a [DeviceConstraint],
}

/// What an allocation comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node has the devices.
    Fits,
    /// It does not.
    Lacks,
    /// It does not, and some pool of the node is not valid.
    InvalidPool(String),
    /// Upstream's allocation ends with this error.
    Error(String),
    /// It cannot be told, for this reason.
    Unknown(String),
}

impl Outcome {
    /// True if the node cannot be used.
    fn fails(&self) -> bool {
        matches!(self, Outcome::Lacks | Outcome::InvalidPool(_) | Outcome::Error(_))
    }
}

/// What all nodes have in common.
pub struct Allocator<'a> {
    /// The cluster's version.
    pub version: ServerVersion,
    /// What it has switched on.
    pub features: Features,
    /// Device classes by name.
    pub classes: HashMap<&'a str, &'a DeviceClass>,
    /// Devices that claims hold for themselves.
    pub allocated: HashSet<DeviceId<'a>>,
    /// What claims hold of devices that are shared.
    pub shared: HashMap<DeviceId<'a>, Vec<&'a ResourceList>>,
    /// Taints that administrators put on devices.
    pub taint_rules: &'a [DeviceTaintRule],
}

/// One request or alternative of a request.
#[derive(Clone)]
pub(super) struct Ask<'a> {
    pub(super) name: String,
    /// The request that it is an alternative of, or nothing.
    pub(super) parent: &'a str,
    class: &'a DeviceClass,
    selectors: &'a [DeviceSelector],
    pub(super) tolerations: &'a [DeviceToleration],
    pub(super) admin: bool,
    pub(super) capacity: Option<&'a ResourceList>,
    /// `None` for all.
    pub(super) count: Option<usize>,
}

impl<'a> Allocator<'a> {
    /// Whether the pools of a node have what the claims ask for.
    pub fn allocate(&self, pools: &[Pool<'a>], claims: &[Wanted<'a>]) -> Outcome {
        match self.prepare(claims) {
            Ok(asks) => self.try_orders(pools, claims, asks),
            Err(outcome) => outcome,
        }
    }

    /// Before 1.36 pools are tried in no fixed order, which matters once a selector can end the
    /// search with an error: the answer is known if it is the same in every order.
    fn try_orders(&self, pools: &[Pool<'a>], claims: &[Wanted<'a>], asks: Vec<Vec<Vec<Ask<'a>>>>) -> Outcome {
        let mut order: Vec<&Pool> = pools.iter().collect();
        let first = Search::new(self, &order, claims, asks.clone()).run();
        let fixed = self.version >= (ServerVersion { major: 1, minor: 36 });
        if fixed || pools.len() < 2 || pools.iter().flat_map(|p| &p.devices).count() == 0 || !self.may_fail(pools, claims, &asks) {
            return first;
        }
        if pools.len() > MOST_ORDERED {
            return Outcome::Unknown("a selector fails on a device of one of many pools, whose order is not known".into());
        }
        let mut swaps = vec![0; order.len()];
        let mut i = 1;
        while i < order.len() {
            if swaps[i] < i {
                let other = if i % 2 == 0 { 0 } else { swaps[i] };
                order.swap(other, i);
                let outcome = Search::new(self, &order, claims, asks.clone()).run();
                // Where every order fails, the words may differ, the answer does not.
                if outcome != first && !(outcome.fails() && first.fails()) {
                    return Outcome::Unknown("a selector fails on a device of one of several pools, whose order is not known".into());
                }
                swaps[i] += 1;
                i = 1;
            } else {
                swaps[i] = 0;
                i += 1;
            }
        }
        first
    }

    /// True if some selector fails on some device, or some pool is not valid.
    fn may_fail(&self, pools: &[Pool<'a>], claims: &[Wanted<'a>], asks: &[Vec<Vec<Ask<'a>>>]) -> bool {
        let fails = |claim: &Wanted, ask: &Ask, pool: &Pool, device: &Device| {
            matches!(self.selects(&claim.name, ask, (pool.driver, pool.name, &device.name), device), Choice::Error(_))
        };
        let asked = || claims.iter().zip(asks).flat_map(|(claim, asks)| asks.iter().flatten().map(move |ask| (claim, ask)));
        pools.iter().any(|p| p.invalid.is_some() || p.devices.iter().any(|d| asked().any(|(claim, ask)| fails(claim, ask, p, d))))
    }

    fn prepare(&self, claims: &[Wanted<'a>]) -> Result<Vec<Vec<Vec<Ask<'a>>>>, Outcome> {
        claims.iter().map(|c| c.requests.iter().map(|r| self.asks(&c.name, r)).collect()).collect()
    }

    /// The alternatives of a request; one without alternatives has itself alone.
    fn asks(&self, claim: &str, request: &'a DeviceRequest) -> Result<Vec<Ask<'a>>, Outcome> {
        let count = |mode: &str, count: i64, name: &str| match mode {
            "All" => Ok(None),
            // The API server fills in one device.
            "ExactCount" | "" => Ok(Some(if count == 0 { 1 } else { usize::try_from(count).unwrap_or(usize::MAX) })),
            mode => Err(Outcome::Error(format!("claim {claim}, request {name}: unsupported count mode {mode}"))),
        };
        let class =
            |name: &str| self.classes.get(name).copied().ok_or_else(|| Outcome::Unknown(format!("device class {name} was not read")));
        if let Some(exactly) = &request.exactly {
            return Ok(vec![Ask {
                name: request.name.clone(),
                parent: "",
                class: class(&exactly.device_class_name)?,
                selectors: &exactly.selectors,
                tolerations: &exactly.tolerations,
                admin: exactly.admin_access == Some(true),
                capacity: exactly.capacity.as_ref().map(|c| &c.requests),
                count: count(&exactly.allocation_mode, exactly.count, &request.name)?,
            }]);
        }
        let sub = request.first_available.iter().map(|s| {
            Ok(Ask {
                name: s.name.clone(),
                parent: &request.name,
                class: class(&s.device_class_name)?,
                selectors: &s.selectors,
                tolerations: &s.tolerations,
                admin: false,
                capacity: s.capacity.as_ref().map(|c| &c.requests),
                count: count(&s.allocation_mode, s.count, &s.name)?,
            })
        });
        sub.collect()
    }

    /// How many devices of the pools the class and the selectors of a request let through; of an
    /// expression that is not judged the device counts.
    pub fn matching<'p>(&self, pools: &'p [Pool<'a>], claim: &str, request: &'a DeviceRequest) -> Vec<(DeviceId<'p>, &'p Device)> {
        let Ok(asks) = self.asks(claim, request) else { return Vec::new() };
        let of_pool = |p: &'p Pool<'a>| p.devices.iter().enumerate().filter(move |(i, _)| !p.elsewhere.contains(i));
        let devices = pools.iter().flat_map(|p| of_pool(p).map(move |(_, d)| ((p.driver, p.name, d.name.as_str()), *d)));
        let fits = |id: &DeviceId, device: &Device| {
            asks.iter().any(|ask| !matches!(self.selects(claim, ask, *id, device), Choice::No | Choice::Error(_)))
        };
        devices.filter(|(id, device)| fits(id, device)).collect()
    }

    /// The taints of a device that keep pods off it.
    pub fn taints<'d>(&self, id: DeviceId, device: &'d Device) -> Vec<&'d DeviceTaint>
    where
        'a: 'd,
    {
        if !self.features.dra_device_taints {
            return Vec::new();
        }
        let rules = self.taint_rules.iter().filter(|rule| {
            rule.spec.device_selector.as_ref().is_some_and(|s| {
                s.driver.as_deref().is_none_or(|d| d == id.0)
                    && s.pool.as_deref().is_none_or(|p| p == id.1)
                    && s.device.as_deref().is_none_or(|d| d == id.2)
            })
        });
        let all = device.taints.iter().chain(rules.map(|r| &r.spec.taint));
        all.filter(|t| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute")).collect()
    }

    /// Whether class and selectors let a device through.
    pub(super) fn selects(&self, claim: &str, ask: &Ask, id: DeviceId, device: &Device) -> Choice {
        if !self.features.dra_binding_conditions && !device.binding_conditions.is_empty() {
            return Choice::No;
        }
        let mut maybe = None;
        let class = ask.class.spec.selectors.iter().map(|s| (true, s)).enumerate();
        let own = ask.selectors.iter().map(|s| (false, s)).enumerate();
        for (i, (of_class, selector)) in class.chain(own) {
            let source = if of_class { format!("class {}", ask.class.metadata.name) } else { format!("claim {claim}") };
            let Some(cel) = &selector.cel else {
                return Choice::Error(format!("{source}: selector #{i}: CEL expression empty (unsupported selector type?)"));
            };
            let answer = match Selector::read(&cel.expression) {
                Ok(selector) => selector.judge(id.0, device),
                Err(why) => Answer::Unjudged(why.0),
            };
            match answer {
                Answer::Match(true) => {}
                // An error of an earlier selector that was not judged would come first.
                Answer::Match(false) if maybe.is_none() => return Choice::No,
                Answer::Match(false) => {}
                Answer::Error(error) if maybe.is_none() => return Choice::Error(self.runtime_error(&source, i, id, &error)),
                Answer::Error(error) | Answer::Unjudged(error) => {
                    maybe.get_or_insert_with(|| format!("selector {:?} of {source} is not judged: {error}", cel.expression));
                }
            }
        }
        maybe.map_or(Choice::Yes, Choice::Maybe)
    }

    /// The words for an error while a selector is evaluated, which ends the search.
    fn runtime_error(&self, source: &str, i: usize, id: DeviceId, error: &str) -> String {
        if self.version < (ServerVersion { major: 1, minor: 37 }) {
            return format!("{source}: selector #{i}: CEL runtime error: {error}");
        }
        format!(
            "{source}: selector #{i} on device {}/{}/{}: CEL runtime error: {error}. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields",
            id.0, id.1, id.2
        )
    }
}

/// Whether a request may take a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    Yes,
    No,
    Maybe(String),
    Error(String),
}
