// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
)

// commit adds a polygon to scenes/arena, and returns the version.
func commit(t testing.TB, client *Client, id uint64) uint64 {
	t.Helper()
	edits := new(GroupEdits)
	edits.Add(square(id, 100+float64(id)))
	made, err := client.CommitEdits(testContext(t), "scenes/arena", edits)
	if err != nil {
		t.Fatal(err)
	}
	return made.Version
}

// A watch that begins with a version that the program has gives the versions after it.
func TestWatchFromAVersion(t *testing.T) {
	client := dial(t, startServer(t).address)
	first := arena(t, client).Version
	second := commit(t, client, 11)
	third := commit(t, client, 12)
	watch := client.WatchScene(testContext(t), "scenes/arena", WatchOptions{FromVersion: first, Polygons: true})
	defer watch.Close()
	base := first
	for i, version := range []uint64{second, third} {
		if !watch.Next() {
			t.Fatal(watch.Err())
		}
		update := watch.Update()
		if update.Scene.Version != version || update.BaseVersion != base || update.EditID == "" || len(update.Changes) != 1 ||
			update.Changes[0].ID != uint64(11+i) || update.Changes[0].Change != Added ||
			len(update.Polygons) != 1 || update.Polygons[0].ID != uint64(11+i) {
			t.Errorf("%+v", update)
		}
		base = version
	}
}

func TestAWatchEndsWithAnError(t *testing.T) {
	client := dial(t, startServer(t).address)
	for _, test := range []struct {
		name    string
		options WatchOptions
		code    Code
		field   string
	}{
		{"scenes/none", WatchOptions{}, NotFound, "name"},
		{"arena", WatchOptions{}, InvalidArgument, "name"},
		{"scenes/arena", WatchOptions{FromVersion: 1 << 40}, OutOfRange, "from_version"},
	} {
		arena(t, client)
		watch := client.WatchScene(testContext(t), test.name, test.options)
		for i := 0; i < 2; i++ {
			var failed *Error
			if watch.Next() || !errors.As(watch.Err(), &failed) || failed.Code != test.code || failed.Field != test.field {
				t.Errorf("%s: %v", test.name, watch.Err())
			}
		}
	}
}

// What waits in Next is let go, and what has ended stays so.
func TestAWatchIsEndedFromAnotherGoroutine(t *testing.T) {
	server := startServer(t)
	arena(t, dial(t, server.address))
	for name, test := range map[string]struct {
		end  func(*Watch, *Client, context.CancelFunc)
		code Code
	}{
		"Close":               {func(w *Watch, _ *Client, _ context.CancelFunc) { w.Close() }, FailedPrecondition},
		"its context":         {func(_ *Watch, _ *Client, cancel context.CancelFunc) { cancel() }, Canceled},
		"Close of the client": {func(_ *Watch, c *Client, _ context.CancelFunc) { _ = c.Close() }, FailedPrecondition},
	} {
		own := dial(t, server.address)
		ctx, cancel := context.WithCancel(testContext(t))
		watch := own.WatchScene(ctx, "scenes/arena", WatchOptions{})
		if !watch.Next() {
			t.Fatal(watch.Err())
		}
		time.AfterFunc(20*time.Millisecond, func() { test.end(watch, own, cancel) })
		begun := time.Now()
		for i := 0; i < 2; i++ {
			if watch.Next() || !errors.Is(watch.Err(), test.code) {
				t.Errorf("%s: %v", name, watch.Err())
			}
		}
		if test.code == Canceled && !errors.Is(watch.Err(), context.Canceled) || time.Since(begun) > soon {
			t.Errorf("%s: %v after %v", name, watch.Err(), time.Since(begun))
		}
		cancel()
	}
}

func TestAWatchGivesUpWithoutAServer(t *testing.T) {
	for _, reconnect := range []time.Duration{200 * time.Millisecond, -1} {
		server := startServer(t)
		client := dial(t, server.address)
		arena(t, client)
		watch := client.WatchScene(testContext(t), "scenes/arena", WatchOptions{Reconnect: reconnect})
		if !watch.Next() {
			t.Fatal(watch.Err())
		}
		server.kill()
		begun := time.Now()
		if watch.Next() || !errors.Is(watch.Err(), Unavailable) || time.Since(begun) > soon {
			t.Errorf("%v after %v", watch.Err(), time.Since(begun))
		}
	}
}

