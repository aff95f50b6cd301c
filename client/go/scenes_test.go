// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// checkError fails unless an error has a code and names a field first.
func checkError(t testing.TB, what string, err error, code Code, field string) {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != code || failed.Field != field {
		t.Errorf("%s: %v, not %v of %q", what, err, code, field)
	}
}

func TestScenesAreListedPageByPage(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	if scenes, err := client.ListScenes(ctx); err != nil || len(scenes) != 0 {
		t.Errorf("%+v, %v", scenes, err)
	}
	for _, name := range []string{"scenes/c", "scenes/a", "scenes/e", "scenes/b", "scenes/d"} {
		if made, err := client.CreateScene(ctx, name, nil); err != nil || made.Bounds != nil || made.PolygonCount != 0 {
			t.Fatalf("a scene without polygons is %+v, %v", made, err)
		}
	}
	for _, size := range []int32{1, 2, 5, 1000} {
		scenes, err := client.listScenes(ctx, size)
		if err != nil || len(scenes) != 5 {
			t.Fatalf("pages of %d: %+v, %v", size, scenes, err)
		}
		for i, scene := range scenes {
			if scene.Name != "scenes/"+string(rune('a'+i)) || scene.Bounds != nil {
				t.Errorf("pages of %d: scene %d is %+v", size, i, scene)
			}
		}
	}
	address := startPeer(t, func(stream grpc.ServerStream) error {
		if err := stream.RecvMsg(new(payload)); err != nil {
			return err
		}
		return stream.SendMsg(&caromv1.ListScenesResponse{NextPageToken: "again"})
	})
	if _, err := dial(t, address).ListScenes(ctx); !errors.Is(err, Internal) {
		t.Errorf("a server whose pages have no end: %v", err)
	}
}

func TestCommitEditsMakesAllOrNone(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	arena(t, client)
	before, err := client.ExportScene(ctx, "scenes/arena", 0)
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.GetScene(ctx, "scenes/arena", 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		fill  func(*GroupEdits)
		code  Code
		field string
	}{
		"an old base":                {func(e *GroupEdits) { e.BaseVersion = 1 << 40; e.Remove(1) }, Aborted, "base_version"},
		"an id that is there":        {func(e *GroupEdits) { e.Remove(1); e.Add(square(2, 0)) }, AlreadyExists, "edits[1].add.id"},
		"a polygon to remove":        {func(e *GroupEdits) { e.Remove(1); e.Remove(99) }, NotFound, "edits[1].remove"},
		"a polygon to replace":       {func(e *GroupEdits) { e.Add(square(6, 0)); e.Replace(square(99, 0)) }, NotFound, "edits[1].replace.id"},
		"an id twice":                {func(e *GroupEdits) { e.Remove(1); e.Remove(1) }, InvalidArgument, "edits[1].remove"},
		"a number that is no number": {func(e *GroupEdits) { e.Remove(1); e.Add(square(9, math.NaN())) }, InvalidArgument, "edits[1].add.rings[0].x[0]"},
		"columns of unequal length": {func(e *GroupEdits) {
			e.Remove(1)
			e.Add(Polygon{ID: 9, Rings: []Ring{{X: []float64{1}}}})
		}, InvalidArgument, "edits[1].rings[0].y"},
		"a ring without vertices": {func(e *GroupEdits) { e.Add(Polygon{ID: 9, Rings: []Ring{{}}}) }, InvalidArgument, "edits[0].add.rings[0]"},
	} {
		edits := new(GroupEdits)
		test.fill(edits)
		_, err := client.CommitEdits(ctx, "scenes/arena", edits)
		checkError(t, name, err, test.code, test.field)
	}
	after, err := client.ExportScene(ctx, "scenes/arena", 0)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%+v, %v", after, err)
	}
	if now, err := client.GetScene(ctx, "scenes/arena", 0); err != nil || !reflect.DeepEqual(now, made) {
		t.Errorf("%+v, %v", now, err)
	}
}

