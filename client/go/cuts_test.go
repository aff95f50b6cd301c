// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// Streams whose connections are cut at any byte, or whose servers stop in turns, have the answers of
// a stream that never broke.

// A script is sent again and again: each time, its connection is cut at another byte, on the way to
// the server or on the way back. The next connection lives.
func TestCutAtEveryByte(t *testing.T) {
	server := startServer(t)
	makeScriptScenes(t, server.address)
	direct := dial(t, server.address)
	proxy := startProxy(t, server.address, neverCut)
	s := script{seed: 77, frames: 4, fork: "scenes/uncut"}
	wanted := uncut(t, proxy.address(), s, true)
	toServer := proxy.toServer.Load()
	offsets := toServer + proxy.toClient.Load()
	count := int64(repeats(40, int(offsets)))
	if testing.Short() {
		count = 15
	}
	var cuts, reconnects atomic.Int64
	t.Run("offset", func(t *testing.T) {
		for i := int64(0); i < count; i++ {
			offset := 1 + i*offsets/count
			plan := cut{toServer: offset}
			if offset > toServer {
				plan = cut{toClient: offset - toServer}
			}
			t.Run(fmt.Sprint(offset), func(t *testing.T) {
				t.Parallel()
				n, again := cutOnce(t, direct, server.address, plan, s, wanted, 1+int(i)%4)
				cuts.Add(n)
				reconnects.Add(int64(again))
			})
		}
	})
	if cuts.Load() < count*9/10 || reconnects.Load() < count/3 {
		t.Errorf("%d runs, %d cuts, %d reconnects: the test is of little use", count, cuts.Load(), reconnects.Load())
	}
}

// cutOnce sends a script by a connection that is cut, and returns how many were cut and replaced.
func cutOnce(t *testing.T, direct *Client, address string, plan cut, s script, wanted []string, inFlight int) (cuts int64, reconnects int) {
	proxy := startProxy(t, address, func(number int) cut {
		if number == 0 {
			return plan
		}
		return cut{}
	})
	client := dial(t, proxy.address())
	s.fork = fmt.Sprintf("scenes/cut-%d-%d", plan.toServer, plan.toClient)
	ledger, stream, err := converse(testContext(t), client, s, StreamOptions{InFlight: inFlight}, true, nil)
	checkLedger(t, ledger, wanted, err)
	if err := direct.DeleteScene(testContext(t), s.fork, 0); err != nil {
		t.Error(err)
	}
	return proxy.cuts.Load(), stream.Reconnects()
}

// Every connection is cut, some among their first bytes, most after a few frames.
func TestEveryConnectionIsCut(t *testing.T) {
	server := startServer(t)
	makeScriptScenes(t, server.address)
	direct := dial(t, server.address)
	runs := repeats(4, 100)
	cuts, reconnects := int64(0), 0
	for run := 0; run < runs; run++ {
		s := script{seed: int64(run), frames: 60, fork: "scenes/uncut"}
		wanted := uncut(t, server.address, s, true)
		plan := alternating(int64(run), 1, 12000)
		early := alternating(int64(run), 200, 800)
		proxy := startProxy(t, server.address, func(number int) cut {
			if number%12 == 5 {
				return early(number)
			}
			return plan(number)
		})
		client := dial(t, proxy.address())
		s.fork = "scenes/cut"
		ledger, stream, err := converse(testContext(t), client, s, StreamOptions{InFlight: 1 + run%12}, true, nil)
		checkLedger(t, ledger, wanted, err)
		cuts += proxy.cuts.Load()
		reconnects += stream.Reconnects()
		_ = client.Close()
		if err := direct.DeleteScene(testContext(t), s.fork, 0); err != nil {
			t.Fatal(err)
		}
	}
	if cuts < int64(3*runs) || reconnects < 2*runs {
		t.Errorf("%d runs, %d cuts, %d reconnects: the test is of little use", runs, cuts, reconnects)
	}
}

// inTurns stops the servers in turns while frames are in flight, and starts them again. end ends one,
// after each `part` frames.
type inTurns struct {
	t       testing.TB
	servers [2]*caromd
	part    int
	end     func(*caromd)
	stops   int
}

func newTurns(t testing.TB, part int, end func(*caromd)) *inTurns {
	t.Helper()
	made := &inTurns{t: t, part: part, end: end}
	for i := range made.servers {
		made.servers[i] = startServer(t)
		makeScriptScenes(t, made.servers[i].address)
	}
	return made
}

