package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// world is one case's API with a scheduler and the admission plugins watching it.
type world struct {
	cancel  context.CancelFunc
	factory informers.SharedInformerFactory
	sched   *scheduler.Scheduler
	fw      framework.Framework
	admit   *admitter
}

func isTerminal(o runtime.Object) bool {
	p, ok := o.(*v1.Pod)
	return ok && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed)
}

func newWorld(parent context.Context, cl *cluster) (*world, error) {
	// The scheduler watches pods with a field selector that leaves the terminal ones out; the fake API ignores selectors.
	client := fake.NewSimpleClientset(cl.copies(func(o runtime.Object) bool { return !isTerminal(o) })...)
	// What a verdict writes (victims deleted, nominations cleared) must not change the next verdict.
	client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		switch a := a.(type) {
		case clienttesting.UpdateActionImpl:
			return true, a.GetObject(), nil
		case clienttesting.PatchActionImpl:
			return true, &v1.Pod{}, nil
		case clienttesting.DeleteActionImpl, clienttesting.DeleteCollectionActionImpl:
			return true, nil, nil
		}
		return false, nil, nil
	})
	ctx, cancel := context.WithCancel(parent)
	w := &world{cancel: cancel, factory: newInformerFactory(client)}
	var err error
	if w.admit, err = newAdmitter(client, w.factory, cl.hasNodeSelectors()); err != nil {
		cancel()
		return nil, err
	}
	w.factory.Policy().V1().PodDisruptionBudgets().Lister()
	if w.sched, err = newScheduler(ctx, client, w.factory); err != nil {
		cancel()
		return nil, err
	}
	w.fw = w.sched.Profiles[v1.DefaultSchedulerName]
	w.factory.Start(ctx.Done())
	w.factory.WaitForCacheSync(ctx.Done())
	if err := w.sched.WaitForHandlersSync(ctx); err != nil {
		cancel()
		return nil, err
	}
	// Some caches are filled by events that nobody can wait for; an empty one would answer wrongly, not fail.
	for range 60000 {
		if volumeCachesFilled(w.fw, w.factory) && w.deviceCachesFilled() {
			return w, nil
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	return nil, errors.New("the scheduler's caches were not filled within a minute")
}

// deviceCachesFilled says whether the claims, slices and allocated devices that the DynamicResources plugin sees are those of the informers.
func (w *world) deviceCachesFilled() bool {
	resources := w.factory.Resource().V1()
	claims := resources.ResourceClaims().Informer().GetStore().List()
	have, err := w.fw.SharedDRAManager().ResourceClaims().List()
	if err != nil || len(have) != len(claims) {
		return false
	}
	slices, err := w.fw.SharedDRAManager().ResourceSlices().ListWithDeviceTaintRules()
	if err != nil || len(slices) != len(resources.ResourceSlices().Informer().GetStore().ListKeys()) {
		return false
	}
	devices := map[string]bool{}
	for _, c := range claims {
		alloc := c.(*resourcev1.ResourceClaim).Status.Allocation
		if alloc == nil {
			continue
		}
		for _, r := range alloc.Devices.Results {
			if (r.AdminAccess == nil || !*r.AdminAccess) && r.ShareID == nil {
				devices[r.Driver+"/"+r.Pool+"/"+r.Device] = true
			}
		}
	}
	allocated, err := w.fw.SharedDRAManager().ResourceClaims().ListAllAllocatedDevices()
	return err == nil && len(allocated) == len(devices)
}

// plugins returns a private list of the framework's: upstream has no way to run one plugin on its own.
func plugins[T any](fw framework.Framework, field string) []T {
	f := reflect.ValueOf(fw).Elem().FieldByName(field)
	return *(*[]T)(unsafe.Pointer(f.UnsafeAddr()))
}

func defaultPreemptionOf(fw framework.Framework) *defaultpreemption.DefaultPreemption {
	for _, p := range plugins[postFilterPlugin](fw, "postFilterPlugins") {
		if dp, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			return dp
		}
	}
	panic("no DefaultPreemption in the default profile")
}

