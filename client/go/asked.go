// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import "strings"

// asked is what the answer to a frame must fit, and what the frame defines on a stream.
type asked struct {
	seq         uint64
	groups      []askedGroup
	removed     []uint32
	definitions []definition
	bound       []binding // of scenes to handles, which the frame makes
	removedSets []uint32
	sets        []setDefinition
	ticks       []setTick
}

type askedGroup struct {
	scene  string
	counts counts
	edits  []Edit
}

// A definition is a tracker of a stream.
type definition struct {
	handle  uint32
	tracker tracker
}

type tracker struct {
	shape  string // a message carom.v1.Shape
	within float64
	mask   uint64 // 0: absent
}

type binding struct {
	scene  string
	handle uint64
}

func (a *asked) reset() {
	clear(a.groups)
	clear(a.sets)
	clear(a.ticks)
	*a = asked{groups: a.groups[:0], removed: a.removed[:0], definitions: a.definitions[:0], bound: a.bound[:0],
		removedSets: a.removedSets[:0], sets: a.sets[:0], ticks: a.ticks[:0]}
}

func (a *asked) add(group *Group) {
	made := askedGroup{scene: group.Scene, counts: group.count()}
	if edits := group.Edits.list; len(edits) != 0 {
		made.edits = append([]Edit(nil), edits...)
	}
	a.groups = append(a.groups, made)
}

func (a *asked) define(q *TrackerDefinitions) {
	for i := 0; i < q.Len(); i++ {
		shape := i
		if len(q.Shape) != 0 {
			shape = int(q.Shape[i])
		}
		if shape >= len(q.Shapes) {
			return // the server refuses the frame
		}
		handle := q.FirstTracker + uint32(i)
		if len(q.Tracker) != 0 {
			handle = q.Tracker[i]
		}
		a.definitions = append(a.definitions, definition{handle,
			tracker{string(q.Shapes[shape].data), q.Within, q.Mask}})
	}
}

// mostBindings is how many handles of scenes a stream may have; groups of further scenes have names.
const mostBindings = 1024

// naming gives scenes handles. nil: each group has the name of its scene.
type naming struct {
	confirmed map[string]uint64 // bound by answered frames of the stream
	chosen    map[string]uint64
	bound     []binding // by the frame that is being written
}

// isSceneName returns whether a server takes the name of a scene. A binding of another one would
// refuse the whole frame; as a name it is an error of its group.
func isSceneName(name string) bool {
	id, found := strings.CutPrefix(name, "scenes/")
	if !found || len(id) == 0 || len(id) > 63 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// bind binds a scene in the frame that is being written, unless an answered frame has bound it.
func (n *naming) bind(scene string) {
	if n == nil || !isSceneName(scene) {
		return
	}
	if _, known := n.confirmed[scene]; known {
		return
	}
	for i := range n.bound {
		if n.bound[i].scene == scene {
			return
		}
	}
	handle, known := n.chosen[scene]
	if !known {
		if len(n.chosen) >= mostBindings {
			return
		}
		handle = uint64(len(n.chosen) + 1)
		n.chosen[scene] = handle
	}
	n.bound = append(n.bound, binding{scene, handle})
}

func (n *naming) handleOf(scene string) (uint64, bool) {
	if n == nil {
		return 0, false
	}
	handle, known := n.chosen[scene]
	return handle, known
}

func (n *naming) put(w *writer) {
	if n != nil {
		putBindings(w, n.bound)
	}
}

func putBindings(w *writer, bound []binding) {
	for i := len(bound) - 1; i >= 0; i-- {
		mark := w.mark()
		w.text(2, bound[i].scene)
		w.uint64(1, bound[i].handle)
		w.message(3, mark)
	}
}
