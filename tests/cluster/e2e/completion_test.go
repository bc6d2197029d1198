package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// `kubectl ds-doctor <TAB>`, asked in the way the shells ask: through kubectl's
// own hidden command.
func TestCompletion(t *testing.T) {
	// The command is taken from what krew tells the user after the install.
	copied := exec.Command("sh", "-euc", completionCommand(t))
	copied.Env = plugin.Env("")
	if said, err := copied.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if _, err := os.Stat(filepath.Join(plugin.Folder(), "kubectl_complete-ds_doctor")); err != nil {
		t.Fatal(err)
	}

	scenario(t, "completion", func(s *stage) {
		s.node("alpha")
		s.node("beta")
		s.daemonSet("agent", "")
		s.daemonSet("exporter", "")
		s.settle()
		for _, asked := range []struct {
			words string
			want  []string
		}{
			{"-n NS ''", []string{"agent", "exporter"}},
			{"-n NS ag", []string{"agent"}},
			{"--namespace=NS ex", []string{"exporter"}},
			{"-n NS agent ''", []string{"exporter"}},
			{"-n NS ds/", []string{"ds/agent", "ds/exporter"}},
			{"-n NS daemonset/ag", []string{"daemonset/agent"}},
			{"-n s-compl", []string{"NS"}},
			{"--namespace=s-compl", []string{"--namespace=NS"}},
			{"--node ''", []string{"alpha", "beta"}},
			{"-n NS agent --node be", []string{"beta"}},
			{"--context ''", []string{"spare", "test"}},
			{"--context sp", []string{"spare"}},
			{"--cluster ''", []string{"test"}},
			{"--user ''", []string{"doctor"}},
			{"--color ''", []string{"always", "auto", "never"}},
			{"-o js", []string{"json"}},
			{"--fail-on ''", []string{"error", "info", "never", "warning"}},
			{"--explain NodePo", []string{"NodePorts"}},
			{"--names", []string{"--namespace"}},
			{"--kubeconfig /nowhere -n NS ''", nil},
		} {
			t := s.T
			words := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(asked.words, "NS", s.namespace), "''", "\x00"))
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "\x00", "")
			}
			result := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append([]string{"__complete", "ds-doctor"}, words...)...)
			have, directive := candidates(result.Stdout)
			var want []string
			for _, word := range asked.want {
				want = append(want, strings.ReplaceAll(word, "NS", s.namespace))
			}
			if !slices.Equal(have, want) {
				t.Errorf("kubectl ds-doctor %s<TAB> gives %q, not %q\n%s", asked.words, have, want, result.Stderr)
			}
			// 4 is "no file names"; the shells would offer those otherwise.
			if directive != ":4" {
				t.Errorf("kubectl ds-doctor %s<TAB> ends with the directive %q", asked.words, directive)
			}
		}
	})
}

func completionCommand(t *testing.T) string {
	t.Helper()
	command := regexp.MustCompile(`(?s)cp "\$\(dirname.*?/bin/"`).FindString(plugin.Log)
	if command == "" {
		t.Fatalf("krew's caveats name no command:\n%s", plugin.Log)
	}
	// krew frames the caveats.
	return regexp.MustCompile(`\n(\s*\|)+\s*`).ReplaceAllString(command, "\n")
}

// candidates are the words of the answer without their descriptions, and the
// directive of its last line.
func candidates(answer string) (words []string, directive string) {
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, ":") {
			directive = line
			continue
		}
		word, _, _ := strings.Cut(line, "\t")
		words = append(words, word)
	}
	slices.Sort(words)
	return words, directive
}
