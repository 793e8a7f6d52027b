//go:build !unix

package main

import "time"

var started = time.Now()

// cpuTime returns the time that has passed, for WebAssembly, which has one thread and no count of CPU time.
func cpuTime() time.Duration {
	return time.Since(started)
}
