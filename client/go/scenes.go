// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
)

// A Scene is the summary of one version of a scene.
type Scene struct {
	Name         string // scenes/{scene}
	Version      uint64
	PolygonCount uint64
	VertexCount  uint64
	Bounds       *Bounds // the least box with all vertices; nil: there is no polygon
	Base         string  // of a fork: the scene that it was made from
	BaseVersion  uint64  // of a fork
}

// Bounds are a closed axis-aligned box.
type Bounds struct{ MinX, MinY, MaxX, MaxY float64 }

// A SceneVersion is one version in the history of a scene.
type SceneVersion struct {
	Scene   Scene
	EditID  string
	Created time.Time
}

// ForkOptions say how ForkScene makes a fork.
type ForkOptions struct {
	Version uint64        // of the base; 0: the current one
	Name    string        // scenes/{scene}; empty: the server chooses one
	Lease   time.Duration // without use, after which the server deletes the fork, in seconds; 0: 60 s
}

func sceneOf(m *caromv1.Scene) Scene {
	made := Scene{Name: m.GetName(), Version: m.GetVersion(), PolygonCount: m.GetPolygonCount(),
		VertexCount: m.GetVertexCount(), Base: m.GetBase(), BaseVersion: m.GetBaseVersion()}
	if b := m.GetBounds(); b != nil {
		made.Bounds = &Bounds{b.GetMinX(), b.GetMinY(), b.GetMaxX(), b.GetMaxY()}
	}
	return made
}

