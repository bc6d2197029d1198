package bed

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// TimeIsUp tells whether the suite should begin nothing more: SUITE_UNTIL is a
// moment in Unix seconds. What is left out then is said, and no failure.
func TimeIsUp() bool {
	until, err := strconv.ParseInt(os.Getenv("SUITE_UNTIL"), 10, 64)
	return err == nil && time.Now().Unix() >= until
}

// OptionsFromEnvironment is where the script `run` has put what it built.
func OptionsFromEnvironment() (Options, error) {
	cache, version := os.Getenv("CLUSTER_CACHE"), os.Getenv("KUBERNETES_VERSION")
	if cache == "" || version == "" {
		return Options{}, fmt.Errorf("CLUSTER_CACHE and KUBERNETES_VERSION are not set: start this through tests/cluster/run, which builds the control plane first")
	}
	options := Options{
		ControlPlane: filepath.Join(cache, version),
		Tools:        filepath.Join(cache, "tools"),
		Runs:         filepath.Join(cache, "runs"),
		Version:      version,
	}
	for _, binary := range []string{filepath.Join(options.ControlPlane, "controlplane"), filepath.Join(options.Tools, "kwok")} {
		if _, err := os.Stat(binary); err != nil {
			return Options{}, err
		}
	}
	return options, nil
}
