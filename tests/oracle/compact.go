package main

import (
	"encoding/json"
	"flag"
	"io"
	"strings"
)

// compactMain keeps what the Rust tests compare and drops what can be had again by labelling: the created pod, the answers
// for pods left on, usage, and the words of the whole cycle.
func compactMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("compact", flag.ExitOnError)
	fs.Parse(args)
	return eachLine(fs.Args(), func(line []byte) error {
		var c map[string]json.RawMessage
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		var v struct {
			DaemonSet map[string]json.RawMessage   `json:"daemonset"`
			Nodes     []map[string]json.RawMessage `json:"nodes"`
		}
		if err := json.Unmarshal(c["verdicts"], &v); err != nil {
			return err
		}
		keep(v.DaemonSet, "status", "podCreateError", "preEnqueue")
		for _, n := range v.Nodes {
			keep(n, "node", "controller", "fresh", "kubeletAdmission")
			var ctl map[string]json.RawMessage
			if err := json.Unmarshal(n["controller"], &ctl); err != nil {
				return err
			}
			keep(ctl, "shouldRun", "shouldContinueRunning")
			b, err := marshal(ctl)
			if err != nil {
				return err
			}
			n["controller"] = b
			if n["fresh"] == nil {
				continue
			}
			var fresh map[string]json.RawMessage
			if err := json.Unmarshal(n["fresh"], &fresh); err != nil {
				return err
			}
			keep(fresh, "plugins", "schedulable", "bypassed", "preemption")
			if fresh["preemption"] != nil {
				var p map[string]json.RawMessage
				if err := json.Unmarshal(fresh["preemption"], &p); err != nil {
					return err
				}
				keep(p, "possible", "notHelpful", "victims", "pdbViolating")
				if fresh["preemption"], err = marshal(p); err != nil {
					return err
				}
			}
			if n["fresh"], err = marshal(fresh); err != nil {
				return err
			}
		}
		b, err := marshal(v)
		if err != nil {
			return err
		}
		c["verdicts"] = b
		delete(c, "seed")
		b, err = marshal(c)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, strings.TrimSpace(string(b))+"\n")
		return err
	})
}

func keep(of map[string]json.RawMessage, names ...string) {
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	for k := range of {
		if !want[k] {
			delete(of, k)
		}
	}
}
