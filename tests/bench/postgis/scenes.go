// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"

	"carom"
)

// A scene is one of tests/bench/scenes.cc, with random numbers of its own. Each polygon has one ring, which is simple:
// PostGIS promises nothing for others.
type scene struct {
	name     string
	polygons []carom.Polygon
	half     float64 // of the side of the square with all polygons
	near     float64 // length of a short segment
	far      float64 // length of a long one
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func between(random *rand.Rand, low, high float64) float64 { return low + (high-low)*random.Float64() }

// onCircle appends a point of a circle.
func onCircle(ring *carom.Ring, x, y, radius, angle float64) {
	ring.X = append(ring.X, x+radius*math.Cos(angle))
	ring.Y = append(ring.Y, y+radius*math.Sin(angle))
}

func (s *scene) add(ring carom.Ring) {
	s.polygons = append(s.polygons, carom.Polygon{ID: uint64(len(s.polygons)), Rings: []carom.Ring{ring}})
}

// dense has a convex polygon in each cell of a grid.
func dense(count int) *scene {
	const cell = 4.0
	columns := 2 * int(math.Ceil(math.Sqrt(float64(count))/2))
	made := &scene{name: "dense", half: float64(columns) * cell / 2, near: cell, far: 100 * cell}
	random := newRandom(uint64(count))
	for i := 0; i < columns*columns; i++ {
		radius := cell * between(random, 0.15, 0.3)
		x := float64(i%columns-columns/2)*cell + between(random, radius+0.01, cell-radius-0.01)
		y := float64(i/columns-columns/2)*cell + between(random, radius+0.01, cell-radius-0.01)
		corners, start := 3+random.IntN(6), between(random, 0, 2*math.Pi)
		var ring carom.Ring
		for corner := 0; corner < corners; corner++ {
			turn := (float64(corner) + between(random, 0, 0.75)) / float64(corners)
			onCircle(&ring, x, y, radius, start+2*math.Pi*turn)
		}
		made.add(ring)
	}
	return made
}

// walls has rooms with a door in two of their walls, and a concave star of 24 to 60 corners in the middle.
func walls(rooms int) *scene {
	const room, thick, door = 24.0, 0.5, 3.0
	made := &scene{name: "walls", half: float64(rooms) * room / 2, near: 6, far: 600}
	random := newRandom(uint64(rooms))
	for i := 0; i < rooms*rooms; i++ {
		x, y := float64(i%rooms-rooms/2)*room, float64(i/rooms-rooms/2)*room
		left, low := y+between(random, 2, room-door-2), x+between(random, 2, room-door-2)
		for _, box := range [][4]float64{{x, y, x + thick, left}, {x, left + door, x + thick, y + room},
			{x + thick, y, low, y + thick}, {low + door, y, x + room, y + thick}} {
			made.add(carom.Rectangle(0, box[0], box[1], box[2], box[3]).Rings[0])
		}
		middleX := x + (room+thick)/2 + between(random, -4, 4)
		middleY := y + (room+thick)/2 + between(random, -4, 4)
		corners := 24 + random.IntN(37)
		var ring carom.Ring
		for corner := 0; corner < corners; corner++ {
			onCircle(&ring, middleX, middleY, between(random, 2.5, 6.5), 2*math.Pi*float64(corner)/float64(corners))
		}
		made.add(ring)
	}
	return made
}

// segments returns columns ax, ay, bx, by of segments of about a length.
func (s *scene) segments(random *rand.Rand, count int, length float64) [][]float64 {
	made := make([][]float64, 4)
	for i := 0; i < count; i++ {
		var end carom.Ring
		x, y := between(random, -s.half, s.half), between(random, -s.half, s.half)
		onCircle(&end, x, y, length*between(random, 0.75, 1.25), between(random, 0, 2*math.Pi))
		for column, value := range []float64{x, y, end.X[0], end.Y[0]} {
			made[column] = append(made[column], value)
		}
	}
	return made
}

// points returns columns x, y.
func (s *scene) points(random *rand.Rand, count int) [][]float64 {
	made := make([][]float64, 2)
	for i := 0; i < count; i++ {
		made[0] = append(made[0], between(random, -s.half, s.half))
		made[1] = append(made[1], between(random, -s.half, s.half))
	}
	return made
}
