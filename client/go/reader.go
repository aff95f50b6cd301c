// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"encoding/binary"
	"math/bits"
	"sort"
)

// blockRows is how many rows are filled column by column: the block stays in the first-level cache
// until all members of its rows are written.
const blockRows = 128

const mostFields = 64 // numbers of fields that are read are below

// fields are the fields of one message: bytes for those with a length, numbers for the others. A
// field that occurs several times is joined, as protobuf does for packed columns and messages.
type fields struct {
	set     uint64 // bit of each number that occurs
	spans   [mostFields][]byte
	numbers [mostFields]uint64
}

func (f *fields) message(number int) (data []byte, there bool) {
	if f.set>>number&1 == 0 {
		return nil, false
	}
	return f.spans[number], true
}

func (f *fields) number(number int) uint64 {
	if f.set>>number&1 == 0 {
		return 0
	}
	return f.numbers[number]
}

func (f *fields) text(number int) string {
	data, _ := f.message(number)
	return string(data)
}

// read reads a message. Calls each with each occurrence of the field `repeated` in place of keeping
// it; 0: there is none. Returns whether the message is well-formed.
func (f *fields) read(data []byte, repeated int, each func([]byte) bool) bool {
	f.set = 0
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return false
		}
		data = data[n:]
		number, size := tag>>3, 0
		var value uint64
		switch tag & 7 {
		case wireVarint:
			if value, size = binary.Uvarint(data); size <= 0 {
				return false
			}
		case wireFixed64:
			size = 8
		case wireFixed32:
			size = 4
		case wireLength:
			length, n := binary.Uvarint(data)
			if n <= 0 || length > uint64(len(data)-n) {
				return false
			}
			data, size = data[n:], int(length)
		default:
			return false
		}
		if size > len(data) {
			return false
		}
		content := data[:size:size]
		data = data[size:]
		switch {
		case number >= mostFields:
		case tag&7 == wireLength && number == uint64(repeated):
			if !each(content) {
				return false
			}
		default:
			f.keep(number, int(tag&7), content, value)
		}
	}
	return true
}

func (f *fields) keep(number uint64, wire int, content []byte, value uint64) {
	again := f.set>>number&1 != 0
	f.set |= 1 << number
	f.numbers[number] = value
	switch {
	case wire == wireVarint || wire == wireFixed32:
		f.spans[number] = nil
	case wire == wireFixed64:
		f.numbers[number] = binary.LittleEndian.Uint64(content)
		f.spans[number] = nil
	case again:
		f.spans[number] = append(append([]byte(nil), f.spans[number]...), content...)
	default:
		f.spans[number] = content
	}
}

// A column is the packed content of a field, read from its beginning to its end.
type column struct {
	data   []byte
	at     int
	absent bool // and may be: each value is 0
}

// isFixed returns whether the column has a value of 8 bytes for each of n rows, or is absent.
func (c *column) isFixed(n int) bool { return c.absent || len(c.data) == 8*n }

// fixed returns the bytes of n values from the row begin on; nil if the column is absent.
func (c *column) fixed(begin, n int) []byte {
	if c.absent {
		return nil
	}
	return c.data[8*begin : 8*(begin+n)]
}

// varints reads the next values; 0 if the column is absent. Returns whether there are as many.
func (c *column) varints(values []uint32) bool {
	if c.absent {
		clear(values)
		return true
	}
	data, at := c.data, c.at
	for i := range values {
		if at >= len(data) {
			return false
		}
		if b := data[at]; b < 0x80 {
			values[i] = uint32(b)
			at++
			continue
		}
		value, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return false
		}
		values[i] = uint32(value)
		at += n
	}
	c.at = at
	return true
}