// A bundle is that of the version, whole; its bytes begin as docs/bundle.md says.
func TestABundleIsExported(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	check := func(want Scene) {
		t.Helper()
		bundle, scene, err := client.ExportBundle(ctx, "scenes/arena", want.Version)
		if err != nil || !reflect.DeepEqual(scene, want) {
			t.Fatalf("%+v, %v", scene, err)
		}
		if uint64(len(bundle)) < 64*want.PolygonCount || !bytes.HasPrefix(bundle, []byte("\x89CAROM\r\n")) {
			t.Errorf("%d bytes", len(bundle))
		}
	}
	check(arena(t, client))
	edits := new(GroupEdits)
	for i := range 4000 {
		edits.Add(square(uint64(100+i), float64(9*i)))
	}
	second, err := client.CommitEdits(ctx, "scenes/arena", edits)
	if err != nil {
		t.Fatal(err)
	}
	check(second)
	_, _, err = client.ExportBundle(ctx, "scenes/none", 0)
	checkError(t, "no scene", err, NotFound, "name")
	_, _, err = client.ExportBundle(ctx, "scenes/arena", 1<<40)
	checkError(t, "no version", err, OutOfRange, "version")
}

// A commit whose answer is lost is sent again, and made once.
func TestACommitWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	ctx := testContext(t)
	server := startServer(t)
	direct := dial(t, server.address)
	first := arena(t, direct).Version
	proxy := startProxy(t, server.address, neverCut)
	client := dial(t, proxy.address())
	proxy.withholds.Store(true)
	edits := new(GroupEdits)
	edits.Add(square(9, 0))
	var committed Scene
	var err error
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		committed, err = client.CommitEdits(ctx, "scenes/arena", edits)
	}()
	eventually(t, "the server makes the commit", func() bool {
		scene, err := direct.GetScene(ctx, "scenes/arena", 0)
		return err == nil && scene.Version > first
	})
	proxy.withholds.Store(false)
	proxy.cutAll()
	done.Wait()
	versions, listErr := direct.ListSceneVersions(ctx, "scenes/arena")
	if err != nil || listErr != nil || len(versions) != 2 || versions[1].Scene.Version != committed.Version ||
		committed.PolygonCount != 6 || len(versions[1].EditID) != 32 {
		t.Errorf("%+v, %v; the versions %+v, %v", committed, err, versions, listErr)
	}
}

// Calls that may be made twice are repeated within the time of the context; others are not. A server
// that asks for time gets it.
func TestWhichCallsAreRepeated(t *testing.T) {
	var mu sync.Mutex
	calls := map[string][]time.Time{} // deadlines, by method
	var begun []time.Time
	address := startPeer(t, func(stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		deadline, _ := stream.Context().Deadline()
		mu.Lock()
		calls[method] = append(calls[method], deadline)
		begun = append(begun, time.Now())
		isFirst := len(calls[method]) == 1
		mu.Unlock()
		if isFirst {
			return retryInfo(t, codes.Unavailable, 150*time.Millisecond)
		}
		_ = stream.RecvMsg(new(payload))
		return stream.SendMsg(&payload{[]byte{0x0a, 0}}) // an empty scene, or answer
	})
	client := dial(t, address)
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout/2)
	defer cancel()
	wanted, _ := ctx.Deadline()
	edits := new(GroupEdits)
	edits.Remove(1)
	for method, test := range map[string]struct {
		repeated bool
		call     func() error
	}{
		"CommitEdits":   {true, func() error { _, err := client.CommitEdits(ctx, "scenes/a", edits); return err }},
		"GetScene":      {true, func() error { _, err := client.GetScene(ctx, "scenes/a", 0); return err }},
		"CreateScene":   {false, func() error { _, err := client.CreateScene(ctx, "scenes/a", nil); return err }},
		"ImportScene":   {false, func() error { _, err := client.ImportScene(ctx, "scenes/a", nil, true); return err }},
		"ForkScene":     {false, func() error { _, err := client.ForkScene(ctx, "scenes/a", ForkOptions{}); return err }},
		"DeleteScene":   {false, func() error { return client.DeleteScene(ctx, "scenes/a", 0) }},
		"RollbackScene": {false, func() error { _, err := client.RollbackScene(ctx, "scenes/a", 1, 0); return err }},
	} {
		err := test.call()
		mu.Lock()
		deadlines := calls[scenesPath+method]
		if test.repeated && (err != nil || len(deadlines) != 2 || begun[1].Sub(begun[0]) < 150*time.Millisecond) {
			t.Errorf("%s: %v after %d calls", method, err, len(deadlines))
		}
		if !test.repeated && (!errors.Is(err, Unavailable) || asError(err).RetryDelay != 150*time.Millisecond || len(deadlines) != 1) {
			t.Errorf("%s: %v after %d calls", method, err, len(deadlines))
		}
		begun = nil
		for _, deadline := range deadlines { // a call that is repeated has the time that is left
			if off := deadline.Sub(wanted); off > 10*time.Second || off < -10*time.Second {
				t.Errorf("%s: the deadline of a call is off by %v", method, off)
			}
		}
		mu.Unlock()
	}
}

