// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"math/bits"
	"sort"
	"strconv"
)

// answers are what the answers of all kinds have.
type answers struct {
	items int
	ends  []int32 // by item: the end of its rows
	errs  []itemError
}

type itemError struct {
	index int
	err   *Error
}

// Len returns the number of items, which is that of the question.
func (a *answers) Len() int { return a.items }

// Count returns the number of rows of an item; under CastModeAny, which has no rows unless a detail
// is asked for, 1 for a hit. 0 for an item that does not exist.
func (a *answers) Count(item int) int {
	if item < 0 || item >= len(a.ends) {
		return 0
	}
	if item == 0 {
		return int(a.ends[0])
	}
	return int(a.ends[item] - a.ends[item-1])
}

// Err returns why an item was not answered, as *Error with the path of its column, or nil.
func (a *answers) Err(item int) error {
	at := sort.Search(len(a.errs), func(i int) bool { return a.errs[i].index >= item })
	if at < len(a.errs) && a.errs[at].index == item {
		return a.errs[at].err
	}
	return nil
}

// Errs returns the number of items that were not answered.
func (a *answers) Errs() int { return len(a.errs) }

// span returns the rows of an item, of n rows in all.
func (a *answers) span(item, n int) (begin, end int) {
	if item < 0 || item >= len(a.ends) {
		return 0, 0
	}
	if item > 0 {
		begin = int(a.ends[item-1])
	}
	if end = int(a.ends[item]); end > n || begin > end {
		return 0, 0 // of an answer that was released, and read again
	}
	return begin, end
}

// addError takes a message ItemError.
func (a *answers) addError(data []byte, name string) bool {
	var f fields
	if !f.read(data, 0, nil) {
		return false
	}
	index, code := int(f.number(1)&(1<<32-1)), f.number(2)
	if index >= a.items || code == 0 || code > mostCode || len(a.errs) != 0 && a.errs[len(a.errs)-1].index >= index {
		return false
	}
	path := name + "." + f.text(3)
	a.errs = append(a.errs, itemError{index, &Error{Code: Code(code), Field: itemPath(path, index), Message: f.text(4),
		Fault: ItemFault(f.number(5))}})
	return true
}

// Visible returns whether the two points of an item see each other; false for an item in error.
func (a *SightAnswers) Visible(item int) bool {
	return item >= 0 && item < len(a.seen) && a.seen[item].Visible
}

// Sees returns whether an observer sees a body, by its index in the bodies of the group. false for an
// observer in error, and for one or a body that does not exist.
func (a *SeeAnswers) Sees(observer, body int) bool {
	words := a.Words(observer)
	return body >= 0 && body/64 < len(words) && words[body/64]>>(body%64)&1 != 0
}

// AppendSeen appends the indices of the bodies that an observer sees to a slice, ascending: Count of
// them.
func (a *SeeAnswers) AppendSeen(bodies []int, observer int) []int {
	for i, word := range a.Words(observer) {
		for ; word != 0; word &= word - 1 {
			bodies = append(bodies, 64*i+bits.TrailingZeros64(word))
		}
	}
	return bodies
}

// Words returns the bodies that an observer sees as bits: bit j % 64 of word j / 64 is 1 if it sees body
// j. None for an observer that does not exist. The words are valid until the answer is released.
func (a *SeeAnswers) Words(observer int) []uint64 {
	if observer < 0 || observer >= a.items || observer*a.words+a.words > len(a.bits) {
		return nil
	}
	end := (observer + 1) * a.words
	return a.bits[end-a.words : end : end]
}

// StartsInside returns whether a polygon considered contains the eye of an observer.
func (a *SeeAnswers) StartsInside(observer int) bool {
	return observer >= 0 && observer < len(a.eyes) && a.eyes[observer].StartsInside
}

// Clear returns whether a tracker touches nothing, on a sweep nothing on its path.
func (a *MoveAnswers) Clear(item int) bool {
	return item >= 0 && item < len(a.touchOf) && a.touchOf[item] < 0
}

// FirstTouch returns what a tracker touches first on its path. ok is false for an item that is
// clear, and for moves that are not sweeps.
func (a *MoveAnswers) FirstTouch(item int) (touch FirstTouch, ok bool) {
	if item < 0 || item >= len(a.touchOf) || a.touchOf[item] < 0 || int(a.touchOf[item]) >= len(a.touches) {
		return FirstTouch{}, false
	}
	touch = a.touches[a.touchOf[item]]
	return touch, touch.Touches
}

// QuietRadius returns how far the reference point may move while the answer stays, in the caller's
// unit of length; 0 unless the question asks for it.
func (a *MoveAnswers) QuietRadius(item int) float64 {
	if item < 0 || item >= len(a.radii) {
		return 0
	}
	return a.radii[item].Radius
}

func itemPath(column string, index int) string { return column + "[" + strconv.Itoa(index) + "]" }

// All returns whether the two points of each item see each other.
func (a *SightAnswers) All() []bool {
	made := make([]bool, len(a.seen))
	for i := range made {
		made[i] = a.seen[i].Visible
	}
	return made
}

// Upmost returns the greatest y of the normals that a slide has met: a player stands if it is at
// least a bound of the game, such as 0.7. -1 for an item without legs.
func (a *SlideAnswers) Upmost(item int) float64 {
	up := -1.0
	for _, leg := range a.Legs(item) {
		up = max(up, leg.NormalY)
	}
	return up
}
