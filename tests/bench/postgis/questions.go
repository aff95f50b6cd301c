// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"carom"
)

// A question is asked of both sides, and both answer it by ids of polygons.
type question struct {
	name string
	most int // items that are asked at once
	// items returns that many items, a column for each of their numbers.
	items func(*scene, *rand.Rand, int) [][]float64
	// sql selects the ids for one item; {0} is its first number.
	sql string
	// ask appends the items to a group.
	ask func(*carom.Group, [][]float64)
	// rows appends the ids for an item.
	rows func(ids []found, answer *carom.GroupAnswer, item int) []found
}

// A found is a polygon that answers an item.
type found struct {
	item int
	id   int64
}

const (
	segmentSQL = "ST_MakeLine(ST_MakePoint({0}, {1}), ST_MakePoint({2}, {3}))"
	meetSQL    = "SELECT id FROM polygons WHERE ST_Intersects(shape, " + segmentSQL + ")"
	firstSQL   = meetSQL + " ORDER BY ST_Distance(ST_MakePoint({0}, {1}), ST_Intersection(shape, " + segmentSQL + ")), id LIMIT 1"
	pointSQL   = "SELECT id FROM polygons WHERE ST_Intersects(shape, ST_MakePoint({0}, {1}))"
	nearestSQL = "SELECT id FROM polygons ORDER BY shape <-> ST_MakePoint({0}, {1}) LIMIT 1"
)

func questions() []question {
	short := func(s *scene, r *rand.Rand, n int) [][]float64 { return s.segments(r, n, s.near) }
	long := func(s *scene, r *rand.Rand, n int) [][]float64 { return s.segments(r, n, s.far) }
	return []question{
		{"meet_short", 4096, short, meetSQL, askMeet, hits},
		{"meet_long", 1, long, meetSQL, askMeet, hits},
		{"first_short", 4096, short, firstSQL, askFirst, hits},
		{"contain", 4096, (*scene).points, pointSQL, askPoints, containing},
		{"nearest", 4096, (*scene).points, nearestSQL, askNearest, nearest},
	}
}

func askMeet(g *carom.Group, c [][]float64) {
	g.Segments.AddColumns(c[0], c[1], c[2], c[3])
	g.Segments.Mode, g.Segments.Detail, g.Segments.MaxHits = carom.CastModeAll, carom.CastDetailFraction, 1<<16
}

func askFirst(g *carom.Group, c [][]float64) {
	g.Segments.AddColumns(c[0], c[1], c[2], c[3])
	g.Segments.Detail = carom.CastDetailFraction
}

func askPoints(g *carom.Group, c [][]float64) { g.Points.AddColumns(c[0], c[1]) }

func askNearest(g *carom.Group, c [][]float64) {
	point := g.Distances.AddShape(carom.Point())
	for i := range c[0] {
		g.Distances.Add(point, c[0][i], c[1][i])
	}
}

func hits(ids []found, answer *carom.GroupAnswer, item int) []found {
	for _, hit := range answer.Segments.Hits(item) {
		ids = append(ids, found{item, int64(hit.PolygonID)})
	}
	return ids
}

func containing(ids []found, answer *carom.GroupAnswer, item int) []found {
	for _, row := range answer.Points.Polygons(item) {
		ids = append(ids, found{item, int64(row.PolygonID)})
	}
	return ids
}

// nearest takes the first of polygons at the same distance, as one row is asked of PostGIS.
func nearest(ids []found, answer *carom.GroupAnswer, item int) []found {
	if rows := answer.Distances.Polygons(item); len(rows) != 0 {
		ids = append(ids, found{item, int64(rows[0].PolygonID)})
	}
	return ids
}

// one returns the statement for one item, whose numbers are the parameters.
func (q *question) one(columns int) string { return q.number(columns, "$%d::float8", 1) }

// joined returns the statement for items in arrays, one for each column: (item, id), items counted from 1.
func (q *question) joined(columns int) string {
	var arrays, names []string
	for i := 0; i < columns; i++ {
		arrays, names = append(arrays, fmt.Sprintf("$%d::float8[]", i+1)), append(names, fmt.Sprintf("c%d", i))
	}
	return fmt.Sprintf("SELECT q.i, p.id FROM unnest(%s) WITH ORDINALITY AS q(%s, i) CROSS JOIN LATERAL (%s) AS p",
		strings.Join(arrays, ", "), strings.Join(names, ", "), q.number(columns, "q.c%d", 0))
}

func (q *question) number(columns int, format string, first int) string {
	text := q.sql
	for i := 0; i < columns; i++ {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprintf(format, first+i))
	}
	return text
}
