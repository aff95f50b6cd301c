// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"math/rand"
	"reflect"
	"testing"

	caromv1 "carom/v1"
)

// bodySetPoses are poses of n bodies at a tick, of which some are no floats.
func bodySetPoses(random *rand.Rand, n int, tick uint64) BodyPoses {
	made := BodyPoses{BodySet: 3, Tick: tick}
	scale := []float64{0.5, 0.1}[random.Intn(2)]
	for range n {
		made.X = append(made.X, scale*float64(random.Intn(80)))
		made.Y = append(made.Y, scale*float64(random.Intn(40)))
		made.Alive = append(made.Alive, random.Intn(5) != 0)
		made.Teleported = append(made.Teleported, random.Intn(5) == 0)
		made.Angle = append(made.Angle, random.Float64()*6-3)
	}
	return made
}

// The law: an item as of a tick has the answer of a group whose bodies have the poses of the tick.
func TestAsOfATickEqualsAGroupWithThePosesOfTheTick(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	client := dial(t, server.address)
	random := rand.New(rand.NewSource(1))
	if _, err := client.CreateScene(ctx, "scenes/law", randomScene(random, 30)); err != nil {
		t.Fatal(err)
	}
	const bodies, ticks, items = 70, 4, 40
	set := BodySet{Handle: 3, Shapes: []Shape{Circle(0.5), CapsuleShape(-1, 0, 1, 0, 0.25)}}
	for i := range bodies {
		set.Shape = append(set.Shape, uint32(i%2))
		set.Category = append(set.Category, 1+uint64(i%3))
		set.Owner = append(set.Owner, uint32(i%4))
	}
	var past []BodyPoses
	for tick := range uint64(ticks) {
		past = append(past, bodySetPoses(random, bodies, 100+tick))
	}
	met := 0
	for _, poses := range past {
		frame := new(Frame)
		frame.DefineBodySet(set)
		for _, each := range past {
			frame.AddPoses(each)
		}
		group, now := frame.Group("scenes/law"), frame.Group("scenes/law")
		group.AskBodySet(3)
		category := append([]uint64(nil), set.Category...)
		for i, alive := range poses.Alive {
			if !alive {
				category[i] = 0
			}
		}
		now.Bodies = Bodies{Placed: PlacedShapes{Shapes: set.Shapes, Shape: set.Shape, X: poses.X, Y: poses.Y,
			Angle: poses.Angle}, Category: category, Owner: set.Owner}
		for range items {
			p, q := place(random), place(random)
			for _, each := range []*Group{group, now} {
				each.Segments.Add(p[0], p[1], q[0], q[1])
				each.Points.Add(p[0], p[1])
				each.Sweeps.Add(each.Sweeps.AddShape(Circle(0.25)), p[0], p[1], q[0], q[1])
				each.Sights.Add(p[0], p[1], q[0], q[1])
			}
			group.Segments.AsOf = append(group.Segments.AsOf, float64(poses.Tick))
		}
		group.Points.AsOf, group.Sweeps.AsOf, group.Sights.AsOf = group.Segments.AsOf, group.Segments.AsOf, group.Segments.AsOf
		for _, each := range []*Group{group, now} {
			each.Segments.Against, each.Points.Against, each.Sweeps.Against, each.Sights.Against =
				AgainstBoth, AgainstBoth, AgainstBoth, AgainstBoth
		}
		answer, err := client.Evaluate(ctx, frame)
		if err != nil || answer.Group(0).Err() != nil || answer.Group(1).Err() != nil {
			t.Fatal(err, answer.Group(0).Err(), answer.Group(1).Err())
		}
		one, other := answer.Group(0), answer.Group(1)
		for i := range items {
			for _, pair := range [][2]any{{one.Segments.Hits(i), other.Segments.Hits(i)}, {one.Points.Polygons(i), other.Points.Polygons(i)},
				{one.Sweeps.Hits(i), other.Sweeps.Hits(i)}, {one.Sights.All(), other.Sights.All()}} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("tick %d, item %d: %+v is not %+v", poses.Tick, i, pair[0], pair[1])
				}
			}
			for _, hit := range one.Segments.Hits(i) {
				if hit.IsBody {
					met++
				}
			}
		}
	}
	if met == 0 {
		t.Error("no segment meets a body")
	}
}

// addDisc defines a set of one disc of radius 1, which keeps 4 ticks, and adds ticks at which it is at
// (x, 0).
func addDisc(frame *Frame, set BodySet, x map[uint64]float64) {
	set.Shapes = []Shape{Circle(1)}
	if set.KeepTicks == 0 {
		set.KeepTicks = 4
	}
	frame.DefineBodySet(set)
	for tick := range uint64(1100) {
		if at, there := x[tick]; there {
			frame.AddPoses(BodyPoses{BodySet: set.Handle, Tick: tick, X: []float64{at}, Y: []float64{50}})
		}
	}
}

