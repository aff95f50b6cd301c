// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"unicode/utf8"
)

// Limits of one message of a replay, beside those of trackers.
const (
	mostReplaySets   = 16
	mostReplayTicks  = 1024
	mostSetHandle    = 1<<16 - 1
	mostKeepTicks    = 256
	defaultKeepTicks = 64
	mostTick         = 1 << 53
)

// A BodySet is a list of bodies that a server keeps for a stream, or for a fork, with their poses by
// tick. A group asks it in place of Bodies, and each item meets the bodies where they were at its
// own moment, AsOf, also between two ticks: docs/lag-compensation.md. The same definition again
// changes nothing; another one under a handle in use is InvalidArgument.
type BodySet struct {
	// Handle is below 65,536, chosen by the caller.
	Handle uint32
	// Fork is the scene that keeps the set, for all of its streams: each defines the set, with the same
	// handle. Empty: the stream keeps it.
	Fork string
	// Shapes has the shape of body i at the index Shape[i]; without Shape, at i.
	Shapes []Shape
	Shape  []uint32
	// Category of each body is compared with the masks of queries; absent: 1.
	Category []uint64
	// Owner of each body is what IgnoreOwner names; 0, and absent: none.
	Owner []uint32
	// KeepTicks is how many ticks the set keeps, the last that came, in [1, 256]; 0: 64.
	KeepTicks uint32
}

// BodyPoses are the poses of all bodies of a set at one tick. Ticks come in ascending order; one that
// the set keeps may be sent again.
type BodyPoses struct {
	// BodySet is the handle of the set.
	BodySet uint32
	// Tick is in [0, 2^53].
	Tick uint64
	// X and Y are positions, at most 2^52 in magnitude.
	X, Y []float64
	// C and S are cosine and sine of the rotation, or Angle is the rotation in radians: the same in all
	// ticks of a set. Absent: no rotation.
	C, S, Angle []float64
	// Alive says which bodies are alive: no item considers the others. Absent: all.
	Alive []bool
	// Teleported says which bodies do not move from the tick before. Absent: none.
	Teleported []bool
}

// A setDefinition is a BodySet as a message with all columns, which is equal for equal definitions.
type setDefinition struct {
	handle uint32
	fork   string
	keep   int
	shapes int
	data   []byte
}

// A setTick is a BodyPoses as a message.
type setTick struct {
	handle uint32
	tick   uint64
	data   []byte
}

// DefineBodySet defines a body set, which a server does before it adds poses. On a stream it stays
// defined for later frames; without one, it ends with the frame. Columns are copied.
func (f *Frame) DefineBodySet(set BodySet) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	made, err := set.encode(fmt.Sprintf("body_sets[%d]", len(f.sets)))
	f.note(err)
	f.sets = append(f.sets, made)
}

// AddPoses adds a tick to a body set, which a server does before it reads the groups. Columns are
// copied.
func (f *Frame) AddPoses(poses BodyPoses) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	made, err := poses.encode(fmt.Sprintf("poses[%d]", len(f.ticks)))
	f.note(err)
	f.ticks = append(f.ticks, made)
}

// RemoveBodySets removes body sets by their handles, before those of DefineBodySet are defined. The
// set of a fork goes for all of its streams.
func (f *Frame) RemoveBodySets(handles ...uint32) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removedSets = append(f.removedSets, handles...)
}

// note keeps the first error of a definition or of poses, with which the frame is refused.
func (f *Frame) note(err *Error) {
	if f.problem == nil {
		f.problem = err
	}
}

// putBodySets writes the fields of a frame with numbers above 8.
func (f *Frame) putBodySets(w *writer) {
	w.varints(11, f.removedSets)
	for i := len(f.ticks) - 1; i >= 0; i-- {
		w.blob(10, f.ticks[i].data)
	}
	for i := len(f.sets) - 1; i >= 0; i-- {
		w.blob(9, f.sets[i].data)
	}
}

