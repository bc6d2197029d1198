package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"time"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

//go:linkname rollingUpdate k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).rollingUpdate
func rollingUpdate(dsc *daemon.DaemonSetsController, ctx context.Context, ds *appsv1.DaemonSet, nodeList []*v1.Node, hash string) error

// Step is what the controller did in one call.
type Step struct {
	Created []string `json:"created"` // nodes
	Deleted []string `json:"deleted"` // names of pods
	Error   string   `json:"error,omitempty"`
}

// RolloutCase is a cluster in the middle of a rollout and what upstream does about it.
type RolloutCase struct {
	ID        string                 `json:"id"`
	DaemonSet string                 `json:"daemonset"`
	Upstream  string                 `json:"upstream"`
	Now       time.Time              `json:"now"`
	Objects   []json.RawMessage      `json:"objects"`
	Hash      string                 `json:"hash"`
	Status    appsv1.DaemonSetStatus `json:"status"`
	// Update is rollingUpdate alone, as it follows when nothing is left to be created or pruned.
	Update *Step `json:"update,omitempty"`
}

// rolloutMain makes such clusters, each labelled.
func rolloutMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("rollout", flag.ExitOnError)
	seed := fs.Int64("seed", 1, "first seed")
	cases := fs.Int("cases", 100, "how many")
	fs.Parse(args)
	for i := range *cases {
		c, err := rolloutCase(*seed + int64(i))
		if err != nil {
			return fmt.Errorf("seed %d: %w", *seed+int64(i), err)
		}
		b, err := marshal(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", b)
	}
	return nil
}

func rolloutCase(seed int64) (*RolloutCase, error) {
	g := rand.New(rand.NewSource(seed))
	p := func(percent int) bool { return g.Intn(100) < percent }
	c := &RolloutCase{ID: fmt.Sprintf("rollout-%d", seed), DaemonSet: "ns/agent", Upstream: upstreamVersion, Now: now}
	ds := rolloutDaemonSet(g)
	cl := &cluster{ds: ds}
	var names []string
	size := 1 + g.Intn(9)
	if p(6) { // where a percentage comes out between two pods
		size = 15 + g.Intn(30)
	}
	for i := range size {
		n := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}}
		if len(ds.Spec.Template.Spec.NodeSelector) > 0 && p(75) {
			n.Labels = map[string]string{"pool": "agents"}
		}
		if p(15) {
			effect := v1.TaintEffectNoSchedule
			if p(30) {
				effect = v1.TaintEffectNoExecute
			}
			n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "db", Effect: effect}}
		}
		if p(6) { // tolerated by every DaemonSet, or as good as
			t := []v1.Taint{{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute}, {Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule},
				{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule}, {Key: "dedicated", Effect: v1.TaintEffectPreferNoSchedule}}[g.Intn(4)]
			n.Spec.Unschedulable = t.Key == v1.TaintNodeUnschedulable
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
		names = append(names, n.Name)
		cl.nodes = append(cl.nodes, n)
	}
	if p(10) {
		names = append(names, "gone")
	}
	// The revisions are the controller's own: it sees the older templates first, the newest one last. That may be one that was
	// there before: a rollback.
	of := func(image string, generation int64) *appsv1.DaemonSet {
		d := ds.DeepCopy()
		d.Spec.Template.Spec.Containers[0].Image = image
		if d.Annotations != nil {
			d.Annotations[appsv1.DeprecatedTemplateGeneration] = fmt.Sprint(generation)
		}
		return d
	}
	history := []*appsv1.DaemonSet{of("reg/agent:1", 1), ds}
	switch g.Intn(6) {
	case 0:
		history = []*appsv1.DaemonSet{of("reg/agent:0", 0), of("reg/agent:1", 1), ds}
	case 1:
		ds.Spec.Template.Spec.Containers[0].Image = "reg/agent:0"
		history = []*appsv1.DaemonSet{of("reg/agent:0", 0), of("reg/agent:1", 1), ds}
	}
	revisions := []*appsv1.ControllerRevision{}
	for _, d := range history {
		at := &cluster{ds: d}
		at.fill(revisions)
		ans, err := runController(context.Background(), at)
		if err != nil {
			return nil, err
		}
		ans.current.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}
		// One that is current again has another number, not another name.
		revisions = slices.DeleteFunc(revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == ans.current.Name })
		revisions = append(revisions, ans.current.DeepCopy())
	}
	hash := func(r *appsv1.ControllerRevision) string { return r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] }
	current := revisions[len(revisions)-1]
	c.Hash = hash(current)
	for p(25) {
		all := strays(g, ds, revisions)
		at := &cluster{ds: ds}
		at.fill(all)
		ans, err := runController(context.Background(), at)
		if err != nil {
			return nil, err
		}
		// The fake API forgets that a revision was adopted when it is renumbered; a real one would have the controller come again.
		if bytes.Equal(ans.current.Data.Raw, current.Data.Raw) {
			revisions, c.Hash = all, ans.hash
			break
		}
	}
	updated, well := g.Intn(101), 50+g.Intn(51)
	for _, node := range names {
		count := 1
		switch {
		case p(10):
			count = 0
		case p(20):
			count = 2
		case p(3):
			count = 3
		}
		for i := range count {
			h := hash(revisions[g.Intn(len(revisions))])
			if p(updated) || (i == 1 && p(80)) {
				h = c.Hash
			}
			pod := rolloutPod(g, ds, fmt.Sprintf("agent-%s-%d", node, i), node, h, p(well))
			switch {
			case p(4):
				pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "pruned" // its revision is gone
			case p(3):
				delete(pod.Labels, appsv1.DefaultDaemonSetUniqueLabelKey)
			}
			if ds.Annotations != nil && p(70) {
				pod.Labels["pod-template-generation"] = []string{"1", "2", ds.Annotations[appsv1.DeprecatedTemplateGeneration]}[g.Intn(3)]
			}
			if i > 0 && p(20) { // as old as the other: names decide
				pod.CreationTimestamp = cl.pods[len(cl.pods)-1].CreationTimestamp
			}
			if p(5) {
				// Matching labels are not enough where another controller has the pod.
				pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Name = "another", "another"
			}
			cl.pods = append(cl.pods, pod)
		}
	}
	cl.fill(revisions)
	for _, o := range cl.all {
		b, err := marshal(o)
		if err != nil {
			return nil, err
		}
		c.Objects = append(c.Objects, b)
	}
	client, dsc, err := newController(context.Background(), cl)
	if err != nil {
		return nil, err
	}
	if ds.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		step := &Step{Created: []string{}, Deleted: []string{}}
		if err := rollingUpdate(dsc, context.Background(), ds, cl.nodes, c.Hash); err != nil {
			step.Error = err.Error()
		}
		created, deleted := writes(client, cl)
		for _, p := range created {
			step.Created = append(step.Created, targetNode(p))
		}
		for name := range deleted {
			step.Deleted = append(step.Deleted, strings.TrimPrefix(name, "ns/"))
		}
		slices.Sort(step.Created)
		slices.Sort(step.Deleted)
		c.Update = step
	}
	ans, err := runController(context.Background(), cl)
	if err != nil && c.Update != nil && c.Update.Error != "" {
		// The sync fails as its rolling update does, and writes no status.
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.Status = ans.status
	return c, nil
}

