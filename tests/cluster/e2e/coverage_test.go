package e2e

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// codes are the causes that scenarios have expected and got.
var (
	codes   = map[string]bool{}
	codesMu sync.Mutex
)

func covered(code string) {
	codesMu.Lock()
	defer codesMu.Unlock()
	codes[code] = true
}

// beyond are the causes that this test bed cannot produce, and why. The corpus,
// the cases and unit tests have them.
var beyond = map[string]string{
	"CreateSecurityContextConstraint": "needs OpenShift's admission",
	"EmptySelector":                   "no API server since apps/v1 takes such a DaemonSet",
}

// unheardOf skips a scenario about what this Kubernetes version does not have.
func (s *stage) unheardOf(code, why string) {
	codesMu.Lock()
	beyond[code] = why
	codesMu.Unlock()
	s.Skip(why)
}

// coverage compares the causes that the scenarios have produced with those that
// the plugin knows. After a run of only some tests nothing can be missing.
func coverage() (text string, complete bool) {
	codesMu.Lock()
	defer codesMu.Unlock()
	var known, missing []string
	list := plugin.Kubectl(context.Background(), "", "ds-doctor", "--explain").Stdout
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z][A-Za-z]+) `).FindAllStringSubmatch(list, -1) {
		known = append(known, match[1])
		if !codes[match[1]] && beyond[match[1]] == "" {
			missing = append(missing, match[1])
		}
	}
	var left []string
	for code, why := range beyond {
		left = append(left, code+" ("+why+")")
	}
	slices.Sort(left)
	text = fmt.Sprintf("causes met on the cluster: %d of %d; left out: %s", len(known)-len(missing)-len(left), len(known), strings.Join(left, ", "))
	if len(missing) > 0 {
		text += "; without a scenario that passed: " + strings.Join(missing, ", ")
	}
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	return text, len(known) > 0 && (len(missing) == 0 || !whole)
}
