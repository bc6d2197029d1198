// Command up brings one cluster up and keeps it until Ctrl-C, for trying things
// by hand:
//
//	./run up [NODES]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"ds-doctor/tests/cluster/bed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := up(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func up(ctx context.Context) error {
	nodes := 3
	if len(os.Args) > 1 {
		var err error
		if nodes, err = strconv.Atoi(os.Args[1]); err != nil {
			return fmt.Errorf("number of nodes: %w", err)
		}
	}
	options, err := bed.OptionsFromEnvironment()
	if err != nil {
		return err
	}
	cluster, err := bed.Start(ctx, options)
	if err != nil {
		return err
	}
	defer cluster.Close()
	for i := range nodes {
		if err := cluster.Create(ctx, bed.Node(fmt.Sprintf("node-%d", i+1))); err != nil {
			return err
		}
	}
	fmt.Printf("export KUBECONFIG=%s\nexport PATH=%s:$PATH\n", cluster.Kubeconfig(bed.Admin), options.KubectlFolder())
	<-ctx.Done()
	return nil
}
