// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"io"
	"sync"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
)

// WatchOptions say where a watch begins, and what it contains.
type WatchOptions struct {
	FromVersion uint64 // that the program has; 0: the watch begins with the current version
	Polygons    bool   // whether updates have the added and replaced polygons
	// Reconnect is for how long a broken watch tries to continue; 0: 30 s; below 0: not at all.
	Reconnect time.Duration
}

// A PolygonChange is how one polygon differs between a version and the one before it.
type PolygonChange struct {
	ID     uint64
	Change Change
	Bounds Bounds // with the polygon before and after the change
}

// A Change is added, replaced or removed.
type Change int32

// The changes.
const (
	Added    Change = 1
	Replaced Change = 2
	Removed  Change = 3
)

// An Update is one version of a watched scene.
type Update struct {
	Scene       Scene
	BaseVersion uint64 // the version before; 0: this is the first one, sent as a whole
	EditID      string
	Created     time.Time
	Changes     []PolygonChange // by ascending id; none if BaseVersion is 0
	Polygons    []Polygon       // added and replaced ones, on request
}

// A Watch iterates over the versions of a scene as they are made, each once, in order and without
// gaps, over calls that break:
//
//	watch := client.WatchScene(ctx, "scenes/arena", carom.WatchOptions{})
//	for watch.Next() {
//		fmt.Println(watch.Update().Scene.Version)
//	}
//	err := watch.Err()
//
// A Watch is safe for concurrent use: each version goes to one call of Next.
type Watch struct {
	client  *Client
	ctx     context.Context
	cancel  context.CancelFunc
	name    string
	options WatchOptions

	next   sync.Mutex // held by Next, for what follows
	stream grpc.ClientStream
	server int
	opened time.Time // when the server accepted the last call; zero: it did not
	pause  time.Duration
	giveUp time.Time // zero: no call has failed

	mu     sync.Mutex // for what follows
	update Update
	err    error
}

// WatchScene returns a watch, which ends with the context. It returns at once; Next makes the call.
func (c *Client) WatchScene(ctx context.Context, name string, options WatchOptions) *Watch {
	made := &Watch{client: c, name: name, options: options, pause: firstPause}
	problem := c.check(ctx)
	if problem == nil {
		problem = checkText("name", name)
	}
	if problem != nil {
		made.err = problem
		return made
	}
	if options.Reconnect == 0 {
		made.options.Reconnect = defaultReconnect
	}
	made.ctx, made.cancel = context.WithCancel(ctx)
	return made
}

