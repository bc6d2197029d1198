package differential

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"ds-doctor/tests/cluster/bed"
)

// daemonSetsPerWorld share one random cluster: they get in each other's way, as
// they do in life, and setting the cluster up is paid for once.
const daemonSetsPerWorld = 10

func TestMain(m *testing.M) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	bed.EndWithParent()
	go func() {
		<-stop
		bed.KillAll()
		os.Exit(130)
	}()
	code := m.Run()
	bed.KillAll()
	os.Exit(code)
}

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestDifferential compares DIFFERENTIAL_CASES random DaemonSets, drawn from
// DIFFERENTIAL_SEED, on two live clusters.
func TestDifferential(t *testing.T) {
	cases, seed := number(t, "DIFFERENTIAL_CASES", 40), number(t, "DIFFERENTIAL_SEED", 1)
	first := number(t, "DIFFERENTIAL_FIRST_WORLD", 0)
	options, err := bed.OptionsFromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	release := t.TempDir()
	version, err := bed.Release(release, "https://example.com/ds-doctor")
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := bed.InstallPlugin(options, t.TempDir(), filepath.Join(release, "ds-doctor.yaml"), bed.Archive(release, version))
	if err != nil {
		t.Fatal(err)
	}
	worlds := make(chan uint64)
	var workers sync.WaitGroup
	var mu sync.Mutex
	agreed, differed := 0, 0
	for range 2 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			cluster, err := bed.Start(t.Context(), options)
			if err != nil {
				t.Error(err)
				for range worlds { // nobody may wait for this worker
				}
				return
			}
			defer cluster.Close()
			for world := range worlds {
				bad := runWorld(t, cluster, plugin, seed, world)
				mu.Lock()
				agreed, differed = agreed+daemonSetsPerWorld-bad, differed+bad
				mu.Unlock()
			}
		}()
	}
	for world := first; world < first+(cases+daemonSetsPerWorld-1)/daemonSetsPerWorld; world++ {
		if bed.TimeIsUp() {
			t.Logf("LEFT OUT: the worlds from %d on, for the time was up", world)
			break
		}
		worlds <- world
	}
	close(worlds)
	workers.Wait()
	t.Logf("refusals agreed on, by plugin: %s", bed.Agreed())
	t.Logf("differential cases passed: %d, disagreements: %d (seed %d, Kubernetes %s)", agreed, differed, seed, options.Version)
}

// runWorld plays one world and returns how many of its DaemonSets the report
// is wrong about.
func runWorld(t *testing.T, cluster *bed.Cluster, plugin *bed.Plugin, seed, number uint64) int {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	start := time.Now()
	world := Generate(seed, number, daemonSetsPerWorld)
	if err := world.play(ctx, cluster); err != nil {
		t.Errorf("world %d of seed %d: %v", number, seed, err)
		return daemonSetsPerWorld
	}
	findings, err := world.compare(ctx, cluster, plugin)
	if err != nil {
		t.Errorf("world %d of seed %d: %v", number, seed, err)
		return daemonSetsPerWorld
	}
	t.Logf("world %d of seed %d: %d nodes, %d DaemonSets, %d disagreements, %s", number, seed, len(world.Nodes), len(world.DaemonSets), len(findings), timed(start))
	for i, culprit := range findings {
		text := culprit.describe(ctx, cluster)
		if i == 0 && os.Getenv("DIFFERENTIAL_SHRINK") != "no" {
			small, found := world.shrink(ctx, cluster, plugin, culprit, 25)
			if err := small.play(ctx, cluster); err == nil {
				text += "reproduced by:\n" + small.YAML() + found.describe(ctx, cluster)
			}
		}
		t.Errorf("disagreement in world %d of seed %d (DIFFERENTIAL_FIRST_WORLD=%d tests/cluster/run differential 1 %d)\n%s", number, seed, number, seed, text)
	}
	return len(findings)
}

// The generator must draw the same world again, or a seed would be worth nothing.
func TestSameSeedSameWorld(t *testing.T) {
	for world := range uint64(20) {
		if Generate(7, world, 10).YAML() != Generate(7, world, 10).YAML() {
			t.Fatalf("world %d differs", world)
		}
	}
	if fmt.Sprint(Generate(7, 0, 10)) == fmt.Sprint(Generate(8, 0, 10)) {
		t.Fatal("two seeds give one world")
	}
}
