// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestScenes(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	made, err := client.CreateScene(ctx, "scenes/one", []Polygon{square(1, 0), square(2, 10)})
	if err != nil || made.Name != "scenes/one" || made.PolygonCount != 2 || made.Bounds == nil || made.Bounds.MaxX != 11 {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := client.CreateScene(ctx, "scenes/one", nil); !errors.Is(err, AlreadyExists) {
		t.Errorf("a scene is registered twice: %v", err)
	}
	edits := new(GroupEdits)
	edits.Add(square(3, 20))
	edits.Replace(square(2, 30))
	edits.Remove(1)
	edits.ID = "commit 1"
	committed, err := client.CommitEdits(ctx, "scenes/one", edits)
	if err != nil || committed.Version <= made.Version || committed.PolygonCount != 2 {
		t.Fatalf("%+v, %v", committed, err)
	}
	// The id makes the second commit the first one.
	if again, err := client.CommitEdits(ctx, "scenes/one", edits); err != nil || again.Version != committed.Version {
		t.Errorf("%+v, %v", again, err)
	}
	edits.ID, edits.BaseVersion = "commit 2", made.Version
	if _, err := client.CommitEdits(ctx, "scenes/one", edits); !errors.Is(err, Aborted) {
		t.Errorf("a commit for an old version: %v", err)
	}
	polygons, err := client.ExportScene(ctx, "scenes/one", 0)
	if err != nil || len(polygons) != 2 || polygons[0].ID != 2 || polygons[1].ID != 3 ||
		!reflect.DeepEqual(polygons[1].Rings, square(3, 20).Rings) {
		t.Errorf("%+v, %v", polygons, err)
	}
	versions, err := client.ListSceneVersions(ctx, "scenes/one")
	if err != nil || len(versions) != 2 || versions[1].EditID != "commit 1" || time.Since(versions[1].Created) > time.Hour {
		t.Errorf("%+v, %v", versions, err)
	}
	if scenes, err := client.ListScenes(ctx); err != nil || len(scenes) != 1 {
		t.Errorf("%+v, %v", scenes, err)
	}
	if err := client.DeleteScene(ctx, "scenes/one", made.Version); !errors.Is(err, Aborted) {
		t.Errorf("an old version is deleted: %v", err)
	}
	if err := client.DeleteScene(ctx, "scenes/one", 0); err != nil {
		t.Error(err)
	}
	var failed *Error
	if _, err := client.GetScene(ctx, "scenes/one", 0); !errors.As(err, &failed) || failed.Code != NotFound || failed.Field != "name" {
		t.Errorf("%v", err)
	}
}

// Polygons larger than a message are imported and exported in pieces, and come back as they were.
func TestLargePolygons(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	ring := func(n int, radius float64) Ring {
		made := Ring{X: make([]float64, n), Y: make([]float64, n)}
		for i := range made.X {
			made.Y[i], made.X[i] = math.Sincos(2 * math.Pi * float64(i) / float64(n))
			made.X[i], made.Y[i] = radius*made.X[i], radius*made.Y[i]
		}
		return made
	}
	polygons := []Polygon{square(1, 0), {ID: 2, Rings: []Ring{ring(200000, 9), ring(chunkVertices-1, 5), ring(5, 3)},
		FillRule: FillRuleNonZero, UserData: []byte("large")}, {ID: 3, Rings: []Ring{ring(70000, 1)}}, square(4, 5)}
	polygons[3].Hidden = true
	for _, replace := range []bool{false, true} {
		if _, err := client.ImportScene(ctx, "scenes/large", polygons, replace); err != nil {
			t.Fatal(err)
		}
	}
	exported, err := client.ExportScene(ctx, "scenes/large", 0)
	if err != nil || len(exported) != len(polygons) {
		t.Fatalf("%d polygons, %v", len(exported), err)
	}
	for i := range polygons {
		if !reflect.DeepEqual(exported[i].Rings, polygons[i].Rings) || exported[i].Hidden != polygons[i].Hidden {
			t.Errorf("polygon %d has come back different", i)
		}
	}
}

