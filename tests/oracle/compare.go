package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// compareMain prints where the verdicts of two labelled files differ, field by field, for the cases that both have.
func compareMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("compare", flag.ExitOnError)
	most := fs.Int("most", 20, "differences to print")
	ignore := fs.String("ignore", "", "path suffixes to leave out, by comma")
	fs.Parse(args)
	if fs.NArg() != 2 {
		return errors.New("usage: oracle compare [-most N] [-ignore a,b] A B")
	}
	var skip []string
	if *ignore != "" {
		skip = strings.Split(*ignore, ",")
	}
	read := func(path string) (map[string]map[string]any, error) {
		m := map[string]map[string]any{}
		err := eachLine([]string{path}, func(line []byte) error {
			var c struct {
				ID       string
				Verdicts map[string]any
			}
			d := json.NewDecoder(bytes.NewReader(line))
			if err := d.Decode(&c); err != nil {
				return err
			}
			m[c.ID] = c.Verdicts
			return nil
		})
		return m, err
	}
	a, err := read(fs.Arg(0))
	if err != nil {
		return err
	}
	b, err := read(fs.Arg(1))
	if err != nil {
		return err
	}
	counts, shown, both, nodes := map[string]int{}, 0, 0, 0
	for _, id := range slices.Sorted(maps.Keys(a)) {
		if b[id] == nil {
			continue
		}
		both++
		nodes += len(a[id]["nodes"].([]any))
		diff("", a[id], b[id], func(path string, x, y any) {
			for _, s := range skip {
				if strings.Contains(path, s) {
					return
				}
			}
			kind := indexes.ReplaceAllString(path, "[]")
			counts[kind]++
			if shown++; shown <= *most {
				fmt.Fprintf(out, "%s %s: %s | %s\n", id, path, short(x), short(y))
			}
		})
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "%6d  %s\n", counts[k], k)
	}
	fmt.Fprintf(out, "%d cases (%d nodes) in both, %d differences; only in A %d, only in B %d\n", both, nodes, shown, len(a)-both, len(b)-both)
	if shown > 0 || both == 0 {
		return errors.New("they differ")
	}
	return nil
}

var indexes = regexp.MustCompile(`\[\d+\]`)

func short(v any) string {
	b, _ := marshal(v)
	if len(b) > 300 {
		b = append(b[:300], "..."...)
	}
	return string(b)
}

func diff(path string, a, b any, report func(path string, a, b any)) {
	if ma, ok := a.(map[string]any); ok {
		if mb, ok := b.(map[string]any); ok {
			keys := map[string]bool{}
			for k := range ma {
				keys[k] = true
			}
			for k := range mb {
				keys[k] = true
			}
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				diff(path+"."+k, ma[k], mb[k], report)
			}
			return
		}
	}
	la, aok := a.([]any)
	lb, bok := b.([]any)
	if aok && bok && len(la) == len(lb) && len(la) > 0 {
		// Reasons, victims and the controller's lists are sets.
		if _, ok := la[0].(string); ok {
			sa, sb := strs(la), strs(lb)
			if !slices.Equal(sa, sb) {
				report(path, sa, sb)
			}
			return
		}
		if oa, ok := la[0].(map[string]any); ok && oa["name"] != nil { // own pods, in no order
			la, lb = byName(la), byName(lb)
		}
		for i := range la {
			diff(fmt.Sprintf("%s[%d]", path, i), la[i], lb[i], report)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		report(path, a, b)
	}
}

func byName(l []any) []any {
	return slices.SortedFunc(slices.Values(l), func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["name"]), fmt.Sprint(b.(map[string]any)["name"]))
	})
}

func strs(l []any) []string {
	out := []string{}
	for _, v := range l {
		out = append(out, fmt.Sprint(v))
	}
	slices.Sort(out)
	return out
}
