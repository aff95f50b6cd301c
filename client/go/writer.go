// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Wire types of protobuf, https://protobuf.dev/programming-guides/encoding/.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireLength  = 2
	wireFixed32 = 5
)

// A writer writes a message from its end to its beginning, so that the length of an inner message
// is known when its head is written, and one pass suffices. Fields are therefore written by
// descending number. The buffer grows as needed and is kept by reset.
type writer struct {
	buf []byte
	at  int // the message is buf[at:]
}

func (w *writer) reset() { w.at = len(w.buf) }

// bytes returns the message, which is valid until the next change of the writer.
func (w *writer) bytes() []byte { return w.buf[w.at:] }

// mark returns a position for message: the number of bytes written.
func (w *writer) mark() int { return len(w.buf) - w.at }

// reserve makes room for n further bytes.
func (w *writer) reserve(n int) {
	if w.at >= n {
		return
	}
	used := len(w.buf) - w.at
	grown := make([]byte, max(2*len(w.buf), used+n, 256))
	copy(grown[len(grown)-used:], w.buf[w.at:])
	w.buf, w.at = grown, len(grown)-used
}

// take returns n bytes in front of the message, which the caller fills.
func (w *writer) take(n int) []byte {
	w.reserve(n)
	w.at -= n
	return w.buf[w.at : w.at+n]
}

func (w *writer) varint(v uint64) {
	if v < 0x80 {
		w.take(1)[0] = byte(v)
		return
	}
	binary.PutUvarint(w.take((bits.Len64(v)+6)/7), v)
}

func (w *writer) tag(number, wire int) { w.varint(uint64(number)<<3 | uint64(wire)) }

// message writes the head of a field whose content was written since mark.
func (w *writer) message(number, mark int) {
	w.varint(uint64(w.mark() - mark))
	w.tag(number, wireLength)
}

func (w *writer) raw(data []byte) { copy(w.take(len(data)), data) }

// blob writes bytes, also if there are none.
func (w *writer) blob(number int, data []byte) {
	w.raw(data)
	w.varint(uint64(len(data)))
	w.tag(number, wireLength)
}

// text writes a string; an empty one is absent.
func (w *writer) text(number int, s string) {
	if s == "" {
		return
	}
	copy(w.take(len(s)), s)
	w.varint(uint64(len(s)))
	w.tag(number, wireLength)
}

// uint64 writes a varint; 0 is absent.
func (w *writer) uint64(number int, v uint64) {
	if v == 0 {
		return
	}
	w.varint(v)
	w.tag(number, wireVarint)
}

func (w *writer) uint(number int, v uint32) { w.uint64(number, uint64(v)) }

// enum writes a value of an enumeration, of which a negative one has ten bytes.
func (w *writer) enum(number int, v int32) { w.uint64(number, uint64(int64(v))) }

func (w *writer) flag(number int, v bool) {
	if v {
		w.uint64(number, 1)
	}
}

// double writes a number; 0 is absent, -0 is not.
func (w *writer) double(number int, v float64) {
	if bits := math.Float64bits(v); bits != 0 {
		binary.LittleEndian.PutUint64(w.take(8), bits)
		w.tag(number, wireFixed64)
	}
}

// mask writes a word; 0 is absent.
func (w *writer) mask(number int, v uint64) {
	if v != 0 {
		w.word(number, v)
	}
}

// word writes a word, also 0.
func (w *writer) word(number int, v uint64) {
	binary.LittleEndian.PutUint64(w.take(8), v)
	w.tag(number, wireFixed64)
}

// doubles writes a column; an empty one is absent. So do words and varints.
func (w *writer) doubles(number int, column []float64) {
	if len(column) == 0 {
		return
	}
	data := w.take(8 * len(column))
	for i, v := range column {
		binary.LittleEndian.PutUint64(data[8*i:8*i+8], math.Float64bits(v))
	}
	w.varint(uint64(len(data)))
	w.tag(number, wireLength)
}

// floats writes a column of floats that hold the numbers exactly.
func (w *writer) floats(number int, column []float64) {
	if len(column) == 0 {
		return
	}
	data := w.take(4 * len(column))
	for i, v := range column {
		binary.LittleEndian.PutUint32(data[4*i:4*i+4], math.Float32bits(float32(v)))
	}
	w.varint(uint64(len(data)))
	w.tag(number, wireLength)
}

func (w *writer) words(number int, column []uint64) {
	if len(column) == 0 {
		return
	}
	data := w.take(8 * len(column))
	for i, v := range column {
		binary.LittleEndian.PutUint64(data[8*i:8*i+8], v)
	}
	w.varint(uint64(len(data)))
	w.tag(number, wireLength)
}

func (w *writer) varints(number int, column []uint32) {
	if len(column) == 0 {
		return
	}
	mark := w.mark()
	w.reserve(5 * len(column))
	for i := len(column) - 1; i >= 0; i-- {
		if v := column[i]; v < 0x80 {
			w.at--
			w.buf[w.at] = byte(v)
		} else {
			w.varint(uint64(v))
		}
	}
	w.message(number, mark)
}

func (w *writer) shapes(number int, shapes []Shape) {
	for i := len(shapes) - 1; i >= 0; i-- {
		w.blob(number, shapes[i].data)
	}
}

// polygons writes shapes that are polygons as a list of polygons: the bytes of a Shape that is a
// polygon are those of a list of one polygon with the number 1.
func (w *writer) polygons(_ int, shapes []Shape) {
	for i := len(shapes) - 1; i >= 0; i-- {
		w.raw(shapes[i].data)
	}
}
