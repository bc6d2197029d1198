package bed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keepUp makes this test binary a program that brings a cluster up and ends in
// the way that it names.
const keepUp = "BED_TEST_KEEP_UP"

func TestMain(m *testing.M) {
	switch ending := os.Getenv(keepUp); ending {
	case "":
		os.Exit(m.Run())
	default:
		options, err := OptionsFromEnvironment()
		if err == nil {
			options.Runs = os.Getenv("BED_TEST_RUNS")
			_, err = Start(context.Background(), options)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("up")
		if ending == "panic" {
			panic("as a test would")
		}
		select {}
	}
}

// However the program ends, none of its components is left.
func TestNothingIsLeftRunning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only linux ends the children of a program that was killed")
	}
	for _, ending := range []string{"killed", "panic"} {
		t.Run(ending, func(t *testing.T) {
			runs := t.TempDir()
			program := exec.Command(os.Args[0])
			program.Env = append(os.Environ(), keepUp+"="+ending, "BED_TEST_RUNS="+runs)
			out, err := program.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "up" {
				_ = program.Process.Kill()
				t.Fatalf("the program said %q", lines.Text())
			}
			if ending == "killed" {
				if n := len(components(runs)); n != 5 {
					t.Errorf("%d components run, not 5", n)
				}
				_ = program.Process.Signal(syscall.SIGKILL)
			}
			_ = program.Wait()
			deadline := time.Now().Add(10 * time.Second)
			for len(components(runs)) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("still running: %v", components(runs))
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
}

// components are the processes whose command line names the folder.
func components(folder string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), folder) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func TestParseUnschedulable(t *testing.T) {
	for _, c := range []struct {
		message              string
		reasons              []string
		preFilter, preempted string
	}{
		{
			"0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
			[]string{"Insufficient cpu", "Too many pods"}, "",
			"0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
		},
		{
			"0/6 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 5 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
			[]string{"node(s) didn't have free ports for the requested pod ports"}, "",
			"0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
		},
		{`0/1 nodes are available: persistentvolumeclaim "data" not found. not found`, nil, `persistentvolumeclaim "data" not found. not found`, ""},
	} {
		said := ParseUnschedulable(c.message)
		if fmt.Sprint(said.Reasons) != fmt.Sprint(c.reasons) || said.PreFilter != c.preFilter || said.Preemption != c.preempted {
			t.Errorf("%q is read as %+v", c.message, said)
		}
	}
}
