// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How fast does caromd answer beside PostgreSQL with PostGIS, for a program in Go that asks both over Unix sockets?
//
//	postgis OUT CAROM PID SETTINGS [--quick] [FILTER]
//
// CAROM is the address of caromd, PID its process, SETTINGS those of the connection to PostgreSQL. Both sides take turns
// with the same items, which are others in each round. Printed are, for each way to ask, the median time from a call to
// its last row, and the mean processor time that the server takes for it, which other work on the machine changes less:
// that of all threads of caromd, and of the backend of PostgreSQL. Both sides answer by ids of polygons, which are
// compared. FILTER is part of a scene and a question, such as walls/meet.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"carom"
)

// A run is the two sides, and what is printed of them.
type run struct {
	carom  *service
	peer   *database
	quick  bool
	filter string
	table  strings.Builder
}

const (
	mostRounds  = 1000
	leastRounds = 3
	budget      = 3 * time.Second // of the rounds of one row, unless leastRounds take longer
)

var sizes = []int{1, 256, 4096}

// warmUp is how many rounds are not counted: PostgreSQL keeps the plan of a statement from its sixth call on.
func warmUp(size int) int {
	switch size {
	case 1:
		return 10
	case 256:
		return 1
	}
	return 0
}

func main() {
	if err := program(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func program(arguments []string) error {
	if len(arguments) < 4 {
		return errors.New("usage: postgis OUT CAROM PID SETTINGS [--quick] [FILTER]")
	}
	ctx := context.Background()
	r := new(run)
	for _, argument := range arguments[4:] {
		if argument == "--quick" {
			r.quick = true
		} else {
			r.filter = argument
		}
	}
	id, err := strconv.Atoi(arguments[2])
	if err != nil {
		return err
	}
	if r.carom, err = dialCarom(ctx, arguments[1], id); err != nil {
		return err
	}
	if r.peer, err = dialPostGIS(ctx, arguments[3]); err != nil {
		return err
	}
	version, err := r.peer.text(ctx, "SELECT split_part(version(), ' (', 1) || ', PostGIS ' || PostGIS_Lib_Version() || ', GEOS ' || PostGIS_GEOS_Version()")
	if err != nil {
		return err
	}
	fmt.Println(version)
	r.print("scene/question", "items", "carom us", "joined us", "each us", "carom cpu", "joined cpu", "each cpu", "rounds", "ids", "differ")
	count, rooms := 100_000, 100
	if r.quick {
		count, rooms = 2_500, 10
	}
	for _, made := range []*scene{dense(count), walls(rooms)} {
		if err := r.scene(ctx, made); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(arguments[0], "results.tsv"), []byte(r.table.String()), 0o644)
}

func (r *run) print(cells ...any) {
	for i, cell := range cells {
		text := fmt.Sprint(cell)
		if number, ok := cell.(float64); ok {
			text = fmt.Sprintf("%.1f", number)
		}
		if i == 0 {
			fmt.Printf("%-20s", text)
		} else {
			fmt.Printf(" %11s", text)
			r.table.WriteByte('\t')
		}
		r.table.WriteString(text)
	}
	fmt.Println()
	r.table.WriteByte('\n')
}

func (r *run) scene(ctx context.Context, made *scene) error {
	loaded := false
	for _, each := range append(questions(), question{name: "replace", most: 256}) {
		if !strings.Contains(made.name+"/"+each.name, r.filter) {
			continue
		}
		if !loaded {
			if err := r.load(ctx, made); err != nil {
				return err
			}
			loaded = true
		}
		for _, size := range sizes {
			if size > each.most || r.quick && size > 256 {
				continue
			}
			var err error
			if each.ask != nil {
				err = r.question(ctx, made, &each, size)
			} else {
				err = r.replace(ctx, made, size)
			}
			if err != nil {
				return fmt.Errorf("%s/%s, %d items: %w", made.name, each.name, size, err)
			}
		}
	}
	return nil
}

func (r *run) load(ctx context.Context, made *scene) error {
	begun := time.Now()
	if err := r.carom.load(ctx, made); err != nil {
		return err
	}
	ours := time.Since(begun)
	begun = time.Now()
	if err := r.peer.load(ctx, made); err != nil {
		return err
	}
	theirs := time.Since(begun)
	r.print(made.name+"/load", len(made.polygons), micros(ours), micros(theirs), "-", "-", "-", "-", 1, "-", "-")
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// rounds calls `each` with rounds from below 0 on, of which those below 0 are not counted.
func (r *run) rounds(size int, each func(round int) error) (int, error) {
	var begun time.Time
	for round := -warmUp(size); ; round++ {
		if round == 0 {
			begun = time.Now()
		}
		if round >= mostRounds || round >= leastRounds && (r.quick || time.Since(begun) > budget) {
			return round, nil
		}
		if err := each(round); err != nil {
			return 0, err
		}
	}
}

// A way is one of the ways to ask.
type way struct {
	process
	ask   func(items [][]float64, ids []found) ([]found, error)
	ids   []found
	times []time.Duration
	used  time.Duration
}

func (w *way) cells() (wall, cpu float64) {
	return micros(median(w.times)), micros(w.used) / float64(len(w.times))
}

func (w *way) run(items [][]float64, counts bool) error {
	used, begun := w.process.used(), time.Now()
	ids, err := w.ask(items, w.ids[:0])
	if w.ids = ids; counts {
		w.times = append(w.times, time.Since(begun))
		w.used += w.process.used() - used
	}
	return err
}

func (r *run) question(ctx context.Context, made *scene, q *question, size int) error {
	ways := []*way{
		{process: r.carom.process, ask: func(items [][]float64, ids []found) ([]found, error) { return r.carom.ask(ctx, q, made, items, ids) }},
		{process: r.peer.process, ask: func(items [][]float64, ids []found) ([]found, error) { return r.peer.askJoined(ctx, q, items, ids) }},
		{process: r.peer.process, ask: func(items [][]float64, ids []found) ([]found, error) { return r.peer.askOneByOne(ctx, q, items, ids) }},
	}
	random, total, differ := newRandom(7), 0, 0
	rounds, err := r.rounds(size, func(round int) error {
		items := q.items(made, random, size)
		for i := range ways {
			if err := ways[(i+round+warmUp(size))%len(ways)].run(items, round >= 0); err != nil {
				return err
			}
		}
		for _, each := range ways {
			slices.SortFunc(each.ids, func(a, b found) int { return cmp.Or(a.item-b.item, cmp.Compare(a.id, b.id)) })
		}
		total += len(ways[0].ids)
		differ += max(differences(ways[0].ids, ways[1].ids), differences(ways[0].ids, ways[2].ids))
		return nil
	})
	if err != nil {
		return err
	}
	ours, oursCPU := ways[0].cells()
	joined, joinedCPU := ways[1].cells()
	single, singleCPU := ways[2].cells()
	r.print(made.name+"/"+q.name, size, ours, joined, single, oursCPU, joinedCPU, singleCPU, rounds, total, differ)
	return nil
}

// differences returns how many elements of two ascending lists are in one of them alone.
func differences(a, b []found) int {
	count := 0
	for len(a) != 0 && len(b) != 0 {
		switch order := cmp.Or(a[0].item-b[0].item, cmp.Compare(a[0].id, b[0].id)); {
		case order == 0:
			a, b = a[1:], b[1:]
			continue
		case order < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
		count++
	}
	return count + len(a) + len(b)
}

// replace moves polygons a little, durably: both return when the change is on the disk.
func (r *run) replace(ctx context.Context, made *scene, size int) error {
	random := newRandom(11)
	var ours, theirs []time.Duration
	var oursCPU, theirsCPU time.Duration
	rounds, err := r.rounds(size, func(round int) error {
		first, dx := random.IntN(len(made.polygons)-size), between(random, -0.01, 0.01)
		var polygons []carom.Polygon
		for _, polygon := range made.polygons[first : first+size] {
			x := slices.Clone(polygon.Rings[0].X)
			for i := range x {
				x[i] += dx
			}
			polygon.Rings = []carom.Ring{{X: x, Y: polygon.Rings[0].Y}}
			polygons = append(polygons, polygon)
		}
		carom, peer, begun := r.carom.used(), r.peer.used(), time.Now()
		if err := r.carom.replace(ctx, made, polygons); err != nil {
			return err
		}
		middle := time.Now()
		if err := r.peer.replace(ctx, polygons); err != nil {
			return err
		}
		if round >= 0 {
			ours, theirs = append(ours, middle.Sub(begun)), append(theirs, time.Since(middle))
			oursCPU, theirsCPU = oursCPU+r.carom.used()-carom, theirsCPU+r.peer.used()-peer
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.print(made.name+"/replace", size, micros(median(ours)), micros(median(theirs)), "-",
		micros(oursCPU)/float64(rounds), micros(theirsCPU)/float64(rounds), "-", rounds, "-", "-")
	return nil
}
