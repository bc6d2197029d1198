// Package e2e sets up real objects on a real control plane, leaves them to the
// real controllers, and holds what `kubectl ds-doctor` says against what the
// cluster itself says.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// sideBySide is how many clusters the scenarios are spread over.
const sideBySide = 2

var (
	options   bed.Options
	plugin    *bed.Plugin
	clusters  chan *bed.Cluster
	scenarios atomic.Int32
	leftOut   atomic.Int32
	// foretoldTrue are the nodes of which a report on what was not applied has said what came to be.
	foretoldTrue atomic.Int32
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// A context of signal.NotifyContext is done at the regular end, too.
	ctx, stop := context.Background(), make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	bed.EndWithParent()
	go func() {
		<-stop
		bed.KillAll()
		os.Exit(130)
	}()
	defer bed.KillAll()
	folder, err := os.MkdirTemp("", "ds-doctor-e2e-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(folder)
	if options, err = bed.OptionsFromEnvironment(); err != nil {
		return fail(err)
	}
	if plugin, err = install(folder); err != nil {
		return fail(err)
	}
	fmt.Print(plugin.Log)
	clusters = make(chan *bed.Cluster, sideBySide)
	for range sideBySide {
		cluster, err := bed.Start(ctx, options)
		if err != nil {
			return fail(err)
		}
		defer cluster.Close()
		clusters <- cluster
	}
	code := m.Run()
	fmt.Printf("scenarios passed: %d, on Kubernetes %s\n", scenarios.Load(), options.Version)
	fmt.Printf("remedies applied: %d of %d kinds of trouble, each came true or is told above\n", remediesApplied.Load(), remedyKinds.Load())
	fmt.Printf("foretold by -f and --what-if, then done: %d verdicts on nodes came true\n", foretoldTrue.Load())
	if n := leftOut.Load(); n > 0 {
		fmt.Printf("LEFT OUT: %d scenarios, for the time was up; they are marked SKIP above\n", n)
	}
	text, complete := coverage()
	fmt.Println(text)
	if !complete && leftOut.Load() == 0 {
		code = 1
	}
	return code
}

func install(folder string) (*bed.Plugin, error) {
	release := filepath.Join(folder, "release")
	version, err := bed.Release(release, "https://example.com/ds-doctor")
	if err != nil {
		return nil, err
	}
	return bed.InstallPlugin(options, filepath.Join(folder, "krew"), filepath.Join(release, "ds-doctor.yaml"), bed.Archive(release, version))
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