func (s *BodySet) check(path string) *Error {
	bodies := s.bodies()
	if name := checkShapes(s.Shapes, false); name != "" {
		return refuse(path+"."+name, "%s", wrongColumn(name))
	}
	for i, shape := range s.Shape {
		if int(shape) >= len(s.Shapes) {
			return refuse(fmt.Sprintf("%s.shape[%d]", path, i), "is %d; there are %d shapes", shape, len(s.Shapes))
		}
	}
	switch {
	case s.Handle > mostSetHandle:
		return refuse(path+".body_set", "is %d; [0, %d] is accepted", s.Handle, mostSetHandle)
	case s.KeepTicks > mostKeepTicks:
		return refuse(path+".keep_ticks", "is %d; [1, %d] is accepted, and 0", s.KeepTicks, mostKeepTicks)
	case len(s.Category) != 0 && len(s.Category) != bodies:
		return refuse(path+".category", "%s", wrongColumn("category"))
	case len(s.Owner) != 0 && len(s.Owner) != bodies:
		return refuse(path+".owner", "%s", wrongColumn("owner"))
	case !utf8.ValidString(s.Fork):
		return checkText(path+".scene", s.Fork)
	}
	return nil
}

func (s *BodySet) bodies() int {
	if len(s.Shape) != 0 {
		return len(s.Shape)
	}
	return len(s.Shapes)
}

// encode writes a message BodySet. Columns that are absent are written as the numbers that they mean.
func (s *BodySet) encode(path string) (setDefinition, *Error) {
	if err := s.check(path); err != nil {
		return setDefinition{}, err
	}
	shape, category, owner := s.Shape, s.Category, s.Owner
	bodies, keep := s.bodies(), s.KeepTicks
	if len(shape) == 0 {
		shape = make([]uint32, bodies)
		for i := range shape {
			shape[i] = uint32(i)
		}
	}
	if len(category) == 0 {
		category = make([]uint64, bodies)
		for i := range category {
			category[i] = 1
		}
	}
	if len(owner) == 0 {
		owner = make([]uint32, bodies)
	}
	if keep == 0 {
		keep = defaultKeepTicks
	}
	var w writer
	w.uint(8, keep)
	w.varints(7, owner)
	w.words(6, category)
	w.varints(5, shape)
	w.shapes(4, s.Shapes)
	w.text(2, s.Fork)
	w.uint(1, s.Handle)
	return setDefinition{s.Handle, s.Fork, int(keep), len(s.Shapes), bytes.Clone(w.bytes())}, nil
}

func (p *BodyPoses) check(path string) *Error {
	switch {
	case p.BodySet > mostSetHandle:
		return refuse(path+".body_set", "is %d; [0, %d] is accepted", p.BodySet, mostSetHandle)
	case p.Tick > mostTick:
		return refuse(path+".tick", "is %d; [0, 2^53] is accepted", p.Tick)
	}
	bodies := len(p.X)
	for _, each := range []struct {
		name   string
		length int
		absent bool
	}{{"y", len(p.Y), false}, {"c", len(p.C), true}, {"s", len(p.S), true}, {"angle", len(p.Angle), true},
		{"alive", len(p.Alive), true}, {"teleported", len(p.Teleported), true}} {
		if each.length != bodies && (each.length != 0 || !each.absent) {
			return refuse(path+"."+each.name, "%s", wrongColumn(each.name))
		}
	}
	return nil
}

// encode writes a message BodyPoses, in floats if these hold every number.
func (p *BodyPoses) encode(path string) (setTick, *Error) {
	if err := p.check(path); err != nil {
		return setTick{}, err
	}
	columns := [...][]float64{p.X, p.Y, p.C, p.S, p.Angle}
	areFloats := true
	for _, column := range columns {
		areFloats = areFloats && holdsFloats(column)
	}
	var w writer
	if areFloats {
		for i := len(columns) - 1; i >= 0; i-- {
			w.floats(i+1, columns[i])
		}
		w.message(10, 0)
	}
	w.words(9, bitsOf(p.Teleported))
	w.words(8, bitsOf(p.Alive))
	if !areFloats {
		for i := len(columns) - 1; i >= 0; i-- {
			w.doubles(i+3, columns[i])
		}
	}
	w.uint64(2, p.Tick)
	w.uint(1, p.BodySet)
	return setTick{p.BodySet, p.Tick, bytes.Clone(w.bytes())}, nil
}

func holdsFloats(column []float64) bool {
	for _, v := range column {
		if math.Abs(v) > math.MaxFloat32 || float64(float32(v)) != v {
			return false
		}
	}
	return true
}