func TestEvaluate(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	scene := arena(t, client)
	frame := &Frame{Seq: 7}
	group := frame.Group("scenes/arena")
	group.Segments.Add(0, 0, 100, 0)
	group.Segments.Add(0, 50, 100, 50)
	group.Segments.Add(math.NaN(), 0, 1, 0)
	group.Segments.Mode = CastModeAll
	group.Points.Add(10, 0)
	group.Circles.Add(15, 0, 4)
	group.Sights.Add(0, 0, 100, 0)
	group.Sights.Add(0, 5, 100, 5)
	disc := group.Slides.AddShape(Circle(1))
	group.Slides.Add(disc, 0, 0, 20, 0)
	group.Distances.Add(group.Distances.AddShape(Point()), 0, 0)
	missing := frame.Group("scenes/missing")
	missing.Points.Add(0, 0)
	answer, err := client.Evaluate(ctx, frame)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Release()
	got := answer.Group(0)
	if answer.Seq != 7 || answer.Len() != 2 || got.Err() != nil || got.Version != scene.Version {
		t.Fatalf("%d groups, %v", answer.Len(), got.Err())
	}
	for i, hit := range got.Segments.Hits(0) {
		if hit.PolygonID != uint64(i+1) || math.Abs(hit.PointX-float64(10*i+9)) > 1e-12 || hit.NormalX != -1 {
			t.Errorf("hit %d is %+v", i, hit)
		}
	}
	if len(got.Segments.Hits(0)) != 5 || len(got.Segments.Hits(1)) != 0 || len(got.Segments.Exits(0)) != 5 {
		t.Error("other numbers of hits")
	}
	var failed *Error
	if err := got.Segments.Err(2); !errors.As(err, &failed) || failed.Code != InvalidArgument || failed.Field != "segments.ax[2]" {
		t.Errorf("NaN is %v", err)
	}
	if got.Segments.Err(0) != nil || got.Segments.Errs() != 1 {
		t.Error("another item has an error")
	}
	if found := got.Points.Polygons(0); len(found) != 1 || found[0].Location != LocationInside {
		t.Errorf("%+v", found)
	}
	if len(got.Circles.Polygons(0)) != 1 && len(got.Circles.Polygons(0)) != 2 {
		t.Errorf("%+v", got.Circles.Polygons(0))
	}
	if got.Sights.Visible(0) || !got.Sights.Visible(1) || got.Sights.Visible(2) {
		t.Error("other sights")
	}
	if end := got.Slides.At(0); math.Abs(end.X-8) > 1e-9 || len(got.Slides.Legs(0)) == 0 {
		t.Errorf("%+v", end)
	}
	if near := got.Distances.Polygons(0); len(near) != 1 || near[0].Distance != 9 {
		t.Errorf("%+v", near)
	}
	if err := answer.Group(1).Err(); !errors.Is(err, NotFound) {
		t.Errorf("a scene that does not exist: %v", err)
	}
}

