// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
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

// edit sends edits of a fork in a frame, and returns the answer to its group.
func edit(t *testing.T, stream *Stream, fork string, fill func(*GroupEdits)) *GroupAnswer {
	t.Helper()
	frame := new(Frame)
	group := frame.Group(fork)
	fill(&group.Edits)
	group.Segments.Mode = CastModeAll
	group.Segments.Add(0, 0, 100, 0)
	answer, err := stream.Do(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Group(0)
}

func idsOf(hits []Hit) []uint64 {
	var ids []uint64
	for _, hit := range hits {
		ids = append(ids, hit.PolygonID)
	}
	return ids
}

func TestForksAreMadeEditedPinnedAndDeleted(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	base := arena(t, client)
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{})
	if err != nil || fork.Base != "scenes/arena" || fork.BaseVersion != base.Version || fork.PolygonCount != 5 {
		t.Fatalf("%+v, %v", fork, err)
	}
	stream := open(t, client, StreamOptions{})
	edited := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Add(square(9, 5)) })
	if ids := idsOf(edited.Segments.Hits(0)); !reflect.DeepEqual(ids, []uint64{9, 1, 2, 3, 4, 5}) ||
		edited.EditedVersion != edited.Version || edited.EditedVersion <= fork.Version {
		t.Errorf("%v, version %d, edited version %d", ids, edited.Version, edited.EditedVersion)
	}
	for name, test := range map[string]struct {
		code  Code
		field string
		call  func() error
	}{
		"no base": {NotFound, "base", func() error { _, err := client.ForkScene(ctx, "scenes/b", ForkOptions{}); return err }},
		"a version that is not kept": {OutOfRange, "version", func() error {
			_, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Version: 1 << 40})
			return err
		}},
		"a name that exists": {AlreadyExists, "name", func() error {
			_, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: fork.Name})
			return err
		}},
		"a lease of parts of seconds": {InvalidArgument, "lease", func() error {
			_, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Lease: time.Millisecond})
			return err
		}},
		"an old version is edited": {Aborted, "edits.base_version", func() error {
			return edit(t, stream, fork.Name, func(e *GroupEdits) { e.BaseVersion = fork.Version; e.Add(square(10, 7)) }).Err()
		}},
		"a polygon twice": {AlreadyExists, "edits.edits[0].add.id", func() error {
			return edit(t, stream, fork.Name, func(e *GroupEdits) { e.Add(square(9, 7)) }).Err()
		}},
	} {
		var failed *Error
		if err := test.call(); !errors.As(err, &failed) || failed.Code != test.code || failed.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	pinned := bullet(fork.Name)
	pinned.groups[0].Version = fork.Version
	if answer, err := stream.Do(ctx, pinned); err != nil || answer.Group(0).Segments.Hits(0)[0].PolygonID != 1 {
		t.Error(err, answer.Group(0).Err())
	}
	one := bullet(fork.Name) // by a call
	one.groups[0].Edits.Remove(9)
	if answer, err := client.Evaluate(ctx, one); err != nil || answer.Group(0).Segments.Hits(0)[0].PolygonID != 1 {
		t.Error(err, answer.Group(0).Err())
	}
	if err := client.DeleteScene(ctx, fork.Name, 0); err != nil {
		t.Error(err)
	}
	if answer, err := stream.Do(ctx, bullet(fork.Name)); err != nil || !errors.Is(answer.Group(0).Err(), NotFound) {
		t.Error(err, answer.Group(0).Err())
	}
}

