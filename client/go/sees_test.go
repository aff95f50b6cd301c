// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"math/rand"
	"reflect"
	"testing"
)

// Who sees whom: observers among so many bodies that each of them has several words. Each sees the
// bodies that `carom eval` says.

// placeBodies places discs and stars, some of them at an owner, and returns the line of them.
func placeBodies(random *rand.Rand, group *Group, n int) object {
	ring := star(random, 0, 0, 1.5)
	disc, polygon := group.Bodies.AddShape(Circle(0.75)), group.Bodies.AddShape(PolygonShape(Polygon{Rings: []Ring{ring}}))
	at := [][]float64{}
	for i := 0; i < n; i++ {
		shape, p := []uint32{disc, polygon}[random.Intn(2)], place(random)
		group.Bodies.Add(shape, p[0], p[1])
		owner := uint32(random.Intn(n))
		group.Bodies.Owner = append(group.Bodies.Owner, owner)
		at = append(at, []float64{float64(shape), p[0], p[1], 1, 0, float64(owner)})
	}
	return object{"op": "bodies", "shapes": []object{{"circle": 0.75}, {"rings": ringsOf([]Ring{ring})}}, "at": at}
}

// observe adds observers, and returns their lines.
func observe(random *rand.Rand, sees *Sees, n int) (lines []object) {
	sees.Margin, sees.InsidePolicy = 0.25, []InsidePolicy{InsidePolicyReportStart, InsidePolicyIgnore}[random.Intn(2)]
	inside := map[InsidePolicy]string{InsidePolicyReportStart: "report", InsidePolicyIgnore: "ignore"}[sees.InsidePolicy]
	for i := 0; i < n; i++ {
		p, reach, from, owner := place(random), 5+80*random.Float64(), 6*random.Float64()-3, uint32(random.Intn(200))
		to := from + 0.1 + 5*random.Float64()
		sees.Add(p[0], p[1], reach)
		sees.From, sees.To = append(sees.From, from), append(sees.To, to)
		sees.IgnoreOwner = append(sees.IgnoreOwner, owner)
		lines = append(lines, object{"op": "sees", "p": p, "r": reach, "cone": point{from, to}, "inside": inside,
			"margin": 0.25, "ignore_owner": owner})
	}
	return lines
}

func TestObserversSeeTheBodiesOfEval(t *testing.T) {
	random := rand.New(rand.NewSource(13))
	polygons := randomScene(random, 40)
	client := dial(t, startServer(t).address)
	if _, err := client.ImportScene(testContext(t), "scenes/map", polygons, true); err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, bodies := range []int{1, 63, 64, 65, 200} {
		frame := new(Frame)
		group := frame.Group("scenes/map")
		lines := []object{mapOf(polygons), placeBodies(random, group, bodies)}
		lines = append(lines, observe(random, &group.Sees, repeats(20, 200))...)
		wanted := eval(t, lines)
		answer, err := client.Evaluate(testContext(t), frame)
		if err != nil || answer.Group(0).Err() != nil {
			t.Fatal(err, answer.Group(0).Err())
		}
		sees := &answer.Group(0).Sees
		if sees.Len() != len(wanted) || sees.Errs() != 0 {
			t.Fatalf("%d observers, not %d", sees.Len(), len(wanted))
		}
		for i, want := range wanted {
			if got := plain(t, tellSeen(sees, i)); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %v, not %v", lines[2+i], got, want)
			}
			if got := len(sees.Words(i)); got != (bodies+63)/64 {
				t.Errorf("%d words of %d bodies", got, bodies)
			}
			some += sees.Count(i)
		}
	}
	if some == 0 {
		t.Error("no observer sees a body")
	}
}

// Eyes with numbers are answered as those without, from the memories that a stream has of them.
func TestEyesHaveNumbers(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	stream, err := client.OpenStream(testContext(t), StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	quiet := uint64(0)
	for tick := range 8 {
		frame, plain := new(Frame), new(Frame)
		numbered := frame.Group("scenes/arena")
		for _, asked := range []*Group{numbered, plain.Group("scenes/arena")} {
			for i := range 4 {
				asked.Areas.Add(float64(i)+1e-3*float64(tick), 0.25, 9)
			}
		}
		numbered.Areas.Eye = []uint32{7, 1, 1 << 31, 0}
		warm, err := stream.Do(testContext(t), frame)
		if err != nil || warm.Group(0).Err() != nil {
			t.Fatal(err, warm.Group(0).Err())
		}
		cold, err := client.Evaluate(testContext(t), plain)
		if err != nil {
			t.Fatal(err)
		}
		a, b := &warm.Group(0).Areas, &cold.Group(0).Areas
		if a.Len() != 4 || a.Len() != b.Len() {
			t.Fatalf("%d areas, not %d", a.Len(), b.Len())
		}
		for i := range 4 {
			if a.Seen(i) != b.Seen(i) || a.Count(i) != b.Count(i) {
				t.Errorf("area %d of tick %d is another one", i, tick)
			}
		}
		quiet += warm.Stats.QuietEyes
	}
	if quiet == 0 {
		t.Error("no eye was answered from its memory")
	}
}

// A server refuses observers whose sight bodies would block.
func TestBodiesBlockNoSight(t *testing.T) {
	client := dial(t, startServer(t).address)
	arena(t, client)
	frame := new(Frame)
	group := frame.Group("scenes/arena")
	addBodies(group)
	group.Sees.Add(0, 0, 9)
	group.Sees.Against = AgainstBoth
	answer, err := client.Evaluate(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	checkError(t, "against bodies", answer.Group(0).Err(), InvalidArgument, "sees.against")
}