// Update returns the version that Next has found.
func (w *Watch) Update() Update {
	if w == nil {
		return Update{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.update
}

// Err returns why Next returned false: NotFound (no such scene, or it was deleted), OutOfRange (the
// server keeps the next version no more: begin another watch), ResourceExhausted (the updates were
// read too slowly), Unavailable, or that of the context.
func (w *Watch) Err() error {
	missing := &Error{Code: FailedPrecondition, Field: "watch", Message: "is nil; make it by WatchScene"}
	if w == nil {
		return missing
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.client == nil {
		return missing
	}
	return w.err
}

// end sets why the watch ends; the first reason stays.
func (w *Watch) end(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = why
	}
}

// Close ends the watch.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.end(&Error{Code: FailedPrecondition, Field: "watch", Message: "is closed"})
	if w.cancel != nil {
		w.cancel()
	}
}

// Next waits for the next version, and returns whether there is one.
func (w *Watch) Next() bool {
	if w == nil {
		return false
	}
	w.next.Lock()
	defer w.next.Unlock()
	for w.Err() == nil {
		err := w.read()
		if err == nil {
			w.pause, w.giveUp = firstPause, time.Time{}
			return true
		}
		w.stream = nil
		if why := w.afterFailure(err); why != nil {
			w.end(why)
			w.cancel()
		}
	}
	return false
}

// read reads one version.
func (w *Watch) read() *Error {
	if w.stream == nil {
		if err := w.open(); err != nil {
			return callError(w.ctx, err)
		}
	}
	var made Update
	var polygons joiner
	for first := true; ; first = false {
		chunk := new(caromv1.WatchSceneResponse)
		if err := w.stream.RecvMsg(chunk); err == io.EOF {
			return &Error{Code: Unavailable, Message: "the server ended the watch"}
		} else if err != nil {
			return callError(w.ctx, err)
		}
		if first {
			made = Update{Scene: sceneOf(chunk.GetScene()), BaseVersion: chunk.GetBaseVersion(), EditID: chunk.GetEditId(),
				Created: time.UnixMicro(chunk.GetCreatedUs())}
		}
		if !made.addChanges(chunk) || !polygons.add(chunk.GetPolygons(), chunk.GetContinues()) {
			return malformed("update")
		}
		if !chunk.GetMore() {
			break
		}
	}
	if polygons.continues {
		return malformed("update")
	}
	if made.BaseVersion != w.options.FromVersion || made.Scene.Version <= w.options.FromVersion {
		return &Error{Code: Internal, Message: "the server sent an update that does not follow the version before it"}
	}
	made.Polygons = polygons.polygons
	w.options.FromVersion = made.Scene.Version
	w.mu.Lock()
	defer w.mu.Unlock()
	w.update = made
	return nil
}

func (w *Watch) open() error {
	w.opened = time.Time{}
	w.server = int(w.client.servers.current.Load())
	stream, err := w.client.servers.conns[w.server].NewStream(w.ctx, &grpc.StreamDesc{ServerStreams: true}, scenesPath+"WatchScene")
	if err != nil {
		return err
	}
	request := &caromv1.WatchSceneRequest{Name: w.name, FromVersion: w.options.FromVersion, Polygons: w.options.Polygons}
	if err := stream.SendMsg(request); err != nil && err != io.EOF {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	// The server accepts the call at once, though it may have no version to send for hours.
	if header, err := stream.Header(); err == nil && header != nil {
		w.opened = time.Now()
	}
	w.stream = stream
	return nil
}

// afterFailure waits before the next call, or returns why there is none. The time to reconnect
// counts from the first of the calls that fail one after the other: a call that the server accepted,
// and that broke later, begins it anew.
func (w *Watch) afterFailure(why *Error) error {
	if w.client.closed.Load() {
		return &Error{Code: FailedPrecondition, Field: "client", Message: "is closed"}
	}
	if why.Code == Unavailable {
		w.client.servers.failOver(w.server)
	} else if why.RetryDelay == 0 {
		return why
	}
	if !w.opened.IsZero() && time.Since(w.opened) > firstPause {
		w.pause, w.giveUp = firstPause, time.Time{}
	}
	if w.giveUp.IsZero() {
		w.giveUp = time.Now().Add(w.options.Reconnect)
	}
	wait := max(jitter(w.pause), why.RetryDelay)
	w.pause = min(2*w.pause, lastPause)
	if time.Now().Add(wait).After(w.giveUp) {
		return why
	}
	if sleep(w.ctx, wait) != nil {
		return contextError(w.ctx)
	}
	return nil
}

func (u *Update) addChanges(chunk *caromv1.WatchSceneResponse) bool {
	n := len(chunk.GetPolygonId())
	if len(chunk.GetChange()) != n || len(chunk.GetMinX()) != n || len(chunk.GetMinY()) != n ||
		len(chunk.GetMaxX()) != n || len(chunk.GetMaxY()) != n {
		return false
	}
	for i, id := range chunk.GetPolygonId() {
		if change := Change(chunk.Change[i]); change < Added || change > Removed {
			return false
		}
		u.Changes = append(u.Changes, PolygonChange{id, Change(chunk.Change[i]),
			Bounds{chunk.MinX[i], chunk.MinY[i], chunk.MaxX[i], chunk.MaxY[i]}})
	}
	return true
}