// A match whose server is started again goes on with its doors as they were, though its base has
// been edited meanwhile.
func TestAForkWithMixedEditsIsMadeAgain(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t, "--store", "sqlite")
	client := dial(t, server.address)
	arena(t, client)
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"})
	if err != nil {
		t.Fatal(err)
	}
	moved := new(GroupEdits)
	moved.Remove(1) // the base goes on; the fork begins where it began
	if _, err := client.CommitEdits(ctx, "scenes/arena", moved); err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	for _, fill := range []func(*GroupEdits){
		func(e *GroupEdits) { e.Add(square(100, 5)); e.Remove(3); e.Replace(square(4, 45)) },
		func(e *GroupEdits) { e.Remove(100); e.Add(square(101, 5)); e.Remove(4) },
		func(e *GroupEdits) { e.Add(square(4, 60)) },
	} {
		if err := edit(t, stream, fork.Name, fill).Err(); err != nil {
			t.Fatal(err)
		}
	}
	committed := new(GroupEdits)
	committed.Remove(5)
	if _, err := client.CommitEdits(ctx, fork.Name, committed); err != nil {
		t.Fatal(err)
	}
	before, err := client.ExportScene(ctx, fork.Name, 0)
	if err != nil || len(before) != 4 {
		t.Fatalf("%+v, %v", before, err)
	}
	server.kill()
	server.start()
	answer := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Add(square(102, 35)) })
	if ids := idsOf(answer.Segments.Hits(0)); !reflect.DeepEqual(ids, []uint64{101, 1, 2, 102, 4}) || stream.Reconnects() != 1 {
		t.Errorf("%v, %v, %d reconnects", answer.Err(), ids, stream.Reconnects())
	}
	after, err := client.ExportScene(ctx, fork.Name, 0)
	if err != nil || len(after) != 5 || !reflect.DeepEqual(after[:4], before) {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
}

// A server that is started again counts versions anew. The client took edits whose versions were below
// those of the server before for older ones, and made the fork again without them.
func TestAForkIsMadeAgainAfterEachLoss(t *testing.T) {
	ctx := testContext(t)
	server, client, stream, fork := editedFork(ctx, t) // without polygon 1
	for i := 0; i < 20; i++ {
		if err := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Replace(square(2, 20+float64(i)/4)) }).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var before []Polygon
	for i := 1; i <= 3; i++ {
		restart(ctx, t, server)
		answer := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Replace(square(2, 50+float64(i))); e.Add(square(uint64(100+i), 9)) })
		if answer.Err() != nil || len(answer.Segments.Hits(0)) != 4+i || stream.Reconnects() != i {
			t.Fatalf("%v, %v, %d reconnects", answer.Err(), idsOf(answer.Segments.Hits(0)), stream.Reconnects())
		}
		var err error
		if before, err = client.ExportScene(ctx, fork.Name, 0); err != nil {
			t.Fatal(err)
		}
	}
	restart(ctx, t, server)
	if _, err := stream.Do(ctx, bullet(fork.Name)); err != nil {
		t.Fatal(err)
	}
	if after, err := client.ExportScene(ctx, fork.Name, 0); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
}

// A stream whose connections fail goes to another server and comes back, while both servers live. The
// first one still had the fork as it was, without the edits made on the other one.
func TestAForkThatWasLeftBehindIsReplaced(t *testing.T) {
	ctx := testContext(t)
	var proxies [2]*cutProxy
	for i := range proxies {
		server := startServer(t)
		arena(t, dial(t, server.address))
		proxies[i] = startProxy(t, server.address, neverCut)
	}
	client := dial(t, proxies[0].address()+","+proxies[1].address())
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"})
	if err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	wanted := []uint64{1, 2, 3, 4, 5}
	for i := 0; i < 5; i++ {
		wanted = append(wanted, uint64(100+i))
		answer := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Add(square(uint64(100+i), float64(60+3*i))) })
		if ids := idsOf(answer.Segments.Hits(0)); !reflect.DeepEqual(ids, wanted) || stream.Reconnects() != i {
			t.Fatalf("%v, %v, %d reconnects", answer.Err(), ids, stream.Reconnects())
		}
		proxies[client.servers.current.Load()].cutAll()
	}
}

