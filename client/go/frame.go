// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
)

// A Frame is all questions of a program in one tick, in groups, each group for one scene. A program
// keeps one Frame: it fills it, sends it, and calls Reset, which keeps the memory, so that frames of
// equal size do not allocate. Send, Do and Evaluate copy the frame before they return or wait. A
// column that is set to a slice of the program is this slice, also after Reset: Add would overwrite
// its elements, AddColumns copies. A Frame is not safe for concurrent use; one that two goroutines
// send at once is refused.
type Frame struct {
	// Seq is any number; the answer repeats it.
	Seq uint64
	// Budget is the time after which groups that are not answered get DeadlineExceeded, from the
	// server's receipt of the frame, in [0, 60 s]; 0: none. Rounded to microseconds.
	Budget time.Duration
	// Coherence says whether trackers use their memory, which changes cost and no answer; 0: on.
	Coherence Coherence
	// Supersede: a later frame with Supersede supersedes this one if it is not begun by then; this one
	// is then answered with FrameAnswer.Skipped.
	Supersede bool

	groups   []*Group
	used     int
	trackers []*TrackerDefinitions
	defined  int
	removed  []uint32
	// Body sets, as messages.
	sets        []setDefinition
	ticks       []setTick
	removedSets []uint32
	problem     *Error     // of a body set or of poses
	mu          sync.Mutex // held by each method: concurrent misuse leaves the frame whole
}