func (r *inTurns) addresses() string { return r.servers[0].address + "," + r.servers[1].address }

// before stops the server that the stream uses if frame i is the first of a part, and starts it again
// when the stream has gone on with the other one.
func (r *inTurns) before(i int, stream *Stream) {
	if i == 0 || i%r.part != 0 {
		return
	}
	at := stream.client.servers.current.Load()
	r.end(r.servers[at])
	r.stops++
	if err := stream.Send(testContext(r.t), new(Frame)); err != nil {
		r.t.Error(err)
	}
	stops := r.stops
	eventually(r.t, "the stream goes on with the other server", func() bool { return stream.Reconnects() >= stops })
	r.servers[at].start()
	makeScriptScenes(r.t, r.servers[at].address)
}

// Two servers are stopped in turns: trackers and forks go along, and no edit is lost or made twice.
func TestHopsBetweenReplicas(t *testing.T) {
	for name, end := range map[string]func(*caromd){"drained": (*caromd).stop, "killed": (*caromd).kill} {
		turns := newTurns(t, 20, end)
		s := script{seed: 5, frames: repeats(100, 1000), fork: "scenes/uncut"}
		wanted := uncut(t, turns.servers[0].address, s, false)
		client := dial(t, turns.addresses())
		s.fork = "scenes/hopping"
		ledger, stream, err := converse(testContext(t), client, s, StreamOptions{InFlight: 8}, false, turns.before)
		checkLedger(t, withoutEmpty(ledger), wanted, err)
		if stream.Reconnects() < turns.stops || turns.stops != (s.frames-1)/turns.part {
			t.Errorf("%s: %d stops, %d reconnects", name, turns.stops, stream.Reconnects())
		}
		if _, err := client.GetScene(testContext(t), s.fork, 0); err != nil {
			t.Errorf("%s: the fork: %v", name, err)
		}
	}
}

// withoutEmpty returns answers without those to the frames that inTurns sends.
func withoutEmpty(ledger []string) (made []string) {
	empty := ledgerOf(new(FrameAnswer), nil)
	for _, entry := range ledger {
		if entry != empty {
			made = append(made, entry)
		}
	}
	return made
}

// keepInFlight sends bullets until `done`, with a number of frames in flight, and checks the answers.
func keepInFlight(ctx context.Context, stream *Stream, inFlight int64, answers *atomic.Int64, done chan struct{}) error {
	receive := func() error {
		answer, err := stream.Recv(ctx)
		if err != nil {
			return err
		}
		n := answers.Add(1) - 1
		if err := checkBullets(answer, int(n)%40+1); err != nil || answer.Seq != uint64(n) {
			return fmt.Errorf("answer %d has the seq %d, %v", n, answer.Seq, err)
		}
		answer.Release()
		return nil
	}
	frame := new(Frame)
	for sent, isDone := int64(0), false; !isDone; {
		select {
		case <-done:
			isDone, inFlight = true, 0
		default:
			bullets(frame, "scenes/arena", int(sent)%40+1)
			frame.Seq = uint64(sent)
			if err := stream.Send(ctx, frame); err != nil {
				return err
			}
			sent++
		}
		for sent-answers.Load() > inFlight {
			if err := receive(); err != nil {
				return err
			}
		}
	}
	return stream.Finish(ctx)
}

// A server that drains with eight frames in flight loses none of them, and answers none twice.
func TestDrainsWithFramesInFlight(t *testing.T) {
	ctx := testContext(t)
	turns := newTurns(t, 0, (*caromd).stop)
	client := dial(t, turns.addresses())
	const inFlight = 8
	stream := open(t, client, StreamOptions{InFlight: inFlight + 1})
	var answers atomic.Int64
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- keepInFlight(ctx, stream, inFlight, &answers, done) }()
	drains := repeats(8, 60)
	for i := 0; i < drains; i++ {
		before := answers.Load()
		eventually(t, "answers", func() bool { return answers.Load() >= before+20 || len(failed) > 0 })
		server := turns.servers[i%2]
		server.stop()
		server.start()
		makeScriptScenes(t, server.address)
	}
	close(done)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if stream.Reconnects() < drains/2 {
		t.Errorf("%d drains, %d reconnects", drains, stream.Reconnects())
	}
}
