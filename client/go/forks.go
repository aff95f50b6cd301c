// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"sort"
	"strings"
	"sync"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
)

const (
	replayedBytes  = 1 << 20 // of edits in one request
	restoreTimeout = 5 * time.Second
	removalTimeout = time.Second
)

// A forkLog has, of each fork that a client has made, the base and the net effect of the edits that
// the client has made, polygon by polygon: O(edited polygons), not O(edits). Another server gets a
// fork of the base and these edits. It is safe for concurrent use; the zero value is empty.
type forkLog struct {
	mu        sync.Mutex
	forks     map[string]*loggedFork
	restoring turn // of restore: other streams find complete forks
}

// A turn is a lock whose waiting ends with a context. The zero value is free.
type turn struct {
	once sync.Once
	slot chan struct{}
}

func (t *turn) take(ctx context.Context) *Error {
	t.once.Do(func() { t.slot = make(chan struct{}, 1) })
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

func (t *turn) give() { <-t.slot }

type loggedFork struct {
	base        string
	baseVersion uint64
	lease       uint64 // in seconds
	edited      map[uint64]editedPolygon
	on          *grpc.ClientConn // the server on which the fork was last found or made
	version     uint64           // the greatest one there that the client knows
	// The latest term of each server on which the fork was found or made; that of `on` is the greatest.
	// The others may have the fork as it was when the client went on with another server.
	terms map[*grpc.ClientConn]uint64
}

// The order of edits. A term begins when the fork is found or made on a server that numbers its
// versions anew: another one, or one that has lost the fork. Versions order the edits of one term.
type order struct {
	term    uint64
	version uint64 // that the edit made
}

func (o order) isBefore(other order) bool {
	return o.term < other.term || o.term == other.term && o.version < other.version
}

// An editedPolygon is the net effect of all edits of one polygon.
type editedPolygon struct {
	isInBase bool
	first    order // of the first edit, which decides isInBase
	last     order
	polygon  []byte // after the last edit; nil: removed
}

func (l *forkLog) add(fork Scene, lease uint64, on *grpc.ClientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forks == nil {
		l.forks = map[string]*loggedFork{}
	}
	l.forks[fork.Name] = &loggedFork{fork.Base, fork.BaseVersion, lease, map[uint64]editedPolygon{}, on, fork.Version,
		map[*grpc.ClientConn]uint64{on: 1}}
}

// remove forgets a scene, which is not made again.
func (l *forkLog) remove(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.forks, name)
}

// record takes edits that made a version of a scene on a server. Answers of several streams arrive in
// any order; a late one of a server that the client has left is older than the edits made since.
func (l *forkLog) record(name string, edits []Edit, version uint64, on *grpc.ClientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fork := l.forks[name]
	if fork == nil {
		return
	}
	term, known := fork.terms[on]
	if !known {
		term = fork.terms[fork.on]
	}
	if on == fork.on {
		fork.version = max(fork.version, version)
	}
	made := order{term, version}
	for _, edit := range edits {
		found, known := fork.edited[edit.id]
		if !known || made.isBefore(found.first) {
			found.isInBase, found.first = edit.number != editAdd, made
		}
		if found.last.isBefore(made) {
			found.last, found.polygon = made, edit.polygon
		}
		fork.edited[edit.id] = found
	}
}

// found takes the version of a fork on a server that has it with all edits. known: the greatest
// version that the client knew before it asked the server. A lower one shows that the server has lost
// the fork meanwhile, and that this client or another one has made it again.
func (l *forkLog) found(name string, known, version uint64, on *grpc.ClientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fork := l.forks[name]
	if fork == nil {
		return
	}
	if on == fork.on && version >= known {
		fork.version = max(fork.version, version)
		return
	}
	fork.terms[on] = fork.terms[fork.on] + 1
	fork.on, fork.version = on, version
}

// recordAnswer records the edits of a frame that a server has answered.
func (l *forkLog) recordAnswer(asked *asked, answer *FrameAnswer, on *grpc.ClientConn) {
	for i := range answer.groups {
		if version := answer.groups[i].EditedVersion; version > 0 {
			l.record(asked.groups[i].scene, asked.groups[i].edits, version, on)
		}
	}
}

// removeMissing forgets the forks that an answer reports as missing. It is for streams, which restore
// lost forks before they send frames: what is missing then cannot be restored. Another call may reach
// a server that no stream has restored the fork on yet. So may a stream, if the log has the fork on
// another server; and while `restore` replaces a fork, it is missing.
func (l *forkLog) removeMissing(asked *asked, answer *FrameAnswer, on *grpc.ClientConn) {
	for i := range answer.groups {
		if err := answer.groups[i].err; err != nil && err.Code == NotFound && strings.HasPrefix(err.Field, "scene") {
			l.removeFrom(on, asked.groups[i].scene)
		}
	}
}

