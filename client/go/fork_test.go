// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"testing"
)

// editedFork starts a server that keeps nothing, and makes a fork without the polygon 1.
func editedFork(ctx context.Context, t *testing.T) (*caromd, *Client, *Stream, Scene) {
	t.Helper()
	server := startServer(t)
	client := dial(t, server.address)
	arena(t, client)
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"})
	if err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	frame.Group(fork.Name).Edits.Remove(1)
	if answer, err := stream.Do(ctx, frame); err != nil || answer.Group(0).EditedVersion == 0 {
		t.Fatal(err, answer.Group(0).Err())
	}
	return server, client, stream, fork
}

// restart kills the server, which loses its fork, and starts it with the base of the fork.
func restart(ctx context.Context, t *testing.T, server *caromd) {
	t.Helper()
	server.kill()
	server.start()
	other, err := Dial(ctx, server.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	arena(t, other)
}

func bullet(scene string) *Frame {
	frame := new(Frame)
	frame.Group(scene).Segments.Add(0, 0, 100, 0)
	return frame
}

// The log of forks has no rollbacks: a fork made again would have the edits that were rolled back.
func TestAForkThatWasRolledBackIsNotMadeAgain(t *testing.T) {
	ctx := testContext(t)
	server, client, stream, fork := editedFork(ctx, t)
	if _, err := client.RollbackScene(ctx, fork.Name, fork.Version, 0); err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Do(ctx, bullet(fork.Name))
	if err != nil || answer.Group(0).Segments.Hits(0)[0].PolygonID != 1 {
		t.Fatal(err, answer.Group(0).Err())
	}
	restart(ctx, t, server)
	if answer, err = stream.Do(ctx, bullet(fork.Name)); err != nil || !errors.Is(answer.Group(0).Err(), NotFound) {
		t.Fatal(err, answer.Group(0).Err())
	}
}

// A call that reaches a server before a stream has made the fork again does not end the fork.
func TestAForkOutlivesEvaluateOnAnotherServer(t *testing.T) {
	ctx := testContext(t)
	server, client, stream, fork := editedFork(ctx, t)
	restart(ctx, t, server)
	answer, err := client.Evaluate(ctx, bullet(fork.Name))
	if err != nil || !errors.Is(answer.Group(0).Err(), NotFound) {
		t.Fatal(err, answer.Group(0).Err())
	}
	if answer, err = stream.Do(ctx, bullet(fork.Name)); err != nil || answer.Group(0).Err() != nil {
		t.Fatal(err, answer.Group(0).Err())
	}
	if hits := answer.Group(0).Segments.Hits(0); len(hits) != 1 || hits[0].PolygonID != 2 {
		t.Fatalf("%+v", hits)
	}
}