// Every kind is asked, and answered without an error of the group.
func TestAllKinds(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	frame := new(Frame)
	group := frame.Group("scenes/arena")
	box := PolygonShape(Rectangle(0, -1, -1, 1, 1))
	group.Segments.Add(0, 0, 10, 0)
	group.Points.Add(10, 0)
	group.Circles.Add(10, 0, 1)
	group.Polygons.Add(group.Polygons.AddShape(box), 10, 0)
	group.Rays.Add(0, 0, 1, 0)
	group.Capsules.Add(0, 0, 10, 0, 1)
	group.Boxes.Add(0, -1, 10, 1)
	group.Distances.Add(group.Distances.AddShape(box), 0, 0)
	group.Contacts.Add(group.Contacts.AddShape(box), 9, 0)
	group.Depenetrations.Add(group.Depenetrations.AddShape(box), 9, 0)
	group.Sweeps.Add(group.Sweeps.AddShape(box), 0, 0, 20, 0)
	group.RotatingSweeps.Add(group.RotatingSweeps.AddShape(box), 0, 0, 20, 0, 0.01)
	group.Arcs.Add(0, 0, 5, 5, 0, -1, 10)
	group.Sights.Add(0, 0, 10, 0)
	group.Fans.Add(0, 0, 0, 0.1, 50, 8)
	group.Slides.Add(group.Slides.AddShape(box), 0, 0, 20, 5)
	group.Bounces.Add(0, 0, 20, 0)
	group.RayBounces.Add(0, 0, 1, 0)
	group.Areas.Add(0, 0, 50)
	group.Sees.Add(0, 0, 50)
	shape := group.Bodies.AddShape(box)
	group.Bodies.Add(shape, 0, 0)
	group.Bodies.Add(shape, 1, 0)
	group.BodyContacts.Add(0)
	group.BodyContacts.Add(1)
	definitions := frame.DefineTrackers()
	definitions.Add(3, definitions.AddShape(box))
	group.Moves.Add(3, 10, 0)
	group.Moves.Add(3, 15, 50)
	answer, err := client.Evaluate(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Group(0)
	if got.Err() != nil {
		t.Fatal(got.Err())
	}
	kinds := reflect.ValueOf(&got.Answers).Elem()
	for i := 0; i < kinds.NumField(); i++ {
		each := kinds.Field(i).Addr().Interface().(interface {
			Len() int
			Err(int) error
			Count(int) int
		})
		if each.Len() == 0 || each.Err(0) != nil {
			t.Errorf("%s: %d items, %v", kinds.Type().Field(i).Name, each.Len(), each.Err(0))
		}
	}
	if got.Moves.Clear(0) || !got.Moves.Clear(1) || len(got.Moves.Polygons(0)) != 1 || len(got.Fans.Beams(0)) != 8 {
		t.Error("other moves or beams")
	}
	if !got.Sees.Sees(0, 0) || !got.Sees.Sees(0, 1) || got.Sees.Sees(0, 2) || got.Sees.Count(0) != 2 {
		t.Errorf("the eye sees %v", got.Sees.AppendSeen(nil, 0))
	}
	if contacts := got.Contacts.Contacts(0); len(contacts) != 1 || len(contacts[0].Points) == 0 {
		t.Errorf("%+v", contacts)
	}
	if end := got.Depenetrations.At(0); !end.Finished || math.Abs(end.X-8) > 1e-9 {
		t.Errorf("%+v", end)
	}
}

func TestWatch(t *testing.T) {
	server := startServer(t)
	client := dial(t, server.address)
	first := arena(t, client)
	watch := client.WatchScene(testContext(t), "scenes/arena", WatchOptions{Polygons: true})
	defer watch.Close()
	if !watch.Next() || watch.Update().Scene.Version != first.Version || len(watch.Update().Polygons) != 5 {
		t.Fatalf("%+v, %v", watch.Update(), watch.Err())
	}
	edits := new(GroupEdits)
	edits.Remove(3)
	edits.Replace(square(1, 12))
	committed, err := client.CommitEdits(testContext(t), "scenes/arena", edits)
	if err != nil || !watch.Next() {
		t.Fatal(err, watch.Err())
	}
	update := watch.Update()
	if update.Scene.Version != committed.Version || update.BaseVersion != first.Version || len(update.Changes) != 2 ||
		update.Changes[0].Change != Replaced || update.Changes[0].Bounds.MaxX != 13 || update.Changes[1].Change != Removed {
		t.Errorf("%+v", update)
	}
	if err := client.DeleteScene(testContext(t), "scenes/arena", 0); err != nil {
		t.Fatal(err)
	}
	if watch.Next() || !errors.Is(watch.Err(), NotFound) {
		t.Errorf("a deleted scene: %v", watch.Err())
	}
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	if ended := client.WatchScene(ctx, "scenes/arena", WatchOptions{}); ended.Next() || !errors.Is(ended.Err(), context.Canceled) {
		t.Error(ended.Err())
	}
}

// A watch goes on with the next version when its server was killed and started again.
func TestWatchAfterAKill(t *testing.T) {
	server := startServer(t, "--store", "sqlite")
	client := dial(t, server.address)
	version := arena(t, client).Version
	watch := client.WatchScene(testContext(t), "scenes/arena", WatchOptions{})
	defer watch.Close()
	if !watch.Next() {
		t.Fatal(watch.Err())
	}
	for i := uint64(1); i <= 3; i++ {
		server.kill()
		server.start()
		edits := new(GroupEdits)
		edits.Remove(i)
		made, err := client.CommitEdits(testContext(t), "scenes/arena", edits) // repeated until the server is there
		if err != nil {
			t.Fatal(err)
		}
		if !watch.Next() {
			t.Fatal(watch.Err())
		}
		if update := watch.Update(); update.BaseVersion != version || update.Scene.Version != made.Version ||
			len(update.Changes) != 1 || update.Changes[0].ID != i {
			t.Fatalf("%+v", update)
		}
		version = made.Version
	}
}

func TestSeveralAddresses(t *testing.T) {
	first, second := startServer(t), startServer(t)
	client := dial(t, first.address+","+second.address)
	arena(t, client)
	first.kill()
	arena(t, dial(t, second.address))
	frame := new(Frame)
	bullets(frame, "scenes/arena", 10)
	answer, err := client.Evaluate(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkBullets(answer, 10); err != nil {
		t.Error(err)
	}
}

// Dial waits for a server that starts later, at most until the context is done.
func TestDialWaits(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "carom.sock")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := Dial(ctx, "unix:"+socket); !errors.Is(err, Unavailable) || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("no server: %v", err)
	}
	var client *Client
	var err error
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		client, err = Dial(testContext(t), "unix:"+socket)
	}()
	time.Sleep(200 * time.Millisecond)
	startServerAt(t, "unix:"+socket)
	done.Wait()
	if err != nil {
		t.Fatal(err)
	}
	arena(t, client)
	_ = client.Close()
}

