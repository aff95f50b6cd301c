// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Errors are as small as they can be: an item, a group, a frame.

var nan, infinity = math.NaN(), math.Inf(1)

// A badItem is two items of a kind, of which the second one is bad.
type badItem struct {
	ask   func(*Group)
	fault ItemFault
}

// badItems returns a bad item of each kind, by the path of its column.
func badItems() map[string]badItem {
	disc, box := Circle(1), PolygonShape(Rectangle(0, -1, -1, 1, 1))
	return map[string]badItem{
		"segments.ay[1]":            {func(g *Group) { g.Segments.Add(0, 0, 20, 0); g.Segments.Add(0, nan, 20, 0) }, ItemFaultNotAccepted},
		"points.x[1]":               {func(g *Group) { g.Points.Add(10, 0); g.Points.Add(1e300, 0) }, ItemFaultNotAccepted},
		"circles.radius[1]":         {func(g *Group) { g.Circles.Add(10, 0, 1); g.Circles.Add(10, 0, -1) }, ItemFaultNegativeRadius},
		"polygons.shape[1]":         {func(g *Group) { g.Polygons.AddShape(box); g.Polygons.Add(0, 10, 0); g.Polygons.Add(1, 10, 0) }, ItemFaultUnknownShape},
		"rays.dx[1]":                {func(g *Group) { g.Rays.Add(0, 0, 20, 0); g.Rays.Add(0, 0, 0, 0) }, ItemFaultZeroDirection},
		"capsules.by[1]":            {func(g *Group) { g.Capsules.Add(0, 0, 20, 0, 1); g.Capsules.Add(0, 0, 20, nan, 1) }, ItemFaultNotAccepted},
		"boxes.min_x[1]":            {func(g *Group) { g.Boxes.Add(9, 0, 10, 1); g.Boxes.Add(11, 0, 10, 1) }, ItemFaultEmptyBox},
		"arcs.duration[1]":          {func(g *Group) { g.Arcs.Add(0, 0, 9, 0, 0, 0, 9); g.Arcs.Add(0, 0, 9, 0, 0, 0, -1) }, ItemFaultNegativeLength},
		"sights.by[1]":              {func(g *Group) { g.Sights.Add(0, 5, 20, 5); g.Sights.Add(0, 5, 20, nan) }, ItemFaultNotAccepted},
		"fans.beams[1]":             {func(g *Group) { g.Fans.Add(0, 0, 0, 1, 20, 2); g.Fans.Add(0, 0, 0, 1, 20, 0) }, ItemFaultTooManyBeams},
		"sees.range[1]":             {func(g *Group) { addBodies(g); g.Sees.Add(0, 0, 9); g.Sees.Add(0, 0, 0) }, ItemFaultNegativeLength},
		"distances.max_distance[1]": {func(g *Group) { two(&g.Distances.Movers, disc); g.Distances.MaxDistance = []float64{9, -1} }, ItemFaultNegativeLength},
		"contacts.mass[1]": {func(g *Group) {
			two(&g.Contacts.Movers, disc)
			g.Contacts.Mass, g.Contacts.PolygonMass = []float64{1, 0}, []float64{infinity, infinity}
		}, ItemFaultNotAMass},
		"depenetrations.x[1]": {func(g *Group) { two(&g.Depenetrations.Movers, disc); g.Depenetrations.Movers.X[1] = nan }, ItemFaultNotAccepted},
		"sweeps.to_x[1]": {func(g *Group) {
			two(&g.Sweeps.Movers, disc)
			g.Sweeps.ToX, g.Sweeps.ToY = []float64{30, infinity}, []float64{0, 0}
		}, ItemFaultNotAccepted},
		"rotating_sweeps.tolerance[1]": {func(g *Group) {
			two(&g.RotatingSweeps.Movers, disc)
			g.RotatingSweeps.ToX, g.RotatingSweeps.ToY, g.RotatingSweeps.Tolerance = []float64{30, 30}, []float64{0, 0}, []float64{0.0625, 0}
		}, ItemFaultToleranceTooSmall},
		"moves.tracker[1]": {func(g *Group) { g.Moves.Add(0, 10, 0); g.Moves.Add(5, 10, 0) }, ItemFaultUnknownTracker},
	}
}

