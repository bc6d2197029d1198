# The suite against a real control plane (needs Go); also: tests/cluster/run.
e2e *ARGS:
    tests/cluster/run {{ARGS}}

# A long differential run: N random DaemonSets of a seed.
differential N='300' SEED='1':
    tests/cluster/run differential {{N}} {{SEED}}

# Fuzzes every parser for so many seconds each (needs cargo-fuzz and a nightly compiler).
fuzz SECONDS='60' *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}

# Mutation testing of src/filter, src/controller and src/model for so many seconds.
mutants SECONDS='3600':
    tests/mutants/run {{SECONDS}}

# `--watch` for so many seconds on a cluster that changes all the time.
soak SECONDS='3600':
    DS_DOCTOR_SOAK={{SECONDS}} cargo test --test soak -- --ignored --nocapture

# Licences, duplicate versions and sources of all dependencies (needs cargo-deny).
deny:
    cargo deny check licenses bans sources

# Builds the release twice, in two places, and compares.
reproducible:
    krew/reproducible
