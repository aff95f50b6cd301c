// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import "fmt"

// A Ring is a closed ring, or an open chain, of vertices (X[i], Y[i]), in the caller's unit of
// length with |x| <= 2^53; the y axis points up. Either winding is legal.
type Ring struct {
	X, Y []float64
	// Open makes a chain without the edge from the last vertex to the first. Legal only in a polygon
	// with SolidityBoundary.
	Open bool
}

// A Polygon is a polygon of a scene, or a moving shape (PolygonShape).
type Polygon struct {
	// ID is unique in a scene. Any value is legal, 0 included. Shapes ignore it.
	ID    uint64
	Rings []Ring
	// FillRule says which points count as filled; 0: FillRuleEvenOdd.
	FillRule FillRule
	// Solidity says whether the polygon is its filled region or its edges alone; 0: SoliditySolid.
	Solidity Solidity
	// Category is compared with the masks of queries; 0: 1.
	Category uint64
	// Hidden hides the polygon from every query: its category has no bit.
	Hidden bool
	// UserData are bytes that the server stores and never reads, at most 4,096.
	UserData []byte
}

// Rectangle returns a polygon with the given id that is an axis-aligned rectangle.
func Rectangle(id uint64, minX, minY, maxX, maxY float64) Polygon {
	return Polygon{ID: id, Rings: []Ring{{
		X: []float64{minX, maxX, maxX, minX}, Y: []float64{minY, minY, maxY, maxY}}}}
}

func (p *Polygon) put(w *writer) {
	if len(p.UserData) != 0 {
		w.blob(6, p.UserData)
	}
	if p.Hidden {
		w.word(5, 0)
	} else {
		w.mask(5, p.Category)
	}
	w.enum(4, int32(p.Solidity))
	w.enum(3, int32(p.FillRule))
	for i := len(p.Rings) - 1; i >= 0; i-- {
		mark := w.mark()
		p.Rings[i].put(w)
		w.message(2, mark)
	}
	w.uint64(1, p.ID)
}

func (r *Ring) put(w *writer) {
	w.flag(3, r.Open)
	w.doubles(2, r.Y)
	w.doubles(1, r.X)
}

// check returns the first ring whose columns do not have equal length.
func (p *Polygon) check(path string) *Error {
	for i := range p.Rings {
		if ring := &p.Rings[i]; len(ring.X) != len(ring.Y) {
			return refuse(fmt.Sprintf("%s.rings[%d].y", path, i), "has %d entries; x has %d", len(ring.Y), len(ring.X))
		}
	}
	return nil
}

// A Shape is a moving shape, in coordinates whose origin is its reference point. Make one by
// CapsuleShape, Circle, Point or PolygonShape; the zero value is no shape, and is refused. Shapes
// are immutable and safe for concurrent use: a program makes each once and uses it in all frames.
type Shape struct {
	data      []byte // a message carom.v1.Shape
	isPolygon bool
}

// CapsuleShape returns the points at most radius away from the segment from (ax, ay) to (bx, by).
func CapsuleShape(ax, ay, bx, by, radius float64) Shape {
	var w writer
	w.double(5, radius)
	w.double(4, by)
	w.double(3, bx)
	w.double(2, ay)
	w.double(1, ax)
	w.message(2, 0)
	return Shape{data: w.bytes()}
}

// Circle returns a disc around the reference point.
func Circle(radius float64) Shape { return CapsuleShape(0, 0, 0, 0, radius) }

// Point returns the reference point as a shape.
func Point() Shape { return CapsuleShape(0, 0, 0, 0, 0) }

// PolygonShape returns a polygon as a shape, of at most 4,096 vertices; its id, category and user
// data are ignored. Its columns are copied. A polygon whose rings have x and y of unequal length
// gives a shape that is refused, as the zero value is.
func PolygonShape(polygon Polygon) Shape {
	if polygon.check("") != nil {
		return Shape{}
	}
	var w writer
	polygon.put(&w)
	w.message(1, 0)
	return Shape{data: w.bytes(), isPolygon: true}
}

func addShape(shapes *[]Shape, shape Shape) uint32 {
	*shapes = append(*shapes, shape)
	return uint32(len(*shapes) - 1)
}

// checkShapes returns the path of the first shape that is none, or is no polygon where it must be.
func checkShapes(shapes []Shape, polygons bool) string {
	for i := range shapes {
		if len(shapes[i].data) == 0 || polygons && !shapes[i].isPolygon {
			return fmt.Sprintf("shapes[%d]", i)
		}
	}
	return ""
}

// countPushes returns the number of displacements of n slides.
func countPushes(pushes []uint32, n int) int {
	if len(pushes) == 0 {
		return n
	}
	total := 0
	for _, count := range pushes {
		total += int(count)
	}
	return total
}

// definitions returns the number of trackers that are defined.
func (q *TrackerDefinitions) definitions() int {
	if len(q.Shape) != 0 {
		return len(q.Shape)
	}
	return len(q.Shapes)
}
