# The suite against a real control plane (needs Go); also: tests/cluster/run.
e2e *ARGS:
    tests/cluster/run {{ARGS}}

# A long differential run: N random DaemonSets of a seed.
differential N='300' SEED='1':
    tests/cluster/run differential {{N}} {{SEED}}
