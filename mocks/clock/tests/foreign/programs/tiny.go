//go:build ignore

// Sleeps ten minutes, and looks whether that is what it was. It is built in every kind that Go has.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	begin := time.Now()
	time.Sleep(10 * time.Minute)
	now := time.Now()
	monotonic, wall := now.Sub(begin), now.Round(0).Sub(begin.Round(0))
	fmt.Println("ten minutes took", monotonic, "and by the wall clock", wall)
	for _, took := range []time.Duration{monotonic, wall} {
		if took < 10*time.Minute-time.Millisecond || took > 10*time.Minute+time.Second {
			os.Exit(1)
		}
	}
}
