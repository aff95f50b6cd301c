// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"io"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
)

const chunkVertices = 1 << 16 // of 16 bytes: a chunk has about 1 MiB

// ImportScene registers a scene of any size, in chunks of about 1 MiB; a larger polygon is sent in
// pieces. The scene becomes visible as a whole. replace: a scene of the name gets the polygons as a
// version; without it, such a scene is AlreadyExists.
//
// Errors: as CreateScene.
func (c *Client) ImportScene(ctx context.Context, name string, polygons []Polygon, replace bool) (Scene, error) {
	if err := checkText("name", name); err != nil {
		return Scene{}, err
	}
	if err := checkPolygons(polygons); err != nil {
		return Scene{}, err
	}
	response := new(caromv1.ImportSceneResponse)
	err := c.attempt(ctx, false, func(ctx context.Context, conn *grpc.ClientConn) error {
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, scenesPath+"ImportScene")
		if err != nil {
			return err
		}
		chunker := chunker{name: name, replace: replace, send: func(data []byte) error { return stream.SendMsg(&payload{data}) }}
		// A failed send is the end of the call, whose status RecvMsg returns.
		if err := chunker.all(polygons); err != nil && err != io.EOF {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		return stream.RecvMsg(response)
	})
	return sceneOf(response.GetScene()), err
}

// A chunker writes requests of ImportScene.
type chunker struct {
	name    string
	replace bool
	send    func([]byte) error
	pending []Polygon
	size    int // of pending, in vertices
}

func verticesOf(p *Polygon) int {
	size := 1 + len(p.UserData)/16
	for i := range p.Rings {
		size += len(p.Rings[i].X) + 1
	}
	return size
}

func (c *chunker) all(polygons []Polygon) error {
	for i := range polygons {
		if err := c.add(&polygons[i]); err != nil {
			return err
		}
	}
	return c.flush(false)
}

func (c *chunker) add(p *Polygon) error {
	size := verticesOf(p)
	if c.size+size > chunkVertices && len(c.pending) != 0 {
		if err := c.flush(false); err != nil {
			return err
		}
	}
	if size <= chunkVertices {
		c.pending, c.size = append(c.pending, *p), c.size+size
		return nil
	}
	pieces := piecesOf(p)
	for i, piece := range pieces {
		c.pending, c.size = append(c.pending, piece), chunkVertices
		if i+1 < len(pieces) {
			if err := c.flush(true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *chunker) flush(continues bool) error {
	var w writer
	w.flag(4, continues)
	for i := len(c.pending) - 1; i >= 0; i-- {
		mark := w.mark()
		c.pending[i].put(&w)
		w.message(3, mark)
	}
	if c.replace {
		w.enum(2, int32(caromv1.ImportMode_IMPORT_MODE_REPLACE))
	}
	w.text(1, c.name)
	c.pending, c.size = c.pending[:0], 0
	return c.send(w.bytes())
}

// piecesOf splits a polygon. The first ring of a piece continues the last ring of the piece before;
// an empty one ends it.
func piecesOf(p *Polygon) []Polygon {
	first := *p
	first.Rings = nil
	pieces := []Polygon{first}
	room := chunkVertices
	for _, ring := range p.Rings {
		for at := 0; at == 0 || at < len(ring.X); {
			if room < 2 {
				pieces = append(pieces, Polygon{ID: p.ID})
				room = chunkVertices
				if at == 0 {
					pieces[len(pieces)-1].Rings = []Ring{{}}
				}
			}
			end := min(at+room-1, len(ring.X))
			last := &pieces[len(pieces)-1]
			last.Rings = append(last.Rings, Ring{X: ring.X[at:end], Y: ring.Y[at:end], Open: at == 0 && ring.Open})
			room -= end - at + 1
			if end == at {
				break
			}
			at = end
		}
	}
	return pieces
}

// A joiner joins the chunks of ExportScene and WatchScene.
type joiner struct {
	polygons  []Polygon
	continues bool // the next polygon continues the last one
}

func (j *joiner) add(polygons []*caromv1.Polygon, continues bool) bool {
	for i, each := range polygons {
		made := polygonOf(each)
		if i > 0 || !j.continues {
			j.polygons = append(j.polygons, made)
			continue
		}
		last := &j.polygons[len(j.polygons)-1]
		if last.ID != made.ID || len(last.Rings) == 0 || len(made.Rings) == 0 {
			return false
		}
		ring := &last.Rings[len(last.Rings)-1]
		ring.X, ring.Y = append(ring.X, made.Rings[0].X...), append(ring.Y, made.Rings[0].Y...)
		last.Rings = append(last.Rings, made.Rings[1:]...)
	}
	if j.continues && len(polygons) == 0 || continues && len(j.polygons) == 0 {
		return false
	}
	j.continues = continues
	return true
}

func polygonOf(m *caromv1.Polygon) Polygon {
	made := Polygon{ID: m.GetId(), FillRule: FillRule(m.GetFillRule()), Solidity: Solidity(m.GetSolidity()),
		Category: m.GetCategory(), Hidden: m.Category != nil && m.GetCategory() == 0, UserData: m.GetUserData()}
	for _, ring := range m.GetRings() {
		made.Rings = append(made.Rings, Ring{X: ring.GetX(), Y: ring.GetY(), Open: ring.GetOpen()})
	}
	return made
}