// isSmall returns whether each of n varints has one byte, or the column is absent. As many bytes as
// varints are one byte for each.
func (c *column) isSmall(n int) bool {
	if c.absent {
		return true
	}
	if len(c.data) != n {
		return false
	}
	const highBits = 0x8080808080808080
	rest := c.data
	for ; len(rest) >= 8; rest = rest[8:] {
		if binary.LittleEndian.Uint64(rest)&highBits != 0 {
			return false
		}
	}
	for _, b := range rest {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

var zeros [blockRows]byte

// bytes returns the next n values of a column that isSmall.
func (c *column) bytes(begin, n int) []byte {
	if c.absent {
		return zeros[:n]
	}
	c.at = begin + n
	return c.data[begin : begin+n]
}

// isDone returns whether all values of a column of varints were read.
func (c *column) isDone() bool { return c.at == len(c.data) }

// A scanner reads the answers to the questions of one kind.
type scanner struct {
	fields fields
	name   string // of the kind, for field paths
	edges  []EdgeRef
	points []ContactPoint
	at     int // the first entry of edges, or of points, that no row has
}

// misfit is the error of a server whose columns do not fit together, or not the questions.
func (s *scanner) misfit(column string) error {
	return &Error{Code: Internal, Field: s.name + "." + column,
		Message: "the answers do not fit the questions or each other"}
}

func (s *scanner) begin(data []byte, a *answers, items, errors int, name string) error {
	s.name = name
	a.items, a.errs = items, a.errs[:0]
	read := s.fields.read(data, errors, func(item []byte) bool { return a.addError(item, name) })
	if !read {
		return s.misfit("errors")
	}
	return nil
}

// column returns a column. One that is absent has values of 0 if its leader is absent, too; a
// leader of 0 means that the column must be there.
func (s *scanner) column(number, leader int) column {
	data, there := s.fields.message(number)
	if !there && leader != 0 {
		if _, led := s.fields.message(leader); !led {
			return column{absent: true}
		}
	}
	return column{data: data}
}

// rows returns the number of rows from a column of 8 bytes a row.
func (s *scanner) rows(number int) (int, bool) {
	data, _ := s.fields.message(number)
	return len(data) / 8, len(data)%8 == 0
}

// haveRows returns whether columns of 8 bytes a row have n rows, before memory is taken for them: a
// server cannot make a client take much more memory than it has sent.
func (s *scanner) haveRows(n int, numbers ...int) bool {
	for _, number := range numbers {
		if data, _ := s.fields.message(number); len(data) != 8*n {
			return false
		}
	}
	return true
}

// sizeOf returns n, or 0 if a column is absent.
func (s *scanner) sizeOf(number, n int) int {
	if _, there := s.fields.message(number); !there {
		return 0
	}
	return n
}

// sum adds a column of counts. Each counted entry takes a byte at least, which bounds the sum.
func (s *scanner) sum(number int) (int, bool) {
	c := s.column(number, 0)
	total := 0
	for at := 0; at < len(c.data); {
		value, n := binary.Uvarint(c.data[at:])
		if n <= 0 || value > uint64(1<<31-1-total) {
			return 0, false
		}
		total += int(value)
		at += n
	}
	return total, total <= s.mostEntries()
}

// mostEntries returns the length of the longest column, which is at least the number of entries.
func (s *scanner) mostEntries() int {
	most := 0
	for set := s.fields.set; set != 0; set &= set - 1 {
		most = max(most, len(s.fields.spans[bits.TrailingZeros64(set)]))
	}
	return most
}

// count reads how many rows each item has. isAny: there may be no rows, and counts of 0 and 1.
func (s *scanner) count(a *answers, rows, number int, isAny bool) bool {
	c := s.column(number, 0)
	if len(c.data) < a.items {
		return false
	}
	a.ends = resize(a.ends, a.items)
	var values [blockRows]uint32
	most, total := uint32(1<<32-1), uint64(0)
	isAny = isAny && rows == 0
	if isAny {
		most = 1
	}
	for begin := 0; begin < a.items; begin += blockRows {
		block := a.ends[begin:min(begin+blockRows, a.items)]
		if !c.varints(values[:len(block)]) {
			return false
		}
		for i, value := range values[:len(block)] {
			if value > most {
				return false
			}
			total += uint64(value)
			block[i] = int32(total)
		}
	}
	return c.isDone() && (isAny || total == uint64(rows))
}

// countMoves reads which items are clear, and how many rows the others have. Returns how many are
// not clear.
func (s *scanner) countMoves(a *MoveAnswers, rows, clear, counts int) (unclear int, fits bool) {
	words := s.column(clear, 0)
	if !words.isFixed((a.items + 63) / 64) {
		return 0, false
	}
	c := s.column(counts, 0)
	a.ends, a.touchOf = resize(a.ends, a.items), resize(a.touchOf, a.items)
	total := uint64(0)
	var value [1]uint32
	for i := range a.ends {
		a.touchOf[i] = -1
		if binary.LittleEndian.Uint64(words.data[i/64*8:])>>(i%64)&1 == 0 {
			if !c.varints(value[:]) {
				return 0, false
			}
			total += uint64(value[0])
			a.touchOf[i] = int32(unclear)
			unclear++
		}
		a.ends[i] = int32(total)
	}
	if beyond := a.items % 64; beyond != 0 {
		last := binary.LittleEndian.Uint64(words.data[len(words.data)-8:])
		fits = last>>beyond == 0
	} else {
		fits = true
	}
	return unclear, fits && c.isDone() && total == uint64(rows)
}

// countSeen reads how many bodies each observer sees, and which ones. Returns the name of a column that
// does not fit, or "".
func (s *scanner) countSeen(a *SeeAnswers, counts, seen int) string {
	words := s.column(seen, 0)
	a.words = 0
	if a.items != 0 {
		a.words = len(words.data) / 8 / a.items
	}
	if !words.isFixed(a.words * a.items) {
		return "seen"
	}
	c := s.column(counts, 0)
	if len(c.data) < a.items {
		return "counts"
	}
	a.ends, a.bits = resize(a.ends, a.items), resize(a.bits, a.words*a.items)
	total := uint64(0)
	var value [1]uint32
	for i := range a.ends {
		number := 0
		for at := i * a.words; at < (i+1)*a.words; at++ {
			a.bits[at] = binary.LittleEndian.Uint64(words.data[8*at:])
			number += bits.OnesCount64(a.bits[at])
		}
		if !c.varints(value[:]) {
			return "counts"
		}
		total += uint64(number)
		if uint64(value[0]) != uint64(number) || total > 1<<31-1 {
			return "seen"
		}
		a.ends[i] = int32(total)
	}
	if !c.isDone() {
		return "counts"
	}
	return ""
}

// list reads an ascending list of some of n items.
func (s *scanner) list(into []uint32, number, n int) ([]uint32, bool) {
	into = into[:0]
	c := s.column(number, 0)
	for c.at < len(c.data) {
		var value [1]uint32
		if !c.varints(value[:]) || uint64(value[0]) >= uint64(n) || len(into) != 0 && into[len(into)-1] >= value[0] {
			return into, false
		}
		into = append(into, value[0])
	}
	return into, true
}

func isListed(list []uint32, item int) bool {
	if len(list) == 0 || item < 0 {
		return false
	}
	at := sort.Search(len(list), func(i int) bool { return uint64(list[i]) >= uint64(item) })
	return at < len(list) && int(list[at]) == item
}

// resize returns a slice of n elements, with the memory of the given one if it suffices. The
// elements have any value.
func resize[T any](slice []T, n int) []T {
	if cap(slice) >= n {
		return slice[:n]
	}
	return make([]T, n, n+n/4)
}