// Polygons come back with all they have.
func TestPolygonsComeBackAsTheyWere(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	var polygons []Polygon
	for _, rule := range []FillRule{FillRuleEvenOdd, FillRuleNonZero} {
		for _, solidity := range []Solidity{SoliditySolid, SolidityBoundary} {
			for i, user := range [][]byte{nil, {0, 255}, make([]byte, 4096)} {
				polygons = append(polygons, Polygon{ID: uint64(len(polygons)), FillRule: rule, Solidity: solidity, UserData: user,
					Category: uint64(i) * (1<<63 + 2), Hidden: i == 0 && solidity == SoliditySolid,
					Rings: []Ring{{X: []float64{0, 1 << 53, 0.1}, Y: []float64{1e-30, -2, math.Pi},
						Open: solidity == SolidityBoundary && i != 1}, {X: []float64{5}, Y: []float64{5}}}})
			}
		}
	}
	polygons = append(polygons, Polygon{ID: math.MaxUint64, FillRule: 1, Solidity: 1, Rings: polygons[0].Rings})
	for name, register := range map[string]func() error{
		"scenes/created":  func() error { _, err := client.CreateScene(ctx, "scenes/created", polygons); return err },
		"scenes/imported": func() error { _, err := client.ImportScene(ctx, "scenes/imported", polygons, false); return err },
		"scenes/edited": func() error {
			edits := new(GroupEdits)
			for i, polygon := range polygons {
				if i == 0 {
					edits.Replace(polygon)
				} else {
					edits.Add(polygon)
				}
			}
			if _, err := client.CreateScene(ctx, "scenes/edited", []Polygon{square(0, 0)}); err != nil {
				return err
			}
			_, err := client.CommitEdits(ctx, "scenes/edited", edits)
			return err
		},
	} {
		if err := register(); err != nil {
			t.Fatal(name, err)
		}
		exported, err := client.ExportScene(ctx, name, 0)
		if err != nil {
			t.Fatal(name, err)
		}
		watch := client.WatchScene(ctx, name, WatchOptions{Polygons: true})
		if !watch.Next() || !reflect.DeepEqual(watch.Update().Polygons, exported) {
			t.Errorf("%s: a watch has other polygons: %v", name, watch.Err())
		}
		watch.Close()
		for i := range exported {
			if !reflect.DeepEqual(exported[i], polygons[i]) {
				t.Errorf("%s: polygon %d has come back as %+v, not %+v", name, i, exported[i], polygons[i])
			}
		}
	}
}

