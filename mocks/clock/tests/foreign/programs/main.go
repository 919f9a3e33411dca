// The Go program of these tests: one binary, whose first argument is the case to play.
//
// It prints each fact it found with "ok" or "WRONG" before it, and its exit code is 0 only if all were right. With
// SECOND=0.01 in the environment its seconds are that much shorter: so it can be tried without a clock.
// With LATE=30 what should end after some seconds may end 30 later.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

var cases = map[string]func(words []string){
	"readers": readers,
	"sleeps":  sleeps,
	"ticker":  ticker,
	"timers":  timers,
	"client":  client,
	"http2":   http2,
	"garbage": garbage,
	"replica": replica,
	"kin":     kin,
	"wait":    wait,
	"term":    term,
	"panic":   panics,
}

func main() {
	play, known := cases[os.Args[1]]
	if !known {
		os.Exit(2)
	}
	play(os.Args[2:])
	if wrongs > 0 {
		os.Exit(1)
	}
}

var (
	judging sync.Mutex
	wrongs  int
)

func fact(right bool, format string, arguments ...any) {
	judging.Lock()
	defer judging.Unlock()
	word := "ok"
	if !right {
		word = "WRONG"
		wrongs++
	}
	fmt.Printf(word+" "+format+"\n", arguments...)
}

// So many seconds of this program.
func seconds(count float64) time.Duration {
	return time.Duration(count * second() * float64(time.Second))
}

func second() float64 {
	return fromEnvironment("SECOND")
}

// How late may be, in seconds: at a high rate a little of real time is much.
func tolerated() float64 {
	return fromEnvironment("LATE")
}

func fromEnvironment(name string) float64 {
	if value, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return value
	}
	return 1
}

// A fact about a span: never too short, and not much too long.
func lasted(what string, since time.Time, count float64) {
	took := time.Since(since)
	fact(took >= seconds(count) && took < seconds(count+tolerated()), "%s took %v of %v", what, took, seconds(count))
}

func number(word string) float64 {
	number, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(err)
	}
	return number
}
