//go:build !linux

package bed

import "syscall"

// ownGroup keeps the terminal's Ctrl-C from the components, which are ended in
// order.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// EndWithParent is for linux only.
func EndWithParent() {}