// A late answer of a server that the client has left undid edits that the next server had made since.
func TestEditsOfAServerThatWasLeftAreOlderThanThoseOfTheNextOne(t *testing.T) {
	const name = "scenes/match"
	first, second := new(grpc.ClientConn), new(grpc.ClientConn)
	var log forkLog
	log.add(Scene{Name: name, Base: "scenes/arena", BaseVersion: 1, Version: 40}, 0, first)
	record := func(version uint64, on *grpc.ClientConn, fill func(*GroupEdits)) {
		edits := new(GroupEdits)
		fill(edits)
		log.record(name, edits.list, version, on)
	}
	record(42, first, func(e *GroupEdits) { e.Remove(3); e.Replace(square(1, 11)); e.Replace(square(2, 21)) })
	log.found(name, 42, 7, second) // which numbers its versions anew
	record(8, second, func(e *GroupEdits) { e.Replace(square(1, 12)) })
	record(43, first, func(e *GroupEdits) { e.Replace(square(1, 13)); e.Replace(square(2, 23)); e.Add(square(3, 33)) })
	log.found(name, 8, 5, second) // which has lost the fork
	record(6, second, func(e *GroupEdits) { e.Replace(square(4, 44)) })
	record(9, second, func(e *GroupEdits) { e.Replace(square(4, 45)) })
	log.found(name, 9, 9, second) // which still has it
	record(8, second, func(e *GroupEdits) { e.Remove(4); e.Remove(5) })
	wanted := new(GroupEdits)
	wanted.Replace(square(1, 12)) // the second server's
	wanted.Replace(square(2, 23)) // the late one's
	wanted.Replace(square(3, 33)) // which is in the base
	wanted.Replace(square(4, 45)) // the greatest version's
	wanted.Remove(5)
	edited := log.forks[name].edited
	if len(edited) != wanted.Len() {
		t.Errorf("%d edited polygons", len(edited))
	}
	for _, each := range wanted.list {
		if found := edited[each.id]; !found.isInBase || !bytes.Equal(found.polygon, each.polygon) {
			t.Errorf("polygon %d: %+v", each.id, found)
		}
	}
}

// While a stream replaced a fork that was left behind on a server, another stream that asked this
// server for the fork took it for lost. No later server got the fork.
func TestAForkOutlivesItsReplacement(t *testing.T) {
	ctx := testContext(t)
	var servers [2]*Client
	var proxies [2]*cutProxy
	for i := range proxies {
		server := startServer(t)
		servers[i] = dial(t, server.address)
		arena(t, servers[i])
		proxies[i] = startProxy(t, server.address, neverCut)
	}
	client := dial(t, proxies[0].address()+","+proxies[1].address())
	fork, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"})
	if err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	for i, wanted := range [][]uint64{{100, 1, 2, 3, 4, 5}, {100, 101, 1, 2, 3, 4, 5}} {
		answer := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Add(square(uint64(100+i), float64(3*i+3))) })
		if ids := idsOf(answer.Segments.Hits(0)); !reflect.DeepEqual(ids, wanted) {
			t.Fatalf("%v, %v", answer.Err(), ids)
		}
		proxies[0].cutAll()
	}
	client.servers.current.Store(0)
	if err := servers[0].DeleteScene(ctx, fork.Name, 0); err != nil { // as the replacement begins
		t.Fatal(err)
	}
	answer, err := open(t, client, StreamOptions{}).Do(ctx, bullet(fork.Name))
	if err != nil || !errors.Is(answer.Group(0).Err(), NotFound) {
		t.Fatal(err, answer.Group(0).Err())
	}
	proxies[1].cutAll()
	moved := edit(t, stream, fork.Name, func(e *GroupEdits) { e.Remove(1) })
	if ids := idsOf(moved.Segments.Hits(0)); !reflect.DeepEqual(ids, []uint64{100, 101, 2, 3, 4, 5}) || stream.Reconnects() != 2 {
		t.Errorf("%v, %v, %d reconnects", moved.Err(), ids, stream.Reconnects())
	}
}

func TestWithoutItsBaseAForkIsGone(t *testing.T) {
	ctx := testContext(t)
	server, client, stream, fork := editedFork(ctx, t)
	if err := client.DeleteScene(ctx, "scenes/arena", 0); err != nil {
		t.Fatal(err)
	}
	if answer, err := stream.Do(ctx, bullet(fork.Name)); err != nil || answer.Group(0).Err() != nil {
		t.Fatal(err, answer.Group(0).Err())
	}
	server.kill()
	server.start()
	for i := 0; i < 2; i++ {
		var failed *Error
		answer, err := stream.Do(ctx, bullet(fork.Name))
		if err != nil || !errors.As(answer.Group(0).Err(), &failed) || failed.Code != NotFound {
			t.Fatal(err, answer.Group(0).Err())
		}
	}
}

