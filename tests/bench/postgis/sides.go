// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"carom"

	"github.com/jackc/pgx/v5"
)

// A process is a server, whose processor time is read.
type process struct{ id int }

// used returns the processor time that the threads of the process have taken. Threads that end take theirs with them.
func (p process) used() time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.id))
	total := time.Duration(0)
	for _, thread := range threads {
		var each int64
		if data, err := os.ReadFile(thread); err == nil {
			_, _ = fmt.Sscan(string(data), &each)
		}
		total += time.Duration(each)
	}
	return total
}

// A service is caromd, asked over one stream.
type service struct {
	process
	client *carom.Client
	stream *carom.Stream
	frame  carom.Frame
}

func dialCarom(ctx context.Context, address string, id int) (*service, error) {
	client, err := carom.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	stream, err := client.OpenStream(ctx, carom.StreamOptions{})
	return &service{process: process{id}, client: client, stream: stream}, err
}

func (s *service) load(ctx context.Context, made *scene) error {
	_, err := s.client.ImportScene(ctx, "scenes/"+made.name, made.polygons, true)
	return err
}

func (s *service) ask(ctx context.Context, q *question, made *scene, items [][]float64, ids []found) ([]found, error) {
	s.frame.Reset()
	q.ask(s.frame.Group("scenes/"+made.name), items)
	answer, err := s.stream.Do(ctx, &s.frame)
	if err != nil {
		return nil, err
	}
	defer answer.Release()
	group := answer.Group(0)
	if err := group.Err(); err != nil {
		return nil, err
	}
	for i := range items[0] {
		ids = q.rows(ids, group, i)
	}
	return ids, nil
}

func (s *service) replace(ctx context.Context, made *scene, polygons []carom.Polygon) error {
	edits := new(carom.GroupEdits)
	for _, polygon := range polygons {
		edits.Replace(polygon)
	}
	_, err := s.client.CommitEdits(ctx, "scenes/"+made.name, edits)
	return err
}

// A database is PostgreSQL with PostGIS, asked over one connection by prepared statements in the binary protocol.
type database struct {
	process
	conn *pgx.Conn
}

func dialPostGIS(ctx context.Context, settings string) (*database, error) {
	conn, err := pgx.Connect(ctx, settings)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS postgis")
	return &database{process{int(conn.PgConn().PID())}, conn}, err
}

func (d *database) text(ctx context.Context, sql string) (text string, err error) {
	err = d.conn.QueryRow(ctx, sql).Scan(&text)
	return text, err
}

// load makes the table of a scene in place of the one before.
func (d *database) load(ctx context.Context, made *scene) error {
	for _, sql := range []string{"DROP TABLE IF EXISTS polygons",
		"CREATE TABLE polygons (id bigint PRIMARY KEY, shape geometry NOT NULL)",
		"CREATE TEMPORARY TABLE incoming (id bigint, bytes bytea)"} {
		if _, err := d.conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	rows := pgx.CopyFromSlice(len(made.polygons), func(i int) ([]any, error) {
		return []any{int64(made.polygons[i].ID), wellKnown(&made.polygons[i])}, nil
	})
	if _, err := d.conn.CopyFrom(ctx, pgx.Identifier{"incoming"}, []string{"id", "bytes"}, rows); err != nil {
		return err
	}
	for _, sql := range []string{"INSERT INTO polygons SELECT id, ST_GeomFromWKB(bytes) FROM incoming", "DROP TABLE incoming",
		"CREATE INDEX ON polygons USING gist (shape)", "VACUUM ANALYZE polygons"} {
		if _, err := d.conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// wellKnown returns a polygon of one ring in WKB, https://www.ogc.org/standard/sfa/.
func wellKnown(polygon *carom.Polygon) []byte {
	ring := &polygon.Rings[0]
	made := binary.LittleEndian.AppendUint32([]byte{1}, 3) // little endian, a polygon
	made = binary.LittleEndian.AppendUint32(made, 1)
	made = binary.LittleEndian.AppendUint32(made, uint32(len(ring.X)+1))
	for i := 0; i <= len(ring.X); i++ { // the first vertex is repeated at the end
		corner := i % len(ring.X)
		made = binary.LittleEndian.AppendUint64(made, math.Float64bits(ring.X[corner]))
		made = binary.LittleEndian.AppendUint64(made, math.Float64bits(ring.Y[corner]))
	}
	return made
}

// askJoined asks all items by one statement over arrays.
func (d *database) askJoined(ctx context.Context, q *question, items [][]float64, ids []found) ([]found, error) {
	arguments := make([]any, len(items))
	for i := range items {
		arguments[i] = items[i]
	}
	rows, err := d.conn.Query(ctx, q.joined(len(items)), arguments...)
	if err != nil {
		return nil, err
	}
	var item, id int64
	_, err = pgx.ForEachRow(rows, []any{&item, &id}, func() error {
		ids = append(ids, found{int(item) - 1, id})
		return nil
	})
	return ids, err
}

// askOneByOne asks by a statement for each item, all of which are sent before the first answer is read.
func (d *database) askOneByOne(ctx context.Context, q *question, items [][]float64, ids []found) ([]found, error) {
	sql := q.one(len(items))
	batch := new(pgx.Batch)
	for i := range items[0] {
		arguments := make([]any, len(items))
		for column := range items {
			arguments[column] = items[column][i]
		}
		batch.Queue(sql, arguments...)
	}
	results := d.conn.SendBatch(ctx, batch)
	for i := range items[0] {
		rows, err := results.Query()
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		var id int64
		if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			ids = append(ids, found{i, id})
			return nil
		}); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return ids, results.Close()
}

func (d *database) replace(ctx context.Context, polygons []carom.Polygon) error {
	ids, shapes := make([]int64, len(polygons)), make([][]byte, len(polygons))
	for i := range polygons {
		ids[i], shapes[i] = int64(polygons[i].ID), wellKnown(&polygons[i])
	}
	_, err := d.conn.Exec(ctx, `UPDATE polygons SET shape = ST_GeomFromWKB(given.bytes)
		FROM unnest($1::bigint[], $2::bytea[]) AS given(id, bytes) WHERE polygons.id = given.id`, ids, shapes)
	return err
}
