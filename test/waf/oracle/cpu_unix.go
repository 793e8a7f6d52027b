//go:build unix

package main

import (
	"log"
	"syscall"
	"time"
)

// cpuTime returns the CPU time of the process, with all of its threads.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
