// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (g *GroupAnswer) is(code Code) bool { return errors.Is(g.Err(), code) }

// A script is a sequence of frames that follows from a seed: definitions and moves of trackers, edits
// of a fork, bullets, and mistakes. Two streams that send it have the same answers.
type script struct {
	seed   int64
	frames int
	fork   string
}

const scriptTrackers = 12

// fill makes frame i.
func (s *script) fill(frame *Frame, i int) {
	random := rand.New(rand.NewSource(s.seed<<16 + int64(i)))
	frame.Reset()
	frame.Seq = uint64(i + 1)
	if random.Intn(3) == 0 {
		frame.RemoveTrackers(uint32(random.Intn(scriptTrackers)), uint32(random.Intn(scriptTrackers)))
	}
	if random.Intn(2) == 0 {
		s.define(random, frame)
	}
	if random.Intn(8) == 0 { // the frame is refused, and so are its definitions and edits
		frame.Coherence = 99
	}
	for groups := random.Intn(3); groups >= 0; groups-- {
		scenes := []string{"scenes/arena", "scenes/yard", "scenes/none"}
		s.ask(random, frame.Group(scenes[random.Intn(len(scenes))]))
	}
	// A frame that is sent again makes its edits once, and its group reads the version that they made;
	// a group without edits would read those of later frames.
	fork := frame.Group(s.fork)
	s.edit(&fork.Edits, i)
	s.ask(random, fork)
}

func (s *script) define(random *rand.Rand, frame *Frame) {
	defined := frame.DefineTrackers()
	shape := defined.AddShape(Circle(0.5 + float64(random.Intn(4))))
	box := defined.AddShape(PolygonShape(Rectangle(0, -1, -0.5, float64(random.Intn(3)), 0.5)))
	defined.Add(uint32(random.Intn(scriptTrackers)), shape)
	defined.Add(uint32(random.Intn(scriptTrackers)), box) // perhaps the same one: the frame is refused
	defined.Within = float64(random.Intn(2)) * 0.75
	defined.Mask = uint64(random.Intn(2) * 3)
}

// edit adds, replaces and removes polygons in turns; every fifth edits is refused.
func (s *script) edit(edits *GroupEdits, i int) {
	id := uint64(100 + i/4*4)
	switch i % 4 {
	case 0:
		edits.Add(square(id, float64(i)))
	case 1:
		edits.Replace(square(id, float64(i)+0.5))
		edits.Add(square(id+1, -float64(i)))
	case 2:
		edits.Remove(id + 1)
	case 3:
		edits.Replace(square(2, 20+float64(i)/4))
	}
	if i%5 == 4 {
		edits.Add(square(1, 0))
	}
}

func (s *script) ask(random *rand.Rand, group *Group) {
	place := func() float64 { return random.Float64()*80 - 10 }
	group.Segments.Mode = CastModeAll
	for n := random.Intn(5); n > 0; n-- {
		group.Segments.Add(place(), random.Float64()-0.5, place(), random.Float64()-0.5)
	}
	if random.Intn(2) == 0 {
		group.Points.Add(place(), 0)
	}
	if random.Intn(3) == 0 {
		group.Moves.Detail = OverlapDetailEdges
		for i := uint32(0); i < scriptTrackers; i++ {
			group.Moves.Add(i, place(), random.Float64()*4-2)
		}
	}
}