// A scene larger than a message is imported in parts, as a whole: ids are unique over all parts.
func TestImportInParts(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t).address)
	var polygons []Polygon
	for id := uint64(0); id < 80; id++ {
		polygons = append(polygons, roundPolygon(id, 4000)) // 5 MB, in 5 parts
	}
	made, err := client.ImportScene(ctx, "scenes/large", polygons, false)
	if err != nil || made.PolygonCount != 80 || made.VertexCount != 320000 {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := client.CreateScene(ctx, "scenes/small", polygons); !errors.Is(err, ResourceExhausted) {
		t.Errorf("one message of 5 MB: %v", err)
	}
	_, err = client.ImportScene(ctx, "scenes/large", polygons, false)
	checkError(t, "the scene exists", err, AlreadyExists, "name")
	_, err = client.ImportScene(ctx, "scenes/large", append(polygons, square(3, 0)), true)
	checkError(t, "an id of the first part in the last one", err, InvalidArgument, "polygons[80].id")
	spoilt := append([]Polygon(nil), polygons...)
	spoilt[79] = square(79, math.Inf(1))
	_, err = client.ImportScene(ctx, "scenes/large", spoilt, true)
	checkError(t, "a number that is not finite", err, InvalidArgument, "polygons[79].rings[0].x[0]")
	_, err = client.ImportScene(ctx, "scenes/large", append(polygons, Polygon{ID: 90, Rings: []Ring{{Y: []float64{1}}}}), true)
	checkError(t, "columns of unequal length", err, InvalidArgument, "polygons[80].rings[0].y")
	if now, err := client.GetScene(ctx, "scenes/large", 0); err != nil || !reflect.DeepEqual(now, made) {
		t.Errorf("a refused import has changed the scene: %+v, %v", now, err)
	}
	replaced, err := client.ImportScene(ctx, "scenes/large", polygons[1:], true)
	if err != nil || replaced.PolygonCount != 79 || replaced.Version <= made.Version {
		t.Errorf("%+v, %v", replaced, err)
	}
	if empty, err := client.ImportScene(ctx, "scenes/large", nil, true); err != nil || empty.PolygonCount != 0 || empty.Bounds != nil {
		t.Errorf("%+v, %v", empty, err)
	}
}

// Versions of a scene are kept, listed, exported, asked and rolled back to.
func TestHistory(t *testing.T) {
	ctx := testContext(t)
	client := dial(t, startServer(t, "--store", "sqlite").address)
	first := arena(t, client)
	second := commit(t, client, 7)
	if old, err := client.GetScene(ctx, "scenes/arena", first.Version); err != nil || old.PolygonCount != 5 {
		t.Errorf("%+v, %v", old, err)
	}
	if polygons, err := client.ExportScene(ctx, "scenes/arena", first.Version); err != nil || len(polygons) != 5 {
		t.Errorf("%d polygons, %v", len(polygons), err)
	}
	_, err := client.GetScene(ctx, "scenes/arena", 1<<40)
	checkError(t, "a version that is not kept", err, OutOfRange, "version")
	_, err = client.ExportScene(ctx, "scenes/arena", 1<<40)
	checkError(t, "a version that is not kept", err, OutOfRange, "version")
	_, err = client.RollbackScene(ctx, "scenes/arena", first.Version, first.Version)
	checkError(t, "another version is current", err, Aborted, "base_version")
	back, err := client.RollbackScene(ctx, "scenes/arena", first.Version, second)
	if err != nil || back.Version <= second || back.PolygonCount != 5 {
		t.Errorf("%+v, %v", back, err)
	}
	versions, err := client.ListSceneVersions(ctx, "scenes/arena")
	if err != nil || len(versions) != 3 || versions[2].Scene.Version != back.Version || versions[1].Scene.Version != second {
		t.Errorf("%+v, %v", versions, err)
	}
	for name, call := range map[string]func() error{
		"GetScene":          func() error { _, err := client.GetScene(ctx, "scenes/none", 0); return err },
		"ExportScene":       func() error { _, err := client.ExportScene(ctx, "scenes/none", 0); return err },
		"ListSceneVersions": func() error { _, err := client.ListSceneVersions(ctx, "scenes/none"); return err },
		"RollbackScene":     func() error { _, err := client.RollbackScene(ctx, "scenes/none", 1, 0); return err },
		"CommitEdits":       func() error { _, err := client.CommitEdits(ctx, "scenes/none", new(GroupEdits)); return err },
		"DeleteScene":       func() error { return client.DeleteScene(ctx, "scenes/none", 0) },
	} {
		checkError(t, name, call(), NotFound, "name")
	}
}