// askAt asks what is at (x, 50) at moments.
func askAt(frame *Frame, scene string, set uint32, x float64, moments ...float64) *Group {
	group := frame.Group(scene)
	group.AskBodySet(set)
	for _, moment := range moments {
		group.Points.Add(x, 50)
		group.Points.AsOf = append(group.Points.AsOf, moment)
	}
	group.Points.Against = AgainstBoth
	return group
}

// countsAt returns how many bodies are at (x, 50) at moments.
func countsAt(ctx context.Context, t *testing.T, stream *Stream, scene string, set uint32, x float64, moments ...float64) []int {
	t.Helper()
	frame := new(Frame)
	askAt(frame, scene, set, x, moments...)
	answer, err := stream.Do(ctx, frame)
	if err != nil || answer.Group(0).Err() != nil {
		t.Fatal(err, answer.Group(0).Err())
	}
	var counts []int
	for i := range moments {
		counts = append(counts, len(answer.Group(0).Points.Polygons(i)))
	}
	return counts
}

func expectCounts(t *testing.T, found []int, wanted ...int) {
	t.Helper()
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("%v is not %v", found, wanted)
	}
}

func do(ctx context.Context, t *testing.T, stream *Stream, frame *Frame) {
	t.Helper()
	if _, err := stream.Do(ctx, frame); err != nil {
		t.Fatal(err)
	}
}

// Story: shots are judged by the same past after the server was restarted in the middle of a match.
func TestAStreamSendsItsBodySetsAndTheirTicksAgain(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	client := dial(t, server.address)
	arena(t, client)
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	addDisc(frame, BodySet{Handle: 5}, nil)
	do(ctx, t, stream, frame)
	for tick := range uint64(9) {
		frame.Reset()
		frame.AddPoses(BodyPoses{BodySet: 5, Tick: tick + 1, X: []float64{float64(tick + 1)}, Y: []float64{50}})
		do(ctx, t, stream, frame)
	}
	for reconnects := range 2 {
		expectCounts(t, countsAt(ctx, t, stream, "scenes/arena", 5, 7.5, 5, 6, 6.5, 7.5, 9), 0, 0, 1, 1, 0)
		if stream.Reconnects() != reconnects {
			t.Errorf("%d reconnects", stream.Reconnects())
		}
		restart(ctx, t, server)
	}
	frame.Reset()
	askAt(frame, "scenes/arena", 5, 0, 1) // dropped: an error of the item
	answer, err := stream.Do(ctx, frame)
	if err != nil || answer.Group(0).Points.Errs() != 1 || !errors.Is(answer.Group(0).Points.Err(0), OutOfRange) {
		t.Fatal(err, answer.Group(0).Points.Err(0))
	}
	frame.Reset()
	frame.RemoveBodySets(5)
	do(ctx, t, stream, frame)
	restart(ctx, t, server)
	expectNoSet(ctx, t, stream, 5, InvalidArgument)
}

func expectNoSet(ctx context.Context, t *testing.T, stream *Stream, set uint32, code Code) {
	t.Helper()
	frame := new(Frame)
	askAt(frame, "scenes/arena", set, 0, 1)
	answer, err := stream.Do(ctx, frame)
	var refused *Error
	if err != nil || !errors.As(answer.Group(0).Err(), &refused) || refused.Code != code || refused.Field != "body_set" {
		t.Fatal(err, answer.Group(0).Err())
	}
}

