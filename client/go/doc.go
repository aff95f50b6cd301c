// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Package carom asks a Carom server exact questions about two-dimensional scenes: what bullets hit,
// what shapes touch, where players slide to.
//
// Dial makes a Client, which registers and edits scenes and evaluates single frames. A Stream sends
// a sequence of frames, as a tick loop does, and survives servers that stop.
//
//	client, err := carom.Dial(ctx, "127.0.0.1:7420")
//	frame := new(carom.Frame)
//	g := frame.Group("scenes/arena")
//	g.Segments.Add(0, 0, 10, 0)
//	answer, err := client.Evaluate(ctx, frame)
//	for i, hit := range answer.Group(0).Segments.Hits(0) {
//		fmt.Println(i, hit.PolygonID, hit.Fraction)
//	}
//
// Lengths are in the unit of the caller's coordinates, angles in radians; the y axis points up.
// Verdicts are exact: each equals what real arithmetic gives for the given numbers.
//
// Errors are *Error, with a code and the path of a field: use errors.As, or errors.Is with a code
// (errors.Is(err, carom.NotFound)). Those of a context also match context.DeadlineExceeded and
// context.Canceled. Bad input is an error and never a panic: a frame with columns of unequal length,
// numbers that are not finite, a call after Close.
//
// Client, Stream, Watch and Shape are safe for concurrent use. A Frame belongs to one goroutine at a
// time: columns that one goroutine fills while another sends the frame are a data race.
package carom
