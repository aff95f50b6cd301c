// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"fmt"
	"math/rand"
)

// The questions of kinds_test.go.

func place(random *rand.Rand) point {
	return point{120*random.Float64() - 60, 120*random.Float64() - 60}
}

// evalQuestions returns a question of each operation of `carom eval`.
func evalQuestions(random *rand.Rand, i int) []question {
	p, q := place(random), place(random)
	d := point{q[0] - p[0], q[1] - p[1]}
	radius := 8 * random.Float64()
	ring := star(random, p[0], p[1], 6)
	box := Rectangle(0, p[0], p[1], p[0]+radius, p[1]+1)
	shape := PolygonShape(Polygon{Rings: []Ring{ring}})
	tracker := uint32(i)
	return append([]question{
		{object{"op": "point", "p": p}, false,
			func(_ *Frame, g *Group) { g.Points.Add(p[0], p[1]) }, tellPoint},
		{object{"op": "circle", "c": p, "r": radius}, false,
			func(_ *Frame, g *Group) { g.Circles.Add(p[0], p[1], radius) },
			func(a *GroupAnswer) object {
				return object{"ids": idList(a.Circles.Polygons(0), overlapID),
					"touch": idList(a.Circles.Polygons(0), func(o Overlap) (uint64, bool) { return o.PolygonID, o.Touching })}
			}},
		{object{"op": "polygon", "rings": ringsOf([]Ring{ring})}, false,
			func(_ *Frame, g *Group) { g.Polygons.Add(g.Polygons.AddShape(shape), 0, 0) },
			func(a *GroupAnswer) object { return object{"ids": idList(a.Polygons.Polygons(0), overlapID)} }},
		{object{"op": "distance", "rings": ringsOf([]Ring{ring})}, false,
			func(_ *Frame, g *Group) { g.Distances.Add(g.Distances.AddShape(shape), 0, 0) },
			func(a *GroupAnswer) object {
				near := a.Distances.Polygons(0)
				return object{"d": near[0].Distance, "ids": idList(near, func(d Distance) (uint64, bool) { return d.PolygonID, true })}
			}},
		{object{"op": "contact", "rings": ringsOf(box.Rings)}, false,
			func(_ *Frame, g *Group) { g.Contacts.Add(g.Contacts.AddShape(PolygonShape(box)), 0, 0) },
			func(a *GroupAnswer) object {
				contacts := [][]any{}
				for _, each := range a.Contacts.Contacts(0) {
					if each.Kind != ContactKindConvex {
						continue // which `carom eval` does not print
					}
					contacts = append(contacts, []any{each.PolygonID, each.NormalX, each.NormalY, each.Depth})
				}
				return object{"contacts": contacts}
			}},
		{object{"op": "move", "tracker": tracker, "rings": ringsOf([]Ring{ring}), "x": d[0], "y": d[1]}, false,
			func(f *Frame, g *Group) {
				defined := f.DefineTrackers()
				defined.Add(tracker, defined.AddShape(shape))
				g.Moves.Detail = OverlapDetailEdges
				g.Moves.Add(tracker, d[0], d[1])
			}, tellMove},
	}, append(motionQuestions(p, d, radius, ring), castQuestions(p, q, d)...)...)
}

func overlapID(o Overlap) (uint64, bool) { return o.PolygonID, true }

func tellPoint(a *GroupAnswer) object {
	at := func(location Location) []any {
		return idList(a.Points.Polygons(0), func(l Located) (uint64, bool) { return l.PolygonID, l.Location == location })
	}
	return object{"in": at(LocationInside), "on": at(LocationBoundary)}
}

func tellMove(a *GroupAnswer) object {
	edges := [][]any{}
	touched := a.Moves.Polygons(0)
	for _, each := range touched {
		for _, edge := range each.Edges {
			edges = append(edges, []any{each.PolygonID, edge.Ring, edge.Edge})
		}
	}
	return object{"ids": idList(touched, func(o Touched) (uint64, bool) { return o.PolygonID, true }), "edges": edges}
}