// bitsOf returns flags as bits: that of body i is bit i % 64 of word i / 64.
func bitsOf(flags []bool) []uint64 {
	words := make([]uint64, (len(flags)+63)/64)
	for i, flag := range flags {
		if flag {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}

// --- What a stream sends again ---

// A keptSet is a body set with the last ticks that were sent, at most as many as it keeps.
type keptSet struct {
	setDefinition
	ticks          []setTick // ascending
	isDefinedAgain bool      // since the newest tick
}

// define takes a definition that the server accepted. A set that is defined again keeps its ticks;
// another definition is that of another set, and the one before has ended, as with its fork.
func (s *session) define(made setDefinition) {
	if known := s.bodySets[made.handle]; known != nil && bytes.Equal(known.data, made.data) {
		known.isDefinedAgain = true
		return
	}
	s.bodySets[made.handle] = &keptSet{setDefinition: made}
}

// add takes a tick that the server accepted. One that is not above the newest one is accepted in
// three cases: it is kept with the same poses; it is below all that are kept, and changes nothing;
// or, if the set was defined again, the fork was made again meanwhile, and its set had no ticks.
func (k *keptSet) add(tick setTick) {
	if n := len(k.ticks); n != 0 && tick.tick <= k.ticks[n-1].tick {
		at := sort.Search(n, func(i int) bool { return k.ticks[i].tick >= tick.tick })
		isSame := k.ticks[at].tick == tick.tick && bytes.Equal(k.ticks[at].data, tick.data)
		if isSame || !k.isDefinedAgain {
			return
		}
		k.ticks = nil
	}
	k.isDefinedAgain = false
	k.ticks = append(k.ticks, tick)
	if len(k.ticks) > k.keep {
		k.ticks = append(k.ticks[:0], k.ticks[1:]...)
	}
}

// dropFork forgets the sets of a fork, which the server has refused.
func (s *session) dropFork(fork string) {
	for handle, set := range s.bodySets {
		if set.fork == fork {
			delete(s.bodySets, handle)
		}
	}
}

// A setFrame is a frame of a replay with sets and ticks of one fork, or of none.
type setFrame struct {
	fork        string
	sets, ticks [][]byte
	bytes       int
	shapes      int
}

func (f *setFrame) isEmpty() bool { return len(f.sets)+len(f.ticks) == 0 }

func (f *setFrame) encode() replayed {
	var w writer
	for i := len(f.ticks) - 1; i >= 0; i-- {
		mark := w.mark()
		w.flag(11, true) // resent
		w.raw(f.ticks[i])
		w.message(10, mark)
	}
	for i := len(f.sets) - 1; i >= 0; i-- {
		w.blob(9, f.sets[i])
	}
	w.message(1, 0)
	return replayed{&payload{w.bytes()}, f.fork}
}

// replayBodySets returns frames that define the body sets, with their ticks.
func (s *session) replayBodySets(limits *StreamLimits) []replayed {
	handles := make([]uint32, 0, len(s.bodySets))
	for handle := range s.bodySets {
		handles = append(handles, handle)
	}
	sort.Slice(handles, func(i, j int) bool { return handles[i] < handles[j] })
	mostBytes, mostShapes := capped(mostReplayBytes, limits.FrameBytes/2), capped(mostReplayBytes, limits.Queries)
	var made []replayed
	var frame setFrame
	room := func(set *keptSet, bytes, shapes int, isFull bool) {
		isFull = isFull || frame.bytes+bytes > mostBytes || frame.shapes+shapes > mostShapes
		if !frame.isEmpty() && (isFull || frame.fork != set.fork) {
			made, frame = append(made, frame.encode()), setFrame{}
		}
		frame.fork = set.fork
		frame.bytes += bytes
		frame.shapes += shapes
	}
	for _, handle := range handles {
		set := s.bodySets[handle]
		room(set, len(set.data), set.shapes, len(frame.sets) >= mostReplaySets)
		frame.sets = append(frame.sets, set.data)
		for _, tick := range set.ticks {
			room(set, len(tick.data)+2, 0, len(frame.ticks) >= mostReplayTicks)
			frame.ticks = append(frame.ticks, tick.data)
		}
	}
	if !frame.isEmpty() {
		made = append(made, frame.encode())
	}
	return made
}
