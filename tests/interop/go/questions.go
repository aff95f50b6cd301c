// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math"
	"slices"

	pb "carom.invalid/interop/carom/v1"
)

var (
	fills      = map[string]pb.FillRule{"nonzero": pb.FillRule_FILL_RULE_NON_ZERO}
	solidities = map[string]pb.Solidity{"boundary": pb.Solidity_SOLIDITY_BOUNDARY}
	policies   = map[string]pb.InsidePolicy{
		"report": pb.InsidePolicy_INSIDE_POLICY_REPORT_START,
		"ignore": pb.InsidePolicy_INSIDE_POLICY_IGNORE,
		"exit":   pb.InsidePolicy_INSIDE_POLICY_EXIT,
	}
)

// number is a double that is NaN where the line has a null.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

type polygon struct {
	ID             uint64
	Fill, Solidity string
	Rings          [][][2]float64
}

type line struct {
	polygon
	Q, Frame                      int
	Op, As, Inside, Detail, Scene string
	A, B, P                       [2]number
	C                             json.RawMessage // a circle's centre, or a move's cosine
	R, X, Y, S                    number
	Tracker                       uint32
	Polygons                      []polygon
}

func (p polygon) message() *pb.Polygon {
	m := &pb.Polygon{Id: p.ID, FillRule: fills[p.Fill], Solidity: solidities[p.Solidity]}
	for _, ring := range p.Rings {
		r := &pb.Ring{}
		for _, v := range ring {
			r.X, r.Y = append(r.X, v[0]), append(r.Y, v[1])
		}
		m.Rings = append(m.Rings, r)
	}
	return m
}

// key is what questions of one group share: its scene, and the options of its columns.
type key struct {
	scene, inside, detail string
	floats                bool
}

func (l *line) key() key {
	if l.Op != "segment" {
		return key{l.Scene, "report", "EXIT", false}
	}
	k := key{"", "report", "EXIT", l.As == "floats"}
	if l.Inside != "" {
		k.inside = l.Inside
	}
	if l.Detail != "" {
		k.detail = l.Detail
	}
	return k
}

func newGroup(k key) *pb.Group {
	mode, inside := pb.CastMode_CAST_MODE_ALL, policies[k.inside]
	detail := pb.CastDetail(pb.CastDetail_value["CAST_DETAIL_"+k.detail])
	g := &pb.Group{
		Target:   &pb.Group_SceneHandle{SceneHandle: handle},
		Segments: &pb.SegmentCasts{Mode: mode, InsidePolicy: inside, Detail: detail},
		Rays:     &pb.RayCasts{Mode: mode, InsidePolicy: inside, Detail: detail},
		Points:   &pb.PointLocations{},
		Circles:  &pb.CircleOverlaps{},
		Moves:    &pb.TrackerMoves{Detail: pb.OverlapDetail_OVERLAP_DETAIL_EDGES},
	}
	if k.floats {
		g.Segments.Floats = &pb.FloatSegments{}
	}
	if k.scene != "" {
		g.Target = &pb.Group_Scene{Scene: k.scene}
	}
	return g
}

func push[T float32 | float64](column *[]T, x number) { *column = append(*column, T(x)) }

// add appends one item to the columns of its kind.
func (l *line) add(g *pb.Group) error {
	point := func(p [2]number) {
		push(&g.Points.X, p[0])
		push(&g.Points.Y, p[1])
	}
	switch {
	case l.Op == "point":
		point(l.P)
	case l.Op == "circle":
		var c [2]number
		if err := json.Unmarshal(l.C, &c); err != nil {
			return err
		}
		push(&g.Circles.X, c[0])
		push(&g.Circles.Y, c[1])
		push(&g.Circles.Radius, l.R)
	case l.Op == "move":
		c := number(1)
		if l.C != nil {
			if err := json.Unmarshal(l.C, &c); err != nil {
				return err
			}
		}
		m := g.Moves
		m.Tracker = append(m.Tracker, l.Tracker)
		push(&m.X, l.X)
		push(&m.Y, l.Y)
		push(&m.C, c)
		push(&m.S, l.S)
	case l.As == "ray":
		point(l.A) // what holds its start?
		push(&g.Rays.X, l.A[0])
		push(&g.Rays.Y, l.A[1])
		push(&g.Rays.Dx, l.B[0]-l.A[0])
		push(&g.Rays.Dy, l.B[1]-l.A[1])
		push(&g.Rays.TMax, 1)
	case l.As == "floats":
		point(l.A)
		f := g.Segments.Floats
		push(&f.Ax, l.A[0])
		push(&f.Ay, l.A[1])
		push(&f.Bx, l.B[0])
		push(&f.By, l.B[1])
	default:
		point(l.A)
		s := g.Segments
		push(&s.Ax, l.A[0])
		push(&s.Ay, l.A[1])
		push(&s.Bx, l.B[0])
		push(&s.By, l.B[1])
	}
	return nil
}

// makeFrame also returns the keys of its groups.
func makeFrame(index int, lines []*line) (*pb.Frame, []key, error) {
	frame := &pb.Frame{Seq: firstSeq + uint64(index)}
	if index == 0 {
		frame.Bindings = []*pb.SceneBinding{{Handle: handle, Scene: sceneName}}
	}
	var keys []key
	for _, l := range lines {
		if l.Op == "track" {
			shape := &pb.Shape{Kind: &pb.Shape_Polygon{Polygon: l.message()}}
			frame.Trackers = append(frame.Trackers,
				&pb.TrackerDefinitions{Shapes: []*pb.Shape{shape}, Tracker: []uint32{l.Tracker}})
			continue
		}
		i := slices.Index(keys, l.key())
		if i < 0 {
			i = len(keys)
			keys = append(keys, l.key())
			frame.Groups = append(frame.Groups, newGroup(l.key()))
		}
		if err := l.add(frame.Groups[i]); err != nil {
			return nil, nil, err
		}
	}
	return frame, keys, nil
}