// castQuestions are bullets, one of them among bodies.
func castQuestions(p, q, d point) []question {
	all := func(_ *Frame, g *Group) {
		g.Segments.Mode = CastModeAll
		g.Segments.Add(p[0], p[1], q[0], q[1])
	}
	return []question{
		{object{"op": "segment", "a": p, "b": q}, false, all, tellSegment},
		{object{"op": "bounce", "a": p, "b": q, "max_bounces": 5}, false,
			func(_ *Frame, g *Group) { g.Bounces.MaxBounces = 5; g.Bounces.Add(p[0], p[1], q[0], q[1]) },
			func(a *GroupAnswer) object {
				var legs []object
				for _, leg := range a.Bounces.Legs(0) {
					legs = append(legs, tellLeg(object{"a": point{leg.AX, leg.AY}, "b": point{leg.BX, leg.BY}}, leg.HasHit,
						leg.Fraction, leg.PolygonID, leg.NormalX, leg.NormalY))
				}
				return object{"legs": legs, "stuck": a.Bounces.Stuck(0)}
			}},
		{object{"op": "ray_bounce", "p": p, "d": d, "t_max": 2.5, "max_bounces": 4}, false,
			func(_ *Frame, g *Group) {
				g.RayBounces.Add(p[0], p[1], d[0], d[1])
				g.RayBounces.TMax, g.RayBounces.MaxBounces = []float64{2.5}, []uint32{4}
			},
			func(a *GroupAnswer) object {
				var legs []object
				for _, leg := range a.RayBounces.Legs(0) {
					legs = append(legs, tellLeg(object{"p": point{leg.X, leg.Y}, "d": point{leg.DX, leg.DY}, "t_max": leg.TMax},
						leg.HasHit, leg.Fraction, leg.PolygonID, leg.NormalX, leg.NormalY))
				}
				return object{"legs": legs, "stuck": a.RayBounces.Stuck(0)}
			}},
		{object{"op": "segment", "a": p, "b": point{2, 1}, "against": "both", "ignore_owner": 5}, true,
			func(_ *Frame, g *Group) {
				g.Segments.Mode, g.Segments.Against, g.Segments.IgnoreOwner = CastModeAll, AgainstBoth, []uint32{5}
				g.Segments.Add(p[0], p[1], 2, 1)
			}, tellSegment},
		{object{"op": "sees", "p": p, "r": 80, "inside": "ignore", "margin": 0.5, "ignore_owner": 5}, true,
			func(_ *Frame, g *Group) {
				g.Sees.InsidePolicy, g.Sees.Margin, g.Sees.IgnoreOwner = InsidePolicyIgnore, 0.5, []uint32{5}
				g.Sees.Add(p[0], p[1], 80)
			},
			func(a *GroupAnswer) object { return tellSeen(&a.Sees, 0) }},
	}
}

func tellSeen(sees *SeeAnswers, observer int) object {
	return object{"seen": sees.AppendSeen([]int{}, observer), "starts_inside": sees.StartsInside(observer)}
}

func tellLeg(leg object, hit bool, fraction float64, id uint64, normalX, normalY float64) object {
	if leg["hit"] = hit; hit {
		leg["t"], leg["poly"], leg["normal"] = fraction, id, point{normalX, normalY}
	}
	return leg
}

func tellSegment(a *GroupAnswer) object {
	all := [][]any{}
	hits := a.Segments.Hits(0)
	for _, hit := range hits {
		if hit.IsBody {
			all = append(all, []any{nil, hit.Fraction, hit.PolygonID})
		} else {
			all = append(all, []any{hit.PolygonID, hit.Fraction})
		}
	}
	made := object{"hit": len(hits) != 0, "all": all}
	if len(hits) != 0 {
		made["t"], made["normal"] = hits[0].Fraction, point{hits[0].NormalX, hits[0].NormalY}
		made["exit_t"] = a.Segments.Exits(0)[0].Fraction
		if !hits[0].IsBody {
			made["poly"] = hits[0].PolygonID
		}
		if !hits[0].IsBody && !hits[0].StartsInside {
			made["edge"] = []any{hits[0].PolygonID, hits[0].Ring, hits[0].Edge}
		}
	}
	return made
}