// The time to reconnect is that of each failure. It counted from the first one, so that a watch of a
// scene that nobody edits ended at its second failure, hours later.
func TestAWatchGoesOnAfterFailuresFarApart(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	direct := dial(t, server.address)
	arena(t, direct)
	accepted := make(chan int, 16)
	proxy := startProxy(t, server.address, func(number int) cut {
		accepted <- number
		return cut{}
	})
	const reconnect = 2 * time.Second
	watch := dial(t, proxy.address()).WatchScene(testContext(t), "scenes/arena", WatchOptions{Reconnect: reconnect})
	if !watch.Next() {
		t.Fatal(watch.Err())
	}
	<-accepted
	version := make(chan uint64, 1)
	go func() {
		for i := 0; i < 2; i++ {
			proxy.cutAll()
			<-accepted
			time.Sleep(reconnect + 300*time.Millisecond)
		}
		proxy.cutAll()
		version <- commit(t, direct, 1000)
	}()
	if !watch.Next() || watch.Update().Scene.Version != <-version {
		t.Errorf("%+v, %v", watch.Update(), watch.Err())
	}
}

// However often the connection is cut, no version is missed and none comes twice.
func TestAWatchGoesOnAfterCuts(t *testing.T) {
	server := startServer(t)
	direct := dial(t, server.address)
	last := arena(t, direct).Version
	proxy := startProxy(t, server.address, func(number int) cut { return cut{toClient: 400 + 137*int64(number)} })
	watch := dial(t, proxy.address()).WatchScene(testContext(t), "scenes/arena", WatchOptions{Polygons: true})
	// The first one may take several connections, each of which carries a little more.
	if !watch.Next() || watch.Update().Scene.Version != last {
		t.Fatalf("%+v, %v", watch.Update(), watch.Err())
	}
	for id := uint64(1); id <= 40; id++ {
		version := commit(t, direct, 1000+id)
		if !watch.Next() {
			t.Fatal(watch.Err())
		}
		if update := watch.Update(); update.Scene.Version != version || update.BaseVersion != last ||
			len(update.Polygons) != 1 || update.Polygons[0].ID != 1000+id {
			t.Fatalf("%+v after version %d", update, last)
		}
		last = version
	}
	if proxy.cuts.Load() < 3 {
		t.Errorf("%d cuts: the test is of little use", proxy.cuts.Load())
	}
}

// Updates and scenes that do not fit together, of a server that breaks the protocol.
func TestScenesThatBreakTheProtocol(t *testing.T) {
	scene := &caromv1.Scene{Name: "scenes/arena", Version: 5}
	polygon := &caromv1.Polygon{Id: 1, Rings: []*caromv1.Ring{{X: []float64{1}, Y: []float64{2}}}}
	one := []float64{1}
	for name, update := range map[string]*caromv1.WatchSceneResponse{
		"columns of unequal length": {Scene: scene, PolygonId: []uint64{1}},
		"an unknown change": {Scene: scene, PolygonId: []uint64{1}, Change: []caromv1.PolygonChange{9}, MinX: one, MinY: one,
			MaxX: one, MaxY: one},
		"an end in the middle of a polygon": {Scene: scene, Polygons: []*caromv1.Polygon{polygon}, Continues: true},
		"another base":                      {Scene: scene, BaseVersion: 4},
		"no version":                        {Scene: &caromv1.Scene{Name: "scenes/arena"}},
	} {
		address := startPeer(t, func(stream grpc.ServerStream) error {
			if err := stream.RecvMsg(new(payload)); err != nil {
				return err
			}
			_ = stream.SendMsg(update)
			return stream.RecvMsg(new(payload)) // there is none
		})
		watch := dial(t, address).WatchScene(testContext(t), "scenes/arena", WatchOptions{})
		if watch.Next() || !errors.Is(watch.Err(), Internal) {
			t.Errorf("%s: %v", name, watch.Err())
		}
	}
	for name, chunks := range map[string][]*caromv1.ExportSceneResponse{
		"an end in the middle of a polygon": {{Polygons: []*caromv1.Polygon{polygon}, Continues: true}},
		"another polygon goes on": {{Polygons: []*caromv1.Polygon{polygon}, Continues: true},
			{Polygons: []*caromv1.Polygon{{Id: 2, Rings: polygon.Rings}}}},
		"nothing goes on": {{Continues: true}},
	} {
		address := startPeer(t, func(stream grpc.ServerStream) error {
			if err := stream.RecvMsg(new(payload)); err != nil {
				return err
			}
			for _, chunk := range chunks {
				_ = stream.SendMsg(chunk)
			}
			return nil
		})
		if polygons, err := dial(t, address).ExportScene(testContext(t), "scenes/arena", 0); !errors.Is(err, Internal) {
			t.Errorf("%s: %v, %v", name, polygons, err)
		}
	}
}
