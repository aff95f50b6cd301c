// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A FrameAnswer is the answer to one frame. It is read-only, and safe for concurrent use until
// Release.
type FrameAnswer struct {
	// Seq is that of the frame.
	Seq uint64
	// Skipped: a later frame superseded this one, which has no groups.
	Skipped bool
	// Stats are the costs of the frame, which differ between runs.
	Stats FrameStats

	err      *Error
	groups   []GroupAnswer
	released atomic.Bool
}

// A GroupAnswer is the answer to one group.
type GroupAnswer struct {
	// Version is the version of the scene that every item of the group read.
	Version uint64
	// EditedVersion is the version that the edits of the group made; also set if the group has an
	// error. 0: it has none, or they were refused.
	EditedVersion uint64
	Answers
	err *Error
}

// FrameStats are the costs of a frame.
type FrameStats struct {
	Elapsed           time.Duration // from the receipt of the frame to the answer of its last group
	Evaluate          time.Duration // without waiting, decoding and encoding
	WorkUnits         uint64
	QuietMoves        uint64        // moves answered by one comparison
	NearMoves         uint64        // moves answered from the memory of the tracker
	RefreshedMoves    uint64        // moves that searched the scene and refreshed the memory
	ColdMoves         uint64        // moves answered without memory
	TrackerBytes      uint64        // of all trackers of the stream
	ShadowMoves       uint64        // moves that the server also answered without memory, to compare
	ShadowEyes        uint64        // areas and observers that the server also answered without memory
	ShadowDifferences uint64        // batches in which the two answers differ: a fault of the server
	Staleness         time.Duration // upper bound, where several servers share their scenes
	QuietEyes         uint64        // eyes of areas and observers answered from their memories
	RefreshedEyes     uint64        // eyes for which the server made a memory
	ColdEyes          uint64        // eyes with a number that were answered without memory
}

// Err returns why the server refused the frame, as *Error, or nil.
func (a *FrameAnswer) Err() error {
	if a == nil || a.err == nil {
		return nil
	}
	return a.err
}

// Len returns the number of groups: that of the frame, or 0 for a refused or skipped frame.
func (a *FrameAnswer) Len() int {
	if a == nil {
		return 0
	}
	return len(a.groups)
}

// noGroup is the answer to a group that does not exist.
var noGroup = GroupAnswer{err: &Error{Code: OutOfRange, Field: "groups", Message: "the answer has no such group"}}

// Group returns the answer to group i of the frame. For a group that does not exist, it is an answer
// without items whose Err is OutOfRange.
func (a *FrameAnswer) Group(i int) *GroupAnswer {
	if i < 0 || i >= a.Len() {
		return &noGroup
	}
	return &a.groups[i]
}

// Err returns why the group was not answered, as *Error, or nil. Errors of items are those of the
// kinds, such as g.Segments.Err(item).
func (g *GroupAnswer) Err() error {
	if g == nil {
		return noGroup.err
	}
	if g.err == nil {
		return nil
	}
	return g.err
}

var answerPool = sync.Pool{New: func() any { return new(FrameAnswer) }}

// Release gives the memory of the answer to later answers. The answer, its groups and their rows
// must not be used after it: until the memory is another answer's, the answer has no groups and a
// second Release does nothing. A program that does not call Release leaves the memory to the garbage
// collector.
func (a *FrameAnswer) Release() {
	if a == nil || a.released.Swap(true) {
		return
	}
	a.groups = a.groups[:0]
	answerPool.Put(a)
}

// newAnswer returns an answer with the memory of one that was released, if there is one.
func newAnswer() *FrameAnswer {
	made := answerPool.Get().(*FrameAnswer)
	made.released.Store(false)
	return made
}

// A decoder has the memory to decode an answer. It is not safe for concurrent use.
type decoder struct {
	outer, frame, group fields
	scanner             scanner
	count               int
}

var decoderPool = sync.Pool{New: func() any { return new(decoder) }}

func malformed(what string) *Error {
	return &Error{Code: Internal, Message: "the server sent a malformed " + what}
}

