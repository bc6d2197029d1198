// Package differential holds ds-doctor against a live control plane on random
// clusters: whatever the controllers and the scheduler decide about a random
// DaemonSet, the report has to say the same.
package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"ds-doctor/tests/cluster/bed"
)

// World is one random cluster: plain objects, so that it can be printed, and
// made smaller piece by piece.
type World struct {
	Nodes, Others, Bystanders, DaemonSets []*bed.Object
	// Later are changes to nodes once everything runs.
	Later []Change
}

// Change is a merge patch of a node.
type Change struct {
	Node, Patch string
}

// Objects of the world, in the order in which they are made.
func (w *World) Objects() []*bed.Object {
	return slices.Concat(w.Others, w.Nodes, w.Bystanders, w.DaemonSets)
}

// YAML of the world, for a report of a disagreement.
func (w *World) YAML() string {
	var text strings.Builder
	for _, object := range w.Objects() {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&text, "---\n%s", document)
	}
	for _, change := range w.Later {
		fmt.Fprintf(&text, "# then: kubectl patch node %s --type=merge -p '%s'\n", change.Node, change.Patch)
	}
	return text.String()
}

// play sets the world up on a cluster and waits until nobody has anything left
// to do.
func (w *World) play(ctx context.Context, cluster *bed.Cluster) error {
	if err := cluster.Clear(ctx); err != nil {
		return err
	}
	if err := cluster.Create(ctx, slices.Concat(w.Others, w.Nodes)...); err != nil {
		return err
	}
	if err := cluster.ClaimsBound(ctx); err != nil {
		return err
	}
	if err := cluster.Create(ctx, slices.Concat(w.Bystanders, w.DaemonSets)...); err != nil {
		return err
	}
	if err := cluster.Settle(ctx, bed.Unsettled{}); err != nil {
		return err
	}
	if len(w.Later) > 0 {
		for _, change := range w.Later {
			_, err := cluster.Resource("Node", "").Patch(ctx, change.Node, types.MergePatchType, []byte(change.Patch), metav1.PatchOptions{})
			if err != nil {
				return err
			}
		}
		if err := cluster.Settle(ctx, bed.Unsettled{}); err != nil {
			return err
		}
		// Some changes do not make the controller count again; a touch does.
		for _, ds := range w.DaemonSets {
			_, err := cluster.Resource("DaemonSet", ds.GetNamespace()).Patch(ctx, ds.GetName(), types.MergePatchType,
				[]byte(`{"metadata":{"annotations":{"touched":"yes"}}}`), metav1.PatchOptions{})
			if err != nil {
				return err
			}
		}
		if err := cluster.Settle(ctx, bed.Unsettled{}); err != nil {
			return err
		}
	}
	// The scheduler does not judge a pod again when things get worse for it. A
	// new scheduler judges every waiting pod by the state of now.
	return cluster.JudgeAgain(ctx)
}

// finding is one point at which report and cluster differ.
type finding struct {
	daemonSet   string // namespace/name
	differences []string
	report      *bed.Report
}