// schedule asks every filter on its own about a pod on a node, then runs the real cycle.
func (w *world) schedule(ctx context.Context, pod *v1.Pod, nodeName string) (*Schedule, error) {
	logger := klog.FromContext(ctx)
	snapshot := w.fw.SnapshotSharedLister().(*internalcache.Snapshot)
	if err := w.sched.Cache.UpdateSnapshot(logger, snapshot); err != nil {
		return nil, err
	}
	nodeInfo, err := snapshot.NodeInfos().Get(nodeName)
	if err != nil {
		return nil, err
	}
	allNodes, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	s := &Schedule{Failed: []string{}, Plugins: map[string]PluginAnswer{}, Usage: usageOf(nodeInfo)}
	answer := func(name, phase string, st *fwk.Status) {
		code := st.Code().String()
		reasons := st.Reasons()
		if err := st.AsError(); len(reasons) == 0 && err != nil {
			reasons = []string{err.Error()}
		}
		s.Plugins[name] = PluginAnswer{Status: strings.ToLower(code[:1]) + code[1:], Phase: phase, Reasons: slices.Clone(reasons)}
		if !slices.Contains(s.Failed, name) {
			s.Failed = append(s.Failed, name)
		}
	}
	prefilters := plugins[preFilterPlugin](w.fw, "preFilterPlugins")
	filters := plugins[filterPlugin](w.fw, "filterPlugins")
	names := []string{}
	for _, p := range prefilters {
		names = append(names, p.Name())
	}
	for _, p := range filters {
		if !slices.Contains(names, p.Name()) {
			names = append(names, p.Name())
		}
	}
	for _, name := range names {
		state := framework.NewCycleState()
		skip := false
		for _, p := range prefilters {
			if p.Name() != name {
				continue
			}
			res, st := p.PreFilter(ctx, state, pod, allNodes)
			switch {
			case st.IsSkip():
				skip = true
			case !st.IsSuccess():
				answer(name, "prefilter", st)
				skip = true
			case !res.AllNodes() && !res.NodeNames.Has(nodeName):
				// The words of the real cycle for a node that a PreFilter result leaves out.
				answer(name, "prefilter", fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", []string{name})))
				skip = true
			}
		}
		if skip {
			continue
		}
		for _, p := range filters {
			if p.Name() == name {
				if st := p.Filter(ctx, state, pod, nodeInfo); !st.IsSuccess() {
					answer(name, "filter", st)
				}
			}
		}
	}
	s.Fits = len(s.Failed) == 0
	if pod.Spec.NodeName != "" {
		s.Bypassed = true
		return s, nil
	}
	return s, w.cycle(ctx, pod, snapshot, s)
}

// cycle runs SchedulePod and, where that fails, preemption: dry run and choice first, then the real PostFilter for its words.
func (w *world) cycle(ctx context.Context, pod *v1.Pod, snapshot *internalcache.Snapshot, s *Schedule) error {
	store := w.factory.Core().V1().Pods().Informer().GetStore()
	if err := store.Add(pod); err != nil { // preemption reads the preemptor from the lister
		return err
	}
	defer store.Delete(pod)
	state := newCycleState()
	err := schedulePod(ctx, w.sched, w.fw, state, pod)
	if err == nil {
		s.Schedulable = true
		return nil
	}
	fit, ok := err.(*framework.FitError)
	if !ok {
		s.Message = err.Error()
		return nil
	}
	p := &Preemption{}
	s.Preemption = p
	ev := defaultPreemptionOf(w.fw).Evaluator
	potential, err := fit.Diagnosis.NodeToStatus.NodesForStatusCode(snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return err
	}
	p.NotHelpful = len(potential) == 0
	if ok, _ := ev.PodEligibleToPreemptOthers(ctx, pod, fit.Diagnosis.NodeToStatus.Get(pod.Status.NominatedNodeName)); ok && len(potential) > 0 {
		pdbs, err := ev.PdbLister.List(labels.Everything())
		if err != nil {
			return err
		}
		// Its error is in the words of the PostFilter below.
		candidates, _, _ := ev.DryRunPreemption(ctx, state.Clone(), pod, potential, pdbs, 0, int32(len(potential)))
		if best := ev.SelectCandidate(ctx, candidates); best != nil {
			p.Possible, p.Node, p.PDBViolating = true, best.Name(), best.Victims().NumPDBViolations
			for _, v := range best.Victims().Pods {
				p.Victims = append(p.Victims, v.Namespace+"/"+v.Name)
			}
			slices.Sort(p.Victims)
		}
	}
	_, status := w.fw.RunPostFilterPlugins(ctx, state, pod, fit.Diagnosis.NodeToStatus)
	p.Message = status.Message()
	fit.Diagnosis.PostFilterMsg = p.Message
	s.Message = fit.Error()
	// The victims' deletion runs in the background and only then lets go of the scheduler's state.
	for deadline := time.Now().Add(5 * time.Second); preempting(w.fw, pod) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func usageOf(n fwk.NodeInfo) *Usage {
	resources := func(r fwk.Resource) map[string]int64 {
		m := map[string]int64{"cpu": r.GetMilliCPU(), "memory": r.GetMemory(), "ephemeral-storage": r.GetEphemeralStorage()}
		for k, v := range r.GetScalarResources() {
			m[string(k)] = v
		}
		return m
	}
	u := &Usage{Allocatable: resources(n.GetAllocatable()), Requested: resources(n.GetRequested()), Pods: len(n.GetPods())}
	u.Allocatable["pods"] = int64(n.GetAllocatable().GetAllowedPodNumber())
	return u
}

func requestsOf(pod *v1.Pod) map[string]int64 {
	m := map[string]int64{}
	for k, q := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		if k == v1.ResourceCPU {
			m[string(k)] = q.MilliValue()
		} else {
			m[string(k)] = q.Value()
		}
	}
	return m
}
