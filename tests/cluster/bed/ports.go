package bed

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

var (
	handedOut   = map[int]bool{}
	handedOutMu sync.Mutex
)

// freePort picks a free loopback port below the range from which the kernel
// serves outgoing connections, so that none of those can take the port between
// the look and the component's own bind.
func freePort() (int, error) {
	handedOutMu.Lock()
	defer handedOutMu.Unlock()
	for range 200 {
		port := 20000 + rand.IntN(12000)
		if handedOut[port] {
			continue
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		_ = listener.Close()
		handedOut[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("no free loopback port found between 20000 and 32000")
}