// Group appends a group of questions about a scene, `scenes/{scene}`. The group is valid until
// Reset.
func (f *Frame) Group(scene string) *Group {
	if f == nil {
		return &Group{Scene: scene} // of no frame; to send a nil frame is an error
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used == len(f.groups) {
		f.groups = append(f.groups, new(Group))
	}
	f.used++
	group := f.groups[f.used-1]
	group.Scene = scene
	return group
}

// Len returns the number of groups.
func (f *Frame) Len() int {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// DefineTrackers appends definitions of trackers, which a server makes before it reads the groups.
// On a stream they stay defined for later frames. The definitions are valid until Reset.
func (f *Frame) DefineTrackers() *TrackerDefinitions {
	if f == nil {
		return new(TrackerDefinitions)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.defined == len(f.trackers) {
		f.trackers = append(f.trackers, new(TrackerDefinitions))
	}
	f.defined++
	return f.trackers[f.defined-1]
}

// RemoveTrackers removes trackers by their handles, before those of DefineTrackers are defined.
func (f *Frame) RemoveTrackers(handles ...uint32) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = append(f.removed, handles...)
}

// Reset removes everything from the frame, and keeps the memory.
func (f *Frame) Reset() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, group := range f.groups[:f.used] {
		group.reset()
	}
	for _, definitions := range f.trackers[:f.defined] {
		definitions.Reset()
	}
	f.used, f.defined, f.removed = 0, 0, f.removed[:0]
	clear(f.sets)
	clear(f.ticks)
	f.sets, f.ticks, f.removedSets, f.problem = f.sets[:0], f.ticks[:0], f.removedSets[:0], nil
	f.Seq, f.Budget, f.Coherence, f.Supersede = 0, 0, 0, false
}

// A Group is questions about one version of one scene.
type Group struct {
	// Scene is its name, `scenes/{scene}`.
	Scene string
	// MinVersion is the least version that the group may read, for which it waits within the budget
	// of the frame; 0: the current version.
	MinVersion uint64
	// Version is the exact version that the group reads, as long as the server keeps it; 0: as
	// MinVersion says.
	Version uint64
	Questions
	// Bodies are placed shapes that exist for this group only.
	Bodies Bodies
	// Edits of a fork are made before the questions are answered.
	Edits GroupEdits
	// BodyRotation says which rotation the bodies of AskBodySet have between two ticks; 0:
	// BodyRotationNearest.
	BodyRotation BodyRotation

	bodySet, versionAtTick       uint64
	hasBodySet, hasVersionAtTick bool
}

// AskBodySet lets the group consider the bodies of a body set in place of Bodies: each item at its
// moment, AsOf, or at the newest tick.
func (g *Group) AskBodySet(handle uint32) { g.bodySet, g.hasBodySet = uint64(handle), true }

// AskVersionAtTick lets the group read the version of its fork that was current when a tick came to
// its body set, a set of this fork: before the edits of the frame that brought the tick. OutOfRange
// if the set does not keep the tick, or the server the version.
func (g *Group) AskVersionAtTick(tick uint64) { g.versionAtTick, g.hasVersionAtTick = tick, true }

func (g *Group) reset() {
	g.Scene, g.MinVersion, g.Version = "", 0, 0
	g.BodyRotation, g.hasBodySet, g.hasVersionAtTick = 0, false, false
	g.Questions.reset()
	g.Bodies.Reset()
	g.Edits.Reset()
}

func (g *Group) check(i int) *Error {
	if g.Scene == "" {
		return refuse(fmt.Sprintf("groups[%d].scene", i), "must be given: scenes/{scene}")
	}
	if !utf8.ValidString(g.Scene) {
		return checkText(fmt.Sprintf("groups[%d].scene", i), g.Scene)
	}
	if !utf8.ValidString(g.Edits.ID) {
		return checkText(fmt.Sprintf("groups[%d].edits.edit_id", i), g.Edits.ID)
	}
	name := g.Questions.check()
	if name == "" {
		if name = g.Bodies.check(); name != "" {
			name = "bodies." + name
		}
	}
	if name != "" {
		return refuse(fmt.Sprintf("groups[%d].%s", i, name), wrongColumn(name))
	}
	if problem := g.Edits.problem; problem != nil {
		return refuse(fmt.Sprintf("groups[%d].edits.%s", i, problem.Field), "%s", problem.Message)
	}
	return nil
}

func wrongColumn(name string) string {
	if name[len(name)-1] == ']' {
		return "is no shape of the accepted kind: make it by CapsuleShape, Circle, Point or PolygonShape"
	}
	return "has another length than the other columns"
}

// put writes a message Group. Go's protobuf writes members of a oneof, here the scene, last.
func (g *Group) put(w *writer, naming *naming) {
	if handle, ok := naming.handleOf(g.Scene); ok {
		w.varint(handle) // a member of a oneof is written also if it is 0
		w.tag(2, wireVarint)
	} else {
		w.text(1, g.Scene)
	}
	if g.hasVersionAtTick {
		w.varint(g.versionAtTick)
		w.tag(62, wireVarint)
	}
	w.uint64(61, g.Version)
	if g.Edits.isGiven() {
		mark := w.mark()
		g.Edits.put(w)
		w.message(60, mark)
	}
	w.enum(43, int32(g.BodyRotation))
	if g.hasBodySet {
		w.varint(g.bodySet)
		w.tag(42, wireVarint)
	}
	g.Questions.putAbove(w)
	if g.Bodies.Len() > 0 {
		mark := w.mark()
		g.Bodies.put(w)
		w.message(40, mark)
	}
	g.Questions.putBelow(w)
	w.uint64(3, g.MinVersion)
}

// check returns what is wrong with a frame, or nil.
func (f *Frame) check() *Error {
	if f.Budget < 0 || f.Budget > time.Minute {
		return refuse("budget_us", "is %v; [0, 60 s] is accepted", f.Budget)
	}
	for i, group := range f.groups[:f.used] {
		if err := group.check(i); err != nil {
			return err
		}
	}
	for i, definitions := range f.trackers[:f.defined] {
		if name := definitions.check(); name != "" {
			return refuse(fmt.Sprintf("trackers[%d].%s", i, name), wrongColumn(name))
		}
	}
	return f.problem
}

// put writes a request of Stream or of Evaluate, which have the frame in the field 1.
func (f *Frame) put(w *writer, naming *naming) {
	f.putBodySets(w)
	w.flag(8, f.Supersede)
	w.enum(7, int32(f.Coherence))
	for i := f.defined - 1; i >= 0; i-- {
		mark := w.mark()
		f.trackers[i].put(w)
		w.message(6, mark)
	}
	w.varints(5, f.removed)
	for i := f.used - 1; i >= 0; i-- {
		mark := w.mark()
		f.groups[i].put(w, naming)
		w.message(4, mark)
	}
	naming.put(w)
	w.uint64(2, uint64(f.Budget/time.Microsecond))
	w.uint64(1, f.Seq)
	w.message(1, 0)
}

// encode checks a frame, writes it, and records in `into` what its answer must fit.
func (f *Frame) encode(w *writer, naming *naming, into *asked) (err *Error) {
	if f == nil {
		return refuse("frame", "is nil")
	}
	if !f.mu.TryLock() {
		return &Error{Code: FailedPrecondition, Field: "frame", Message: "is in use by another goroutine"}
	}
	defer f.mu.Unlock()
	if err := f.check(); err != nil {
		return err
	}
	w.reset()
	into.reset()
	into.seq = f.Seq
	for _, group := range f.groups[:f.used] {
		naming.bind(group.Scene)
		group.Edits.prepare()
		into.add(group)
	}
	into.removed = append(into.removed, f.removed...)
	for _, definitions := range f.trackers[:f.defined] {
		into.define(definitions)
	}
	into.removedSets = append(into.removedSets, f.removedSets...)
	into.sets = append(into.sets, f.sets...)
	into.ticks = append(into.ticks, f.ticks...)
	f.put(w, naming)
	return nil
}

// GroupEdits are edits of a fork: all of them are made, or none.
type GroupEdits struct {
	// ID recognizes edits that are sent again; at most 64 bytes. Empty: the client chooses one.
	ID string
	// BaseVersion is the version that the edits were made for, Aborted if another one is current; 0:
	// any.
	BaseVersion uint64

	list    []Edit
	problem *Error
}

// An Edit adds, replaces or removes one polygon.
type Edit struct {
	number  int // of the field of carom.v1.Edit
	id      uint64
	polygon []byte // a message carom.v1.Polygon
}

const editAdd, editReplace, editRemove = 1, 2, 3

// Add adds a polygon, whose id is not in the scene. Columns are copied.
func (e *GroupEdits) Add(polygon Polygon) { e.append(editAdd, polygon) }

// Replace replaces the polygon of the same id. Columns are copied.
func (e *GroupEdits) Replace(polygon Polygon) { e.append(editReplace, polygon) }

// Remove removes the polygon with an id.
func (e *GroupEdits) Remove(id uint64) {
	if e != nil {
		e.list = append(e.list, Edit{number: editRemove, id: id})
	}
}

// Len returns the number of edits.
func (e *GroupEdits) Len() int {
	if e == nil {
		return 0
	}
	return len(e.list)
}

// Reset removes the edits.
func (e *GroupEdits) Reset() {
	if e == nil {
		return
	}
	clear(e.list)
	*e = GroupEdits{list: e.list[:0]}
}

func (e *GroupEdits) append(number int, polygon Polygon) {
	if e == nil {
		return
	}
	if err := polygon.check(fmt.Sprintf("edits[%d]", len(e.list))); err != nil && e.problem == nil {
		e.problem = err
	}
	var w writer
	polygon.put(&w)
	e.list = append(e.list, Edit{number, polygon.ID, w.bytes()})
}

func (e *GroupEdits) isGiven() bool { return len(e.list) != 0 || e.ID != "" }

func (e *GroupEdits) prepare() {
	if e.ID == "" && len(e.list) != 0 {
		e.ID = newEditID()
	}
}

func (e *GroupEdits) put(w *writer) {
	putEdits(w, 3, e.list)
	w.uint64(2, e.BaseVersion)
	w.text(1, e.ID)
}

func putEdits(w *writer, number int, edits []Edit) {
	for i := len(edits) - 1; i >= 0; i-- {
		mark, edit := w.mark(), &edits[i]
		if edit.number == editRemove {
			w.varint(edit.id) // a member of a oneof, as in put of Group
			w.tag(editRemove, wireVarint)
		} else {
			w.blob(edit.number, edit.polygon)
		}
		w.message(number, mark)
	}
}

// newEditID returns 128 random bits, which no other edits have.
func newEditID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // it does not fail where Go runs
	return hex.EncodeToString(bits[:])
}
