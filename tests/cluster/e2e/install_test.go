package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// The release as a user gets it: krew's own validator accepts the manifest for
// all platforms, krew installs the archive, kubectl finds the plugin.
func TestRelease(t *testing.T) {
	release := t.TempDir()
	// The validator downloads what the manifest names, so it is served here.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(release, filepath.Base(r.URL.Path)))
	}))
	defer server.Close()
	version, err := bed.Release(release, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(release, "ds-doctor.yaml")

	t.Run("manifest-is-valid", func(t *testing.T) {
		validator := exec.Command(filepath.Join(options.Tools, "validate-krew-manifest"), "-manifest", manifest)
		validator.Env = bed.NoPlugin(options, t.TempDir()).Env("")
		said, err := validator.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		if !strings.Contains(string(said), "all 6 spec.platforms installed fine") {
			t.Errorf("the validator did not install 6 platforms:\n%s", said)
		}
		passed()
	})

	t.Run("checksums", func(t *testing.T) {
		sums, err := os.ReadFile(filepath.Join(release, "checksums.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
		if len(lines) != len(bed.Platforms) {
			t.Fatalf("%d checksums", len(lines))
		}
		for _, line := range lines {
			sum, name, _ := strings.Cut(line, "  ")
			archive, err := os.ReadFile(filepath.Join(release, name))
			if err != nil {
				t.Fatal(err)
			}
			have := sha256.Sum256(archive)
			if hex.EncodeToString(have[:]) != sum {
				t.Errorf("%s has another sum", name)
			}
			if !bytes.Contains(text, []byte("sha256: "+sum)) {
				t.Errorf("the manifest lacks the sum of %s", name)
			}
		}
		passed()
	})

	t.Run("same-binaries-same-archives", func(t *testing.T) {
		again := t.TempDir()
		if _, err := bed.Release(again, server.URL); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"checksums.txt", "ds-doctor.yaml"} {
			first, err1 := os.ReadFile(filepath.Join(release, name))
			second, err2 := os.ReadFile(filepath.Join(again, name))
			if err1 != nil || err2 != nil || !bytes.Equal(first, second) {
				t.Errorf("%s differs (%v, %v)", name, err1, err2)
			}
		}
		passed()
	})

	t.Run("tampered-archive-is-refused", func(t *testing.T) {
		archive, err := os.ReadFile(bed.Archive(release, version))
		if err != nil {
			t.Fatal(err)
		}
		tampered := filepath.Join(t.TempDir(), "tampered.tar.gz")
		if err := os.WriteFile(tampered, append(archive, 0), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bed.InstallPlugin(options, t.TempDir(), manifest, tampered); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("krew said %v", err)
		}
		passed()
	})

	t.Run("refuses-another-version", func(t *testing.T) {
		script := filepath.Join(bed.Root(), "krew", "release")
		said, err := exec.Command(script, "v0.0.0", filepath.Join(release, "binaries"), t.TempDir(), server.URL).CombinedOutput()
		if err == nil || !strings.Contains(string(said), "not that of Cargo.toml") {
			t.Errorf("%v\n%s", err, said)
		}
		said, err = exec.Command(script, version, t.TempDir(), t.TempDir(), server.URL).CombinedOutput()
		if err == nil || !strings.Contains(string(said), "no ") {
			t.Errorf("without binaries: %v\n%s", err, said)
		}
		passed()
	})

	t.Run("kubectl-finds-the-plugin", func(t *testing.T) {
		plugins := plugin.Kubectl(context.Background(), "", "plugin", "list")
		if !strings.Contains(plugins.Stdout, "kubectl-ds_doctor") {
			t.Errorf("kubectl plugin list: %s%s", plugins.Stdout, plugins.Stderr)
		}
		said := plugin.Kubectl(context.Background(), "", "ds-doctor", "--version")
		if said.Exit != 0 || !strings.Contains(said.Stdout, strings.TrimPrefix(version, "v")) {
			t.Errorf("%s: %s%s", said, said.Stdout, said.Stderr)
		}
		passed()
	})
}

func passed() { scenarios.Add(1) }
