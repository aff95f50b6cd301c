// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"math"
	"math/rand"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// isLong returns whether the long variants of tests are asked for.
func isLong() bool { return os.Getenv("CAROM_LONG") != "" }

// repeats returns how often a test repeats.
func repeats(short, long int) int {
	if isLong() {
		return long
	}
	return short
}

// A cut is after how many bytes of a direction a connection is cut; 0: never.
type cut struct{ toServer, toClient int64 }

// A cutProxy passes connections on to a server, and cuts them as planned or on demand.
type cutProxy struct {
	listener net.Listener
	target   string
	plan     func(number int) cut // of the connections, from 0 on

	cuts               atomic.Int64
	withholds          atomic.Bool // answers are read and not passed on
	toServer, toClient atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func startProxy(t testing.TB, target string, plan func(number int) cut) *cutProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	made := &cutProxy{listener: listener, target: target, plan: plan, conns: map[net.Conn]bool{}}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		made.accept(&done)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		made.cutAll()
		done.Wait()
	})
	return made
}

// neverCut is the plan of a proxy that cuts on demand alone.
func neverCut(int) cut { return cut{} }

// alternating cuts each connection after a random number of bytes in [least, most), of either
// direction.
func alternating(seed, least, most int64) func(int) cut {
	random := rand.New(rand.NewSource(seed))
	return func(int) cut {
		bytes := least + random.Int63n(most-least)
		if random.Intn(2) == 0 {
			return cut{toServer: bytes}
		}
		return cut{toClient: bytes}
	}
}

func (p *cutProxy) address() string { return p.listener.Addr().String() }

func (p *cutProxy) accept(done *sync.WaitGroup) {
	for number := 0; ; number++ {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.DialTimeout("tcp", p.target, time.Second)
		if err != nil {
			_ = near.Close()
			continue
		}
		plan := p.plan(number)
		p.mu.Lock()
		p.conns[near], p.conns[far] = true, true
		p.mu.Unlock()
		done.Add(2)
		go func() {
			defer done.Done()
			p.pump(near, far, plan.toServer, &p.toServer, false)
		}()
		go func() {
			defer done.Done()
			p.pump(far, near, plan.toClient, &p.toClient, true)
		}()
	}
}

// pump passes on bytes, exactly as many as a cut says.
func (p *cutProxy) pump(source, target net.Conn, most int64, passed *atomic.Int64, toClient bool) {
	defer p.forget(source)
	defer p.forget(target)
	if most == 0 {
		most = math.MaxInt64
	}
	buffer := make([]byte, 4096)
	for {
		n, err := source.Read(buffer)
		if err != nil {
			return
		}
		if toClient && p.withholds.Load() {
			continue
		}
		n = int(min(int64(n), most))
		most -= int64(n)
		passed.Add(int64(n))
		if _, err := target.Write(buffer[:n]); err != nil {
			return
		}
		if most == 0 {
			p.cuts.Add(1)
			return
		}
	}
}

func (p *cutProxy) forget(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// cutAll cuts every connection there is.
func (p *cutProxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
		delete(p.conns, conn)
	}
}
