//! Numbers, ages and lists of names in words.

use std::collections::BTreeMap;

use super::layout::width;
use crate::model::time::Age;
use crate::report::{NodeReport, State};

/// A number with its thousands apart: `2,995`.
pub fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things: `1 node`, `3,000 nodes`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", number(n), if n == 1 { "" } else { "s" })
}

/// A span of time as kubectl writes ages.
pub fn age(seconds: i64) -> String {
    Age(seconds).to_string()
}

/// Names, cut with a count once they take more than `columns`; at least two are shown.
pub fn names(names: &[&str], columns: usize) -> String {
    let whole = names.join(", ");
    if width(&whole) <= columns || names.len() <= 2 {
        return whole;
    }
    let mut used = 0;
    let mut shown = 0;
    for name in names {
        used += width(name) + 2;
        if shown >= 2 && used > columns.saturating_sub("… and 10,000 more".len()) {
            break;
        }
        shown += 1;
    }
    let left = names.len() - shown;
    if left == 0 {
        return whole;
    }
    let head: Vec<&str> = names.iter().copied().take(shown).collect();
    format!("{}, … and {} more", head.join(", "), number(left))
}

/// What a state means for `n` nodes.
pub fn situation(state: State, n: usize) -> &'static str {
    let one = n == 1;
    match state {
        State::Missing if one => "pod missing",
        State::Missing => "pods missing",
        State::Rejected if one => "pod refused or evicted",
        State::Rejected => "pods refused or evicted",
        State::Pending if one => "pod pending",
        State::Pending => "pods pending",
        State::Unhealthy if one => "pod not healthy",
        State::Unhealthy => "pods not healthy",
        State::Terminating if one => "pod going away",
        State::Terminating => "pods going away",
        State::Misscheduled if one => "a pod runs where none should",
        State::Misscheduled => "pods run where none should",
        State::Outdated if one => "pod ready, of an old revision",
        State::Outdated => "pods ready, of an old revision",
        State::Unknown => "could not be judged",
        State::Excluded => "no pod wanted there",
        State::Healthy => "healthy",
    }
}

/// How many nodes are in which state, worst first: `1 pending, 2 excluded, 8 healthy`.
pub fn states(states: &BTreeMap<State, usize>) -> Vec<(State, String)> {
    states.iter().map(|(state, n)| (*state, format!("{} {}", number(*n), state.name().to_lowercase()))).collect()
}

/// True if the node should have a healthy pod of any revision, and lacks it.
pub fn lacks(node: &NodeReport) -> bool {
    match node.state {
        State::Missing | State::Rejected | State::Pending | State::Unhealthy => true,
        State::Terminating => node.should_run == Some(true),
        State::Misscheduled | State::Outdated | State::Unknown | State::Excluded | State::Healthy => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!([number(7), number(1000), number(1_234_567)], ["7", "1,000", "1,234,567"]);
        assert_eq!([count(1, "node"), count(0, "node")], ["1 node", "0 nodes"]);
    }

    #[test]
    fn long_lists_are_cut_with_a_count() {
        let many: Vec<String> = (1..=3000).map(|i| format!("worker-{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(names(&many[..3], 80), "worker-1, worker-2, worker-3");
        assert_eq!(names(&many, 40), "worker-1, worker-2, … and 2,998 more");
        assert_eq!(names(&many, 60), "worker-1, worker-2, worker-3, worker-4, … and 2,996 more");
        assert_eq!(names(&many[..2], 5), "worker-1, worker-2");
        assert_eq!(names(&many[..3], 5), "worker-1, worker-2, … and 1 more");
    }
}