// removeFrom forgets a fork, unless the log has it on another server than that one.
func (l *forkLog) removeFrom(on *grpc.ClientConn, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fork := l.forks[name]; fork != nil && fork.on == on {
		delete(l.forks, name)
	}
}

// parts returns the edits that turn the base into the fork, in requests of bounded size.
func (f *loggedFork) parts(name string) []*payload {
	ids := make([]uint64, 0, len(f.edited))
	for id := range f.edited {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	var made []*payload
	var edits []Edit
	size := 0
	flush := func() {
		if len(edits) != 0 {
			made = append(made, &payload{commitRequest(name, 0, edits, newEditID())})
			edits, size = nil, 0
		}
	}
	for _, id := range ids {
		each := f.edited[id]
		number := editReplace
		switch {
		case each.polygon == nil && !each.isInBase:
			continue
		case each.polygon == nil:
			number = editRemove
		case !each.isInBase:
			number = editAdd
		}
		if size += len(each.polygon) + 8; size > replayedBytes {
			flush()
			size = len(each.polygon) + 8
		}
		edits = append(edits, Edit{number, id, each.polygon})
	}
	flush()
	return made
}

// restore makes, on one server, each fork that it does not have, and skips those whose base it does
// not have. Returns the error of a server that does not answer, or refuses a call over a limit.
func (l *forkLog) restore(ctx context.Context, conn *grpc.ClientConn) *Error {
	if err := l.restoring.take(ctx); err != nil {
		return err
	}
	defer l.restoring.give()
	type job struct {
		name    string
		fork    loggedFork
		isStale bool
		parts   []*payload
	}
	var jobs []job
	l.mu.Lock()
	for name, fork := range l.forks {
		_, wasOn := fork.terms[conn]
		jobs = append(jobs, job{name, *fork, wasOn && fork.on != conn, fork.parts(name)})
	}
	l.mu.Unlock()
	for _, each := range jobs {
		version, err := restoreOne(ctx, conn, each.name, &each.fork, each.isStale, each.parts)
		if err == nil {
			l.found(each.name, each.fork.version, version, conn)
			continue
		}
		if err.Code == NotFound || err.Code == OutOfRange || err.Code == DataLoss || err.Code == InvalidArgument {
			continue // groups that query a fork without base get NotFound
		}
		return err
	}
	return nil
}

func restoreCall(ctx context.Context, conn *grpc.ClientConn, method string, request, response any, timeout time.Duration) *Error {
	inner, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := conn.Invoke(inner, scenesPath+method, request, response)
	if err == nil {
		return nil
	}
	why := callError(inner, err)
	if why.Code == DeadlineExceeded && ctx.Err() == nil {
		return &Error{Code: Unavailable, Message: "the server did not answer in time while a fork was made again"}
	}
	return why
}

// restoreOne makes one fork, and returns its version. It leaves one that the server has: it did not
// lose the fork, or another client has made it again. isStale: it replaces one that the server has,
// which is as it was when the client went on with another server.
func restoreOne(ctx context.Context, conn *grpc.ClientConn, name string, fork *loggedFork, isStale bool, parts []*payload) (uint64, *Error) {
	get, got := &caromv1.GetSceneRequest{Name: name}, new(caromv1.GetSceneResponse)
	err := restoreCall(ctx, conn, "GetScene", get, got, restoreTimeout)
	if err == nil && isStale {
		err = restoreCall(ctx, conn, "DeleteScene", &caromv1.DeleteSceneRequest{Name: name}, new(caromv1.DeleteSceneResponse), restoreTimeout)
		if err == nil {
			err = &Error{Code: NotFound}
		}
	}
	if err == nil || !errors.Is(err, NotFound) {
		return got.GetScene().GetVersion(), err
	}
	request := &caromv1.ForkSceneRequest{Base: fork.base, Version: fork.baseVersion, Name: name, LeaseSeconds: fork.lease}
	// A cancelled call might have made the fork, which others would take for a complete one.
	made := new(caromv1.ForkSceneResponse)
	err = restoreCall(context.WithoutCancel(ctx), conn, "ForkScene", request, made, restoreTimeout)
	if err != nil && err.Code == AlreadyExists {
		err = restoreCall(ctx, conn, "GetScene", get, got, restoreTimeout)
		return got.GetScene().GetVersion(), err
	}
	version := made.GetScene().GetVersion()
	for i := 0; err == nil && i < len(parts); i++ {
		committed := new(caromv1.CommitEditsResponse)
		err = restoreCall(ctx, conn, "CommitEdits", parts[i], committed, restoreTimeout)
		if err != nil { // others would take the incomplete fork for a complete one
			_ = restoreCall(context.WithoutCancel(ctx), conn, "DeleteScene", &caromv1.DeleteSceneRequest{Name: name},
				new(caromv1.DeleteSceneResponse), removalTimeout)
		}
		version = committed.GetScene().GetVersion()
	}
	return version, err
}
