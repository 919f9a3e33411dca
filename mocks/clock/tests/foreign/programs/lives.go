package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// wait: many goroutines wait for an hour, in ways that have names of their own in a dump.
func wait([]string) {
	for range 5 {
		go waitLong()
	}
	fmt.Println("waiting")
	time.Sleep(seconds(3600))
}

func waitLong() {
	time.Sleep(seconds(3600))
}

// term: is told to end during a long wait, says goodbye, and ends.
func term([]string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	fmt.Println("waiting")
	select {
	case <-told:
		begin := time.Now()
		time.Sleep(seconds(5))
		lasted("goodbye", begin, 5)
		os.Exit(7)
	case <-time.After(seconds(36000)):
		fact(false, "nobody has told it to end")
	}
}

// panics: writes to a map that is none, while others wait.
func panics([]string) {
	go waitLong()
	time.Sleep(seconds(5))
	var none map[string]int
	none["nothing"] = 1
}

// garbage TICKS: makes garbage as fast as it can, beside a ticker of 10 s. No tick is lost, none early.
func garbage(words []string) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			var kept [64][]byte
			for i := 0; !stop.Load(); i++ {
				kept[i%len(kept)] = make([]byte, 16<<10)
			}
		})
	}
	ticker([]string{words[0], "10"})
	stop.Store(true)
	all.Wait()
	var counted debug.GCStats
	debug.ReadGCStats(&counted)
	fact(counted.NumGC > 0, "%d collections on %d processors", counted.NumGC, runtime.GOMAXPROCS(0))
}

// kin: programs that Go starts, and programs that it cannot start.
func kin([]string) {
	begin := time.Now()
	run("sleep", "600")
	lasted("sleep from Go", begin, 600)
	begin = time.Now()
	said := run("sh", "-c", "date +%s; sleep 30; sleep 30 & sleep 60; wait; date +%s")
	lasted("a shell from Go", begin, 90)
	var before, after int64
	fmt.Sscan(said, &before, &after)
	fact(after-before >= 89 && after-before <= 92, "its dates are %d s apart", after-before)
	begin = time.Now()
	for _, program := range []string{"/nowhere/at/all", "/etc", "/etc/passwd"} {
		err := exec.Command(program).Run()
		fact(err != nil, "%s: %v", program, err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { run("sleep", "300") })
	}
	all.Wait()
	lasted("ten at once", begin, 300)
	begin = time.Now()
	killed := exec.Command("sleep", "36000")
	fact(killed.Start() == nil, "it is started")
	time.Sleep(seconds(60))
	killed.Process.Kill()
	err := killed.Wait()
	fact(err != nil && strings.Contains(err.Error(), "killed"), "it is killed: %v", err)
	time.Sleep(seconds(600))
	lasted("without it", begin, 660)
}

func run(program string, words ...string) string {
	said, err := exec.Command(program, words...).Output()
	fact(err == nil, "%s %v: %v", program, words, err)
	return string(said)
}
