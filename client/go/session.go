// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import "sort"

// Limits of one message of a replay, and upper bounds of what a part adds to it.
const (
	mostLists       = 1024
	mostReplayBytes = 1 << 20
	bindingBytes    = 128
	trackerBytes    = 10
	listBytes       = 32
)

// StreamLimits are the limits of a stream, which its server sends with the first answer.
type StreamLimits struct {
	FramesInFlight int    // that the server has read and not yet answered
	FrameBytes     uint64 // 0 of these: not known
	Queries        uint64 // per frame; each beam counts
	Groups         uint64
	AnswerRows     uint64
	WorkUnits      uint64 // 0: no limit
}

func (l *StreamLimits) decode(data []byte) bool {
	var f fields
	if !f.read(data, 0, nil) {
		return false
	}
	*l = StreamLimits{int(min(f.number(1), 1<<20)), f.number(2), f.number(3), f.number(4), f.number(5), f.number(6)}
	return true
}

// A session is what answered frames have defined on a stream, and a new call defines again: handles
// of scenes, body sets with their ticks, and trackers.
type session struct {
	scenes   map[string]uint64
	trackers map[uint32]tracker
	bodySets map[uint32]*keptSet
}

func newSession() session {
	return session{map[string]uint64{}, map[uint32]tracker{}, map[uint32]*keptSet{}}
}

// A replayed is a message of a replay, with the fork whose body sets it has, or an empty name.
type replayed struct {
	*payload
	fork string
}

// apply takes what an accepted frame defines, in the order in which a server does.
func (s *session) apply(asked *asked) {
	for _, each := range asked.bound {
		s.scenes[each.scene] = each.handle
	}
	for _, handle := range asked.removed {
		delete(s.trackers, handle)
	}
	for _, each := range asked.definitions {
		s.trackers[each.handle] = each.tracker
	}
	for _, handle := range asked.removedSets {
		delete(s.bodySets, handle)
	}
	for _, each := range asked.sets {
		s.define(each)
	}
	for _, each := range asked.ticks {
		if set := s.bodySets[each.handle]; set != nil {
			set.add(each)
		}
	}
}

func capped(most, limit uint64) int {
	if limit == 0 {
		return int(most)
	}
	return int(min(most, limit))
}

// replay returns frames, each with seq 0 and without groups, that define the session.
func (s *session) replay(limits *StreamLimits) []replayed {
	var made []replayed
	var bound []binding
	for scene, handle := range s.scenes {
		bound = append(bound, binding{scene, handle})
	}
	sort.Slice(bound, func(i, j int) bool { return bound[i].handle < bound[j].handle })
	room := 1 + capped(mostBindings-1, limits.FrameBytes/bindingBytes)
	for len(bound) > 0 {
		n := min(room, len(bound))
		var w writer
		putBindings(&w, bound[:n])
		w.message(1, 0)
		made, bound = append(made, replayed{&payload{w.bytes()}, ""}), bound[n:]
	}
	made = append(made, s.replayBodySets(limits)...)
	handles := make([]uint32, 0, len(s.trackers))
	for handle := range s.trackers {
		handles = append(handles, handle)
	}
	sort.Slice(handles, func(i, j int) bool { return handles[i] < handles[j] })
	frame := newTrackerFrame(limits)
	for _, handle := range handles {
		if !frame.add(handle, s.trackers[handle]) {
			made = append(made, frame.encode())
			frame = newTrackerFrame(limits)
			frame.add(handle, s.trackers[handle])
		}
	}
	if len(frame.lists) != 0 {
		made = append(made, frame.encode())
	}
	return made
}

// A trackerFrame is a frame of definitions. Trackers with equal mask and distance share a list, and
// in a list those with one shape share it: a thousand equal players are one shape and their handles.
type trackerFrame struct {
	mostLists, mostShapes, mostBytes int
	bytes, shapes                    int
	lists                            []*TrackerDefinitions
	listOf                           map[tracker]int // by mask and distance, without shape
	shapeOf                          map[shapeKey]uint32
}

type shapeKey struct {
	list  int
	shape string
}

func newTrackerFrame(limits *StreamLimits) *trackerFrame {
	return &trackerFrame{mostLists: capped(mostLists, limits.Groups), mostShapes: capped(mostReplayBytes, limits.Queries),
		mostBytes: capped(mostReplayBytes, limits.FrameBytes/2), listOf: map[tracker]int{}, shapeOf: map[shapeKey]uint32{}}
}

// add adds a tracker, or returns false if the frame would be over a limit. An empty frame takes any.
func (f *trackerFrame) add(handle uint32, t tracker) bool {
	key := tracker{within: t.within, mask: t.mask}
	list, hasList := f.listOf[key]
	index, hasShape := f.shapeOf[shapeKey{list, t.shape}]
	hasShape = hasShape && hasList
	bytes := f.bytes + trackerBytes
	if !hasList {
		bytes += listBytes
	}
	if !hasShape {
		bytes += len(t.shape)
	}
	if f.bytes != 0 && (bytes > f.mostBytes || !hasList && len(f.lists) >= f.mostLists || !hasShape && f.shapes >= f.mostShapes) {
		return false
	}
	f.bytes = bytes
	if !hasList {
		list = len(f.lists)
		f.listOf[key] = list
		f.lists = append(f.lists, &TrackerDefinitions{Within: t.within, Mask: t.mask})
	}
	if !hasShape {
		index = f.lists[list].AddShape(Shape{data: []byte(t.shape)})
		f.shapeOf[shapeKey{list, t.shape}] = index
		f.shapes++
	}
	f.lists[list].Add(handle, index)
	return true
}

func (f *trackerFrame) encode() replayed {
	var w writer
	for i := len(f.lists) - 1; i >= 0; i-- {
		mark := w.mark()
		f.lists[i].put(&w)
		w.message(6, mark)
	}
	w.message(1, 0)
	return replayed{&payload{w.bytes()}, ""}
}