// Streams waited at their end for the forks that another one was making again, and for a server that
// did not answer.
func TestAStreamThatEndsWaitsForNoFork(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	arena(t, dial(t, server.address))
	hanging := startServer(t) // accepts calls, and does not answer
	client := dial(t, server.address+","+hanging.address)
	if _, err := client.ForkScene(ctx, "scenes/arena", ForkOptions{Name: "scenes/match"}); err != nil {
		t.Fatal(err)
	}
	var streams [3]*Stream
	for i := range streams {
		streams[i] = open(t, client, StreamOptions{})
		if _, err := streams[i].Do(ctx, bullet("scenes/match")); err != nil {
			t.Fatal(err)
		}
	}
	hanging.freeze()
	defer hanging.thaw()
	server.kill()
	for _, stream := range streams {
		if err := stream.Send(ctx, bullet("scenes/match")); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	for i := len(streams) - 1; i >= 0; i-- {
		begun := time.Now()
		_ = streams[i].Close()
		if taken := time.Since(begun); taken > restoreTimeout/2 {
			t.Errorf("stream %d ends in %v", i, taken)
		}
	}
}

// A stream that ends while it makes a fork again leaves no fork without its edits, which other
// streams would take for a complete one.
func TestAStreamThatEndsLeavesNoIncompleteFork(t *testing.T) {
	forking, closing, removed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var forks atomic.Int64
	streams := make(chan struct{}, 16)
	answer := func(stream grpc.ServerStream, response proto.Message) error {
		if err := stream.RecvMsg(new(payload)); err != nil {
			return err
		}
		return stream.SendMsg(response)
	}
	address := startPeer(t, func(stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		switch method {
		case scenesPath + "ForkScene":
			if forks.Add(1) > 1 {
				close(forking)
				<-closing
				select {
				case <-stream.Context().Done():
					t.Error("the call that makes the fork is cancelled")
				case <-time.After(100 * time.Millisecond):
				}
			}
			return answer(stream, &caromv1.ForkSceneResponse{Scene: &caromv1.Scene{Name: "scenes/match", Version: 1}})
		case scenesPath + "CommitEdits":
			return answer(stream, &caromv1.CommitEditsResponse{Scene: &caromv1.Scene{Name: "scenes/match", Version: 2}})
		case scenesPath + "DeleteScene":
			close(removed)
			return answer(stream, new(caromv1.DeleteSceneResponse))
		case queriesPath + "Stream":
			streams <- struct{}{}
			_ = stream.RecvMsg(new(payload))
			return status.Error(codes.Unavailable, "the server stops")
		}
		return status.Error(codes.NotFound, "there is no such scene")
	})
	client := dial(t, address)
	if _, err := client.ForkScene(testContext(t), "scenes/arena", ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	edits := new(GroupEdits)
	edits.Remove(1)
	if _, err := client.CommitEdits(testContext(t), "scenes/match", edits); err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	if err := stream.Send(testContext(t), bullet("scenes/match")); err != nil {
		t.Fatal(err)
	}
	<-streams
	<-forking
	stream.cancel()
	close(closing)
	_ = stream.Close()
	select {
	case <-removed:
	default:
		t.Error("the fork without its edits stays")
	}
}

// Frames whose answers are lost are sent again, and their edits are made once.
func TestConnectionsThatBreakMakeNoEditTwice(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	direct := dial(t, server.address)
	arena(t, direct)
	fork, err := direct.ForkScene(ctx, "scenes/arena", ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	proxy := startProxy(t, server.address, alternating(3, 400, 3400))
	stream := open(t, dial(t, proxy.address()), StreamOptions{})
	const edits = 100
	sent := make(chan error, 1)
	go func() {
		frame := new(Frame)
		for i := uint64(0); i < edits; i++ {
			frame.Reset()
			group := frame.Group(fork.Name)
			group.Edits.Add(square(1000+i, 0))
			group.Points.Add(0, 0)
			if err := stream.Send(ctx, frame); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.Finish(ctx)
	}()
	last := fork.Version
	for i := 0; i < edits; i++ {
		answer, err := stream.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		group := answer.Group(0)
		if group.Err() != nil || group.EditedVersion <= last || len(group.Points.Polygons(0)) != i+1 {
			t.Fatalf("edit %d: %v, version %d after %d, %d polygons", i, group.Err(), group.EditedVersion, last,
				len(group.Points.Polygons(0)))
		}
		last = group.EditedVersion
		answer.Release()
	}
	if err := <-sent; err != nil || stream.Reconnects() < 3 {
		t.Errorf("%v, %d reconnects", err, stream.Reconnects())
	}
}
