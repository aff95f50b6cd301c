// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

func open(t testing.TB, client *Client, options StreamOptions) *Stream {
	t.Helper()
	stream, err := client.OpenStream(testContext(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}

func TestStream(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	stream := open(t, client, StreamOptions{InFlight: 4})
	const frames = 200
	sent := make(chan error, 1)
	go func() {
		frame := new(Frame)
		for i := 0; i < frames; i++ {
			bullets(frame, "scenes/arena", i%7+1)
			frame.Seq = uint64(i)
			if err := stream.Send(ctx, frame); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.Finish(ctx)
	}()
	for i := 0; i < frames; i++ {
		answer, err := stream.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Seq != uint64(i) {
			t.Fatalf("answer %d has seq %d", i, answer.Seq)
		}
		if err := checkBullets(answer, i%7+1); err != nil {
			t.Fatal(err)
		}
		answer.Release()
	}
	if _, err := stream.Recv(ctx); err != io.EOF {
		t.Errorf("after the last answer: %v", err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if err := stream.Send(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a frame after Finish: %v", err)
	}
	if stream.Limits().FramesInFlight == 0 || stream.Reconnects() != 0 {
		t.Errorf("%+v, %d reconnects", stream.Limits(), stream.Reconnects())
	}
}

func TestDo(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	stream := open(t, client, StreamOptions{})
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(1)
		go func(i int) {
			defer done.Done()
			frame := new(Frame)
			for j := 1; j < 30; j++ {
				bullets(frame, "scenes/arena", i+j)
				answer, err := stream.Do(ctx, frame)
				if err == nil {
					err = checkBullets(answer, i+j)
					answer.Release()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}(i)
	}
	done.Wait()
	// A frame that the server refuses is an error of Do, and the stream goes on.
	frame := new(Frame)
	frame.Coherence = 99
	var failed *Error
	if _, err := stream.Do(ctx, frame); !errors.As(err, &failed) || failed.Code != InvalidArgument || failed.Field != "coherence" {
		t.Errorf("an unknown coherence: %v", err)
	}
	bullets(frame, "scenes/arena", 3)
	if answer, err := stream.Do(ctx, frame); err != nil || checkBullets(answer, 3) != nil {
		t.Error(err)
	}
}

// A server that is killed again and again costs no answer and no definition: scenes, trackers and
// forks are defined again, and each frame is answered once.
func TestKills(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	client := dial(t, server.address)
	arena(t, client)
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"})
	if err != nil {
		t.Fatal(err)
	}
	if fork.Base != "scenes/arena" || fork.Name != "scenes/match" {
		t.Fatalf("%+v", fork)
	}
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	frame.Group(fork.Name).Edits.Remove(2)
	definitions := frame.DefineTrackers()
	definitions.Add(5, definitions.AddShape(Circle(1)))
	definitions.Add(9, definitions.AddShape(Circle(2)))
	if answer, err := stream.Do(ctx, frame); err != nil || answer.Group(0).Err() != nil {
		t.Fatal(err, answer.Group(0).Err())
	}
	check := func() {
		t.Helper()
		frame.Reset()
		group := frame.Group(fork.Name)
		group.Segments.Add(15, 0, 100, 0)
		group.Moves.Add(5, 31.5, 0)
		group.Moves.Add(9, 0, 0)
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Group(0)
		if got.Err() != nil || len(got.Segments.Hits(0)) != 1 || got.Segments.Hits(0)[0].PolygonID != 3 {
			t.Fatalf("%v, %+v", got.Err(), got.Segments.Hits(0))
		}
		if got.Moves.Clear(0) || !got.Moves.Clear(1) || got.Moves.Polygons(0)[0].PolygonID != 3 {
			t.Fatalf("%+v", got.Moves)
		}
		answer.Release()
	}
	for i := 0; i < 4; i++ {
		check()
		server.kill()
		restarted := make(chan struct{})
		go func() {
			time.Sleep(50 * time.Millisecond)
			server.start()
			other, err := Dial(ctx, server.address)
			if err == nil {
				arena(t, other) // before the stream asks again: it holds no scene
				_ = other.Close()
			}
			close(restarted)
		}()
		<-restarted
		check()
	}
	if stream.Reconnects() != 4 {
		t.Errorf("%d reconnects", stream.Reconnects())
	}
}

// Connections that are cut after any number of bytes cost no answer, and give none twice.
func TestCuts(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	arena(t, dial(t, server.address))
	proxy := startProxy(t, server.address, alternating(7, 300, 20000))
	client := dial(t, proxy.address())
	stream := open(t, client, StreamOptions{})
	const frames = 150
	go func() {
		frame := new(Frame)
		for i := 0; i < frames; i++ {
			bullets(frame, "scenes/arena", 1+i%64)
			frame.Seq = uint64(i + 1)
			if stream.Send(ctx, frame) != nil {
				return
			}
		}
	}()
	for i := 0; i < frames; i++ {
		answer, err := stream.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkBullets(answer, 1+i%64); err != nil || answer.Seq != uint64(i+1) {
			t.Fatal(answer.Seq, err)
		}
		answer.Release()
	}
	if proxy.cuts.Load() < 5 || stream.Reconnects() == 0 {
		t.Errorf("%d cuts, %d reconnects: the test is of little use", proxy.cuts.Load(), stream.Reconnects())
	}
}

// A server that drains answers what it has read; the stream goes on with the other server.
func TestDrain(t *testing.T) {
	ctx := testContext(t)
	first, second := startServer(t), startServer(t)
	arena(t, dial(t, first.address))
	arena(t, dial(t, second.address))
	client := dial(t, first.address+","+second.address)
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	left := 20 // frames after the change of servers
	for i := 0; left > 0; i++ {
		if i == 20 {
			first.terminate()
		}
		if stream.Reconnects() > 0 {
			left--
		}
		bullets(frame, "scenes/arena", 5)
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if err := checkBullets(answer, 5); err != nil {
			t.Fatal(i, err)
		}
		answer.Release()
		time.Sleep(5 * time.Millisecond)
	}
	if stream.Reconnects() != 1 {
		t.Errorf("%d reconnects", stream.Reconnects())
	}
}

// A fork keeps old versions, which a group may ask for; edits that are sent again are made once.
func TestVersions(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Lease: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	var edited [2]uint64
	for i := range edited {
		frame.Reset()
		group := frame.Group(fork.Name)
		group.Edits.ID = "open the door"
		group.Edits.Remove(1)
		group.Segments.Add(0, 0, 100, 0)
		past := frame.Group(fork.Name)
		past.Version = fork.Version
		past.Segments.Add(0, 0, 100, 0)
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		edited[i] = answer.Group(0).EditedVersion
		if answer.Group(0).Segments.Hits(0)[0].PolygonID != 2 || answer.Group(1).Segments.Hits(0)[0].PolygonID != 1 {
			t.Errorf("other hits now or in the past")
		}
	}
	if edited[0] == 0 || edited[0] != edited[1] {
		t.Errorf("the versions %v", edited)
	}
	frame.Reset()
	frame.Group(fork.Name).MinVersion = edited[0] + 1
	frame.groups[0].Points.Add(0, 0)
	if answer, err := stream.Do(ctx, frame); err != nil || !errors.Is(answer.Group(0).Err(), Unavailable) {
		t.Error(err)
	}
}

// Waiting ends with the context of the call, with Close, and with the time of reconnecting.
func TestWaits(t *testing.T) {
	server := startServer(t)
	client := dial(t, server.address)
	arena(t, client)
	stream := open(t, client, StreamOptions{InFlight: 1, Reconnect: 300 * time.Millisecond})
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := stream.Recv(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer comes: %v", err)
	}
	server.kill()
	frame := new(Frame)
	bullets(frame, "scenes/arena", 1)
	if _, err := stream.Do(testContext(t), frame); !errors.Is(err, Unavailable) {
		t.Errorf("a stream whose server is killed: %v", err)
	}
	server.start()
	other := open(t, client, StreamOptions{})
	waiting := make(chan error, 1)
	go func() {
		_, err := other.Recv(testContext(t))
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond)
	_ = other.Close()
	_ = other.Close()
	if err := <-waiting; !errors.Is(err, Canceled) {
		t.Errorf("a closed stream: %v", err)
	}
	if err := other.Finish(testContext(t)); !errors.Is(err, Canceled) {
		t.Errorf("Finish after Close: %v", err)
	}
}
