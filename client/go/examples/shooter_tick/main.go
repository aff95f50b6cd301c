// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A tick of 200 shooter matches in one frame (docs/shooter-tick.md). Usage: shooter_tick ADDRESS
package main

import (
	"carom"
	"context"
	"fmt"
	"os"
)

type column = []float64

const base, matches, platform, door, all = "scenes/shooter-tick", 200, uint64(2), uint64(4), ^uint64(0)

var ( // six players, of which the last one jumps: positions now and a tick ago, and 1 to 3 displacements
	targets     = map[bool]string{true: "player", false: "polygon"}
	body, point = []carom.Shape{carom.CapsuleShape(0, -5, 0, 5, 5)}, carom.Point()
	placed      = func(x, y column) carom.PlacedShapes {
		return carom.PlacedShapes{Shapes: body, Shape: make([]uint32, len(x)), X: x, Y: y}
	}
	x, pastX, y              = column{20, 90, 185, 50, 270, 70}, column{12, 82, 177, 42, 262, 62}, column{10, 10, 10, 60, 10, 25}
	dxs, dy                  = column{12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0}, column{0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30}
	ax, bx, ay, by           = column{20, 185, 50, 270}, column{180, 300, 62, 220}, column{14, 14, 60, 14}, column{14, 14, 20, 60}
	pushes, owners, shooters = []uint32{2, 3, 2, 1, 2, 1}, []uint32{1, 2, 3, 4, 5, 6}, []uint32{1, 3, 4, 5}
	fromX, toX               = column{185, 20, 50, 215, 215, 215, 215, 215, 215}, append(column{270, 90, 70}, x...) // players and the explosion
	fromY, toY               = column{14, 14, 64, 3, 3, 3, 3, 3, 3}, append(column{14, 14, 29}, y...)
)

// ask adds the groups of a match: on its fork, or with a mask that excludes an open door.
func ask(frame *carom.Frame, match int, scene carom.Scene) {
	now, rising, past, mask, dx := frame.Group(scene.Name), frame.Group(scene.Name), frame.Group(scene.Name), all, column{}
	for _, d := range dxs {
		dx = append(dx, d*(1+float64(match)/256)) // differs by match
	}
	if match%2 == 0 && scene.Base != "" { // the server applies edits before it answers the group
		now.Edits.Remove(4)
	} else if match%2 == 0 {
		mask = all - door
	}
	now.Bodies = carom.Bodies{Placed: placed(x, y), Owner: owners}
	now.Slides = carom.Slides{Movers: placed(x[:5], y[:5]), Pushes: pushes[:5], DX: dx[:10], DY: dy[:10], Mask: mask,
		Against: carom.AgainstBoth, IgnoreOwner: owners[:5]} // players slide against others, not against themselves
	now.Sights = carom.Sights{AX: fromX, AY: fromY, BX: toX, BY: toY, Mask: mask}
	now.Distances.Add(now.Distances.AddShape(point), 215, 3)
	now.Distances.MaxDistance, now.Distances.Mode, now.Distances.Against = column{60}, carom.DistanceModeAll, carom.AgainstBodies
	rising.Slides = carom.Slides{Movers: placed(x[5:], y[5:]), DX: dx[10:], DY: dy[10:], Mask: mask &^ platform, Against: carom.AgainstBoth, IgnoreOwner: owners[5:]}
	rising.Bodies = now.Bodies
	seen := carom.BodySet{Handle: uint32(matches + match), Shapes: body, Shape: make([]uint32, 6), Owner: owners}
	if scene.Base != "" { // what the shooters saw: the players of tick 0 and, in a fork, its door, which was shut
		seen.Handle, seen.Fork = uint32(match), scene.Name
		past.AskVersionAtTick(0)
	}
	frame.DefineBodySet(seen) // a game defines a set once, and sends each tick once
	frame.AddPoses(carom.BodyPoses{BodySet: seen.Handle, X: pastX, Y: y})
	past.AskBodySet(seen.Handle)
	past.Segments = carom.SegmentCasts{AX: ax, AY: ay, BX: bx, BY: by, Mask: all - platform, IgnoreOwner: shooters, Against: carom.AgainstBoth, AsOf: make(column, 4)}
}

func printVerdicts(match int, now, rising, past *carom.GroupAnswer) {
	fmt.Println("match", match)
	for i, slides := range []*carom.SlideAnswers{&now.Slides, &rising.Slides} {
		for item, end := range slides.All() {
			fmt.Printf("player %d: (%.4f, %.4f), normal %.4f\n", 5*i+item, end.X, end.Y, slides.Upmost(item))
		}
	}
	for bullet := range ax {
		for _, hit := range past.Segments.Hits(bullet) {
			fmt.Printf("bullet %d: %s %d at %.4f\n", bullet, targets[hit.IsBody], hit.PolygonID, hit.Fraction)
		}
	}
	fmt.Println("sights:", now.Sights.All())
	for _, near := range now.Distances.Polygons(0) {
		fmt.Printf("explosion: player %d at %.4f\n", near.PolygonID, near.Distance)
	}
}

func main() {
	ctx := context.Background()
	client := carom.Must(carom.Dial(ctx, os.Args[1]))
	stream := carom.Must(client.OpenStream(ctx, carom.StreamOptions{}))
	for _, byForks := range []bool{true, false} {
		frame := new(carom.Frame)
		for match := range matches {
			scene := carom.Scene{Name: base}
			if byForks {
				scene = carom.Must(client.ForkScene(ctx, base, carom.ForkOptions{}))
			}
			ask(frame, match, scene)
		}
		for answer, match := carom.Must(stream.Do(ctx, frame)), 0; match < matches; match++ {
			printVerdicts(match, answer.Group(3*match), answer.Group(3*match+1), answer.Group(3*match+2))
		}
	}
}
