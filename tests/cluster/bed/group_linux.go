package bed

import "syscall"

// ownGroup keeps the terminal's Ctrl-C from the components, which are ended in
// order, and has the kernel end them when this program dies in any other way.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// EndWithParent has the kernel ask this program to end when the one that
// started it (go test) is killed and can't pass that on.
func EndWithParent() {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGTERM), 0)
}