// strays adds revisions that the controller takes for another's, takes over, lets go of or puts together, and changes those it has.
func strays(g *rand.Rand, ds *appsv1.DaemonSet, revisions []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	label := appsv1.DefaultDaemonSetUniqueLabelKey
	revisions = slices.Clone(revisions)
	for i, r := range revisions {
		revisions[i] = r.DeepCopy()
	}
	current := revisions[len(revisions)-1]
	like := func(r *appsv1.ControllerRevision, name string, revision int64) *appsv1.ControllerRevision {
		r = r.DeepCopy()
		r.Name, r.UID, r.Revision, r.Labels[label] = "agent-"+name, types.UID(name), revision, name
		return r
	}
	extra := func(r *appsv1.ControllerRevision) { revisions = append(revisions, r) }
	yes := true
	ownedBy := func(r *appsv1.ControllerRevision, name string, uid types.UID) {
		r.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: name, UID: uid, Controller: &yes}}
	}
	for range 1 + g.Intn(2) {
		of := revisions[g.Intn(len(revisions))]
		switch g.Intn(9) {
		case 0, 1: // another controller's, with the same labels and a higher number
			r := like(of, "foreign", 99)
			ownedBy(r, "another", "another")
			extra(r)
		case 2: // nobody's, of another template: adopted, and the current one is renumbered
			r := like(current, "orphan", current.Revision+int64(g.Intn(5)))
			r.OwnerReferences = nil
			r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), "reg/agent", "reg/orphan", 1))
			extra(r)
		case 3: // the current one is nobody's
			current.OwnerReferences = nil
		case 4: // the same template twice
			extra(like(current, "twin", current.Revision+int64(1+g.Intn(3))))
		case 5:
			if current.Revision > 1 {
				extra(like(current, "elder", current.Revision-1))
			}
		case 6: // without the label the name stands for it
			delete(of.Labels, label)
		case 7: // let go of, as its labels are not the selector's
			r := like(of, "released", 50)
			ownedBy(r, ds.Name, ds.UID)
			r.Labels["app"] = "other"
			extra(r)
		case 8: // of a DaemonSet of that name that is gone
			r := like(of, "former", 60)
			ownedBy(r, ds.Name, "former")
			extra(r)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(revisions, func(r *appsv1.ControllerRevision) bool {
		twice := seen[r.Name]
		seen[r.Name] = true
		return twice
	})
}

// fill puts the parts together as the stores take them.
func (cl *cluster) fill(revisions []*appsv1.ControllerRevision) {
	cl.all = nil
	cl.all = append(cl.all, cl.ds)
	for _, n := range cl.nodes {
		cl.all = append(cl.all, n)
	}
	for _, r := range revisions {
		cl.all = append(cl.all, r)
	}
	for _, p := range cl.pods {
		cl.all = append(cl.all, p)
	}
}

