// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A tick of 200 shooter matches in one frame (docs/shooter-tick.md). Usage: shooter_tick ADDRESS
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	pb "carom.invalid/interop/carom/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const base, matches, platform, door, all = "scenes/shooter-tick", 200, uint64(2), uint64(4), ^uint64(0)

type column = []float64

var (
	// Six players, of which the last one jumps: positions now and a tick ago, and 1 to 3 displacements.
	body                     = capsule(&pb.Capsule{Ay: -5, By: 5, Radius: 5})
	x, pastX                 = column{20, 90, 185, 50, 270, 70}, column{12, 82, 177, 42, 262, 62}
	y                        = column{10, 10, 10, 60, 10, 25}
	dxs, dy                  = column{12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0}, column{0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30}
	ax, bx, ay, by           = column{20, 185, 50, 270}, column{180, 300, 62, 220}, column{14, 14, 60, 14}, column{14, 14, 20, 60}
	pushes, owners, shooters = []uint32{2, 3, 2, 1, 2, 1}, []uint32{1, 2, 3, 4, 5, 6}, []uint32{1, 3, 4, 5}
	// Lines of sight: from players 2, 0 and 3 to 4, 1 and 5; then from the explosion to all players.
	fromX, fromY = column{185, 20, 50, 215, 215, 215, 215, 215, 215}, column{14, 14, 64, 3, 3, 3, 3, 3, 3}
	toX, toY     = append(column{270, 90, 70}, x...), append(column{14, 14, 29}, y...)
	blast        = &pb.PlacedShapes{Shapes: capsule(&pb.Capsule{}), X: column{215}, Y: column{3}}
)

func capsule(c *pb.Capsule) []*pb.Shape { return []*pb.Shape{{Kind: &pb.Shape_Capsule{Capsule: c}}} }

func placed(x, y column) *pb.PlacedShapes {
	return &pb.PlacedShapes{Shapes: body, Shape: make([]uint32, len(x)), X: x, Y: y}
}

// groups returns the groups of a match: on its fork, or with a mask that excludes an open door.
func groups(match int, scene *pb.Scene) []*pb.Group {
	mask, jump, shot, dx := all, all-platform, all-platform, slices.Clone(dxs)
	for i := range dx {
		dx[i] *= 1 + float64(match)/256 // differs by match
	}
	now := &pb.Group{Target: &pb.Group_Scene{Scene: scene.Name}}
	if match%2 == 0 && scene.Base != "" { // the server applies edits before it answers the group
		now.Edits = &pb.GroupEdits{EditId: "tick 1", Edits: []*pb.Edit{{Edit: &pb.Edit_Remove{Remove: 4}}}}
	} else if match%2 == 0 {
		mask, jump = all-door, all-door-platform
	}
	now.Bodies = &pb.Bodies{Placed: placed(x, y), Owner: owners}
	now.Slides = &pb.Slides{Movers: placed(x[:5], y[:5]), Pushes: pushes[:5], Dx: dx[:10], Dy: dy[:10], Mask: &mask,
		Against: pb.Against_AGAINST_BOTH, IgnoreOwner: owners[:5]} // players slide against others, not against themselves
	now.Sights = &pb.Sights{Ax: fromX, Ay: fromY, Bx: toX, By: toY, Mask: &mask}
	now.Distances = &pb.DistanceQueries{Movers: blast, MaxDistance: column{60},
		Mode: pb.DistanceMode_DISTANCE_MODE_ALL, Against: pb.Against_AGAINST_BODIES}
	rising := &pb.Slides{Movers: placed(x[5:], y[5:]), Dx: dx[10:], Dy: dy[10:], Mask: &jump,
		Against: pb.Against_AGAINST_BOTH, IgnoreOwner: owners[5:]}
	// Bullets hit what the shooters saw: the players a tick ago, when the door was shut everywhere.
	past := &pb.Group{Target: now.Target, Version: scene.Version, Bodies: &pb.Bodies{Placed: placed(pastX, y), Owner: owners}}
	past.Segments = &pb.SegmentCasts{Ax: ax, Ay: ay, Bx: bx, By: by, Mask: &shot, IgnoreOwner: shooters,
		Against: pb.Against_AGAINST_BOTH}
	return []*pb.Group{now, {Target: now.Target, Bodies: now.Bodies, Slides: rising}, past}
}

func printVerdicts(now, rising, past *pb.GroupAnswer) {
	player := 0
	for _, moves := range []*pb.SlideAnswers{now.Slides, rising.Slides} {
		leg := 0
		for i, count := range moves.Counts {
			up := slices.Max(moves.NormalY[leg : leg+int(count)]) // y of the most upward normal of the slide
			fmt.Printf("player %d: (%.4f, %.4f), normal %.4f\n", player, moves.X[i], moves.Y[i], up)
			leg, player = leg+int(count), player+1
		}
	}
	hits, row := past.Segments, 0
	for i, count := range hits.Counts {
		for range count {
			what := map[bool]string{true: "player", false: "polygon"}[hits.IsBody[row]]
			fmt.Printf("bullet %d: %s %d at %.4f\n", i, what, hits.PolygonId[row], hits.Fraction[row])
			row++
		}
	}
	fmt.Println("sights:", now.Sights.Visible)
	for i, player := range now.Distances.PolygonId {
		fmt.Printf("explosion: player %d at %.4f\n", player, now.Distances.Distance[i])
	}
}

func check[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx, insecure := context.Background(), grpc.WithTransportCredentials(insecure.NewCredentials())
	conn := check(grpc.NewClient(os.Args[1], insecure))
	scenes, stream := pb.NewSceneServiceClient(conn), check(pb.NewQueryServiceClient(conn).Stream(ctx))
	for _, byForks := range []bool{true, false} {
		frame := &pb.Frame{}
		for match := range matches {
			scene := &pb.Scene{Name: base}
			if byForks {
				scene = check(scenes.ForkScene(ctx, &pb.ForkSceneRequest{Base: base})).Scene
			}
			frame.Groups = append(frame.Groups, groups(match, scene)...)
		}
		check(0, stream.Send(&pb.StreamRequest{Frame: frame}))
		answer := check(stream.Recv()).Answer.Groups
		for match := range matches {
			fmt.Println("match", match)
			printVerdicts(answer[3*match], answer[3*match+1], answer[3*match+2])
		}
	}
}
