//go:build !v1_34

package main

// What differs between the two versions that corpora are made for; the other half is upstream_v134.go.

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const upstreamVersion = "v1.37.2"

type (
	preFilterPlugin  = fwk.PreFilterPlugin
	filterPlugin     = fwk.FilterPlugin
	postFilterPlugin = fwk.PostFilterPlugin
)

func newInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

func newScheduler(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory) (*scheduler.Scheduler, error) {
	recorder := func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1000) }
	return scheduler.New(ctx, client, factory, nil, profile.RecorderFactory(recorder))
}

func newCycleState() fwk.CycleState { return framework.NewCycleState() }

func schedulePod(ctx context.Context, s *scheduler.Scheduler, fw framework.Framework, state fwk.CycleState, pod *v1.Pod) error {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return err
	}
	_, err = s.SchedulePod(ctx, fw, state, &framework.QueuedPodInfo{PodInfo: info})
	return err
}

func preempting(fw framework.Framework, pod *v1.Pod) bool {
	return defaultPreemptionOf(fw).Executor.IsPodRunningPreemption(pod.UID)
}

// volumeCachesFilled: they read the informers' stores.
func volumeCachesFilled(framework.Framework, informers.SharedInformerFactory) bool { return true }

func nodeShouldRun(logger klog.Logger, node *v1.Node, ds *appsv1.DaemonSet) (bool, bool) {
	return daemon.NodeShouldRunDaemonPod(logger, node, ds)
}

func tolerates(logger klog.Logger, tolerations []v1.Toleration, taint *v1.Taint) bool {
	return v1helper.TolerationsTolerateTaint(logger, tolerations, taint, utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators))
}

func admissionCheck(pod *v1.Pod, n fwk.NodeInfo) []scheduler.AdmissionResult {
	return scheduler.AdmissionCheck(pod, n.(*framework.NodeInfo), true)
}
