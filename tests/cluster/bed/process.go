package bed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one running component. Its output goes to a file, because what a
// component said is wanted only when something failed.
type process struct {
	name   string
	log    string
	cmd    *exec.Cmd
	exited chan struct{}
}

var (
	starts = make(chan func())
	// live holds every child, so that one call can end them all.
	live   = map[*process]bool{}
	liveMu sync.Mutex
)

func init() {
	// The kernel's death signal of a child is tied to the thread that started
	// it. All children are therefore started from one thread that never ends
	// before the program does.
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
}

func startProcess(name, logFile, binary string, args ...string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{name: name, log: logFile, cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = ownGroup()
	// The components must not pick up the kubeconfig or the proxy of whoever runs the suite.
	p.cmd.Env = append(withoutKubeAndProxy(os.Environ()), "KWOK_WORKDIR="+filepath.Dir(logFile))
	started := make(chan error)
	starts <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	liveMu.Lock()
	live[p] = true
	liveMu.Unlock()
	go func() {
		_ = p.cmd.Wait()
		liveMu.Lock()
		delete(live, p)
		liveMu.Unlock()
		close(p.exited)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// signal goes to the whole group, so that nothing a component started is left.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// kill ends the process at once. No component has anything to save: the
// cluster's data is thrown away with it.
func (p *process) kill() {
	if p == nil || !p.running() {
		return
	}
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// stop lets the process end by itself first.
func (p *process) stop() {
	if p == nil || !p.running() {
		return
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		p.kill()
	}
}

// KillAll ends every process of every cluster; for the way out on a signal.
func KillAll() {
	liveMu.Lock()
	all := make([]*process, 0, len(live))
	for p := range live {
		all = append(all, p)
	}
	liveMu.Unlock()
	for _, p := range all {
		p.kill()
	}
}

// lastLines is the end of a log, for an error message.
func lastLines(file string, n int) string {
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 32<<10 {
		_, _ = f.Seek(end-32<<10, io.SeekStart)
	} else {
		_, _ = f.Seek(0, io.SeekStart)
	}
	text, err := io.ReadAll(f)
	if err != nil && !errors.Is(err, io.EOF) {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

func withoutKubeAndProxy(env []string) []string {
	var kept []string
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		switch strings.ToUpper(name) {
		case "KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT":
		default:
			kept = append(kept, variable)
		}
	}
	return kept
}
