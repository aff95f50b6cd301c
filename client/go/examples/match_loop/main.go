// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A match of 50 players at 60 ticks a second, as the match handlers of nakama have it: init makes the
// state, loop advances it by the inputs of one tick, terminate ends it. Each match has a fork of the
// map and one stream, and sends one frame a tick. Usage: match_loop ADDRESS [TICKS]
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"carom"
)

const (
	mapName  = "scenes/match-loop"
	players  = 50
	rate     = 60  // ticks a second
	speed    = 5.0 // of a player, in units a second
	radius   = 0.5 // of a player
	reach    = 20.0
	cooldown = 30 // ticks between two shots of a player
)

// A match is the state of one match.
type match struct {
	client *carom.Client
	stream *carom.Stream
	frame  *carom.Frame
	scene  carom.Scene
	body   carom.Shape
	x, y   [players]float64
	angle  [players]float64
	hits   [players]int
	times  []time.Duration
}

// newMatch makes a fork of the map and places the players. A fork that is not used ends by itself.
func newMatch(ctx context.Context, client *carom.Client) (*match, error) {
	scene, err := client.ForkScene(ctx, mapName, carom.ForkOptions{})
	if err != nil {
		return nil, err
	}
	stream, err := client.OpenStream(ctx, carom.StreamOptions{})
	if err != nil {
		return nil, err
	}
	m := &match{client: client, stream: stream, frame: new(carom.Frame), scene: scene, body: carom.Circle(radius)}
	for i := range m.x {
		m.x[i], m.y[i] = 3+4*float64(i%10), 3+4*float64(i/10)
		m.angle[i] = float64(i)
	}
	return m, nil
}

// loop plays one tick: where the players get to, and what their bullets hit.
func (m *match) loop(ctx context.Context, tick int) error {
	m.frame.Reset()
	g := m.frame.Group(m.scene.Name)
	body, mover := g.Bodies.AddShape(m.body), g.Slides.AddShape(m.body)
	for i := range m.x {
		m.angle[i] += 0.02 * math.Sin(float64(tick+7*i)/40)
		dx, dy := math.Cos(m.angle[i]), math.Sin(m.angle[i])
		g.Bodies.Add(body, m.x[i], m.y[i])
		g.Bodies.Owner = append(g.Bodies.Owner, uint32(i+1))
		g.Slides.Add(mover, m.x[i], m.y[i], dx*speed/rate, dy*speed/rate)
		if (tick+i)%cooldown == 0 {
			g.Segments.Add(m.x[i], m.y[i], m.x[i]+reach*dx, m.y[i]+reach*dy)
			g.Segments.IgnoreOwner = append(g.Segments.IgnoreOwner, uint32(i+1))
		}
	}
	g.Segments.Against, g.Segments.Detail = carom.AgainstBoth, carom.CastDetailFraction
	begun := time.Now()
	answer, err := m.stream.Do(ctx, m.frame)
	if err != nil {
		return err
	}
	defer answer.Release()
	m.times = append(m.times, time.Since(begun))
	got := answer.Group(0)
	if err := got.Err(); err != nil {
		return err
	}
	for i, end := range got.Slides.All() {
		m.x[i], m.y[i] = end.X, end.Y
	}
	for shot := 0; shot < got.Segments.Len(); shot++ {
		for _, hit := range got.Segments.Hits(shot) {
			if hit.IsBody {
				m.hits[hit.PolygonID]++
			}
		}
	}
	return nil
}

func (m *match) terminate(ctx context.Context) error {
	if err := m.stream.Finish(ctx); err != nil {
		return err
	}
	return m.client.DeleteScene(ctx, m.scene.Name, 0)
}

// arena is a room of 44 x 24 with four pillars.
func arena() []carom.Polygon {
	polygons := []carom.Polygon{
		carom.Rectangle(1, -1, -1, 45, 0), carom.Rectangle(2, -1, 24, 45, 25),
		carom.Rectangle(3, -1, 0, 0, 24), carom.Rectangle(4, 44, 0, 45, 24)}
	for i := uint64(0); i < 4; i++ {
		x, y := 8.5+8*float64(i), 4.5+4*float64(i)
		polygons = append(polygons, carom.Rectangle(10+i, x, y, x+1, y+1))
	}
	return polygons
}

func run(ctx context.Context, address string, ticks int) error {
	client, err := carom.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.ImportScene(ctx, mapName, arena(), true); err != nil {
		return err
	}
	m, err := newMatch(ctx, client)
	if err != nil {
		return err
	}
	clock := time.NewTicker(time.Second / rate)
	defer clock.Stop()
	for tick := 0; tick < ticks; tick++ {
		<-clock.C
		if err := m.loop(ctx, tick); err != nil {
			return err
		}
	}
	hits := 0
	for _, count := range m.hits {
		hits += count
	}
	sort.Slice(m.times, func(i, j int) bool { return m.times[i] < m.times[j] })
	fmt.Printf("%d ticks, %d hits, the first player at (%.4f, %.4f)\n", ticks, hits, m.x[0], m.y[0])
	fmt.Fprintf(os.Stderr, "a tick: median %v, 99 %% below %v\n", m.times[ticks/2], m.times[ticks*99/100])
	return m.terminate(ctx)
}

func main() {
	ticks := 120
	if len(os.Args) > 2 {
		ticks, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || ticks < 1 {
		fmt.Fprintln(os.Stderr, "usage: match_loop ADDRESS [TICKS]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], ticks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
