// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	caromv1 "carom/v1"
)

// A session larger than a frame is replayed in frames that each keep the limits of the server, and define all
// of it.
func TestASessionIsToldWithinTheLimits(t *testing.T) {
	original := newSession()
	for i := uint64(1); i <= mostBindings; i++ {
		original.scenes[fmt.Sprintf("scenes/s%d", i)] = i
	}
	const trackers = 200
	for i := uint32(0); i < trackers; i++ {
		shape := Circle(float64(i % 7))
		if i%50 == 0 {
			shape = PolygonShape(roundPolygon(uint64(i), 400)) // larger than a part
		}
		original.trackers[i*3] = tracker{string(shape.data), float64(i % 5), uint64(i % 3)}
	}
	for _, limits := range []StreamLimits{{}, {FrameBytes: 4096, Groups: 2, Queries: 3}, {FrameBytes: 1 << 20, Groups: 1, Queries: 65536},
		{FrameBytes: 1024, Groups: 1, Queries: 1}} {
		parts := original.replay(&limits)
		remade := newSession()
		for i, part := range parts {
			request := new(caromv1.StreamRequest)
			message(t, part.data, request)
			frame := request.GetFrame()
			shapes := 0
			for _, binding := range frame.GetBindings() {
				remade.scenes[binding.GetScene()] = binding.GetHandle()
			}
			for _, list := range frame.GetTrackers() {
				shapes += len(list.GetShapes())
				for j, handle := range list.GetTracker() {
					data := marshal(t, list.GetShapes()[list.GetShape()[j]])
					remade.trackers[handle] = tracker{string(data), list.GetWithin(), list.GetMask()}
				}
			}
			isOne := len(frame.GetBindings()) == 1 || len(frame.GetTrackers()) == 1 && len(frame.GetTrackers()[0].GetTracker()) == 1
			if frame.GetSeq() != 0 || len(frame.GetGroups()) != 0 || len(part.data) == 0 ||
				!isOne && (exceeds(len(part.data), limits.FrameBytes) || exceeds(shapes, limits.Queries) ||
					exceeds(len(frame.GetTrackers()), limits.Groups)) {
				t.Errorf("%+v: part %d has %d bytes, %d shapes, %d lists", limits, i, len(part.data), shapes, len(frame.GetTrackers()))
			}
		}
		if !reflect.DeepEqual(remade, original) {
			t.Errorf("%+v: %d parts define %d scenes and %d trackers", limits, len(parts), len(remade.scenes), len(remade.trackers))
		}
		if most := 2; limits == (StreamLimits{}) && len(parts) > most {
			t.Errorf("without limits, there are %d parts", len(parts))
		}
	}
}

func exceeds(n int, limit uint64) bool { return limit != 0 && uint64(n) > limit }

// roundPolygon returns a polygon of n vertices, each with other coordinates for another id.
func roundPolygon(id uint64, n int) Polygon {
	made := Polygon{ID: id, Rings: []Ring{{X: make([]float64, n), Y: make([]float64, n)}}}
	radius := 0.2 + float64(id)/(1<<20)
	for i := range made.Rings[0].X {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		made.Rings[0].X[i], made.Rings[0].Y[i] = radius*cos, radius*sin
	}
	return made
}

// More scenes than a stream has handles, and more bytes of shapes than a message takes, are there
// again after a cut.
func TestALargeSessionIsReplayedInParts(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	arena(t, dial(t, server.address))
	proxy := startProxy(t, server.address, neverCut)
	stream := open(t, dial(t, proxy.address()), StreamOptions{})
	frame := new(Frame)
	const frames, scenes, trackers = 64, 18, 25 // in each frame
	for i := 0; i < frames; i++ {
		frame.Reset()
		for k := 0; k < scenes; k++ {
			frame.Group(fmt.Sprintf("scenes/s%d", scenes*i+k))
		}
		defined := frame.DefineTrackers()
		defined.Within = 0.001 * float64(i%7)
		shape := defined.AddShape(PolygonShape(roundPolygon(uint64(i), 4000))) // 64 KB
		for k := 0; k < trackers; k++ {
			defined.Add(uint32(trackers*i+k), shape)
		}
		answer, err := stream.Do(ctx, frame)
		if err != nil || !answer.Group(0).is(NotFound) {
			t.Fatal(err, answer.Group(0).Err())
		}
		answer.Release()
	}
	// A scene with a handle, one without, and a tracker of each frame.
	frame.Reset()
	for _, scene := range []string{"scenes/arena", "scenes/s0", fmt.Sprintf("scenes/s%d", scenes*frames-1)} {
		group := frame.Group(scene)
		for i := 0; i < frames; i++ {
			group.Moves.Add(uint32(trackers*i+i%trackers), 8.799, 0) // 0.001 from a square
		}
	}
	var ledger [2]string
	for i := range ledger {
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		if moves := &answer.Group(0).Moves; moves.Len() != frames || moves.Errs() != 0 || moves.Clear(6) || !moves.Clear(0) {
			t.Errorf("%v, %d moves, %d errors, %v, %v", answer.Group(0).Err(), moves.Len(), moves.Errs(), moves.Clear(0), moves.Clear(6))
		}
		ledger[i] = ledgerOf(answer, nil)
		proxy.cutAll()
	}
	if ledger[0] != ledger[1] || stream.Reconnects() != 1 {
		t.Errorf("%d reconnects; the answers are\n%s\nand\n%s", stream.Reconnects(), ledger[0], ledger[1])
	}
}

// The stream does not replay to the next server what a refused frame would have defined.
func TestARefusedFrameDoesNotEnterTheSession(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	arena(t, dial(t, server.address))
	proxy := startProxy(t, server.address, neverCut)
	stream := open(t, dial(t, proxy.address()), StreamOptions{})
	frame := new(Frame)
	define := func(handle uint32, radius float64) {
		defined := frame.DefineTrackers()
		defined.Add(handle, defined.AddShape(Circle(radius)))
	}
	define(0, 0.5)
	if _, err := stream.Do(ctx, frame); err != nil {
		t.Fatal(err)
	}
	define(0, 9)
	define(1, 9)
	frame.RemoveTrackers(0)
	frame.Coherence = 99
	frame.Group("scenes/arena")
	if _, err := stream.Do(ctx, frame); err == nil {
		t.Fatal("the frame is accepted")
	}
	for i := 0; i < 2; i++ {
		frame.Reset()
		moves := &frame.Group("scenes/arena").Moves
		moves.Add(0, 5, 0)
		moves.Add(1, 5, 0)
		answer, err := stream.Do(ctx, frame)
		if err != nil {
			t.Fatal(err)
		}
		got := &answer.Group(0).Moves
		if !got.Clear(0) || got.Err(0) != nil || asError(got.Err(1)).Fault != ItemFaultUnknownTracker {
			t.Errorf("%v, %v, %v", got.Clear(0), got.Err(0), got.Err(1))
		}
		proxy.cutAll()
	}
	if stream.Reconnects() != 1 {
		t.Errorf("%d reconnects", stream.Reconnects())
	}
}
