package main

import v1 "k8s.io/api/core/v1"

// Verdicts is what upstream's code says about one case.
type Verdicts struct {
	DaemonSet DaemonSetVerdict `json:"daemonset"`
	Nodes     []NodeVerdict    `json:"nodes"`
}

type DaemonSetVerdict struct {
	Status         any              `json:"status,omitempty"`
	CreatedOn      []string         `json:"createdOn"`
	Deleted        []string         `json:"deleted,omitempty"`
	Hash           string           `json:"hash,omitempty"`
	Pod            *v1.Pod          `json:"pod,omitempty"`
	PodCreateError string           `json:"podCreateError,omitempty"`
	PreEnqueue     string           `json:"preEnqueue,omitempty"`
	Requests       map[string]int64 `json:"requests,omitempty"`
}

type NodeVerdict struct {
	Node             string            `json:"node"`
	Controller       ControllerVerdict `json:"controller"`
	Fresh            *Schedule         `json:"fresh,omitempty"`
	AsIs             *Schedule         `json:"asis,omitempty"`
	OwnPods          []OwnPod          `json:"ownPods,omitempty"`
	KubeletAdmission []string          `json:"kubeletAdmission,omitempty"`
}

type ControllerVerdict struct {
	ShouldRun             bool     `json:"shouldRun"`
	ShouldContinueRunning bool     `json:"shouldContinueRunning"`
	TemplateNodeNameOk    bool     `json:"templateNodeNameOk"`
	NodeSelectorOk        bool     `json:"nodeSelectorOk"`
	NodeAffinityOk        bool     `json:"nodeAffinityOk"`
	AffinityParseError    string   `json:"affinityParseError,omitempty"`
	TaintsOk              bool     `json:"taintsOk"`
	UntoleratedTaints     []string `json:"untoleratedTaints,omitempty"`
	CreatesPod            bool     `json:"createsPod"`
	DeletesPods           []string `json:"deletesPods,omitempty"`
}

type OwnPod struct {
	Name        string `json:"name"`
	Phase       string `json:"phase"`
	Assigned    bool   `json:"assigned"`
	Counted     bool   `json:"counted"`
	Terminating bool   `json:"terminating,omitempty"`
}

// Schedule is the scheduler's answer for one pod on one node.
type Schedule struct {
	Fits        bool                    `json:"fits"`
	Failed      []string                `json:"failed"`
	Plugins     map[string]PluginAnswer `json:"plugins"`
	Bypassed    bool                    `json:"bypassed,omitempty"`
	Schedulable bool                    `json:"schedulable"`
	Message     string                  `json:"message,omitempty"`
	Preemption  *Preemption             `json:"preemption,omitempty"`
	Usage       *Usage                  `json:"usage,omitempty"`
}

type PluginAnswer struct {
	Status  string   `json:"status"`
	Phase   string   `json:"phase"`
	Reasons []string `json:"reasons"`
}

type Preemption struct {
	Possible     bool     `json:"possible"`
	NotHelpful   bool     `json:"notHelpful,omitempty"`
	Node         string   `json:"node,omitempty"`
	Victims      []string `json:"victims,omitempty"`
	PDBViolating int64    `json:"pdbViolating,omitempty"`
	Message      string   `json:"message,omitempty"`
}

type Usage struct {
	Allocatable map[string]int64 `json:"allocatable"`
	Requested   map[string]int64 `json:"requested"`
	Pods        int              `json:"pods"`
}