func TestDeadlines(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	frame := new(Frame)
	bullets(frame, "scenes/arena", 1)
	if _, err := client.Evaluate(ctx, frame); !errors.Is(err, DeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	// A group that waits for a version that does not come is given up by the context, not the budget.
	frame.Group("scenes/arena").Points.Add(0, 0)
	frame.groups[1].MinVersion = 1 << 40
	frame.Budget = time.Minute
	ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := client.Evaluate(ctx, frame); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Error(err)
	}
}

// Misuse is an error, and never a panic.
func TestMisuse(t *testing.T) {
	ctx := testContext(t)
	for _, addresses := range []string{"", "host", "host:0", "host:port", "unix:", "http://host:1", "a:1,,b:2"} {
		if _, err := Dial(ctx, addresses); !errors.Is(err, InvalidArgument) {
			t.Errorf("%q: %v", addresses, err)
		}
	}
	for _, option := range []Option{WithToken(""), WithToken("two words"), WithTokenFile("/nowhere"), WithCAFile("/nowhere"),
		WithPerRPCCredentials(nil), WithCallTimeout(-1), WithKeepalive(time.Second), WithMaxReceiveBytes(0)} {
		if _, err := Dial(ctx, "127.0.0.1:7420", option); !errors.Is(err, InvalidArgument) {
			t.Errorf("%v", err)
		}
	}
	var insecure *Error
	if _, err := Dial(ctx, "127.0.0.1:7420", WithPerRPCCredentials(&bearer{secure: true})); !errors.As(err, &insecure) || insecure.Field != "tls" {
		t.Errorf("credentials that need TLS: %v", err)
	}
	if _, err := Dial(ctx, "example.com:7420", WithToken("secret")); !errors.Is(err, InvalidArgument) {
		t.Errorf("a token without TLS: %v", err)
	}
	var noContext context.Context
	if _, err := Dial(noContext, "127.0.0.1:7420"); !errors.Is(err, InvalidArgument) {
		t.Errorf("%v", err)
	}
	var none *Client
	if _, err := none.Evaluate(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a nil client: %v", err)
	}
	var noStream *Stream
	if err := noStream.Send(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a nil stream: %v", err)
	}
	if noStream.Reconnects() != 0 || noStream.Limits() != (StreamLimits{}) || noStream.Close() != nil {
		t.Error("a nil stream has a state")
	}
	for _, watch := range []*Watch{nil, {}, none.WatchScene(ctx, "scenes/arena", WatchOptions{})} {
		if watch.Next() || !errors.Is(watch.Err(), FailedPrecondition) || watch.Update().Scene.Name != "" {
			t.Errorf("a watch of no client: %v", watch.Err())
		}
		watch.Close()
	}
	client := dial(t, startServer(t).address)
	arena(t, client)
	for name, spoil := range map[string]func(*Group){
		"groups[0].segments.by":               func(g *Group) { g.Segments.BY = nil },
		"groups[0].segments.ay":               func(g *Group) { g.Segments.AY = append(g.Segments.AY, 1) },
		"groups[0].scene":                     func(g *Group) { g.Scene = "" },
		"groups[0].scene ":                    func(g *Group) { g.Scene = "scenes/\xff" },
		"groups[0].edits.edit_id":             func(g *Group) { g.Edits.ID = "\xff" },
		"groups[0].segments.masks":            func(g *Group) { g.Segments.Masks = []uint64{1, 2} },
		"groups[0].sweeps.movers.shapes[0]":   func(g *Group) { g.Sweeps.AddShape(Shape{}) },
		"groups[0].polygons.shapes[0]":        func(g *Group) { g.Polygons.AddShape(Circle(1)) },
		"groups[0].slides.dx":                 func(g *Group) { g.Slides.DX = []float64{1} },
		"groups[0].bodies.owner":              func(g *Group) { g.Bodies.Owner = []uint32{1} },
		"groups[0].edits.edits[0].rings[0].y": func(g *Group) { g.Edits.Add(Polygon{Rings: []Ring{{X: []float64{1}}}}) },
	} {
		frame := new(Frame)
		bullets(frame, "scenes/arena", 1)
		spoil(frame.Group("scenes/arena"))
		frame.groups[0], frame.groups[1] = frame.groups[1], frame.groups[0]
		frame.groups[0].Segments.Add(0, 0, 1, 1)
		spoil(frame.groups[0])
		var failed *Error
		if _, err := client.Evaluate(ctx, frame); !errors.As(err, &failed) || failed.Code != InvalidArgument || failed.Field != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client.Evaluate(ctx, nil); !errors.Is(err, InvalidArgument) {
		t.Errorf("a nil frame: %v", err)
	}
	if _, err := client.CommitEdits(ctx, "scenes/arena", nil); !errors.Is(err, InvalidArgument) {
		t.Errorf("nil edits: %v", err)
	}
	const wrong = "scenes/\xff"
	for i, call := range []func() error{
		func() error { _, err := client.CreateScene(ctx, wrong, nil); return err },
		func() error { _, err := client.ImportScene(ctx, wrong, nil, true); return err },
		func() error { _, err := client.GetScene(ctx, wrong, 0); return err },
		func() error { _, err := client.ExportScene(ctx, wrong, 0); return err },
		func() error { _, err := client.ForkScene(ctx, wrong, ForkOptions{}); return err },
		func() error { _, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: wrong}); return err },
		func() error { _, err := client.CommitEdits(ctx, wrong, new(GroupEdits)); return err },
		func() error { _, err := client.CommitEdits(ctx, "scenes/arena", &GroupEdits{ID: wrong}); return err },
		func() error { _, err := client.ListSceneVersions(ctx, wrong); return err },
		func() error { _, err := client.RollbackScene(ctx, wrong, 1, 0); return err },
		func() error { return client.DeleteScene(ctx, wrong, 0) },
		func() error { return client.WatchScene(ctx, wrong, WatchOptions{}).Err() },
	} {
		if err := call(); !errors.Is(err, InvalidArgument) {
			t.Errorf("call %d with a name that is not UTF-8: %v", i, err)
		}
	}
	if _, err := client.OpenStream(ctx, StreamOptions{InFlight: -1}); !errors.Is(err, InvalidArgument) {
		t.Error(err)
	}
	stream, err := client.OpenStream(ctx, StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	frame := new(Frame)
	bullets(frame, "scenes/arena", 1)
	answer, err := client.Evaluate(ctx, frame)
	if err != nil {
		t.Fatal(err)
	}
	answer.Release()
	answer.Release()
	if !errors.Is(answer.Group(0).Err(), OutOfRange) {
		t.Error("a released answer has groups")
	}
	if first, second := newAnswer(), newAnswer(); first == second {
		t.Error("an answer that was released twice is the memory of two answers")
	}
	_ = client.Close()
	_ = client.Close()
	if err := stream.Send(ctx, new(Frame)); !errors.Is(err, Canceled) {
		t.Errorf("a stream of a closed client: %v", err)
	}
	if _, err := client.Evaluate(ctx, new(Frame)); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a closed client: %v", err)
	}
	if _, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{}); !errors.Is(err, FailedPrecondition) {
		t.Errorf("a closed client: %v", err)
	}
	if (*FrameAnswer)(nil).Group(3).Err() == nil || new(CastAnswers).Hits(-1) != nil || new(MoveAnswers).Clear(0) {
		t.Error("rows that do not exist")
	}
}