// decode reads a message FrameAnswer, the answer to `asked`.
func (d *decoder) decode(data []byte, asked *asked, into *FrameAnswer) error {
	d.count = 0
	into.groups = into.groups[:0]
	var failed error
	ok := d.frame.read(data, 3, func(group []byte) bool {
		failed = d.decodeGroup(group, asked, into)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if !ok {
		return malformed("answer")
	}
	into.Seq, into.Skipped, into.err = d.frame.number(1), d.frame.number(5) != 0, nil
	if status, there := d.frame.message(2); there {
		if into.err = decodeStatus(status); into.err == nil {
			return malformed("status")
		}
	}
	into.Stats = FrameStats{}
	if stats, there := d.frame.message(4); there && !into.Stats.decode(stats) {
		return malformed("answer")
	}
	if into.Seq != asked.seq {
		return &Error{Code: Internal, Message: "the answer has the seq of another frame"}
	}
	groups := len(asked.groups)
	if into.err != nil || into.Skipped {
		groups = 0
	}
	if d.count != groups {
		return &Error{Code: Internal, Message: "the answers do not fit the questions"}
	}
	return nil
}

func (d *decoder) decodeGroup(data []byte, asked *asked, into *FrameAnswer) error {
	if d.count >= len(asked.groups) {
		return &Error{Code: Internal, Message: "the answer has more groups than the frame"}
	}
	if !d.group.read(data, 0, nil) {
		return malformed("answer")
	}
	if d.count < cap(into.groups) {
		into.groups = into.groups[:d.count+1]
	} else {
		into.groups = append(into.groups, GroupAnswer{})
	}
	group := &into.groups[d.count]
	group.Version, group.EditedVersion, group.err = d.group.number(2), d.group.number(60), nil
	counts := &asked.groups[d.count].counts
	if status, there := d.group.message(1); there {
		if group.err = decodeStatus(status); group.err == nil {
			return malformed("status")
		}
		group.err.nameScene()
		d.group.set = 0 // a group that was not answered has no rows
		group.Answers = Answers{}
		d.count++
		return nil
	}
	if err := group.Answers.decode(&d.scanner, &d.group, counts); err != nil {
		found := asError(err)
		found.Field = fmt.Sprintf("groups[%d].%s", d.count, found.Field)
		return found
	}
	d.count++
	return nil
}

// decodeStatus reads a message Status; nil if it is malformed.
func decodeStatus(data []byte) *Error {
	var f fields
	var violations []Violation
	ok := f.read(data, 3, func(each []byte) bool {
		violations = appendViolation(violations, each)
		return true
	})
	code := f.number(1)
	if !ok || code == 0 || code > mostCode {
		return nil
	}
	delay := min(f.number(4), uint64(mostDelay/time.Microsecond))
	return makeError(Code(code), f.text(2), violations, time.Duration(delay)*time.Microsecond)
}

// nameScene names the scene of a group as the program does: handles are the client's.
func (e *Error) nameScene() {
	if e.Field == "scene_handle" {
		e.Field = "scene"
	}
	for i := range e.Violations {
		if e.Violations[i].Field == "scene_handle" {
			e.Violations[i].Field = "scene"
		}
	}
}

func appendViolation(violations []Violation, data []byte) []Violation {
	var f fields
	if len(violations) >= mostViolations || !f.read(data, 0, nil) {
		return violations
	}
	return append(violations, Violation{f.text(1), f.text(2)})
}

func (s *FrameStats) decode(data []byte) bool {
	var f fields
	if !f.read(data, 0, nil) {
		return false
	}
	*s = FrameStats{
		Elapsed: time.Duration(f.number(1)), Evaluate: time.Duration(f.number(2)), WorkUnits: f.number(3),
		QuietMoves: f.number(4), NearMoves: f.number(5), RefreshedMoves: f.number(6), ColdMoves: f.number(7),
		TrackerBytes: f.number(8), ShadowMoves: f.number(9), ShadowDifferences: f.number(10),
		Staleness: time.Duration(f.number(11)) * time.Microsecond,
		QuietEyes: f.number(12), RefreshedEyes: f.number(13), ColdEyes: f.number(14),
		ShadowEyes: f.number(15),
	}
	return true
}
