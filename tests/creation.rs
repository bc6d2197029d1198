//! Whether the API server would refuse the pod, compared with upstream's admission and validation.

mod support;

use ds_doctor::controller::creation::foreseen;
use ds_doctor::diagnose::Subject;

#[test]
fn refusals_are_foreseen_as_upstream_makes_them() {
    let (mut cases, mut refused, mut differences) = (0, 0, Vec::new());
    for file in support::corpora() {
        for case in support::cases(&file) {
            let snapshot = support::snapshot(case["objects"].as_array().unwrap(), case["upstream"].as_str().unwrap());
            let (namespace, name) = case["daemonset"].as_str().unwrap().split_once('/').unwrap();
            let ds = snapshot.daemon_set(namespace, name).unwrap();
            let have = foreseen(&Subject::new(&snapshot, ds));
            let want = case["verdicts"]["daemonset"]["podCreateError"].as_str();
            // Files without any RuntimeClass may only not have them: nothing is foreseen then.
            if want.is_some_and(|w| w.contains("RuntimeClass") && w.contains("not found")) && snapshot.runtime_classes.is_empty() {
                continue;
            }
            cases += 1;
            refused += usize::from(want.is_some());
            if have.is_empty() == want.is_some() {
                let have: Vec<_> = have.iter().map(|c| format!("{} {}: {}", c.code, c.detail, c.message)).collect();
                differences.push(format!("{} {}: {have:?}, upstream {want:?}", file.file_stem().unwrap().to_string_lossy(), case["id"]));
            }
        }
    }
    differences.iter().take(40).for_each(|d| println!("{d}"));
    println!("{cases} DaemonSets, {refused} refused by upstream, {} differences", differences.len());
    assert!(differences.is_empty(), "{} refusals differ from upstream's", differences.len());
}