func checkPolygons(polygons []Polygon) *Error {
	for i := range polygons {
		if err := polygons[i].check(fmt.Sprintf("polygons[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// CreateScene registers a scene by one message of at most 4 MiB; ImportScene has no such bound.
//
// Errors: AlreadyExists; InvalidArgument for a malformed name or polygon, or an id that occurs
// twice; ResourceExhausted over a limit of the server.
func (c *Client) CreateScene(ctx context.Context, name string, polygons []Polygon) (Scene, error) {
	if err := checkText("name", name); err != nil {
		return Scene{}, err
	}
	if err := checkPolygons(polygons); err != nil {
		return Scene{}, err
	}
	var w writer
	for i := len(polygons) - 1; i >= 0; i-- {
		mark := w.mark()
		polygons[i].put(&w)
		w.message(2, mark)
	}
	w.text(1, name)
	response := new(caromv1.CreateSceneResponse)
	err := c.call(ctx, "CreateScene", false, &payload{w.bytes()}, response)
	return sceneOf(response.GetScene()), err
}

// GetScene returns the summary of a version of a scene; 0: the current version.
//
// Errors: NotFound; OutOfRange if the version is not in the history.
func (c *Client) GetScene(ctx context.Context, name string, version uint64) (Scene, error) {
	response := new(caromv1.GetSceneResponse)
	err := c.call(ctx, "GetScene", true, &caromv1.GetSceneRequest{Name: name, Version: version}, response)
	return sceneOf(response.GetScene()), err
}

// ListScenes returns all scenes by ascending name, read page by page. A scene that is registered or
// deleted meanwhile may or may not be among them.
func (c *Client) ListScenes(ctx context.Context) ([]Scene, error) {
	return c.listScenes(ctx, 1000)
}

func (c *Client) listScenes(ctx context.Context, pageSize int32) ([]Scene, error) {
	var scenes []Scene
	request := &caromv1.ListScenesRequest{PageSize: pageSize}
	for {
		response := new(caromv1.ListScenesResponse)
		if err := c.call(ctx, "ListScenes", true, request, response); err != nil {
			return nil, err
		}
		for _, scene := range response.GetScenes() {
			scenes = append(scenes, sceneOf(scene))
		}
		last := request.PageToken
		if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
			return scenes, nil
		}
		if request.PageToken == last {
			return nil, malformed("page of scenes")
		}
	}
}

// DeleteScene deletes a scene. With a version other than 0, only if it is current.
//
// Errors: NotFound; Aborted if another version is current.
func (c *Client) DeleteScene(ctx context.Context, name string, version uint64) error {
	err := c.call(ctx, "DeleteScene", false, &caromv1.DeleteSceneRequest{Name: name, Version: version},
		new(caromv1.DeleteSceneResponse))
	if err == nil || errors.Is(err, NotFound) {
		c.forks.remove(name)
	}
	return err
}

// CommitEdits makes all edits, as one version, or none. It is repeated if a server is unavailable;
// the id of the edits makes a server recognize them. An empty id is replaced by one that no other
// edits have.
//
// Errors: NotFound for the scene, or for a polygon to replace or remove; AlreadyExists for a polygon
// to add; Aborted if edits.BaseVersion is neither 0 nor current; InvalidArgument for an id that
// occurs twice; ResourceExhausted over a limit.
func (c *Client) CommitEdits(ctx context.Context, name string, edits *GroupEdits) (Scene, error) {
	if edits == nil {
		return Scene{}, refuse("edits", "are nil")
	}
	if edits.problem != nil {
		return Scene{}, edits.problem
	}
	for field, text := range map[string]string{"name": name, "edit_id": edits.ID} {
		if err := checkText(field, text); err != nil {
			return Scene{}, err
		}
	}
	id := edits.ID
	if id == "" {
		id = newEditID()
	}
	response := new(caromv1.CommitEditsResponse)
	request := &payload{commitRequest(name, edits.BaseVersion, edits.list, id)}
	var on *grpc.ClientConn
	err := c.attempt(ctx, true, func(ctx context.Context, conn *grpc.ClientConn) error {
		on = conn
		return conn.Invoke(ctx, scenesPath+"CommitEdits", request, response)
	})
	if err != nil {
		return Scene{}, err
	}
	c.forks.record(name, edits.list, response.GetScene().GetVersion(), on)
	return sceneOf(response.GetScene()), nil
}

func commitRequest(name string, base uint64, edits []Edit, id string) []byte {
	var w writer
	w.text(4, id)
	putEdits(&w, 3, edits)
	w.uint64(2, base)
	w.text(1, name)
	return w.bytes()
}

// ForkScene makes a fork: a scene that begins as a version of base, and is edited independently, by
// Group.Edits or CommitEdits. A fork is not durable, and exists on one server until it is deleted or
// was not used for its lease. If the server loses it, the streams of this client make it again from
// the edits that the client has sent.
//
// Errors: NotFound; OutOfRange if the version is not kept; AlreadyExists; InvalidArgument for a lease
// that is out of range; ResourceExhausted over a limit.
func (c *Client) ForkScene(ctx context.Context, base string, fork ForkOptions) (Scene, error) {
	if fork.Lease < 0 || fork.Lease%time.Second != 0 {
		return Scene{}, refuse("lease", "is %v; whole seconds are accepted", fork.Lease)
	}
	for field, text := range map[string]string{"base": base, "name": fork.Name} {
		if err := checkText(field, text); err != nil {
			return Scene{}, err
		}
	}
	response := new(caromv1.ForkSceneResponse)
	request := &caromv1.ForkSceneRequest{Base: base, Version: fork.Version, Name: fork.Name,
		LeaseSeconds: uint64(fork.Lease / time.Second)}
	var on *grpc.ClientConn
	err := c.attempt(ctx, false, func(ctx context.Context, conn *grpc.ClientConn) error {
		on = conn
		return conn.Invoke(ctx, scenesPath+"ForkScene", request, response)
	})
	if err != nil {
		return Scene{}, err
	}
	made := sceneOf(response.GetScene())
	c.forks.add(made, response.GetLeaseSeconds(), on)
	return made, nil
}

// ListSceneVersions returns the history of a scene, ascending; the last version is current.
//
// Errors: NotFound.
func (c *Client) ListSceneVersions(ctx context.Context, name string) ([]SceneVersion, error) {
	response := new(caromv1.ListSceneVersionsResponse)
	if err := c.call(ctx, "ListSceneVersions", true, &caromv1.ListSceneVersionsRequest{Name: name}, response); err != nil {
		return nil, err
	}
	var versions []SceneVersion
	for _, each := range response.GetVersions() {
		versions = append(versions, SceneVersion{sceneOf(each.GetScene()), each.GetEditId(), time.UnixMicro(each.GetCreatedUs())})
	}
	return versions, nil
}

// RollbackScene makes a version with the polygons of an older version. base: the version that must
// be current; 0: any. A fork that was rolled back is not made again if its server loses it.
//
// Errors: NotFound; Aborted; OutOfRange if the polygons of the version are not kept.
func (c *Client) RollbackScene(ctx context.Context, name string, version, base uint64) (Scene, error) {
	response := new(caromv1.RollbackSceneResponse)
	err := c.call(ctx, "RollbackScene", false,
		&caromv1.RollbackSceneRequest{Name: name, Version: version, BaseVersion: base}, response)
	if err == nil {
		c.forks.remove(name) // the log has no rollbacks: the fork would be made again with what was rolled back
	}
	return sceneOf(response.GetScene()), err
}

// ExportScene returns the polygons of a version of a scene, by ascending id; 0: the current version.
//
// Errors: NotFound; OutOfRange if the polygons of the version are not kept.
func (c *Client) ExportScene(ctx context.Context, name string, version uint64) ([]Polygon, error) {
	if err := checkText("name", name); err != nil {
		return nil, err
	}
	var made joiner
	request := &caromv1.ExportSceneRequest{Name: name, Version: version}
	begin := func() { made = joiner{} }
	err := c.export(ctx, request, begin, func(chunk *caromv1.ExportSceneResponse) bool {
		return made.add(chunk.GetPolygons(), chunk.GetContinues())
	})
	if err == nil && made.continues {
		err = malformed("end of a scene")
	}
	if err != nil {
		return nil, err
	}
	return made.polygons, nil
}

// ExportBundle returns a version of a scene as the bytes of a bundle, which docs/bundle.md describes,
// and its summary, which has the version; 0: the current version.
//
// Errors: NotFound; OutOfRange if the polygons of the version are not kept; ResourceExhausted if the
// server has no memory for the bundle.
func (c *Client) ExportBundle(ctx context.Context, name string, version uint64) ([]byte, Scene, error) {
	if err := checkText("name", name); err != nil {
		return nil, Scene{}, err
	}
	var bundle []byte
	var scene *caromv1.Scene
	request := &caromv1.ExportSceneRequest{Name: name, Version: version, Bundle: true}
	begin := func() { bundle, scene = nil, nil }
	err := c.export(ctx, request, begin, func(chunk *caromv1.ExportSceneResponse) bool {
		if scene == nil {
			scene = chunk.GetScene()
		}
		bundle = append(bundle, chunk.GetBundle()...)
		return scene != nil && len(chunk.GetBundle()) > 0
	})
	if err == nil && scene == nil {
		err = malformed("end of a bundle")
	}
	if err != nil {
		return nil, Scene{}, err
	}
	return bundle, sceneOf(scene), nil
}

// export calls begin when an attempt of ExportScene begins, and take for each chunk; take returns
// false for a chunk that is malformed.
func (c *Client) export(ctx context.Context, request *caromv1.ExportSceneRequest, begin func(),
	take func(*caromv1.ExportSceneResponse) bool,
) error {
	return c.attempt(ctx, true, func(ctx context.Context, conn *grpc.ClientConn) error {
		begin()
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, scenesPath+"ExportScene")
		if err != nil {
			return err
		}
		if err := stream.SendMsg(request); err != nil && err != io.EOF {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		for {
			chunk := new(caromv1.ExportSceneResponse)
			if err := stream.RecvMsg(chunk); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if !take(chunk) {
				return malformed("chunk of a scene")
			}
		}
	})
}