// ledgerOf returns all of an answer to a script but its costs. versions gives versions names by the
// order in which they occur; nil: versions are not part of the ledger.
func ledgerOf(answer *FrameAnswer, versions map[uint64]int) string {
	var out strings.Builder
	name := func(version uint64) int {
		if versions == nil || version == 0 {
			return 0
		}
		if _, known := versions[version]; !known {
			versions[version] = len(versions) + 1
		}
		return versions[version]
	}
	fmt.Fprintln(&out, answer.Seq, answer.Skipped, answer.Err())
	for i := 0; i < answer.Len(); i++ {
		group := answer.Group(i)
		fmt.Fprintln(&out, group.Err(), name(group.Version), name(group.EditedVersion))
		for j := 0; j < group.Segments.Len(); j++ {
			fmt.Fprintln(&out, group.Segments.Hits(j), group.Segments.Exits(j), group.Segments.Err(j))
		}
		for j := 0; j < group.Points.Len(); j++ {
			fmt.Fprintln(&out, group.Points.Polygons(j), group.Points.Err(j))
		}
		for j := 0; j < group.Moves.Len(); j++ {
			fmt.Fprintln(&out, group.Moves.Clear(j), group.Moves.Polygons(j), group.Moves.Err(j))
		}
	}
	return out.String()
}

// makeScriptScenes registers the scenes of scripts.
func makeScriptScenes(t testing.TB, address string) {
	t.Helper()
	client, err := Dial(testContext(t), address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	arena(t, client)
	if _, err := client.ImportScene(testContext(t), "scenes/yard", []Polygon{Rectangle(7, 3, -2, 30, 6)}, true); err != nil {
		t.Fatal(err)
	}
}

// converse makes a fork, sends a script by a new stream, and returns the answers. before, unless nil,
// is called before each frame.
func converse(ctx context.Context, client *Client, s script, options StreamOptions, withVersions bool,
	before func(i int, stream *Stream)) (ledger []string, stream *Stream, err error) {
	_, err = client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: s.fork})
	if errors.Is(err, Unavailable) { // which is not repeated by itself
		_, err = client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: s.fork})
	}
	if err != nil && !errors.Is(err, AlreadyExists) { // made by a call whose answer was lost
		return nil, nil, err
	}
	if stream, err = client.OpenStream(ctx, options); err != nil {
		return nil, nil, err
	}
	defer stream.Close()
	var versions map[uint64]int
	if withVersions {
		versions = map[uint64]int{}
	}
	received := make(chan error, 1)
	go func() {
		for {
			answer, err := stream.Recv(ctx)
			if err != nil {
				received <- err
				return
			}
			ledger = append(ledger, ledgerOf(answer, versions))
			answer.Release()
		}
	}()
	frame := new(Frame)
	for i := 0; i < s.frames && err == nil; i++ {
		if before != nil {
			before(i, stream)
		}
		s.fill(frame, i)
		err = stream.Send(ctx, frame)
	}
	if err == nil {
		err = stream.Finish(ctx)
	}
	if err != nil {
		_ = stream.Close()
	}
	if end := <-received; err == nil && end != io.EOF {
		err = end
	}
	return ledger, stream, err
}

// uncut returns the answers to a script of a stream that never breaks.
func uncut(t testing.TB, address string, s script, withVersions bool) []string {
	t.Helper()
	client := dial(t, address)
	ledger, stream, err := converse(testContext(t), client, s, StreamOptions{}, withVersions, nil)
	if err != nil || len(ledger) != s.frames || stream.Reconnects() != 0 {
		t.Fatalf("%d answers, %v", len(ledger), err)
	}
	if err := client.DeleteScene(testContext(t), s.fork, 0); err != nil {
		t.Fatal(err)
	}
	return ledger
}

// checkLedger compares answers with those of an uncut run.
func checkLedger(t testing.TB, ledger, wanted []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%d answers, %v", len(ledger), err)
	}
	if len(ledger) != len(wanted) {
		t.Fatalf("%d answers, not %d", len(ledger), len(wanted))
	}
	for i := range wanted {
		got, want := strings.Split(ledger[i], "\n"), strings.Split(wanted[i], "\n")
		for j := 0; ledger[i] != wanted[i]; j++ {
			if j == len(got) || j == len(want) || got[j] != want[j] {
				t.Fatalf("answer %d has from line %d on\n%s\nand that of an uncut stream\n%s", i, j, got[j:], want[j:])
			}
		}
	}
}
