// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"
)

// What waits, and what ends waiting: too many frames in flight, servers that say nothing, and
// servers that are gone.

const soon = 10 * time.Second // on a loaded machine

// withPingTimeout is for how long a server may leave a ping without an answer.
func withPingTimeout(timeout time.Duration) Option {
	return func(o *options) { o.pingTimeout = timeout }
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout / 2); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

// waitingFrame is a frame of a group that waits for a version that does not come.
func waitingFrame(budget time.Duration) *Frame {
	frame := &Frame{Budget: budget}
	frame.Group("scenes/arena").MinVersion = 1 << 40
	return frame
}

func TestSendWaitsWhileTooManyFramesAreInFlight(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	const inFlight, budget = 3, 200 * time.Millisecond
	stream := open(t, client, StreamOptions{InFlight: inFlight})
	begun := time.Now()
	for i := 0; i <= inFlight; i++ { // the last one waits for the answer to the first one
		if err := stream.Send(testContext(t), waitingFrame(budget)); err != nil {
			t.Fatal(err)
		}
	}
	if waited := time.Since(begun); waited < budget {
		t.Errorf("%d frames are sent in %v, without an answer", inFlight+1, waited)
	}
	for i := 0; i <= inFlight; i++ {
		if answer, err := stream.Recv(testContext(t)); err != nil || !errors.Is(answer.Group(0).Err(), Unavailable) {
			t.Fatal(err, answer.Group(0).Err())
		}
	}
	// A full stream: Send and Do wait as long as their context allows.
	for i := 0; i < inFlight; i++ {
		if err := stream.Send(testContext(t), waitingFrame(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := stream.Send(short, new(Frame)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full stream takes a frame: %v", err)
	}
	if _, err := stream.Do(short, new(Frame)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full stream answers a frame: %v", err)
	}
}

// Answers that no window holds do not stop a sender that receives nothing meanwhile.
func TestLargeAnswersDoNotBlockASender(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	stream := open(t, client, StreamOptions{InFlight: 64})
	frame := new(Frame)
	group := frame.Group("scenes/arena")
	group.Segments.Mode = CastModeAll
	for i := 0; i < 5000; i++ {
		group.Segments.Add(0, 0, 100, 0)
	}
	for i := 0; i < 16; i++ { // 2 MiB each to come
		if err := stream.Send(ctx, frame); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 16; i++ {
		answer, err := stream.Recv(ctx)
		if err != nil || len(answer.Group(0).Segments.Hits(4999)) != 5 {
			t.Fatal(err, answer.Group(0).Err())
		}
		answer.Release()
	}
}

// A server that hangs: frames pile up to the limit, and a call with a deadline ends by itself.
func TestAFrozenServerDoesNotHoldCallsWithADeadline(t *testing.T) {
	server := startServer(t)
	client := dial(t, server.address)
	arena(t, client)
	stream := open(t, client, StreamOptions{InFlight: 5})
	frame := new(Frame)
	bullets(frame, "scenes/arena", 2)
	if _, err := stream.Do(testContext(t), frame); err != nil {
		t.Fatal(err)
	}
	server.freeze()
	defer server.thaw()
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, doErr := stream.Do(short, frame)
	_, getErr := client.GetScene(short, "scenes/arena", 0)
	_, evaluateErr := client.Evaluate(short, frame)
	_, commitErr := client.CommitEdits(short, "scenes/arena", new(GroupEdits))
	for _, err := range []error{doErr, getErr, evaluateErr, commitErr} {
		if !errors.Is(err, DeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call of a frozen server: %v", err)
		}
	}
	if time.Since(begun) > soon {
		t.Errorf("the calls took %v", time.Since(begun))
	}
	for i := 0; i < 4; i++ { // beside that of Do
		if err := stream.Send(testContext(t), frame); err != nil {
			t.Fatal(err)
		}
	}
	server.thaw()
	for i := 0; i < 4; i++ {
		answer, err := stream.Recv(testContext(t))
		if err != nil || checkBullets(answer, 2) != nil {
			t.Fatal(err, answer.Group(0).Err())
		}
	}
	if err := stream.Finish(testContext(t)); err != nil || stream.Reconnects() != 0 {
		t.Errorf("%v, %d reconnects", err, stream.Reconnects())
	}
}

// A machine that is gone answers nothing, not even that it is gone: pings find it out.
func TestASilentServerIsUnavailable(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	client := dial(t, server.address, WithKeepalive(10*time.Second), withPingTimeout(time.Second))
	stream := open(t, client, StreamOptions{Reconnect: -1})
	if _, err := stream.Do(testContext(t), new(Frame)); err != nil {
		t.Fatal(err)
	}
	server.freeze()
	defer server.thaw()
	if _, err := stream.Do(testContext(t), new(Frame)); !errors.Is(err, Unavailable) {
		t.Errorf("a silent server: %v", err)
	}
}

// A call whose context has no deadline has the one of the client.
func TestCallTimeout(t *testing.T) {
	server := startServer(t)
	arena(t, dial(t, server.address))
	client := dial(t, server.address, WithCallTimeout(100*time.Millisecond))
	_, err := client.Evaluate(context.Background(), waitingFrame(time.Minute))
	if !errors.Is(err, DeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A server that asks clients to connect again after a second: the stream moves, and loses nothing.
func TestAConnectionThatIsTooOldIsReplaced(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	server := startServer(t, "--max-connection-age-seconds", "1", "--max-connection-grace-seconds", "1")
	client := dial(t, server.address)
	arena(t, client)
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	answers := 0
	for ; stream.Reconnects() < 2 && ctx.Err() == nil; answers++ {
		bullets(frame, "scenes/arena", answers%5+1)
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkBullets(answer, answers%5+1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if stream.Reconnects() < 2 || answers < 20 {
		t.Errorf("%d reconnects, %d answers", stream.Reconnects(), answers)
	}
}

func TestFinishKeepsAnswersForRecv(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	stream := open(t, client, StreamOptions{})
	for seq := uint64(1); seq <= 5; seq++ {
		if err := stream.Send(ctx, &Frame{Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 2; i++ {
		if err := stream.Finish(ctx); err != nil {
			t.Errorf("Finish %d: %v", i, err)
		}
	}
	if err := stream.Send(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a frame after Finish: %v", err)
	}
	if _, err := stream.Do(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a question after Finish: %v", err)
	}
	for seq := uint64(1); seq <= 5; seq++ {
		if answer, err := stream.Recv(ctx); err != nil || answer.Seq != seq {
			t.Fatal(answer, err)
		}
	}
	for i := 0; i < 2; i++ {
		if _, err := stream.Recv(ctx); err != io.EOF {
			t.Errorf("after the last answer: %v", err)
		}
	}
	if err := stream.Close(); err != nil || stream.Finish(ctx) != nil {
		t.Errorf("Close and Finish after the end: %v", err)
	}
}

// Below 0, Reconnect makes the first break the end, whatever caused it.
func TestWithoutATimeABrokenCallEndsTheStream(t *testing.T) {
	ctx := testContext(t)
	for name, spoil := range map[string]func(*caromd, *cutProxy){
		"a cut": func(_ *caromd, p *cutProxy) { p.cutAll() }, "a kill": func(s *caromd, _ *cutProxy) { s.kill() },
		"a drain": func(s *caromd, _ *cutProxy) { s.stop() },
	} {
		server := startServer(t)
		proxy := startProxy(t, server.address, neverCut)
		stream := open(t, dial(t, proxy.address()), StreamOptions{Reconnect: -1})
		if _, err := stream.Do(ctx, new(Frame)); err != nil {
			t.Fatal(err)
		}
		spoil(server, proxy)
		if _, err := stream.Recv(ctx); !errors.Is(err, Unavailable) {
			t.Errorf("%s: Recv returns %v", name, err)
		}
		if err := stream.Send(ctx, new(Frame)); !errors.Is(err, Unavailable) {
			t.Errorf("%s: Send returns %v", name, err)
		}
		if err := stream.Finish(ctx); !errors.Is(err, Unavailable) {
			t.Errorf("%s: Finish returns %v", name, err)
		}
	}
}

// An idle stream opens no call in vain: it is there again with the next frame.
func TestAnIdleStreamWaitsForAFrame(t *testing.T) {
	ctx := testContext(t)
	proxy := startProxy(t, startServer(t).address, neverCut)
	stream := open(t, dial(t, proxy.address()), StreamOptions{})
	for seq := uint64(0); seq < 8; seq++ {
		if answer, err := stream.Do(ctx, &Frame{Seq: seq}); err != nil || answer.Seq != seq {
			t.Fatal(seq, err)
		}
		proxy.cutAll()
	}
	if stream.Reconnects() != 7 {
		t.Errorf("%d reconnects", stream.Reconnects())
	}
	if err := stream.Finish(ctx); err != nil || stream.Reconnects() != 7 {
		t.Errorf("%v, %d reconnects", err, stream.Reconnects())
	}
}

// searching returns a stream that was answered once and tries to reach its server, which is killed,
// with five frames without answers. The server may come back at its socket.
func searching(t *testing.T, reconnect time.Duration) (*caromd, *Client, *Stream) {
	t.Helper()
	server := startServerAt(t, "unix:"+filepath.Join(t.TempDir(), "socket"))
	client := dial(t, server.address)
	stream := open(t, client, StreamOptions{InFlight: 5, Reconnect: reconnect})
	if _, err := stream.Do(testContext(t), new(Frame)); err != nil {
		t.Fatal(err)
	}
	server.kill()
	for seq := uint64(1); seq <= 5; seq++ {
		if err := stream.Send(testContext(t), &Frame{Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	return server, client, stream
}

// Send, Recv and Finish, which wait while the stream searches for a server, return when the search ends.
func TestTheEndOfASearch(t *testing.T) {
	for _, test := range []struct {
		name      string
		reconnect time.Duration
		end       func(*Client, *Stream) error
		code      Code
	}{
		{"the time is over", 2 * time.Second, func(*Client, *Stream) error { return nil }, Unavailable},
		{"Close", time.Minute, func(_ *Client, s *Stream) error { return s.Close() }, Canceled},
		{"Close of the client", time.Minute, func(c *Client, _ *Stream) error { return c.Close() }, Canceled},
	} {
		_, client, stream := searching(t, test.reconnect)
		ctx := testContext(t)
		const waiters = 4
		ends := make(chan error, waiters)
		for _, wait := range []func() error{
			func() error { _, err := stream.Recv(ctx); return err },
			func() error { return stream.Send(ctx, new(Frame)) }, // there is no place for it
			func() error { _, err := stream.Do(ctx, new(Frame)); return err },
			func() error { return stream.Finish(ctx) },
		} {
			go func() { ends <- wait() }()
		}
		time.Sleep(50 * time.Millisecond)
		begun := time.Now()
		if err := test.end(client, stream); err != nil {
			t.Error(err)
		}
		for i := 0; i < waiters; i++ {
			if err := <-ends; !errors.Is(err, test.code) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if taken := time.Since(begun); taken > test.reconnect+soon || taken > testTimeout/2 {
			t.Errorf("%s takes %v", test.name, taken)
		}
	}
}

// A context that ends while the stream searches ends the stream.
func TestAContextEndsTheSearch(t *testing.T) {
	server := startServer(t)
	client := dial(t, server.address)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := client.OpenStream(ctx, StreamOptions{Reconnect: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	server.kill()
	if err := stream.Send(testContext(t), new(Frame)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := stream.Recv(testContext(t)); !errors.Is(err, Canceled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFinishWaitsForTheServerThatComesBack(t *testing.T) {
	server, _, stream := searching(t, time.Minute)
	end := make(chan error, 1)
	go func() { end <- stream.Finish(testContext(t)) }()
	time.Sleep(50 * time.Millisecond)
	select {
	case err := <-end:
		t.Fatalf("Finish returns without a server: %v", err)
	default:
	}
	server.start()
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 5; seq++ {
		if answer, err := stream.Recv(testContext(t)); err != nil || answer.Seq != seq {
			t.Fatal(answer, err)
		}
	}
	if _, err := stream.Recv(testContext(t)); err != io.EOF || stream.Reconnects() != 1 {
		t.Errorf("%v, %d reconnects", err, stream.Reconnects())
	}
}