// Story: one fork was gone after a restart, and with it the stream ended, though only its sets could
// not come back. Then the stream dropped these sets, also if the client that had made the fork made
// it again a moment later.
func TestTheBodySetsOfAForkThatIsGoneWaitForTheFork(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	client, host := dial(t, server.address), dial(t, server.address)
	arena(t, client)
	for _, name := range []string{"scenes/f", "scenes/g"} { // which this client did not make
		if _, err := host.ForkScene(ctx, "scenes/arena", ForkOptions{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	addDisc(frame, BodySet{Handle: 4, Fork: "scenes/f"}, map[uint64]float64{1: 0})
	addDisc(frame, BodySet{Handle: 5}, map[uint64]float64{1: 0})
	addDisc(frame, BodySet{Handle: 6, Fork: "scenes/g"}, map[uint64]float64{1: 0})
	do(ctx, t, stream, frame)
	restart(ctx, t, server)
	if _, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/g"}); err != nil {
		t.Fatal(err)
	}
	expectCounts(t, countsAt(ctx, t, stream, "scenes/arena", 5, 0, 1), 1)
	expectNoSet(ctx, t, stream, 4, NotFound)
	expectCounts(t, countsAt(ctx, t, stream, "scenes/g", 6, 0, 1), 1)
	if _, err := host.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/f"}); err != nil {
		t.Fatal(err)
	}
	expectCounts(t, countsAt(ctx, t, stream, "scenes/f", 4, 0, 1, 2), 1, 0)
	if stream.Reconnects() != 1 {
		t.Errorf("%d reconnects", stream.Reconnects())
	}
}

// Story: the fork of a match was made anew for the next one, with another set or with the same.
func TestTheNextForkOfANameHasNoneOfTheEarlierTicks(t *testing.T) {
	for _, each := range [][2][2]uint64{{{4, 1}, {3, 1}}, {{4, 997}, {4, 1}}} {
		ctx := testContext(t)
		server := startServer(t)
		client := dial(t, server.address)
		arena(t, client)
		stream := open(t, client, StreamOptions{})
		for i, match := range each {
			if _, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/f"}); err != nil {
				t.Fatal(err)
			}
			ticks := map[uint64]float64{}
			for k := range match[0] {
				ticks[match[1]+k] = 10 * float64(match[0])
			}
			frame := new(Frame)
			addDisc(frame, BodySet{Handle: 5, Fork: "scenes/f", KeepTicks: uint32(match[0])}, ticks)
			do(ctx, t, stream, frame)
			if i == 0 {
				if err := client.DeleteScene(ctx, "scenes/f", 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 2 {
			keep := float64(each[1][0])
			expectCounts(t, countsAt(ctx, t, stream, "scenes/f", 5, 10*keep, 1, keep, 997), 1, 1, 0)
			restart(ctx, t, server)
		}
	}
}

func TestBodySetsOfAForkComeBackWithTheFork(t *testing.T) {
	ctx := testContext(t)
	server, client, stream, fork := editedFork(ctx, t)
	_ = client
	frame := new(Frame)
	addDisc(frame, BodySet{Handle: 5, Fork: fork.Name}, map[uint64]float64{1: 0, 2: 4})
	group := askAt(frame, fork.Name, 5, 2, 1.5)
	group.AskVersionAtTick(2)
	group.BodyRotation = BodyRotationLinear
	for i := range 2 {
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		// The walls of the fork before it was lost are not those of the fork that was made again.
		if err := answer.Group(0).Err(); (err == nil) != (i == 0) || i == 1 && !errors.Is(err, OutOfRange) {
			t.Error(i, err)
		}
		expectCounts(t, countsAt(ctx, t, stream, fork.Name, 5, 2, 1.5), 1)
		restart(ctx, t, server)
		frame.Reset()
		askAt(frame, fork.Name, 5, 2, 1.5).AskVersionAtTick(2)
	}
}

func TestBodySetsThatAreNotAccepted(t *testing.T) {
	circle := []Shape{Circle(1)}
	for field, fill := range map[string]func(*Frame){
		"body_sets[0].body_set":   func(f *Frame) { f.DefineBodySet(BodySet{Handle: 65536, Shapes: circle}) },
		"body_sets[0].keep_ticks": func(f *Frame) { f.DefineBodySet(BodySet{Shapes: circle, KeepTicks: 257}) },
		"body_sets[0].shape[1]":   func(f *Frame) { f.DefineBodySet(BodySet{Shapes: circle, Shape: []uint32{0, 1}}) },
		"body_sets[0].shapes[0]":  func(f *Frame) { f.DefineBodySet(BodySet{Shapes: make([]Shape, 1)}) },
		"body_sets[0].owner":      func(f *Frame) { f.DefineBodySet(BodySet{Shapes: circle, Owner: []uint32{1, 2}}) },
		"body_sets[0].category":   func(f *Frame) { f.DefineBodySet(BodySet{Shapes: circle, Category: []uint64{1, 2}}) },
		"body_sets[0].scene":      func(f *Frame) { f.DefineBodySet(BodySet{Shapes: circle, Fork: "\xff"}) },
		"poses[0].tick":           func(f *Frame) { f.AddPoses(BodyPoses{Tick: 1<<53 + 1}) },
		"poses[0].body_set":       func(f *Frame) { f.AddPoses(BodyPoses{BodySet: 65536}) },
		"poses[0].y":              func(f *Frame) { f.AddPoses(BodyPoses{X: []float64{1}}) },
		"poses[0].alive": func(f *Frame) {
			f.AddPoses(BodyPoses{X: []float64{1}, Y: []float64{1}, Alive: make([]bool, 2)})
		},
	} {
		frame := new(Frame)
		fill(frame)
		frame.Group("scenes/a")
		if err := frame.encode(new(writer), nil, new(asked)); err == nil || err.Field != field || err.Code != InvalidArgument {
			t.Errorf("%s: %v", field, err)
		}
		frame.Reset()
		if err := frame.encode(new(writer), nil, new(asked)); err != nil {
			t.Errorf("%s: %v after Reset", field, err)
		}
	}
	var none *Frame
	none.DefineBodySet(BodySet{})
	none.AddPoses(BodyPoses{})
	none.RemoveBodySets(1)
}

// What a stream sends again keeps the limits of the server, and each message has the sets of one fork.
func TestBodySetsAreReplayedWithinTheLimits(t *testing.T) {
	made := newSession()
	frame := new(Frame)
	for handle := range uint32(80) {
		set := BodySet{Handle: handle, Shapes: make([]Shape, 6)}
		for i := range set.Shapes {
			set.Shapes[i] = Circle(float64(i))
		}
		if handle%40 >= 20 {
			set.Fork = "scenes/f"
		}
		frame.DefineBodySet(set)
		column := make([]float64, 6)
		frame.AddPoses(BodyPoses{BodySet: handle, Tick: 7, X: column, Y: column})
	}
	var into asked
	if err := frame.encode(new(writer), nil, &into); err != nil {
		t.Fatal(err)
	}
	made.apply(&into)
	for _, limits := range []StreamLimits{{}, {Queries: 8}, {FrameBytes: 100}} {
		sets, ticks := map[string]int{}, 0
		for _, part := range made.replay(&limits) {
			request := new(caromv1.StreamRequest)
			message(t, part.data, request)
			of := request.GetFrame()
			n := len(of.GetBodySets())
			if n > mostReplaySets || limits.Queries == 8 && n > 1 || limits.FrameBytes == 100 && n+len(of.GetPoses()) != 1 {
				t.Errorf("%+v: a frame has %d sets", limits, n)
			}
			for _, set := range of.GetBodySets() {
				if set.GetScene() != part.fork || set.GetKeepTicks() != defaultKeepTicks || len(set.GetOwner()) != 6 {
					t.Errorf("%+v: %v", limits, set)
				}
			}
			for _, poses := range of.GetPoses() {
				if !poses.GetResent() || poses.GetTick() != 7 || len(poses.GetFloats().GetX()) != 6 {
					t.Errorf("%+v: %v", limits, poses)
				}
			}
			sets[part.fork] += n
			ticks += len(of.GetPoses())
		}
		if sets[""] != 40 || sets["scenes/f"] != 40 || ticks != 80 {
			t.Errorf("%+v: %v, %d ticks", limits, sets, ticks)
		}
	}
	made.dropFork("scenes/f")
	if len(made.bodySets) != 40 {
		t.Errorf("%d sets are left", len(made.bodySets))
	}
}

func TestWhatABodySetKeeps(t *testing.T) {
	made := newSession()
	applyFrame := func(fill func(*Frame)) {
		frame := new(Frame)
		fill(frame)
		var into asked
		if err := frame.encode(new(writer), nil, &into); err != nil {
			t.Fatal(err)
		}
		made.apply(&into)
	}
	add := func(ticks ...float64) { // pairs of tick and x
		applyFrame(func(f *Frame) {
			for i := 0; i < len(ticks); i += 2 {
				f.AddPoses(BodyPoses{BodySet: 5, Tick: uint64(ticks[i]), X: []float64{ticks[i+1]}, Y: []float64{0}})
			}
		})
	}
	expect := func(ticks ...uint64) {
		t.Helper()
		var found []uint64
		for _, each := range made.bodySets[5].ticks {
			found = append(found, each.tick)
		}
		if !reflect.DeepEqual(found, ticks) {
			t.Errorf("%v is not %v", found, ticks)
		}
	}
	applyFrame(func(f *Frame) { addDisc(f, BodySet{Handle: 5}, nil) })
	add(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0)
	expect(3, 4, 5, 6)
	add(1, 9, 6, 0) // late, and as before
	expect(3, 4, 5, 6)
	applyFrame(func(f *Frame) {
		addDisc(f, BodySet{Handle: 5, Shape: []uint32{0}, Category: []uint64{1}, Owner: []uint32{0}}, nil)
	})
	expect(3, 4, 5, 6)
	add(6, 0, 1, 9, 2, 9) // the fork was made again, and its set had no ticks
	expect(1, 2)
	applyFrame(func(f *Frame) { addDisc(f, BodySet{Handle: 5, KeepTicks: 3}, nil) })
	expect()
}
