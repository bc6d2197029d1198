//! The search for devices: every combination of the devices of some pools, for every alternative of
//! every request of every claim.
//!
//! Upstream: `allocateOne` and `allocateDevice` of
//! `k8s.io/dynamic-resource-allocation/structured/internal` (v0.34.3 stable, v0.37.2 incubating).

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use super::device_allocation::{Allocator, Ask, Choice, Outcome, Wanted};
use super::device_capacity::{consumed, has_room};
use super::device_pool::Pool;
use super::device_selector::lookup;
use super::node::ResourceList;
use super::quantity::Quantity;
use super::resource_claim::{Device, DeviceAttribute};

/// The most devices that a claim may get.
const MOST_DEVICES: usize = 32;
/// How many steps a search may take; upstream's has a time limit.
const MOST_STEPS: u32 = 200_000;

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

/// What ends a search before its time.
enum Stop {
    Error(String),
    Unknown(String),
}

/// One search.
pub(super) struct Search<'s, 'a> {
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
    /// Nothing chosen yet.
    pub(super) fn new(
        allocator: &'s Allocator<'a>,
        pools: &'s [&'s Pool<'a>],
        claims: &'s [Wanted<'a>],
        asks: Vec<Vec<Vec<Ask<'a>>>>,
    ) -> Self {
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

    /// What it comes to.
    pub(super) fn run(&mut self) -> Outcome {
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
        match all.first() {
            None => Ok(false),
            _ if self.in_claim(c) + all.len() > MOST_DEVICES => Ok(false),
            // Before 1.36 the search goes on in the first alternative once it has a device of another one.
            Some(first) if s > 0 && self.allocator.version.minor < 36 => self.take_each(c, r, s, &[*first], Search::rest_of_the_first),
            _ => self.take_each(c, r, s, &all, |search, c, r| search.next_request(c, r + 1)),
        }
    }

    /// What the first alternative of a request asks for beyond one device.
    fn rest_of_the_first(&mut self, c: usize, r: usize) -> Result<bool, Stop> {
        if let Some(count) = self.asks[c][r][0].count {
            return self.next_device(c, r, 0, count.saturating_sub(1), (0, 0));
        }
        let all = self.all_devices(c, r, 0)?;
        match all.get(1..) {
            Some(rest) if self.in_claim(c) + rest.len() <= MOST_DEVICES => {
                self.take_each(c, r, 0, rest, |search, c, r| search.next_request(c, r + 1))
            }
            _ => Ok(false),
        }
    }

    /// Takes exactly these devices, then goes on.
    fn take_each(
        &mut self,
        c: usize,
        r: usize,
        s: usize,
        devices: &[Place],
        then: impl Fn(&mut Self, usize, usize) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let before = self.chosen.len();
        let mut fits = true;
        for &place in devices {
            // Room is asked for last: upstream ends the search at a constraint before that.
            let room = fits && self.has_room_left(c, r, s, place);
            fits = fits && self.is_free(c, r, s, place) && self.take(c, r, s, place);
            if fits && !self.constraints_hold(c) {
                let (pool, device) = (&self.pools[place.0], self.pools[place.0].devices[place.1]);
                let error = format!(
                    "claim {}, request {}: cannot add device {}/{}/{} because a claim constraint would not be satisfied",
                    self.claims[c].name, self.asks[c][r][s].name, pool.driver, pool.name, device.name
                );
                return Err(Stop::Error(error));
            }
            fits = fits && room;
        }
        let found = fits && then(self, c, r)?;
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
                if !self.has_room_left(c, r, s, (p, d)) || !self.take(c, r, s, (p, d)) {
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

    /// Whether what is left of a device is enough; if that cannot be counted it is, with a doubt.
    fn has_room_left(&mut self, c: usize, r: usize, s: usize, place: Place) -> bool {
        let (allocator, pool) = (self.allocator, &self.pools[place.0]);
        let device = pool.devices[place.1];
        if !allocator.features.dra_consumable_capacity {
            return true;
        }
        let earlier = allocator.shared.get(&(pool.driver, pool.name, device.name.as_str()));
        let now = self.chosen.iter().filter(|t| t.place == place).filter_map(|t| t.share.as_ref());
        let used = earlier.into_iter().flatten().copied().chain(now);
        let room = has_room(device, self.asks[c][r][s].capacity, used, allocator.features.dra_fractional_capacity);
        if room.is_none() {
            self.doubt.get_or_insert_with(|| uncountable(device));
        }
        room != Some(false)
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
        let earlier = allocator.shared.get(&id);
        let shared = allocator.features.dra_consumable_capacity && device.allow_multiple_allocations == Some(true);
        let share = shared.then(|| consumed(device, ask.capacity, allocator.features.dra_fractional_capacity).unwrap_or_default());
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