// The second of two items is bad. The first one is answered; the error of the second one names its
// column, and what is wrong.
func TestABadItemLeavesTheOthers(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	for name, test := range badItems() {
		frame := new(Frame)
		defined := frame.DefineTrackers()
		defined.Add(0, defined.AddShape(Circle(1)))
		test.ask(frame.Group("scenes/arena"))
		answer, err := client.Evaluate(testContext(t), frame)
		if err != nil || answer.Group(0).Err() != nil {
			t.Errorf("%s: %v, %v", name, err, answer.Group(0).Err())
			continue
		}
		kinds := reflect.ValueOf(&answer.Group(0).Answers).Elem()
		for i := 0; i < kinds.NumField(); i++ {
			each := kinds.Field(i).Addr().Interface().(interface {
				Len() int
				Count(int) int
				Err(int) error
				Errs() int
			})
			if each.Len() == 0 {
				continue
			}
			var failed *Error
			if !errors.As(each.Err(1), &failed) || failed.Code != InvalidArgument || failed.Field != name || failed.Fault != test.fault ||
				failed.Message == "" {
				t.Errorf("%s: %v, fault %d", name, each.Err(1), failed.Fault)
			}
			isPerItem := name == "sights.by[1]" || name == "depenetrations.x[1]"
			if each.Err(0) != nil || each.Errs() != 1 || each.Err(2) != nil || each.Err(-1) != nil ||
				!isPerItem && each.Count(0) == 0 || !isPerItem && each.Count(1) != 0 {
				t.Errorf("%s: %v, %d errors, %d and %d rows", name, each.Err(0), each.Errs(), each.Count(0), each.Count(1))
			}
		}
	}
}

// two places a shape twice, near the first square.
func two(movers *PlacedShapes, shape Shape) {
	index := movers.AddShape(shape)
	movers.Add(index, 8.5, 0)
	movers.Add(index, 8.5, 0)
}

// A bad group names its field; the other groups of the frame are answered.
func TestABadGroupLeavesTheOthers(t *testing.T) {
	client := dial(t, startServer(t).address)
	version := arena(t, client).Version
	if _, err := client.CreateScene(testContext(t), "scenes/empty", nil); err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	for name, test := range map[string]struct {
		code  Code
		field string
		ask   func(*Group)
	}{
		"no such scene":             {NotFound, "scene", func(g *Group) { g.Scene = "scenes/none" }},
		"no name of a scene":        {InvalidArgument, "scene", func(g *Group) { g.Scene = "none" }},
		"a name that is too long":   {InvalidArgument, "scene", func(g *Group) { g.Scene = "scenes/" + strings.Repeat("a", 64) }},
		"a version that never was":  {OutOfRange, "version", func(g *Group) { g.Version = version + 1000 }},
		"a version that is to come": {Unavailable, "", func(g *Group) { g.MinVersion = version + 1000 }},
		"edits of a scene":          {FailedPrecondition, "edits", func(g *Group) { g.Edits.Remove(1) }},
		"an unknown mode":           {InvalidArgument, "segments.mode", func(g *Group) { g.Segments.Mode = 77 }},
		"an unknown policy":         {InvalidArgument, "segments.inside_policy", func(g *Group) { g.Segments.InsidePolicy = 77 }},
		"masses of the movers alone": {InvalidArgument, "contacts.polygon_mass", func(g *Group) {
			two(&g.Contacts.Movers, Circle(1))
			g.Contacts.Mass = []float64{1, 1}
		}},
	} {
		frame := &Frame{Seq: math.MaxUint64}
		frame.Group("scenes/arena").Points.Add(10, 0)
		bad := frame.Group("scenes/arena")
		bad.Segments.Add(0, 0, 1, 1)
		test.ask(bad)
		frame.Group("scenes/empty").Points.Add(10, 0)
		if test.code == Unavailable {
			frame.Budget = 20 * time.Millisecond
		}
		answer, err := stream.Do(testContext(t), frame)
		if err != nil || answer.Len() != 3 || answer.Seq != math.MaxUint64 {
			t.Errorf("%s: %v, %d groups", name, err, answer.Len())
			continue
		}
		var failed *Error
		if err := answer.Group(1).Err(); !errors.As(err, &failed) || failed.Code != test.code ||
			test.field != "" && failed.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
		if answer.Group(1).Segments.Len() != 0 || len(answer.Group(0).Points.Polygons(0)) != 1 || answer.Group(2).Err() != nil ||
			answer.Group(2).Points.Len() != 1 || len(answer.Group(2).Points.Polygons(0)) != 0 {
			t.Errorf("%s: other groups are %v, %v", name, answer.Group(0).Err(), answer.Group(2).Err())
		}
	}
}

