package bed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Platforms are those that a release serves.
var Platforms = []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64", "windows-arm64"}

// Release makes a release with the project's own script. Only this machine's
// platform can be built here, so its binary stands in for the five others:
// what is tested is the packing and the manifest.
func Release(out, repository string) (version string, err error) {
	binary := os.Getenv("DS_DOCTOR")
	if binary == "" {
		return "", errors.New("DS_DOCTOR does not name the plugin's binary: start this through tests/cluster/run")
	}
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	version, err = crateVersion(root)
	if err != nil {
		return "", err
	}
	binaries := filepath.Join(out, "binaries")
	for _, platform := range Platforms {
		name := "kubectl-ds_doctor"
		if strings.HasPrefix(platform, "windows") {
			name += ".exe"
		}
		if err := os.MkdirAll(filepath.Join(binaries, platform), 0o755); err != nil {
			return "", err
		}
		if err := os.Symlink(binary, filepath.Join(binaries, platform, name)); err != nil {
			return "", err
		}
	}
	said, err := exec.Command(filepath.Join(root, "krew", "release"), version, binaries, out, repository).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("krew/release: %w\n%s", err, said)
	}
	return version, nil
}

// Archive is the archive of a release for this machine.
func Archive(release, version string) string {
	return filepath.Join(release, fmt.Sprintf("kubectl-ds_doctor-%s-%s-%s.tar.gz", version, runtime.GOOS, runtime.GOARCH))
}

// Plugin is the plugin as a user has it: installed by krew, started by kubectl.
type Plugin struct {
	options Options
	root    string
	// Log is what krew said.
	Log string
}

// InstallPlugin has the real krew install an archive into a folder of its own,
// without a network.
func InstallPlugin(options Options, root, manifest, archive string) (*Plugin, error) {
	plugin := NoPlugin(options, root)
	if err := os.MkdirAll(filepath.Join(root, "home"), 0o755); err != nil {
		return nil, err
	}
	result := plugin.Kubectl(context.Background(), "", "krew", "install", "--manifest="+manifest, "--archive="+archive)
	plugin.Log = result.Stdout + result.Stderr
	if result.Exit != 0 {
		return nil, fmt.Errorf("%s\n%s", result, plugin.Log)
	}
	return plugin, nil
}

// NoPlugin is a folder into which nothing is installed yet.
func NoPlugin(options Options, root string) *Plugin { return &Plugin{options: options, root: root} }

// Folder is where krew has put the link to the plugin.
func (p *Plugin) Folder() string { return filepath.Join(p.root, "bin") }

// Env is the whole environment of a command: nothing of the caller's kubeconfig,
// proxy or locale gets in.
func (p *Plugin) Env(kubeconfig string) []string {
	return []string{
		"PATH=" + strings.Join([]string{p.Folder(), p.options.KubectlFolder(), filepath.Join(p.options.Tools, "bin"), "/usr/bin", "/bin"}, ":"),
		"HOME=" + filepath.Join(p.root, "home"), "KREW_ROOT=" + p.root, "KUBECONFIG=" + kubeconfig,
		"KREW_NO_UPGRADE_CHECK=1", "LC_ALL=C.UTF-8", "TERM=dumb",
	}
}

// Result is what a command did.
type Result struct {
	Args           []string
	Stdout, Stderr string
	Exit           int
}

func (r Result) String() string {
	return fmt.Sprintf("kubectl %s: exit code %d", strings.Join(r.Args, " "), r.Exit)
}

// Kubectl runs the real kubectl.
func (p *Plugin) Kubectl(ctx context.Context, kubeconfig string, args ...string) Result {
	return p.KubectlIn(ctx, kubeconfig, "", args...)
}

// KubectlIn gives kubectl something on standard input.
func (p *Plugin) KubectlIn(ctx context.Context, kubeconfig, stdin string, args ...string) Result {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.options.KubectlFolder(), "kubectl"), args...)
	cmd.Env = p.Env(kubeconfig)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	result := Result{Args: args, Stdout: stdout.String(), Stderr: stderr.String(), Exit: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		result.Stderr += err.Error()
	}
	return result
}

// Running is a plugin that is still at work.
type Running struct {
	cmd            *exec.Cmd
	stdout, stderr lockedBuffer
}

// lockedBuffer can be read while a command writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Start runs `kubectl ds-doctor` in the background until it ends or the context does.
func (p *Plugin) Start(ctx context.Context, kubeconfig string, args ...string) (*Running, error) {
	r := &Running{cmd: exec.CommandContext(ctx, filepath.Join(p.options.KubectlFolder(), "kubectl"), append([]string{"ds-doctor"}, args...)...)}
	r.cmd.Env = p.Env(kubeconfig)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	// kubectl becomes the plugin (exec), so that killing it ends both.
	return r, r.cmd.Start()
}

// Stdout and Stderr are what it has written so far.
func (r *Running) Stdout() string { return r.stdout.String() }
func (r *Running) Stderr() string { return r.stderr.String() }

// Wait waits for its end and returns the exit code.
func (r *Running) Wait() int {
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// Stop ends it as Ctrl-C does.
func (r *Running) Stop() int {
	_ = r.cmd.Process.Signal(os.Interrupt)
	return r.Wait()
}

// Doctor runs `kubectl ds-doctor` and reads its JSON.
func (p *Plugin) Doctor(ctx context.Context, kubeconfig string, args ...string) (*Report, Result, error) {
	result := p.Kubectl(ctx, kubeconfig, append([]string{"ds-doctor", "-o", "json"}, args...)...)
	report := &Report{}
	if err := json.Unmarshal([]byte(result.Stdout), report); err != nil {
		return nil, result, fmt.Errorf("%s: not JSON: %w\n%s%s", result, err, result.Stdout, result.Stderr)
	}
	return report, result, nil
}

func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "Cargo.toml")); err == nil {
			return dir, nil
		}
		dir = filepath.Dir(dir)
	}
	return "", errors.New("not inside the repository")
}

// Root is the repository's folder.
func Root() string {
	root, err := repositoryRoot()
	if err != nil {
		panic(err)
	}
	return root
}

func crateVersion(root string) (string, error) {
	manifest, err := os.ReadFile(filepath.Join(root, "Cargo.toml"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(manifest)) {
		if value, ok := strings.CutPrefix(line, `version = "`); ok {
			return "v" + strings.TrimRight(value, "\"\n"), nil
		}
	}
	return "", errors.New("no version in Cargo.toml")
}
