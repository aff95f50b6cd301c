// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const testTimeout = 60 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// A caromd is a server that a test kills, and starts again at the same address.
type caromd struct {
	t       testing.TB
	folder  string
	options []string
	address string
	command *exec.Cmd
	stderr  *os.File
}

// startServer starts the caromd of CAROMD_BINARY. Without it the test skips, and fails if CI=true.
func startServer(t testing.TB, options ...string) *caromd {
	t.Helper()
	return startServerAt(t, "127.0.0.1:0", options...)
}

func startServerAt(t testing.TB, address string, options ...string) *caromd {
	t.Helper()
	made := &caromd{t: t, folder: t.TempDir(), options: options, address: address}
	made.start()
	t.Cleanup(made.kill)
	return made
}

func program(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set", variable)
		}
		t.Skipf("%s is not set", variable)
	}
	return path
}

func (s *caromd) start() {
	s.t.Helper()
	arguments := append([]string{"--address", s.address, "--admin-address", "off", "--state-dir", s.folder}, s.options...)
	if !slices.Contains(s.options, "--store") {
		arguments = append(arguments, "--store", "memory")
	}
	s.command = exec.Command(program(s.t, "CAROMD_BINARY"), arguments...)
	stderr, err := os.Create(filepath.Join(s.folder, "stderr"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.command.Stderr, s.stderr = stderr, stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "caromd listening on "); found {
			s.address = address
			go s.keepOutput(lines)
			return
		}
	}
	text, _ := os.ReadFile(stderr.Name())
	s.t.Fatalf("caromd does not listen: %s", text)
}

// keepOutput writes what the server prints after its address to the file stdout.
func (s *caromd) keepOutput(lines *bufio.Scanner) {
	file, err := os.Create(filepath.Join(s.folder, "stdout"))
	if err != nil {
		return
	}
	defer file.Close()
	for lines.Scan() {
		_, _ = fmt.Fprintln(file, lines.Text())
	}
}

// kill ends the server as a crash does.
func (s *caromd) kill() {
	if s.command != nil {
		_ = s.command.Process.Kill()
		_ = s.command.Wait()
		_ = s.stderr.Close()
		s.command = nil
	}
}

// terminate lets the server drain, as systemd and Kubernetes do.
func (s *caromd) terminate() { _ = s.command.Process.Signal(syscall.SIGTERM) }

// stop lets the server drain, and waits for its end.
func (s *caromd) stop() {
	s.t.Helper()
	s.terminate()
	if err := s.command.Wait(); err != nil {
		s.t.Errorf("caromd ends with %v", err)
	}
	_ = s.stderr.Close()
	s.command = nil
}

// freeze stops the process in its tracks: its sockets stay open, and it answers nothing until thaw.
func (s *caromd) freeze() {
	s.t.Helper()
	if err := s.command.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	for state := byte(0); state != 'T'; {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
		if err != nil {
			return // no such file where there is no Linux: the signal takes effect soon
		}
		state = data[bytes.LastIndexByte(data, ')')+2]
	}
}

func (s *caromd) thaw() { _ = s.command.Process.Signal(syscall.SIGCONT) }

func dial(t testing.TB, addresses string, options ...Option) *Client {
	t.Helper()
	client, err := Dial(testContext(t), addresses, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// square returns a square of side 2 around (x, 0).
func square(id uint64, x float64) Polygon { return Rectangle(id, x-1, -1, x+1, 1) }

// arena registers scenes/arena: squares with the ids 1 to 5 at x = 10, 20, ... 50.
func arena(t testing.TB, client *Client) Scene {
	t.Helper()
	var polygons []Polygon
	for i := uint64(1); i <= 5; i++ {
		polygons = append(polygons, square(i, 10*float64(i)))
	}
	scene, err := client.ImportScene(testContext(t), "scenes/arena", polygons, true)
	if err != nil {
		t.Fatal(err)
	}
	return scene
}

// bullets makes a frame of segments along the x axis, of which number i hits polygon i%5 + 1.
func bullets(frame *Frame, scene string, n int) {
	frame.Reset()
	group := frame.Group(scene)
	for i := 0; i < n; i++ {
		x := 10 * float64(i%5+1)
		group.Segments.Add(x-5, 0, x, 0)
	}
}

// checkBullets returns what is wrong with the answer to bullets.
func checkBullets(answer *FrameAnswer, n int) error {
	group := answer.Group(0)
	if err := group.Err(); err != nil {
		return err
	}
	if group.Segments.Len() != n {
		return fmt.Errorf("%d items", group.Segments.Len())
	}
	for i := 0; i < n; i++ {
		hits := group.Segments.Hits(i)
		if len(hits) != 1 || hits[0].PolygonID != uint64(i%5+1) || hits[0].Fraction != 0.8 {
			return fmt.Errorf("bullet %d has the hits %v", i, hits)
		}
	}
	return nil
}
