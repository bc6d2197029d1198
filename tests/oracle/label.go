package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

func init() {
	fs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fs)
	fs.Set("logtostderr", "false")
	fs.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil
}

// Label asks upstream's code about one case.
func Label(c *Case) (v *Verdicts, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	cl, err := decode(c)
	if err != nil {
		return nil, err
	}
	ctx := klog.NewContext(context.Background(), klog.LoggerWithName(klog.Background(), c.ID))
	ans, err := runController(ctx, cl)
	if err != nil {
		return nil, err
	}
	v = &Verdicts{Nodes: []NodeVerdict{}}
	ans.verdict(&v.DaemonSet)
	w, err := newWorld(ctx, cl)
	if err != nil {
		return nil, err
	}
	defer func() { w.cancel() }()
	logger := klog.FromContext(ctx)
	for i, node := range cl.nodes {
		n := NodeVerdict{Node: node.Name, Controller: controllerVerdict(logger, cl, ans, node)}
		var own []*v1.Pod
		var waiting *v1.Pod
		for _, p := range cl.pods {
			if metav1.IsControlledBy(p, cl.ds) && targetNode(p) == node.Name {
				assigned := p.Spec.NodeName != ""
				n.OwnPods = append(n.OwnPods, OwnPod{Name: p.Namespace + "/" + p.Name, Phase: string(p.Status.Phase), Assigned: assigned,
					Counted: assigned && !isTerminal(p), Terminating: p.DeletionTimestamp != nil})
				if !isTerminal(p) {
					own = append(own, p)
					if !assigned && waiting == nil {
						waiting = p
					}
				}
			}
		}
		pod, podErr := w.admit.createdPod(ctx, cl.ds, ans.hash, node.Name)
		if waiting != nil && podErr == nil {
			// The pod that the controller made for the node is there and waits: names in reasons are its names.
			pod.Name, pod.UID, pod.Status.NominatedNodeName = waiting.Name, waiting.UID, waiting.Status.NominatedNodeName
			pod.Status.ResourceClaimStatuses = waiting.Status.ResourceClaimStatuses
		}
		if i == 0 {
			if podErr != nil {
				v.DaemonSet.PodCreateError = podErr.Error()
			} else {
				v.DaemonSet.Pod, v.DaemonSet.Requests = pod, requestsOf(pod)
				v.DaemonSet.PreEnqueue = w.preEnqueue(ctx, pod)
			}
		}
		if podErr == nil {
			if slices.ContainsFunc(n.OwnPods, func(p OwnPod) bool { return p.Counted }) {
				if n.AsIs, err = w.schedule(ctx, pod, node.Name); err != nil {
					return nil, fmt.Errorf("%s as is: %w", node.Name, err)
				}
			}
			if err := w.takeOff(ctx, own); err != nil {
				return nil, err
			}
			if n.Fresh, err = w.schedule(ctx, pod, node.Name); err != nil {
				return nil, fmt.Errorf("%s: %w", node.Name, err)
			}
			if pod.Spec.NodeName == node.Name {
				n.KubeletAdmission = w.kubeletAdmission(ctx, pod)
			}
			evicts := func(s *Schedule) bool { return s != nil && s.Preemption != nil && s.Preemption.Possible }
			if len(own) > 0 || evicts(n.Fresh) || evicts(n.AsIs) {
				// Start over rather than undo: a preemption clears nominations, putting pods back changes their order.
				w.cancel()
				if w, err = newWorld(ctx, cl); err != nil {
					return nil, err
				}
			}
		}
		v.Nodes = append(v.Nodes, n)
	}
	return v, nil
}

// takeOff removes pods from what the scheduler knows.
func (w *world) takeOff(ctx context.Context, pods []*v1.Pod) error {
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			w.fw.DeleteNominatedPodIfExists(p)
		} else if err := w.sched.Cache.RemovePod(klog.FromContext(ctx), p); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) preEnqueue(ctx context.Context, pod *v1.Pod) string {
	var all []string
	for _, p := range w.fw.PreEnqueuePlugins() {
		if st := p.PreEnqueue(ctx, pod); !st.IsSuccess() {
			all = append(all, p.Name()+": "+st.Message())
		}
	}
	return strings.Join(all, "; ")
}

// kubeletAdmission is what the kubelet would say to a pod that its template binds to the node.
func (w *world) kubeletAdmission(ctx context.Context, pod *v1.Pod) []string {
	snapshot := w.fw.SnapshotSharedLister().(*internalcache.Snapshot)
	nodeInfo, err := snapshot.Get(pod.Spec.NodeName)
	if err != nil {
		return nil
	}
	var out []string
	for _, r := range admissionCheck(pod, nodeInfo) {
		if r.InsufficientResource != nil {
			out = append(out, r.InsufficientResource.Reason)
		} else {
			out = append(out, r.Reason)
		}
	}
	return out
}