// Many goroutines share a client; each has its own frame. One frame of two goroutines is refused or
// answered, and nothing else.
func TestConcurrentUse(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	var done sync.WaitGroup
	failures := make(chan error, 64)
	for i := 0; i < 8; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			frame := new(Frame)
			for j := 1; j < 20; j++ {
				bullets(frame, "scenes/arena", j)
				answer, err := client.Evaluate(testContext(t), frame)
				if err == nil {
					err = checkBullets(answer, j)
					answer.Release()
				}
				if err != nil {
					failures <- fmt.Errorf("%d: %w", j, err)
					return
				}
			}
		}()
	}
	shared := new(Frame)
	bullets(shared, "scenes/arena", 1000)
	for i := 0; i < 4; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			if _, err := client.Evaluate(testContext(t), shared); err != nil && !errors.Is(err, FailedPrecondition) {
				failures <- err
			}
		}()
	}
	grown := new(Frame)
	watch := client.WatchScene(testContext(t), "scenes/arena", WatchOptions{})
	for i := 0; i < 4; i++ {
		done.Add(2)
		go func() {
			defer done.Done()
			for j := 0; j < 1000; j++ {
				grown.Group("scenes/arena")
				grown.DefineTrackers()
			}
		}()
		go func() {
			defer done.Done()
			for watch.Next() {
				if version := watch.Update().Scene.Version; version == 0 {
					failures <- fmt.Errorf("an update of version %d", version)
				}
				watch.Close()
			}
		}()
	}
	done.Wait()
	if grown.Len() != 4000 {
		t.Errorf("%d groups", grown.Len())
	}
	if !errors.Is(watch.Err(), FailedPrecondition) {
		t.Errorf("a closed watch: %v", watch.Err())
	}
	close(failures)
	for err := range failures {
		t.Error(err)
	}
}

// Methods of nil have no effect, and what is sent is refused.
func TestNil(t *testing.T) {
	var frame *Frame
	frame.Group("scenes/arena").Points.Add(0, 0)
	frame.DefineTrackers()
	frame.RemoveTrackers(1)
	frame.Reset()
	var edits *GroupEdits
	edits.Add(square(1, 0))
	edits.Replace(square(1, 0))
	edits.Remove(1)
	edits.Reset()
	if frame.Len() != 0 || edits.Len() != 0 {
		t.Error("nil has groups or edits")
	}
	var answer *GroupAnswer
	if !errors.Is(answer.Err(), OutOfRange) {
		t.Error(answer.Err())
	}
	if _, err := Dial(testContext(t), "127.0.0.1:1", WithTokenFile("")); !errors.Is(err, InvalidArgument) {
		t.Error(err)
	}
}