// compare asks ds-doctor about each DaemonSet of the world.
func (w *World) compare(ctx context.Context, cluster *bed.Cluster, plugin *bed.Plugin) ([]finding, error) {
	config := cluster.Kubeconfig(bed.Admin)
	survey, _, err := plugin.Doctor(ctx, config, "-A")
	if err != nil {
		return nil, err
	}
	items := survey.Items
	if survey.Kind == "DaemonSetReport" {
		items = []bed.Report{*survey}
	}
	var findings []finding
	for _, ds := range w.DaemonSets {
		namespace, name := ds.GetNamespace(), ds.GetName()
		report, _, err := plugin.Doctor(ctx, config, "-n", namespace, name)
		if err != nil {
			return nil, err
		}
		truth, err := cluster.Truth(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		refused, err := cluster.CreationRefused(ctx, truth.DaemonSet)
		if err != nil {
			return nil, err
		}
		differences := truth.Compare(report, bed.Leave{Creation: refused})
		differences = append(differences, compareSurvey(report, items)...)
		if len(differences) > 0 {
			findings = append(findings, finding{namespace + "/" + name, differences, report})
		}
	}
	return findings, nil
}

// compareSurvey holds the answer on one DaemonSet against its part in the
// answer on all of them: they are read in different ways.
func compareSurvey(report *bed.Report, items []bed.Report) []string {
	at := slices.IndexFunc(items, func(item bed.Report) bool {
		return item.DaemonSet.Namespace == report.DaemonSet.Namespace && item.DaemonSet.Name == report.DaemonSet.Name
	})
	if at < 0 {
		return []string{"not in the report on all DaemonSets"}
	}
	var differences []string
	for _, node := range report.Nodes {
		other := items[at].Node(node.Name)
		if other == nil {
			differences = append(differences, fmt.Sprintf("node %s: not in the report on all DaemonSets", node.Name))
			continue
		}
		alone, together := brief(&node), brief(other)
		if alone != together {
			differences = append(differences, fmt.Sprintf("node %s: asked alone %s, asked for all %s", node.Name, alone, together))
		}
	}
	return differences
}

func brief(node *bed.NodeReport) string {
	var causes []string
	for _, cause := range node.Causes {
		causes = append(causes, cause.String())
	}
	return fmt.Sprintf("%s %q", node.State, causes)
}

// describe is both sides of a finding.
func (f finding) describe(ctx context.Context, cluster *bed.Cluster) string {
	var text strings.Builder
	fmt.Fprintf(&text, "DaemonSet %s\n", f.daemonSet)
	for _, difference := range f.differences {
		fmt.Fprintf(&text, "  %s\n", difference)
	}
	namespace, name, _ := strings.Cut(f.daemonSet, "/")
	if truth, err := cluster.Truth(ctx, namespace, name); err == nil {
		status, _ := json.Marshal(truth.DaemonSet.Status)
		fmt.Fprintf(&text, "  the cluster: status %s\n", status)
		for node, pods := range truth.Pods {
			for i := range pods {
				message, waits := bed.Waits(&pods[i])
				fmt.Fprintf(&text, "  the cluster: node %s, pod %s %s, waits=%t %s\n", node, pods[i].Name, pods[i].Status.Phase, waits, message)
			}
		}
	}
	for _, node := range f.report.Nodes {
		fmt.Fprintf(&text, "  ds-doctor: node %s %s", node.Name, brief(&node))
		for _, check := range node.Checks {
			if check.Verdict != "pass" {
				fmt.Fprintf(&text, "; %s %s %q", check.Plugin, check.Verdict, check.Reasons)
			}
		}
		fmt.Fprintln(&text)
	}
	return text.String()
}

// shrink makes the world smaller while the DaemonSet's verdicts still differ,
// with at most so many tries on the live cluster.
func (w *World) shrink(ctx context.Context, cluster *bed.Cluster, plugin *bed.Plugin, culprit finding, tries int) (*World, finding) {
	smallest, found := w, culprit
	try := func(candidate *World) bool {
		if tries == 0 {
			return false
		}
		tries--
		if candidate.play(ctx, cluster) != nil {
			return false
		}
		findings, err := candidate.compare(ctx, cluster, plugin)
		if err != nil {
			return false
		}
		for _, f := range findings {
			if f.daemonSet == culprit.daemonSet {
				smallest, found = candidate, f
				return true
			}
		}
		return false
	}
	reduce := func(pick func(*World) *[]*bed.Object, keep func(*bed.Object) bool) {
		// All at once, then halves, then one by one.
		for size := len(*pick(smallest)); size > 0; size /= 2 {
			for from := 0; from < len(*pick(smallest)); {
				candidate := *smallest
				objects := *pick(&candidate)
				var left []*bed.Object
				for i, object := range objects {
					if i < from || i >= from+size || keep(object) {
						left = append(left, object)
					}
				}
				*pick(&candidate) = left
				if len(left) == len(objects) || !try(&candidate) {
					from += size
				}
			}
		}
	}
	if len(w.Later) > 0 {
		candidate := *smallest
		candidate.Later = nil
		try(&candidate)
	}
	reduce(func(w *World) *[]*bed.Object { return &w.DaemonSets }, func(o *bed.Object) bool {
		return o.GetNamespace()+"/"+o.GetName() == culprit.daemonSet
	})
	reduce(func(w *World) *[]*bed.Object { return &w.Bystanders }, func(*bed.Object) bool { return false })
	needed := map[string]bool{}
	for _, change := range smallest.Later {
		needed[change.Node] = true
	}
	for _, pod := range smallest.Bystanders {
		spec, _ := pod.Object["spec"].(map[string]any)
		needed[fmt.Sprint(spec["nodeName"])] = true
	}
	reduce(func(w *World) *[]*bed.Object { return &w.Nodes }, func(o *bed.Object) bool { return needed[o.GetName()] })
	return smallest, found
}

// timed says how long a step took.
func timed(since time.Time) string { return time.Since(since).Round(100 * time.Millisecond).String() }
