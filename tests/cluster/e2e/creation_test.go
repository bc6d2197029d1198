package e2e

import (
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// The API server refuses the pods that the controller wants to make.
func TestCreationRefused(t *testing.T) {
	t.Parallel()

	refused := func(name, code string, arrange func(s *stage)) {
		scenario(t, name, func(s *stage) {
			s.node("a")
			s.node("b")
			arrange(s)
			s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
			s.settle()
			s.diagnose("agent", bed.Leave{Creation: true}).exit(1).node("a", "Missing", code).node("b", "Missing", code)
		})
	}

	refused("quota", "CreateQuota none pods", func(s *stage) {
		s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {pods: 0}}}")
		s.until("the quota to be counted", func() bool {
			quota, err := s.cluster.Resource("ResourceQuota", s.namespace).Get(s.ctx, "none", getNow)
			s.must(err)
			status, _ := quota.Object["status"].(map[string]any)
			return status["hard"] != nil
		})
		s.daemonSet("agent", "")
	})

	refused("pod-security", "CreatePodSecurity baseline", func(s *stage) {
		s.patch("Namespace", s.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
		s.daemonSet("agent", "hostNetwork: true")
	})

	refused("service-account", "CreateServiceAccountMissing NS/agent", func(s *stage) {
		s.daemonSet("agent", "serviceAccountName: agent")
	})

	refused("limit-range", "CreateLimitRange bounds memory", func(s *stage) {
		s.apply("{apiVersion: v1, kind: LimitRange, metadata: {name: bounds}, spec: {limits: [{type: Container, max: {memory: 100Mi}}]}}")
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {memory: 200Mi}, limits: {memory: 200Mi}}}]")
	})

	refused("priority-class", "CreatePriorityClassMissing critical", func(s *stage) {
		s.daemonSet("agent", "priorityClassName: critical")
	})

	refused("runtime-class", "CreateRuntimeClassMissing gvisor", func(s *stage) {
		s.daemonSet("agent", "runtimeClassName: gvisor")
	})

	refused("webhook-without-backend", "CreateWebhook deny.example.com", func(s *stage) {
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: deny}
webhooks:
- name: deny.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 2
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}
  clientConfig: {service: {namespace: ` + s.namespace + `, name: nobody}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]`)
		s.daemonSet("agent", "")
	})

	// conditioned is a webhook without a backend that is asked only if the condition holds.
	conditioned := func(s *stage, expression string) {
		s.Helper()
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: conditioned}
webhooks:
- name: conditioned.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 2
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}
  matchConditions: [{name: of-agents, expression: "` + expression + `"}]
  clientConfig: {service: {namespace: ` + s.namespace + `, name: nobody}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]`)
	}

	scenario(t, "webhook-conditions-hold", func(s *stage) {
		s.node("a")
		conditioned(s, "object.metadata.labels['app'] == 'agent'")
		s.daemonSet("agent", "")
		s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
		s.settle()
		s.diagnose("agent", bed.Leave{Creation: true}).exit(1).node("a", "Missing", "CreateWebhook conditioned.example.com")
		// Without the event nobody can tell whether the condition holds: the webhook is a possibility only.
		s.stopControllerManager()
		s.must(s.cluster.Admin.CoreV1().Events(s.namespace).DeleteCollection(s.ctx, deleteNow, listAll))
		v := s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Missing", "CreateWebhook conditioned.example.com", "NotCreated")
		for _, cause := range v.Report.Node("a").Causes {
			if cause.Code == "CreateWebhook" && cause.Severity != "warning" {
				v.Errorf("a webhook of which nobody can tell whether it is asked is an %s", cause.Severity)
			}
		}
	})

	scenario(t, "webhook-conditions-except-the-pod", func(s *stage) {
		s.node("a")
		conditioned(s, "object.metadata.labels['app'] != 'agent'")
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy")
	})

	refused("admission-policy", "CreateAdmissionPolicy", func(s *stage) {
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-host-path}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - {expression: "!object.spec.containers.exists(c, c.image.endsWith(':1'))", message: "pin the image"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-host-path}
spec:
  policyName: no-host-path
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}}`)
		s.until("the policy to be in force", func() bool { return s.refuses("example.com/agent:1", "pin the image") })
		s.daemonSet("agent", "")
	})

	refused("node-selector-conflict", "CreateNodeSelectorConflict pool", func(s *stage) {
		s.patch("Namespace", s.namespace, `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/node-selector":"pool=edge"}}}`)
		s.patch("Node", "a", `{"metadata":{"labels":{"pool":"core"}}}`)
		s.patch("Node", "b", `{"metadata":{"labels":{"pool":"core"}}}`)
		s.daemonSet("agent", "nodeSelector: {pool: core}")
	})

	quota := func(s *stage, name, spec string) {
		s.Helper()
		s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: " + name + "}, spec: " + spec + "}")
		s.until("the quota to be counted", func() bool {
			quota, err := s.cluster.Resource("ResourceQuota", s.namespace).Get(s.ctx, name, getNow)
			s.must(err)
			status, _ := quota.Object["status"].(map[string]any)
			return status["hard"] != nil
		})
	}

	refused("quota-cpu", "CreateQuota cores requests.cpu", func(s *stage) {
		quota(s, "cores", "{hard: {requests.cpu: 200m}}")
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 300m}}}]")
	})

	refused("quota-scope", "CreateQuotaScope PriorityClass", func(s *stage) {
		s.apply(priority("reserved", 1000))
		s.daemonSet("agent", "priorityClassName: reserved")
	})

	refused("quota-of-a-priority-class", "CreateQuota scoped pods", func(s *stage) {
		// The quota is for one priority class; a DaemonSet without it is not its business.
		s.apply(priority("reserved", 1000))
		quota(s, "scoped", "{hard: {pods: 0}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [reserved]}]}}")
		s.daemonSet("other", "")
		s.daemonSet("agent", "priorityClassName: reserved")
		s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
		s.settle()
		s.diagnose("other", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy")
	})

	refused("default-limit-below-request", "CreateLimitRange bounds cpu", func(s *stage) {
		// The template is valid; with the limit that admission adds, the pod is not.
		s.apply("{apiVersion: v1, kind: LimitRange, metadata: {name: bounds}, spec: {limits: [{type: Container, default: {cpu: 500m}}]}}")
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 1}}}]")
	})

	refused("invalid-pod", "CreateInvalid", func(s *stage) {
		// The template is valid; with the host ports that a pod on the host's network gets, the pod is not.
		s.daemonSet("agent", `
hostNetwork: true
containers:
- {name: one, image: example.com/agent:1, ports: [{containerPort: 80}]}
- {name: two, image: example.com/agent:1, ports: [{containerPort: 80}]}`)
	})

	refused("toleration-conflict", "CreateTolerationConflict", func(s *stage) {
		s.patch("Namespace", s.namespace, `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/tolerationsWhitelist":"[{\"key\":\"dedicated\",\"operator\":\"Exists\"}]"}}}`)
		s.daemonSet("agent", "")
	})

	refused("priority-of-its-own", "CreatePriorityConflict priority", func(s *stage) {
		s.daemonSet("agent", "priority: 5")
	})

	refused("refused-in-other-words", "CreateFailed", func(s *stage) {
		// No check knows of this annotation: the API server's own words are all there is.
		s.patch("ServiceAccount", "default", `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`)
		s.daemonSet("agent", "volumes: [{name: key, secret: {secretName: key}}]")
	})

	scenario(t, "daemonset-terminating", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		s.patch("DaemonSet", "agent", `{"metadata":{"finalizers":["example.com/hold"]}}`)
		s.must(s.cluster.Resource("DaemonSet", s.namespace).Delete(s.ctx, "agent", deleteNow))
		s.node("b")
		s.settle()
		s.diagnose("agent", bed.Leave{Status: true, Creation: true}).exit(1).node("b", "Missing", "DaemonSetTerminating")
	})

	scenario(t, "namespace-terminating", func(s *stage) {
		s.node("a")
		s.settle()
		// Nobody empties the namespace, so that what is in it stays.
		s.stopControllerManager()
		s.daemonSet("agent", "")
		s.must(s.cluster.Resource("Namespace", "").Delete(s.ctx, s.namespace, deleteNow))
		s.patchStatus("DaemonSet", "agent", "observedGeneration: 1")
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Missing", "NamespaceTerminating")
	})

	scenario(t, "not-created", func(s *stage) {
		// Between a pod's end and the next there is a moment without any; without a
		// controller it lasts.
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.must(s.cluster.Resource("Pod", s.namespace).Delete(s.ctx, s.podOn("agent", "a").Name, deleteNow))
		s.until("the pod to go", func() bool { return s.podOnOrNil("agent", "a") == nil })
		s.diagnose("agent", bed.Leave{}).node("a", "Missing", "NotCreated")
	})

	scenario(t, "controller-silent", func(s *stage) {
		// The lease is what a leader leaves behind that died some minutes ago; the
		// test bed's controllers run without election.
		s.node("a")
		s.settle()
		s.stopControllerManager()
		s.daemonSet("agent", "")
		s.apply("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kube-controller-manager, namespace: kube-system}, " +
			"spec: {holderIdentity: x, leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z'}}")
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Missing", "StatusStale", "ControllerSilent")
	})

	scenario(t, "node-selector-of-the-namespace", func(s *stage) {
		s.node("a", bed.Label("pool", "edge"))
		s.node("b")
		s.patch("Namespace", s.namespace, `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/node-selector":"pool=edge"}}}`)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").
			node("b", "Pending", "NodeAffinity nodeSelector pool=edge (added at admission)")
	})
}
