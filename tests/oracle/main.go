// Command oracle makes small clusters and lets upstream's own code say what happens to a DaemonSet in them.
//
//	oracle generate -seed N -cases N        clusters, one JSON object a line
//	oracle probes                           small named clusters, one behaviour each
//	oracle rollout -seed N -cases N         clusters in the middle of a rollout, and what the controller does about them
//	oracle label [FILE...]                  adds "verdicts" and "upstream" to each line
//	oracle compare A B                      which verdicts two labelled files disagree on
//	oracle compact [FILE...]                keeps what the Rust tests compare
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: oracle generate|probes|rollout|label|compare|compact ...")
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	args := os.Args[2:]
	var err error
	switch os.Args[1] {
	case "generate":
		err = generateMain(args, out)
	case "probes":
		err = probesMain(out)
	case "rollout":
		err = rolloutMain(args, out)
	case "label":
		err = labelMain(args, out)
	case "compare":
		err = compareMain(args, out)
	case "compact":
		err = compactMain(args, out)
	default:
		err = fmt.Errorf("unknown command %q", os.Args[1])
	}
	if err != nil {
		out.Flush()
		log.Fatal(err)
	}
}

// Case is one line of a corpus. Objects stay raw so that what is labelled is exactly what is written.
type Case struct {
	ID        string            `json:"id"`
	Seed      *int64            `json:"seed,omitempty"`
	Form      string            `json:"form,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	DaemonSet string            `json:"daemonset"`
	Objects   []json.RawMessage `json:"objects"`
	Verdicts  *Verdicts         `json:"verdicts,omitempty"`
	Upstream  string            `json:"upstream,omitempty"`
}

// open reads a file as it is or through the decompressor that its name asks for.
func open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	for suffix, tool := range map[string]string{".xz": "xz", ".zst": "zstd"} {
		if strings.HasSuffix(path, suffix) {
			cmd := exec.Command(tool, "-dc", path)
			cmd.Stderr = os.Stderr
			r, err := cmd.StdoutPipe()
			if err != nil {
				return nil, err
			}
			return r, cmd.Start()
		}
	}
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return f, err
	}
	return gzip.NewReader(f)
}

func eachLine(paths []string, fn func(line []byte) error) error {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	for _, p := range paths {
		r, err := open(p)
		if err != nil {
			return err
		}
		b := bufio.NewReaderSize(r, 1<<20)
		for {
			line, err := b.ReadBytes('\n')
			if len(strings.TrimSpace(string(line))) > 0 {
				if err := fn(line); err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		r.Close()
	}
	return nil
}

func labelMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("label", flag.ExitOnError)
	workers := fs.Int("workers", runtime.NumCPU(), "cases labelled at once")
	only := fs.String("only", "", "label only the case with this id")
	fs.Parse(args)
	type job struct {
		line []byte
		res  chan []byte
	}
	jobs, order := make(chan job), make(chan chan []byte, 4**workers)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for j := range jobs {
				j.res <- labelLine(j.line)
			}
		})
	}
	var readErr error
	go func() {
		readErr = eachLine(fs.Args(), func(line []byte) error {
			if *only != "" {
				var c Case
				if err := json.Unmarshal(line, &c); err != nil || c.ID != *only {
					return err
				}
			}
			j := job{line, make(chan []byte, 1)}
			order <- j.res
			jobs <- j
			return nil
		})
		close(jobs)
		close(order)
	}()
	for res := range order {
		if b := <-res; b != nil {
			out.Write(append(b, '\n'))
		}
	}
	wg.Wait()
	return readErr
}

func labelLine(line []byte) []byte {
	var c Case
	if err := json.Unmarshal(line, &c); err != nil {
		log.Printf("skipped a line: %v", err)
		return nil
	}
	v, err := Label(&c)
	if err != nil {
		log.Printf("%s: not labelled: %v", c.ID, err)
		return nil
	}
	c.Verdicts, c.Upstream = v, upstreamVersion
	b, err := marshal(&c)
	if err != nil {
		log.Printf("%s: %v", c.ID, err)
		return nil
	}
	return b
}

// marshal writes JSON without escaping <, > and &, which quantities and reasons never need.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