func rolloutDaemonSet(g *rand.Rand) *appsv1.DaemonSet {
	amounts := func(zero bool) *intstr.IntOrString {
		of := []string{"1", "1", "2", "3", "1%", "10%", "25%", "33%", "34%", "50%", "67%", "100%"}
		if zero {
			of = append(of, "0", "0", "0", "0", "0%")
		}
		v := intstr.Parse(of[g.Intn(len(of))])
		return &v
	}
	zero := intstr.FromInt32(0)
	rolling := &appsv1.RollingUpdateDaemonSet{MaxUnavailable: amounts(true), MaxSurge: &zero}
	if g.Intn(2) == 0 {
		rolling = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: amounts(true)}
		if g.Intn(4) == 0 {
			rolling.MaxUnavailable = amounts(false)
		}
	}
	strategy := appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: rolling}
	if g.Intn(20) == 0 {
		strategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	keep := int32(10)
	labels := map[string]string{"app": "agent"}
	ds := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "ns", UID: "u", Generation: 2},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, RevisionHistoryLimit: &keep, UpdateStrategy: strategy,
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{
				Containers: []v1.Container{{Name: "agent", Image: "reg/agent:2"}},
			}},
		},
		Status: appsv1.DaemonSetStatus{ObservedGeneration: 2},
	}
	if g.Intn(3) == 0 {
		ds.Spec.MinReadySeconds = 30
	}
	if g.Intn(8) == 0 {
		ds.Status.ObservedGeneration = 1 // the status lags, the revisions are there
	}
	if g.Intn(40) == 0 {
		three := int32(3)
		ds.Status.CollisionCount = &three
	}
	switch g.Intn(14) {
	case 0:
		ds.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "agents"}
	case 1:
		ds.Spec.Template.Spec.NodeName = "n0"
	case 2:
		ds.Spec.Template.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
	case 3:
		ds.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: []string{"2", "2", "02", "+2", "two", ""}[g.Intn(6)]}
	case 4: // how a DaemonSet is paused
		ds.Spec.Template.Spec.NodeSelector = map[string]string{"paused": "yes"}
	case 5:
		ds.Spec.Template.Spec.HostNetwork = true
	}
	return ds
}

func rolloutPod(g *rand.Rand, ds *appsv1.DaemonSet, name, node, hash string, well bool) *v1.Pod {
	yes, age := true, time.Duration(1+g.Intn(7200))*time.Second
	pod := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-age)),
			Labels:          map[string]string{"app": "agent", appsv1.DefaultDaemonSetUniqueLabelKey: hash},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: ds.Name, UID: ds.UID, Controller: &yes}},
		},
		Spec:   v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "agent", Image: "reg/agent:1"}}},
		Status: v1.PodStatus{Phase: v1.PodRunning},
	}
	ready := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-(age / 2).Truncate(time.Second)))}
	if well {
		ready.Status = v1.ConditionTrue
	}
	pod.Status.Conditions = []v1.PodCondition{ready}
	switch roll := g.Intn(100); {
	case roll < 8:
		at, grace := metav1.NewTime(now.Add(20*time.Second)), int64(30)
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
		pod.Finalizers = []string{"test/hold"} // or the fake API would not keep it
	case roll < 14 && !well:
		pod.Spec.NodeName, pod.Status.Phase, pod.Status.Conditions = "", v1.PodPending, nil
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}}}
	case roll < 18 && !well:
		pod.Status.Phase, pod.Status.Reason = v1.PodFailed, "Evicted"
	case roll < 20 && !well:
		pod.Status.Phase = v1.PodSucceeded
	case roll < 23 && well:
		pod.Status.Conditions[0].LastTransitionTime = metav1.Time{}
	case roll < 26:
		pod.Status.Conditions = nil
	case roll < 29 && !well: // finished and on its way out: the controller is done with it
		pod.Status.Phase = []v1.PodPhase{v1.PodFailed, v1.PodSucceeded}[g.Intn(2)]
		at := metav1.NewTime(now.Add(-time.Minute))
		pod.DeletionTimestamp, pod.Finalizers = &at, []string{"test/hold"}
	case roll < 32 && well: // available now, or in a second
		pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Duration(29+g.Intn(3)) * time.Second))
	}
	if pod.Spec.NodeName == "" && g.Intn(3) == 0 {
		terms := &pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		field := &(*terms)[0].MatchFields[0]
		switch g.Intn(4) {
		case 0:
			field.Values = append(field.Values, "n0") // no one node: the pod is nowhere
		case 1:
			field.Operator = v1.NodeSelectorOpNotIn
		case 2:
			field.Key = "metadata.namespace"
		case 3:
			*terms = append([]v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "x", Operator: v1.NodeSelectorOpExists}}}}, *terms...)
		}
	}
	return pod
}
