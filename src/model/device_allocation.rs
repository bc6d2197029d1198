//! Whether a node has the devices that claims ask for.
//!
//! Upstream: `Allocate` of `k8s.io/dynamic-resource-allocation/structured/internal` (v0.34.3
//! stable, v0.37.2 incubating). The search is exhaustive there, so a solution exists here if and
//! only if it does there. What cannot be judged (a selector, capacity that is shared out) is tried
//! as if it fitted: if there is no solution even so, there is none; else the answer is unknown.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::device_capacity::{consumed, has_room};
use super::device_pool::{DeviceId, Pool};
use super::device_selector::{Answer, Selector, lookup};
use super::node::ResourceList;
use super::quantity::Quantity;
use super::resource_claim::{
    Device, DeviceAttribute, DeviceClass, DeviceConstraint, DeviceRequest, DeviceSelector, DeviceTaint, DeviceTaintRule, DeviceToleration,
};
use super::version::{Features, ServerVersion};

/// The most devices that a claim may get.
const MOST_DEVICES: usize = 32;
/// With how many pools every order is tried.
const MOST_ORDERED: usize = 4;
/// How many steps a search may take; upstream's has a time limit.
const MOST_STEPS: u32 = 200_000;

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
struct Ask<'a> {
    name: String,
    parent: &'a str,
    class: &'a DeviceClass,
    selectors: &'a [DeviceSelector],
    tolerations: &'a [DeviceToleration],
    admin: bool,
    capacity: Option<&'a ResourceList>,
    /// `None` for all.
    count: Option<usize>,
}

type Place = (usize, usize);

/// A device that a search has chosen, and for what.
struct Taken {
    place: Place,
    claim: usize,
    request: usize,
    alternative: usize,
    /// What it takes of a device that is shared.
    share: Option<ResourceList>,
    /// Whether the device's counters were counted for it.
    counted: bool,
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

