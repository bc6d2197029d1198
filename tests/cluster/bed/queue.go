package bed

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// parseQueue reads the scheduler_pending_pods metric.
func parseQueue(metrics io.Reader) (map[string]int, error) {
	queue := map[string]int{}
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), `scheduler_pending_pods{queue="`)
		if !ok {
			continue
		}
		name, value, ok := strings.Cut(rest, `"} `)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, err
		}
		queue[name] = int(n)
	}
	return queue, lines.Err()
}
