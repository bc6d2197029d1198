package bed

import "syscall"

// ownGroup keeps the terminal's Ctrl-C from the components, which are ended in
// order, and has the kernel end them when this program dies in any other way.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
