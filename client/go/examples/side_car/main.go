// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A game server of Agones with caromd as a side-car: two containers of one pod that share a volume
// with a Unix socket. The server is ready when its side-car is, answers Agones' health checks only
// while it is, and goes on when the side-car was restarted. Usage: side_car SOCKET [TICKS]
//
// health stands for the SDK of Agones (agones.dev/agones/sdks/go): Ready and Health are its calls.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"carom"
)

type health interface {
	Ready() error
	Health() error
}

// printed prints the calls that Agones gets, the first of each.
type printed struct{ healthy bool }

func (p *printed) Ready() error { fmt.Println("ready"); return nil }
func (p *printed) Health() error {
	if !p.healthy {
		fmt.Println("healthy")
	}
	p.healthy = true
	return nil
}

func run(ctx context.Context, agones health, socket string, ticks int) error {
	// The side-car may start after the game: Dial waits for it.
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client, err := carom.Dial(starting, "unix:"+socket)
	if err != nil {
		return err
	}
	defer client.Close()
	room := []carom.Polygon{carom.Rectangle(1, 10, -5, 11, 5)}
	if _, err := client.ImportScene(ctx, "scenes/room", room, true); err != nil {
		return err
	}
	stream, err := client.OpenStream(ctx, carom.StreamOptions{})
	if err != nil {
		return err
	}
	if err := agones.Ready(); err != nil {
		return err
	}
	frame, hits := new(carom.Frame), 0
	for tick := 0; tick < ticks; tick++ {
		frame.Reset()
		frame.Group("scenes/room").Segments.Add(0, float64(tick%10), 20, float64(tick%10))
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		answer, err := stream.Do(within, frame)
		cancel()
		if err != nil {
			return err
		}
		if err := answer.Group(0).Err(); err != nil {
			return err
		}
		hits += answer.Group(0).Segments.Count(0)
		answer.Release()
		if err := agones.Health(); err != nil {
			return err
		}
	}
	fmt.Printf("%d ticks, %d hits\n", ticks, hits)
	return stream.Finish(ctx)
}

func main() {
	ticks := 100
	if len(os.Args) > 2 {
		ticks, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: side_car SOCKET [TICKS]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM) // the end of the pod
	defer stop()
	if err := run(ctx, new(printed), os.Args[1], ticks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