// What is not answered within the budget gets DeadlineExceeded, group by group, and the stream lives.
func TestBudget(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	var polygons []Polygon
	for i := uint64(0); i < 400; i++ {
		polygons = append(polygons, square(i, 3*float64(i)))
	}
	if _, err := client.ImportScene(ctx, "scenes/row", polygons, true); err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	frame := &Frame{Budget: time.Microsecond}
	for i := 0; i < 4; i++ {
		group := frame.Group("scenes/row")
		for j := 0; j < 10000; j++ {
			group.Segments.Add(-10, 0.5, 1200, -0.5)
		}
		group.Segments.Mode = CastModeAny
	}
	answer, err := stream.Do(ctx, frame)
	if err != nil || answer.Len() != 4 {
		t.Fatalf("%v, %d groups", err, answer.Len())
	}
	if err := answer.Group(3).Err(); !errors.Is(err, DeadlineExceeded) {
		t.Errorf("a group after the budget: %v", err)
	}
	for _, budget := range []time.Duration{-1, time.Minute + time.Microsecond} {
		frame.Budget = budget
		_, err := stream.Do(ctx, frame)
		checkError(t, fmt.Sprint(budget), err, InvalidArgument, "budget_us")
	}
	frame.Budget = time.Minute
	if answer, err = stream.Do(ctx, frame); err != nil || answer.Group(3).Err() != nil || answer.Group(3).Segments.Count(9999) != 1 {
		t.Errorf("%v, %v", err, answer.Group(3).Err())
	}
	if answer.Stats.Elapsed <= 0 || answer.Stats.WorkUnits == 0 || stream.Reconnects() != 0 {
		t.Errorf("%+v, %d reconnects", answer.Stats, stream.Reconnects())
	}
}

// A frame with Supersede that a later one overtakes is answered without groups, in its turn.
func TestSupersede(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	stream := open(t, client, StreamOptions{InFlight: 16})
	if _, err := stream.Do(ctx, new(Frame)); err != nil { // the limits are known
		t.Fatal(err)
	}
	first := waitingFrame(2 * time.Second) // the server is busy with it
	if err := stream.Send(ctx, first); err != nil {
		t.Fatal(err)
	}
	const frames = 8
	frame := new(Frame)
	for i := uint64(1); i <= frames; i++ {
		bullets(frame, "scenes/arena", 3)
		frame.Seq, frame.Supersede = i, true
		if err := stream.Send(ctx, frame); err != nil {
			t.Fatal(err)
		}
	}
	skipped := 0
	for i := uint64(0); i <= frames; i++ {
		answer, err := stream.Recv(ctx)
		if err != nil || answer.Seq != i || answer.Err() != nil {
			t.Fatalf("answer %d: %v, %v", i, err, answer.Err())
		}
		if answer.Skipped {
			skipped++
		}
		if answer.Skipped && answer.Len() != 0 || i > 0 && !answer.Skipped && checkBullets(answer, 3) != nil {
			t.Errorf("answer %d: %d groups", i, answer.Len())
		}
		if i == frames && answer.Skipped {
			t.Error("the last frame is superseded")
		}
	}
	if skipped == 0 {
		t.Error("no frame is superseded")
	}
}
