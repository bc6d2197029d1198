package bed

// Report is what `-o json` prints for one DaemonSet (docs/json.md).
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	DaemonSet  struct {
		Namespace string         `json:"namespace"`
		Name      string         `json:"name"`
		Status    map[string]any `json:"status"`
		Recount   map[string]any `json:"recount"`
	} `json:"daemonSet"`
	Summary struct {
		Nodes   int            `json:"nodes"`
		States  map[string]int `json:"states"`
		Verdict string         `json:"verdict"`
	} `json:"summary"`
	Rollout struct {
		Strategy       string `json:"strategy"`
		MaxUnavailable any    `json:"maxUnavailable"`
		MaxSurge       any    `json:"maxSurge"`
		Phase          string `json:"phase"`
		Message        string `json:"message"`
	} `json:"rollout"`
	Causes  []Cause      `json:"causes"`
	Nodes   []NodeReport `json:"nodes"`
	Missing []Missing    `json:"missing"`
	Items   []Report     `json:"items"`
}

// NodeReport is the verdict on one node.
type NodeReport struct {
	Name                  string      `json:"name"`
	State                 string      `json:"state"`
	ShouldRun             *bool       `json:"shouldRun"`
	ShouldContinueRunning *bool       `json:"shouldContinueRunning"`
	Pods                  []PodReport `json:"pods"`
	Checks                []Check     `json:"checks"`
	Preemption            *struct {
		Possible bool     `json:"possible"`
		Victims  []string `json:"victims"`
	} `json:"preemption"`
	Causes []Cause `json:"causes"`
}

// PodReport is one pod of the DaemonSet for a node.
type PodReport struct {
	Name        string `json:"name"`
	Phase       string `json:"phase"`
	Bound       bool   `json:"bound"`
	Ready       bool   `json:"ready"`
	Available   bool   `json:"available"`
	UpToDate    bool   `json:"upToDate"`
	Terminating bool   `json:"terminating"`
}

// Check is the verdict of one scheduler plugin.
type Check struct {
	Plugin  string   `json:"plugin"`
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons"`
}

// Cause is one reason why a node, or the DaemonSet, is not as it should be.
type Cause struct {
	Code     string `json:"code"`
	Detail   string `json:"detail"`
	Message  string `json:"message"`
	Severity string `json:"severity"`
	Remedies []struct {
		Title   string `json:"title"`
		Kind    string `json:"kind"`
		Command string `json:"command"`
		Effect  *struct {
			Fixed []string `json:"fixed"`
		} `json:"effect"`
	} `json:"remedies"`
}

func (c Cause) String() string {
	if c.Detail == "" {
		return c.Code
	}
	return c.Code + " " + c.Detail
}

// Missing is something that could not be read.
type Missing struct {
	Verb      string `json:"verb"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Effect    string `json:"effect"`
}

// Node finds a node's verdict.
func (r *Report) Node(name string) *NodeReport {
	for i := range r.Nodes {
		if r.Nodes[i].Name == name {
			return &r.Nodes[i]
		}
	}
	return nil
}
