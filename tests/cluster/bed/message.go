package bed

import (
	"regexp"
	"strings"
)

// Unschedulable is what the scheduler wrote about a pod that is pinned to one
// node.
type Unschedulable struct {
	// Reasons on the pinned node.
	Reasons []string
	// PreFilter is a text that refuses all nodes at once.
	PreFilter string
	// Preemption is the text after "preemption: ".
	Preemption string
}

var (
	header  = regexp.MustCompile(`^0/\d+ nodes are available: `)
	counted = regexp.MustCompile(`^(\d+) (.*)$`)
)

// otherNodes is said of every node but the pinned one.
const otherNodes = "node(s) didn't satisfy plugin(s) [NodeAffinity"

// ParseUnschedulable reads the message of a PodScheduled condition.
func ParseUnschedulable(message string) Unschedulable {
	var said Unschedulable
	text := header.ReplaceAllString(message, "")
	text, said.Preemption, _ = strings.Cut(text, " preemption: ")
	text = strings.TrimSuffix(strings.TrimSpace(text), "no new claims to deallocate,")
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	if !counted.MatchString(text) {
		said.PreFilter = text
		return said
	}
	for _, part := range strings.Split(text, ", ") {
		match := counted.FindStringSubmatch(part)
		if match == nil {
			// A reason with a comma in it.
			if n := len(said.Reasons); n > 0 {
				said.Reasons[n-1] += ", " + part
			}
			continue
		}
		if !strings.HasPrefix(match[2], otherNodes) {
			said.Reasons = append(said.Reasons, match[2])
		}
	}
	return said
}
