package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// What people have saved gives the answer that the live cluster gives.
func TestSavedClusters(t *testing.T) {
	t.Parallel()

	scenario(t, "saved-clusters", func(s *stage) {
		s.node("full")
		s.node("other", bed.Label("pool", "edge"))
		s.node("tainted", bed.Taint("dedicated", "db", "NoSchedule"))
		port := "containers: [{name: main, image: example.com/exporter:1, ports: [{containerPort: 9100, hostPort: 9100}]}]"
		s.bystander("hog", "full", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.daemonSet("legacy", "nodeSelector: {pool: edge}\n"+port)
		s.settle()
		sets := []string{"healthy", "cpu", "port", "selector", "refused", "old"}
		s.daemonSet("healthy", "")
		s.daemonSet("cpu", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 300m}}}]")
		s.daemonSet("port", port)
		s.daemonSet("selector", "nodeSelector: {pool: edge}")
		s.daemonSet("refused", "serviceAccountName: nobody")
		s.daemonSet("old", "", "updateStrategy: {type: OnDelete}")
		s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
		s.settle()
		s.update("old", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/agent:2"}]}}}}`)
		s.settle()

		admin := s.cluster.Kubeconfig(bed.Admin)
		dumps := map[string]string{}
		for _, format := range []string{"json", "yaml"} {
			folder := filepath.Join(s.TempDir(), "dump-"+format)
			result := plugin.Kubectl(s.ctx, admin, "cluster-info", "dump", "-A", "-o", format, "--output-directory="+folder)
			if result.Exit != 0 {
				s.Fatalf("%s\n%s", result, result.Stderr)
			}
			dumps["cluster-info dump -o "+format+" --output-directory"] = folder
		}
		for name, args := range map[string][]string{
			"cluster-info dump": {"cluster-info", "dump", "-A"},
			// Container logs stand between the documents.
			"cluster-info dump -o yaml": {"cluster-info", "dump", "-A", "-o", "yaml"},
			"get -o yaml":               {"get", "ds,pods,nodes,controllerrevisions,events", "-A", "-o", "yaml"},
			"get -o json":               {"get", "ds,pods,nodes,controllerrevisions,events", "-A", "-o", "json"},
		} {
			result := plugin.Kubectl(s.ctx, admin, args...)
			if result.Exit != 0 {
				s.Fatalf("%s\n%s", result, result.Stderr)
			}
			file := filepath.Join(s.TempDir(), strings.NewReplacer(" ", "-", ",", "-").Replace(name))
			s.must(os.WriteFile(file, []byte(result.Stdout), 0o600))
			dumps[name] = file
		}
		for _, ds := range sets {
			live := s.diagnose(ds, bed.Leave{Creation: ds == "refused"})
			for name, path := range dumps {
				// The dump of cluster-info has no ControllerRevisions, by which pods of now and then are told.
				if ds == "old" && strings.HasPrefix(name, "cluster-info") {
					continue
				}
				saved, result, err := plugin.Doctor(s.ctx, "", "-n", s.namespace, ds, "--snapshot", path, "--server-version", options.Version)
				if err != nil {
					s.Errorf("%s of %s: %v", ds, name, err)
					continue
				}
				if result.Exit != live.result.Exit {
					s.Errorf("%s of %s: exit code %d, live %d", ds, name, result.Exit, live.result.Exit)
				}
				for _, node := range live.Report.Nodes {
					other := saved.Node(node.Name)
					if other == nil || brief(other) != brief(&node) {
						s.Errorf("%s of %s: node %s is %v, live %s", ds, name, node.Name, other, brief(&node))
					}
				}
			}
		}

		// What -o name prints is there: pods that are not as they should be, else the node,
		// if it is not left out by choice.
		for ds, want := range map[string]string{
			"healthy": "node tainted", "cpu": "pod on full\nnode tainted", "port": "pod on other\nnode tainted", "selector": "",
			"refused": "node full\nnode other\nnode tainted", "old": "pod on full\npod on other\nnode tainted",
		} {
			names := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "ds-doctor", "-n", s.namespace, ds, "-o", "name")
			if have := s.named(ds, names.Stdout); have != want {
				s.Errorf("-o name of %s: %q, which is %q, not %q", ds, names.Stdout, have, want)
			}
		}

		// Advice is about the DaemonSet as the API server has it.
		for ds, want := range map[string][]string{"cpu": nil, "healthy": {"no-requests"}} {
			advice := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "ds-doctor", "-n", s.namespace, ds, "--lint")
			if has := strings.Contains(advice.Stdout, "no-requests"); has != (want != nil) || !strings.Contains(advice.Stdout, "no-priority-class") {
				s.Errorf("--lint of %s: exit code %d\n%s%s", ds, advice.Exit, advice.Stdout, advice.Stderr)
			}
		}

		// Live and replayed, as a screen too.
		for _, format := range []string{"text", "wide", "markdown", "yaml", "json", "name", "lint"} {
			for _, ds := range sets {
				file := filepath.Join(s.TempDir(), ds+"."+format+".json")
				output := slices.Clip([]string{"ds-doctor", "-n", s.namespace, ds, "-o", format})
				if format == "lint" {
					output = append(output[:4], "--lint")
				}
				live := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append(output, "--save-snapshot", file)...)
				again := plugin.Kubectl(s.ctx, "", append(output, "--snapshot", file)...)
				if live.Stdout == "" && format != "name" || again.Stdout != live.Stdout || again.Exit != live.Exit {
					s.Errorf("%s as %s: exit codes %d and %d, %s", ds, format, live.Exit, again.Exit, firstDifference(live.Stdout, again.Stdout+again.Stderr))
				}
				if mode, err := os.Stat(file); err != nil || mode.Mode().Perm() != 0o600 {
					s.Errorf("the saved cluster's file: %v %v", mode, err)
				}
			}
		}
	})
}

// named says where the pods and which nodes are that -o name has printed, in order.
func (s *stage) named(ds, names string) string {
	s.Helper()
	truth, err := s.cluster.Truth(s.ctx, s.namespace, ds)
	s.must(err)
	var all []string
	for name := range strings.Lines(names) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(name), "/")
		if kind == "pod" {
			for node, pods := range truth.Pods {
				for i := range pods {
					if pods[i].Name == rest {
						rest = "on " + node
					}
				}
			}
		} else if !slices.Contains(truth.Nodes, rest) {
			rest += "?"
		}
		all = append(all, kind+" "+rest)
	}
	return strings.Join(all, "\n")
}

func brief(node *bed.NodeReport) string {
	var causes []string
	for _, cause := range node.Causes {
		causes = append(causes, cause.String())
	}
	return node.State + " " + strings.Join(causes, "; ")
}