    fn selects(&self, claim: &str, ask: &Ask, id: DeviceId, device: &Device) -> Choice {
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
enum Choice {
    Yes,
    No,
    Maybe(String),
    Error(String),
}

/// What ends a search before its time.
enum Stop {
    Error(String),
    Unknown(String),
}

struct Search<'s, 'a> {
    allocator: &'s Allocator<'a>,
    pools: &'s [&'s Pool<'a>],
    claims: &'s [Wanted<'a>],
    asks: Vec<Vec<Vec<Ask<'a>>>>,
    choices: HashMap<(usize, usize, usize, Place), Choice>,
    /// Devices chosen so far.
    chosen: Vec<Taken>,
    used_counters: BTreeMap<(usize, &'a str, &'a str), Quantity>,
    /// Why the answer may be wrong, once something that is not judged was tried.
    doubt: Option<String>,
    steps: Cell<u32>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(allocator: &'s Allocator<'a>, pools: &'s [&'s Pool<'a>], claims: &'s [Wanted<'a>], asks: Vec<Vec<Vec<Ask<'a>>>>) -> Self {
        let mut used_counters: BTreeMap<(usize, &str, &str), Quantity> = BTreeMap::new();
        for (p, pool) in pools.iter().enumerate() {
            for device in &pool.all_devices {
                let id = (pool.driver, pool.name, device.name.as_str());
                if allocator.allocated.contains(&id) || allocator.shared.contains_key(&id) {
                    add_counters(&mut used_counters, p, device);
                }
            }
        }
        Search {
            allocator,
            pools,
            claims,
            asks,
            choices: HashMap::new(),
            chosen: Vec::new(),
            used_counters,
            doubt: None,
            steps: Cell::new(0),
        }
    }

    fn run(&mut self) -> Outcome {
        if let Some(stop) = self.check_limits() {
            return stop;
        }
        let found = self.next_request(0, 0);
        match (found, &self.doubt) {
            (Err(Stop::Unknown(why)), _) => Outcome::Unknown(why),
            (Err(Stop::Error(_)) | Ok(true), Some(doubt)) => Outcome::Unknown(doubt.clone()),
            (Err(Stop::Error(error)), None) => Outcome::Error(error),
            (Ok(true), None) => Outcome::Fits,
            (Ok(false), _) => match self.pools.iter().find_map(|p| p.invalid.as_ref().map(|why| format!("{}/{}: {why}", p.driver, p.name)))
            {
                Some(why) => Outcome::InvalidPool(why),
                None => Outcome::Lacks,
            },
        }
    }

    /// A request for all devices needs complete, valid pools; a claim has room for so many devices.
    fn check_limits(&mut self) -> Option<Outcome> {
        for (c, claim) in self.claims.iter().enumerate() {
            let mut least = 0usize;
            for r in 0..self.asks[c].len() {
                let mut fewest = usize::MAX;
                for s in 0..self.asks[c][r].len() {
                    let count = match self.asks[c][r][s].count {
                        Some(count) => count,
                        None => match self.all_devices(c, r, s) {
                            Ok(all) => all.len(),
                            Err(Stop::Error(error)) => return Some(Outcome::Error(error)),
                            Err(Stop::Unknown(why)) => return Some(Outcome::Unknown(why)),
                        },
                    };
                    fewest = fewest.min(count);
                }
                if fewest > MOST_DEVICES - least.min(MOST_DEVICES) && self.allocator.version.minor >= 37 {
                    return Some(Outcome::Error(format!(
                        "claim {}, request {}: adding {fewest} devices exceeds the claim limit of {MOST_DEVICES}, with {least} already accounted for",
                        claim.name, claim.requests[r].name
                    )));
                }
                least = least.saturating_add(fewest);
            }
            if least > MOST_DEVICES {
                return Some(Outcome::Error(format!(
                    "claim {}: number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}",
                    claim.name
                )));
            }
        }
        None
    }

    /// Whether the device would have room for the request if nobody else used it: those that
    /// would not are not among all.
    fn could_have_room(&self, c: usize, r: usize, s: usize, place: Place) -> Option<bool> {
        let features = &self.allocator.features;
        if !features.dra_consumable_capacity {
            return Some(true);
        }
        let device = self.pools[place.0].devices[place.1];
        has_room(device, self.asks[c][r][s].capacity, std::iter::empty(), features.dra_fractional_capacity)
    }

    /// The devices that a request for all of them is for.
    fn all_devices(&mut self, c: usize, r: usize, s: usize) -> Result<Vec<Place>, Stop> {
        let mut all = Vec::new();
        let prefix = format!("claim {}, request {}: asks for all devices, but resource pool", self.claims[c].name, self.asks[c][r][s].name);
        for (p, pool) in self.pools.iter().enumerate() {
            let id = format!("{}/{}", pool.driver, pool.name);
            if pool.incomplete {
                return Err(Stop::Error(format!("{prefix} {id} is currently being updated")));
            }
            if pool.invalid.is_some() {
                return Err(Stop::Error(format!("{prefix} {id} is currently invalid")));
            }
            for d in 0..pool.devices.len() {
                match self.choice(c, r, s, (p, d)) {
                    Choice::Yes => match self.could_have_room(c, r, s, (p, d)) {
                        Some(true) => all.push((p, d)),
                        Some(false) => {}
                        None => return Err(Stop::Unknown(uncountable(pool.devices[d]))),
                    },
                    Choice::No => {}
                    Choice::Maybe(why) => return Err(Stop::Unknown(why)),
                    Choice::Error(error) => return Err(Stop::Error(error)),
                }
            }
        }
        Ok(all)
    }

    fn choice(&mut self, c: usize, r: usize, s: usize, place: Place) -> Choice {
        let (pool, device) = (&self.pools[place.0], self.pools[place.0].devices[place.1]);
        let (allocator, claim, ask) = (self.allocator, &self.claims[c].name, &self.asks[c][r][s]);
        let id = (pool.driver, pool.name, device.name.as_str());
        let elsewhere = pool.elsewhere.contains(&place.1);
        let choose = || match allocator.selects(claim, ask, id, device) {
            Choice::Yes | Choice::Maybe(_) if elsewhere => Choice::No,
            choice => choice,
        };
        self.choices.entry((c, r, s, place)).or_insert_with(choose).clone()
    }

    fn next_request(&mut self, c: usize, r: usize) -> Result<bool, Stop> {
        let Some(requests) = self.asks.get(c) else { return Ok(true) };
        let Some(alternatives) = requests.get(r) else { return self.next_request(c + 1, 0) };
        for s in 0..alternatives.len() {
            let found = match self.asks[c][r][s].count {
                Some(count) => self.next_device(c, r, s, count, (0, 0))?,
                None => self.take_all(c, r, s)?,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take_all(&mut self, c: usize, r: usize, s: usize) -> Result<bool, Stop> {
        let all = self.all_devices(c, r, s)?;
        let before = self.chosen.len();
        let mut fits = !all.is_empty() && self.in_claim(c) + all.len() <= MOST_DEVICES;
        for place in all {
            fits = fits && self.is_free(c, r, s, place) && self.take(c, r, s, place);
            if fits && !self.constraints_hold(c) {
                let (pool, device) = (&self.pools[place.0], self.pools[place.0].devices[place.1]);
                let error = format!(
                    "claim {}, request {}: cannot add device {}/{}/{} because a claim constraint would not be satisfied",
                    self.claims[c].name, self.asks[c][r][s].name, pool.driver, pool.name, device.name
                );
                return Err(Stop::Error(error));
            }
        }
        let found = fits && self.next_request(c, r + 1)?;
        if !found {
            while self.chosen.len() > before {
                self.put_back();
            }
        }
        Ok(found)
    }

    /// Looks for `left` more devices for a request, from a place on.
    fn next_device(&mut self, c: usize, r: usize, s: usize, left: usize, from: Place) -> Result<bool, Stop> {
        if left == 0 {
            return self.next_request(c, r + 1);
        }
        if self.in_claim(c).saturating_add(left) > MOST_DEVICES {
            return Ok(false);
        }
        for p in from.0..self.pools.len() {
            let pool = &self.pools[p];
            let skips = self.allocator.features.dra_partitionable_devices;
            if skips && (pool.incomplete || pool.invalid.is_some()) {
                continue;
            }
            if let Some(why) = &pool.invalid {
                return Err(Stop::Error(format!("pool {} is invalid: {why}", pool.name)));
            }
            let first = if p == from.0 { from.1 } else { 0 };
            for d in first..pool.devices.len() {
                self.steps.set(self.steps.get() + 1);
                if self.steps.get() > MOST_STEPS {
                    return Err(Stop::Unknown("there are too many combinations of devices to try them all".into()));
                }
                if !self.is_free(c, r, s, (p, d)) {
                    continue;
                }
                let doubt = match self.choice(c, r, s, (p, d)) {
                    Choice::Yes => None,
                    Choice::No => continue,
                    Choice::Maybe(why) => Some(why),
                    Choice::Error(error) => return Err(Stop::Error(error)),
                };
                // An expression that is not judged may also fail, whatever comes of the device.
                self.doubt = self.doubt.take().or(doubt);
                if !self.take(c, r, s, (p, d)) {
                    continue;
                }
                if self.constraints_hold(c) && self.next_device(c, r, s, left - 1, (p, d + 1))? {
                    return Ok(true);
                }
                self.put_back();
            }
        }
        Ok(false)
    }

    fn in_claim(&self, c: usize) -> usize {
        self.chosen.iter().filter(|t| t.claim == c).count()
    }

    fn is_free(&mut self, c: usize, r: usize, s: usize, place: Place) -> bool {
        let (pool, device) = (&self.pools[place.0], self.pools[place.0].devices[place.1]);
        let id = (pool.driver, pool.name, device.name.as_str());
        if self.asks[c][r][s].admin {
            return !self.chosen.iter().any(|t| t.place == place && t.claim == c && t.share.is_none());
        }
        !self.allocator.allocated.contains(&id) && !self.chosen.iter().any(|t| t.place == place && t.share.is_none())
    }

    /// Takes a device if its taints and counters let it be taken.
    fn take(&mut self, c: usize, r: usize, s: usize, place: Place) -> bool {
        let (allocator, pool) = (self.allocator, &self.pools[place.0]);
        let device = pool.devices[place.1];
        let ask = self.asks[c][r][s].clone();
        let id = (pool.driver, pool.name, device.name.as_str());
        if allocator.taints(id, device).iter().any(|taint| !ask.tolerations.iter().any(|t| t.tolerates(taint))) {
            return false;
        }
        let mut share = None;
        let earlier = allocator.shared.get(&id);
        if allocator.features.dra_consumable_capacity {
            let now = self.chosen.iter().filter(|t| t.place == place).filter_map(|t| t.share.as_ref());
            let fractions = allocator.features.dra_fractional_capacity;
            match has_room(device, ask.capacity, earlier.into_iter().flatten().copied().chain(now), fractions) {
                Some(true) => {}
                Some(false) => return false,
                None => {
                    self.doubt.get_or_insert_with(|| {
                        format!("what is asked for of device {} cannot be counted by its request policy", device.name)
                    });
                }
            }
            if device.allow_multiple_allocations == Some(true) {
                share = Some(consumed(device, ask.capacity, fractions).unwrap_or_default());
            }
        }
        // A device that is shared already has its counters counted.
        let again = share.is_some() && (earlier.is_some() || self.chosen.iter().any(|t| t.place == place));
        let counted = !again && !device.consumes_counters.is_empty();
        if counted {
            if !allocator.features.dra_partitionable_devices {
                return false;
            }
            add_counters(&mut self.used_counters, place.0, device);
            let over = pool
                .counters
                .iter()
                .any(|((set, counter), value)| self.used_counters.get(&(place.0, *set, *counter)).is_some_and(|used| used > value));
            if over {
                subtract_counters(&mut self.used_counters, place.0, device);
                return false;
            }
        }
        self.chosen.push(Taken { place, claim: c, request: r, alternative: s, share, counted });
        true
    }

    fn put_back(&mut self) {
        if let Some(Taken { place, counted: true, .. }) = self.chosen.pop() {
            subtract_counters(&mut self.used_counters, place.0, self.pools[place.0].devices[place.1]);
        }
    }

    fn constraints_hold(&self, c: usize) -> bool {
        self.claims[c].constraints.iter().all(|constraint| {
            let (name, distinct) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
                (Some(name), _) => (name, false),
                (None, Some(name)) => (name, true),
                (None, None) => return true,
            };
            let applies = |r: usize, s: usize| {
                let ask = &self.asks[c][r][s];
                let full = if ask.parent.is_empty() { ask.name.clone() } else { format!("{}/{}", ask.parent, ask.name) };
                constraint.requests.is_empty()
                    || constraint.requests.iter().any(|q| *q == full || (!ask.parent.is_empty() && q == ask.parent))
            };
            let of_claim = self.chosen.iter().filter(|t| t.claim == c && applies(t.request, t.alternative));
            let values: Option<Vec<&DeviceAttribute>> = of_claim
                .map(|t| {
                    let (pool, device) = (&self.pools[t.place.0], self.pools[t.place.0].devices[t.place.1]);
                    let (domain, id) = name.split_once('/')?;
                    device.attributes.get(name).or_else(|| lookup(&device.attributes, pool.driver, domain, id))
                })
                .collect();
            match (values, distinct) {
                (None, _) => false,
                (Some(values), false) => values.windows(2).all(|pair| pair[0] == pair[1]),
                (Some(values), true) => values.iter().enumerate().all(|(i, v)| !values[..i].contains(v)),
            }
        })
    }
}

fn uncountable(device: &Device) -> String {
    format!("what is asked for of device {} cannot be counted by its request policy", device.name)
}

fn add_counters<'a>(used: &mut BTreeMap<(usize, &'a str, &'a str), Quantity>, pool: usize, device: &'a Device) {
    for set in &device.consumes_counters {
        for (name, counter) in &set.counters {
            let sum = used.entry((pool, &set.counter_set, name)).or_default();
            *sum = sum.plus(counter.value);
        }
    }
}

fn subtract_counters<'a>(used: &mut BTreeMap<(usize, &'a str, &'a str), Quantity>, pool: usize, device: &'a Device) {
    for set in &device.consumes_counters {
        for (name, counter) in &set.counters {
            let sum = used.entry((pool, &set.counter_set, name)).or_default();
            *sum = sum.minus(counter.value);
        }
    }
}
