package main

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"time"
)

// readers GOROUTINES SECONDS PAUSE: reads the clock as fast as it can. No reading may be before one that was finished
// earlier, in whichever goroutine, and the wall clock must not drift from the monotonic one.
func readers(words []string) {
	var latest, reads, back, drift atomic.Int64
	begin := time.Now()
	wall := begin.UnixNano()
	end, pause := seconds(number(words[1])), seconds(number(words[2]))
	var all sync.WaitGroup
	for range int(number(words[0])) {
		all.Go(func() {
			for time.Since(begin) < end {
				for range 2000 {
					before := latest.Load()
					moment := time.Now()
					since := int64(moment.Sub(begin))
					if since < before {
						back.Add(1)
					}
					raise(&latest, since)
					apart := moment.UnixNano() - wall - since
					raise(&drift, max(apart, -apart))
				}
				reads.Add(2000)
				if pause > 0 {
					time.Sleep(pause)
				}
			}
		})
	}
	all.Wait()
	fact(reads.Load() > 0, "%d reads", reads.Load())
	fact(back.Load() == 0, "%d steps back", back.Load())
	// time.Now reads the two clocks one after the other, and may lose its processor between them.
	fact(drift.Load() < int64(10*time.Second), "wall and monotonic clock drift by %v", time.Duration(drift.Load()))
	last := time.Now()
	apart := last.UnixNano() - wall - int64(last.Sub(begin))
	fact(max(apart, -apart) < int64(100*time.Millisecond), "in the end they drift by %v", time.Duration(apart))
}

func raise(place *atomic.Int64, value int64) {
	for seen := place.Load(); seen < value; seen = place.Load() {
		if place.CompareAndSwap(seen, value) {
			return
		}
	}
}

// sleeps GOROUTINES TIMES: many sleep many times, from 1 to 30 s. Each end is printed in nanoseconds of the wall
// clock, for whoever has the other end of the pipe to look at his own clock: "due NANOSECONDS".
func sleeps(words []string) {
	var early, slept, late atomic.Int64
	times := int(number(words[1]))
	var all sync.WaitGroup
	for number := range int(number(words[0])) {
		all.Go(func() {
			draw := rand.New(rand.NewSource(int64(number)))
			for range times {
				length := seconds(1 + 29*draw.Float64())
				begin := time.Now()
				time.Sleep(length)
				over := time.Since(begin) - length
				if over < 0 {
					early.Add(1)
				}
				raise(&late, int64(over))
				slept.Add(1)
				fmt.Printf("due %d\n", begin.UnixNano()+int64(length))
			}
		})
	}
	all.Wait()
	fact(slept.Load() == int64(number(words[0]))*int64(times), "%d sleeps", slept.Load())
	fact(early.Load() == 0, "%d early", early.Load())
	fact(true, "the latest by %v", time.Duration(late.Load()))
}

// ticker TICKS PERIOD: as many ticks as there should be, none early, none very late, none lost.
func ticker(words []string) {
	ticks, period := int(number(words[0])), seconds(number(words[1]))
	begin := time.Now()
	ticking := time.NewTicker(period)
	var latest time.Duration
	early := 0
	for i := 1; i <= ticks; i++ {
		<-ticking.C
		late := time.Since(begin) - time.Duration(i)*period
		latest = max(latest, late)
		// The first tick is counted from a moment after `begin`.
		if late < 0 {
			early++
		}
	}
	fact(early == 0, "%d early of %d", early, ticks)
	fact(latest < seconds(tolerated()), "the latest by %v", latest)
	lasted("all of them", begin, number(words[0])*number(words[1]))
}

// timers: what else Go waits with.
func timers([]string) {
	begin := time.Now()
	time.Sleep(seconds(600))
	lasted("time.Sleep", begin, 600)

	begin = time.Now()
	called := make(chan struct{})
	time.AfterFunc(seconds(600), func() { close(called) })
	<-called
	lasted("AfterFunc", begin, 600)

	begin = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), seconds(180))
	defer cancel()
	<-ctx.Done()
	lasted("context.WithTimeout", begin, 180)
	fact(ctx.Err() == context.DeadlineExceeded, "it says %v", ctx.Err())

	begin = time.Now()
	timer := time.NewTimer(seconds(300))
	time.Sleep(seconds(60))
	fact(timer.Reset(seconds(1200)), "it was set before")
	<-timer.C
	lasted("Timer.Reset", begin, 1260)

	begin = time.Now()
	timer.Reset(seconds(3600))
	fact(timer.Stop(), "Timer.Stop: it was set before")
	select {
	case <-timer.C:
		fact(false, "a stopped timer has fired")
	case <-time.After(seconds(7200)):
	}
	lasted("time.After", begin, 7200)
}

// replica HOURS: a lease that is renewed every 2 s and given up after 10 s, beside a loop of 10 s.
func replica(words []string) {
	begin := time.Now()
	end := seconds(3600 * number(words[0]))
	lost, renewed, loops := 0, 0, 0
	var all sync.WaitGroup
	all.Go(func() {
		last := begin
		for range time.Tick(seconds(2)) {
			if time.Since(last) > seconds(10) {
				lost++
			}
			last = time.Now()
			renewed++
			if time.Since(begin) >= end {
				return
			}
		}
	})
	all.Go(func() {
		for range time.Tick(seconds(10)) {
			loops++
			if time.Since(begin) >= end {
				return
			}
		}
	})
	all.Wait()
	expected := int(1800 * number(words[0]))
	fact(lost == 0, "the lease was lost %d times", lost)
	fact(renewed >= expected && renewed <= expected+1, "renewed %d times of %d", renewed, expected)
	fact(loops >= expected/5 && loops <= expected/5+1, "%d loops of %d", loops, expected/5)
}