// motionQuestions are shapes that move by d.
func motionQuestions(p, d point, radius float64, ring Ring) []question {
	cast := func(shape Shape, x, y float64) func(*Frame, *Group) {
		return func(_ *Frame, g *Group) {
			g.Sweeps.Mode = CastModeAll
			g.Sweeps.Add(g.Sweeps.AddShape(shape), x, y, d[0], d[1])
		}
	}
	first := func(a *GroupAnswer) object {
		hits := a.Sweeps.Hits(0)
		made := object{"hit": len(hits) != 0}
		if len(hits) != 0 {
			made["t"] = hits[0].Fraction
			made["polys"] = idList(hits, func(h SweepHit) (uint64, bool) { return h.PolygonID, h.Fraction == hits[0].Fraction })
		}
		return made
	}
	return []question{
		{object{"op": "circle_cast", "c": p, "r": radius, "d": d}, false, cast(Circle(radius), p[0], p[1]), first},
		{object{"op": "polygon_cast", "rings": ringsOf([]Ring{ring}), "d": d}, false,
			cast(PolygonShape(Polygon{Rings: []Ring{ring}}), 0, 0), first},
		{object{"op": "sweep", "shape": object{"circle": radius}, "at": p, "d": d}, false, cast(Circle(radius), p[0], p[1]),
			func(a *GroupAnswer) object {
				hits := a.Sweeps.Hits(0)
				made := object{"hit": len(hits) != 0}
				if len(hits) != 0 {
					made["t"], made["poly"], made["normal"] = hits[0].Fraction, hits[0].PolygonID, point{hits[0].NormalX, hits[0].NormalY}
				}
				if len(hits) != 0 && hits[0].HasEdge {
					made["edge"] = []any{hits[0].PolygonID, hits[0].Ring, hits[0].Edge}
				}
				return made
			}},
		{object{"op": "slide", "shape": object{"circle": radius}, "at": p, "d": []point{d, {1, -2}}, "max_contacts": 4}, false,
			func(_ *Frame, g *Group) {
				g.Slides.Movers.Add(g.Slides.AddShape(Circle(radius)), p[0], p[1])
				g.Slides.DX, g.Slides.DY, g.Slides.Pushes = []float64{d[0], 1}, []float64{d[1], -2}, []uint32{2}
				g.Slides.MaxContacts = 4
			},
			func(a *GroupAnswer) object {
				legs := []object{}
				for _, leg := range a.Slides.Legs(0) {
					end := leg.Fraction
					if !leg.HasHit {
						end = 1 // as `carom eval` prints it
					}
					legs = append(legs, object{"from": point{leg.FromX, leg.FromY}, "d": point{leg.DX, leg.DY}, "t": end,
						"poly": nullOr(leg.PolygonID, leg.HasHit), "normal": point{leg.NormalX, leg.NormalY}})
				}
				end := a.Slides.At(0)
				return object{"at": point{end.X, end.Y}, "left": point{end.LeftX, end.LeftY}, "legs": legs}
			}},
	}
}

