package main

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controller"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/podnodeselector"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
)

// admitter holds the admission plugins on by default that change or refuse a pod by what the corpora contain.
// Their order is that of the API server's.
type admitter struct {
	plugins []admission.Interface
}

const podNodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"

// newAdmitter takes its informers from a factory that the caller starts. PodNodeSelector is off by default; here it is on
// where a namespace has its annotation.
func newAdmitter(client kubernetes.Interface, factory informers.SharedInformerFactory, nodeSelector bool) (*admitter, error) {
	limits, err := limitranger.NewLimitRanger(&limitranger.DefaultLimitRangerActions{})
	if err != nil {
		return nil, err
	}
	a := &admitter{plugins: []admission.Interface{
		limits, priority.NewPlugin(), defaulttolerationseconds.NewDefaultTolerationSeconds(), runtimeclass.NewRuntimeClass(),
	}}
	if nodeSelector {
		a.plugins = slices.Insert(a.plugins, 1, admission.Interface(podnodeselector.NewPodNodeSelector(nil)))
	}
	for _, p := range a.plugins {
		if w, ok := p.(interface{ InspectFeatureGates(featuregate.FeatureGate) }); ok {
			w.InspectFeatureGates(utilfeature.DefaultFeatureGate)
		}
		if w, ok := p.(interface {
			SetExternalKubeClientSet(kubernetes.Interface)
		}); ok {
			w.SetExternalKubeClientSet(client)
		}
		if w, ok := p.(interface {
			SetExternalKubeInformerFactory(informers.SharedInformerFactory)
		}); ok {
			w.SetExternalKubeInformerFactory(factory)
		}
	}
	return a, nil
}

// createdPod is the pod that the controller would create for a node, as the API server would store it.
func (a *admitter) createdPod(ctx context.Context, ds *appsv1.DaemonSet, hash, node string) (*v1.Pod, error) {
	generation, err := daemonutil.GetTemplateGeneration(ds)
	if err != nil {
		generation = nil
	}
	template := daemonutil.CreatePodTemplate(ds.Spec.Template, generation, hash)
	template.Spec.Affinity = daemonutil.ReplaceDaemonSetPodNodeNameNodeAffinity(template.Spec.Affinity, node)
	ref := metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	pod, err := controller.GetPodFromTemplate(&template, ds, ref)
	if err != nil {
		return nil, err
	}
	pod.Namespace = ds.Namespace
	legacyscheme.Scheme.Default(pod)
	internal := &api.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	ctx = genericapirequest.WithNamespace(ctx, ds.Namespace)
	attrs := admission.NewAttributesRecord(internal, nil, api.Kind("Pod").WithVersion("version"), ds.Namespace, "",
		api.Resource("pods").WithVersion("version"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	objects := admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)
	for _, p := range a.plugins {
		if m, ok := p.(admission.MutationInterface); ok {
			if err := m.Admit(ctx, attrs, objects); err != nil {
				return nil, err
			}
		}
	}
	internal.Name = internal.GenerateName + "xxxxx"
	podregistry.Strategy.PrepareForCreate(ctx, internal)
	internal.Generation = 1
	internal.UID = types.UID("oracle-" + node)
	if errs := podregistry.Strategy.Validate(ctx, internal); len(errs) > 0 {
		return nil, apierrors.NewInvalid(api.Kind("Pod"), internal.Name, errs)
	}
	for _, p := range a.plugins {
		if m, ok := p.(admission.ValidationInterface); ok {
			if err := m.Validate(ctx, attrs, objects); err != nil {
				return nil, err
			}
		}
	}
	out := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, out, nil); err != nil {
		return nil, err
	}
	for i := range out.Status.Conditions {
		out.Status.Conditions[i].LastTransitionTime = metav1.Time{} // the wall clock's
	}
	out.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	return out, nil
}
