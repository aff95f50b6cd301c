// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"

	pb "carom.invalid/interop/carom/v1"
)

// answers are those of any kind.
type answers interface {
	GetCounts() []uint32
	GetErrors() []*pb.ItemError
	GetPolygonId() []uint64
}

// reader walks the answers of one kind in one group: their items and the rows of each.
type reader struct {
	answers
	clear                    []uint64 // of moves
	item, counted, row, edge int
}

// next returns the rows [first, last) of the next item, and its error or nil.
func (r *reader) next() (first, last int, fault *pb.ItemError) {
	item := r.item
	r.item++
	// A move that touches nothing is a bit, and has no count.
	if r.clear != nil && r.clear[item/64]>>(item%64)&1 == 1 {
		return r.row, r.row, nil
	}
	first = r.row
	r.row += int(r.GetCounts()[r.counted])
	r.counted++
	for _, e := range r.GetErrors() {
		if int(e.Index) == item {
			fault = e
		}
	}
	return first, r.row, fault
}

// groupReader reads the answer of one group.
type groupReader struct {
	*pb.GroupAnswer
	segments, rays, points, circles, moves reader
}

func newGroupReader(g *pb.GroupAnswer) *groupReader {
	return &groupReader{g, reader{answers: g.Segments}, reader{answers: g.Rays},
		reader{answers: g.Points}, reader{answers: g.Circles},
		reader{answers: g.Moves, clear: g.Moves.GetClear()}}
}

func bits(x float64) string { return fmt.Sprintf("%016x", math.Float64bits(x)) }

// words joins word(i) for the i in [first, last) for which it is not empty.
func words(first, last int, word func(i int) string) string {
	var list []string
	for i := first; i < last; i++ {
		if w := word(i); w != "" {
			list = append(list, w)
		}
	}
	return strings.Join(list, ",")
}

func (g *groupReader) holders(first, last int) (within, touched string) {
	at := func(location pb.Location) string {
		return words(first, last, func(r int) string {
			if g.Points.Location[r] != location {
				return ""
			}
			return fmt.Sprint(g.Points.PolygonId[r])
		})
	}
	return at(pb.Location_LOCATION_INSIDE), at(pb.Location_LOCATION_BOUNDARY)
}

func firstHit(hit *pb.CastAnswers, r int) string {
	out := fmt.Sprintf("t=%s poly=%d", bits(hit.Fraction[r]), hit.PolygonId[r])
	// Columns that were not asked for are empty.
	if len(hit.NormalX) > 0 {
		out += fmt.Sprintf(" normal=%s,%s", bits(hit.NormalX[r]), bits(hit.NormalY[r]))
	}
	if len(hit.Feature) > 0 {
		if hit.Feature[r] == pb.Feature_FEATURE_UNSPECIFIED {
			out += " edge=none"
		} else {
			out += fmt.Sprintf(" edge=%d.%d", hit.Ring[r], hit.Edge[r])
		}
	}
	if len(hit.ExitFraction) > 0 {
		out += " exit=" + bits(hit.ExitFraction[r])
	}
	return out
}

func (g *groupReader) segment(hit *pb.CastAnswers, r *reader) string {
	first, last, fault := r.next()
	within, touched := g.holders(g.start())
	if fault != nil {
		return refused(fault)
	}
	what := "miss"
	if first < last {
		what = firstHit(hit, first)
	}
	all := words(first, last, func(r int) string {
		return fmt.Sprintf("%d:%s", hit.PolygonId[r], bits(hit.Fraction[r]))
	})
	return fmt.Sprintf("segment %s in=%s on=%s all=%s", what, within, touched, all)
}

// start returns the rows of the point that a segment starts at.
func (g *groupReader) start() (first, last int) {
	first, last, _ = g.points.next()
	return first, last
}

func (g *groupReader) point() string {
	first, last, fault := g.points.next()
	if fault != nil {
		return refused(fault)
	}
	within, touched := g.holders(first, last)
	return fmt.Sprintf("point in=%s on=%s", within, touched)
}

func (g *groupReader) circle() string {
	first, last, fault := g.circles.next()
	if fault != nil {
		return refused(fault)
	}
	touched := words(first, last, func(r int) string {
		if !g.Circles.Touching[r] {
			return ""
		}
		return fmt.Sprint(g.Circles.PolygonId[r])
	})
	return fmt.Sprintf("circle ids=%s touch=%s", ids(&g.circles, first, last), touched)
}

func (g *groupReader) move() string {
	first, last, fault := g.moves.next()
	if fault != nil {
		return refused(fault)
	}
	m := g.Moves
	edges := words(first, last, func(r int) string {
		start := g.moves.edge
		g.moves.edge += int(m.EdgeCounts[r])
		return words(start, g.moves.edge, func(e int) string {
			return fmt.Sprintf("%d.%d.%d", m.PolygonId[r], m.Ring[e], m.Edge[e])
		})
	})
	return fmt.Sprintf("move ids=%s edges=%s", ids(&g.moves, first, last), edges)
}

func ids(r *reader, first, last int) string {
	return words(first, last, func(row int) string { return fmt.Sprint(r.GetPolygonId()[row]) })
}

func refused(fault *pb.ItemError) string {
	return fmt.Sprintf("error %d %s", fault.Code, fault.Field)
}

// text is the answer to the next question of the line's kind.
func (g *groupReader) text(l *line) string {
	switch {
	case g.Status != nil:
		return fmt.Sprintf("error %d %s", g.Status.Code, g.Status.Violations[0].Field)
	case l.Op == "point":
		return g.point()
	case l.Op == "circle":
		return g.circle()
	case l.Op == "move":
		return g.move()
	case l.As == "ray":
		return g.segment(g.Rays, &g.rays)
	default:
		return g.segment(g.Segments, &g.segments)
	}
}