// explainQuestions returns a question of each operation of `carom explain` that eval does not have.
func explainQuestions(random *rand.Rand) []question {
	p, q := place(random), place(random)
	d := point{q[0] - p[0], q[1] - p[1]}
	radius := 8 * random.Float64()
	return append([]question{
		{object{"op": "ray", "p": p, "d": d, "t_min": 0.125, "t_max": 3}, false,
			func(_ *Frame, g *Group) {
				g.Rays.Add(p[0], p[1], d[0], d[1])
				g.Rays.TMin, g.Rays.TMax = []float64{0.125}, []float64{3}
			},
			func(a *GroupAnswer) object {
				hits := a.Rays.Hits(0)
				made := object{"kept": idList(hits, func(h Hit) (uint64, bool) { return h.PolygonID, true })}
				if len(hits) != 0 {
					made["key"], made["point"], made["exit"] = hits[0].Fraction, point{hits[0].PointX, hits[0].PointY}, a.Rays.Exits(0)[0].Fraction
				}
				return made
			}},
		{object{"op": "sight", "a": p, "b": q}, false,
			func(_ *Frame, g *Group) { g.Sights.Add(p[0], p[1], q[0], q[1]) },
			func(a *GroupAnswer) object {
				return object{"answer": map[bool]string{true: "visible", false: "not visible"}[a.Sights.Visible(0)]}
			}},
		{object{"op": "fan", "p": p, "angle": 0.5, "step": 0.75, "range": 64, "beams": 8}, false,
			func(_ *Frame, g *Group) { g.Fans.Add(p[0], p[1], 0.5, 0.75, 64, 8) },
			func(a *GroupAnswer) object {
				made, beams := object{}, []any{}
				for i, beam := range a.Fans.Beams(0) {
					if !beam.Hit {
						beams = append(beams, "[]")
						continue
					}
					beams = append(beams, fmt.Sprintf("[%d]", beam.PolygonID))
					if i == 0 { // 64 is a power of two: the distance is the fraction, scaled
						made["key"] = beam.Distance / 64
					}
				}
				made["beams"] = beams
				return made
			}},
		{object{"op": "capsule", "a": p, "b": q, "r": radius}, false,
			func(_ *Frame, g *Group) { g.Capsules.Add(p[0], p[1], q[0], q[1], radius) },
			func(a *GroupAnswer) object { return object{"kept": idList(a.Capsules.Polygons(0), overlapID)} }},
		{object{"op": "box", "min": p, "max": point{p[0] + 20, p[1] + 9}}, false,
			func(_ *Frame, g *Group) { g.Boxes.Add(p[0], p[1], p[0]+20, p[1]+9) },
			func(a *GroupAnswer) object { return object{"kept": idList(a.Boxes.Polygons(0), overlapID)} }},
	}, explainMotions(p, q, d, radius)...)
}

func explainMotions(p, q, d point, radius float64) []question {
	disc := object{"circle": radius}
	return []question{
		{object{"op": "arc", "p": p, "v": d, "acceleration": point{0, -9.5}, "duration": 2}, false,
			func(_ *Frame, g *Group) { g.Arcs.Add(p[0], p[1], d[0], d[1], 0, -9.5, 2) },
			func(a *GroupAnswer) object {
				hits := a.Arcs.Hits(0)
				made := object{"kept": idList(hits, func(h ArcHit) (uint64, bool) { return h.PolygonID, true })}
				if len(hits) != 0 {
					made["key"], made["point"] = hits[0].Time, point{hits[0].PointX, hits[0].PointY}
				}
				return made
			}},
		{object{"op": "rotating_sweep", "shape": disc, "at": []float64{p[0], p[1], 1, 0}, "to": []float64{q[0], q[1], 0, 1},
			"tolerance": 0.0625}, false,
			func(_ *Frame, g *Group) {
				g.RotatingSweeps.Add(g.RotatingSweeps.AddShape(Circle(radius)), p[0], p[1], q[0], q[1], 0.0625)
				g.RotatingSweeps.ToC, g.RotatingSweeps.ToS = []float64{0}, []float64{1}
			},
			func(a *GroupAnswer) object {
				hits := a.RotatingSweeps.Hits(0)
				made := object{"kept": idList(hits, func(h RotatingHit) (uint64, bool) { return h.PolygonID, true })}
				if len(hits) != 0 {
					made["key"] = hits[0].High
				}
				return made
			}},
		{object{"op": "depenetrate", "shape": disc, "at": p}, false,
			func(_ *Frame, g *Group) { g.Depenetrations.Add(g.Depenetrations.AddShape(Circle(radius)), p[0], p[1]) },
			func(a *GroupAnswer) object {
				end := a.Depenetrations.At(0)
				return object{"ends": point{end.X, end.Y}}
			}},
		{object{"op": "body_contact", "body": 1}, true,
			func(_ *Frame, g *Group) { g.BodyContacts.Add(1) },
			func(a *GroupAnswer) object {
				contacts := a.BodyContacts.Contacts(0)
				made := object{"answer": fmt.Sprintf("polygons and bodies in the answer: %d", len(contacts))}
				if len(contacts) != 0 && !contacts[0].IsBody {
					made["key"] = contacts[0].Depth
				}
				return made
			}},
	}
}
