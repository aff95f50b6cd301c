// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"io"
	"sync"
	"time"
)

const (
	defaultInFlight  = 8
	mostInFlight     = 1024
	defaultReconnect = 30 * time.Second
	mostSpareFrames  = 16
	mostSpareBytes   = 1 << 20
)

// StreamOptions say how a stream sends.
type StreamOptions struct {
	// InFlight is how many frames may have no answer; Send waits above it. In [1, 1024]; 0: 8.
	InFlight int
	// Reconnect is for how long a broken stream tries to get a frame answered, by any of the servers;
	// 0: 30 s; below 0: not at all.
	Reconnect time.Duration
}

// A Stream sends frames and receives their answers, in order. When its call breaks, because a server
// stops, fails or shuts down, another call defines the scenes, trackers and forks of the stream
// again, and sends the frames without answers again. An answer does not depend on earlier frames, so
// a program gets the answers of a stream that never broke, each once. A group with edits reads the
// version that they made the first time; one without edits and Version reads the current version, with
// edits of frames that were sent after it, if it is sent again.
//
// A Stream is safe for concurrent use. Send and Recv form one order; Do returns the answer to its
// own frame, and Recv does not return it.
type Stream struct {
	client    *Client
	ctx       context.Context
	cancel    context.CancelFunc
	reconnect time.Duration

	slots     chan struct{} // one for each frame without an answer
	wake      chan struct{} // the goroutine that writes has something to do
	available chan struct{} // answers has an entry
	ended     chan struct{} // closed when the stream has ended

	mu         sync.Mutex
	unanswered []*sentFrame
	answers    []*FrameAnswer
	spare      []*sentFrame
	naming     naming
	session    session
	limits     StreamLimits
	reconnects int
	finished   bool   // no further frame is sent
	err        *Error // with which the stream ended; nil: all frames are answered
	flow       flow
}

// A sentFrame is a frame that waits for its answer.
type sentFrame struct {
	asked   asked
	writer  writer
	request payload
	calls   int               // that it was written to
	done    chan *FrameAnswer // of Do; nil: Recv returns the answer
}

// OpenStream opens a stream, which ends with the context or with Close. It returns at once. Streams
// of a client share its connections.
//
// Errors: InvalidArgument for options out of range; FailedPrecondition after Close of the client.
func (c *Client) OpenStream(ctx context.Context, options StreamOptions) (*Stream, error) {
	if c != nil {
		c.opening.Lock()
		defer c.opening.Unlock()
	}
	if problem := c.check(ctx); problem != nil {
		return nil, problem
	}
	if options.InFlight == 0 {
		options.InFlight = defaultInFlight
	}
	if options.InFlight < 1 || options.InFlight > mostInFlight {
		return nil, refuse("in_flight", "is %d; [1, %d] is accepted", options.InFlight, mostInFlight)
	}
	if options.Reconnect == 0 {
		options.Reconnect = defaultReconnect
	}
	made := &Stream{client: c, reconnect: options.Reconnect, slots: make(chan struct{}, options.InFlight),
		wake: make(chan struct{}, 1), available: make(chan struct{}, 1), ended: make(chan struct{})}
	made.session = newSession()
	made.naming = naming{confirmed: made.session.scenes, chosen: map[string]uint64{}}
	made.ctx, made.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, made.cancel)
	c.open.Add(1)
	go func() {
		defer c.open.Done()
		defer stop()
		made.run()
	}()
	return made, nil
}

func (s *Stream) check(ctx context.Context) *Error {
	switch {
	case s == nil || s.client == nil:
		return &Error{Code: FailedPrecondition, Field: "stream", Message: "is nil; make it by OpenStream"}
	case ctx == nil:
		return refuse("ctx", "is nil")
	case ctx.Err() != nil:
		return contextError(ctx)
	}
	return nil
}

// Send sends a frame. It copies the frame, and waits while InFlight frames have no answer.
//
// Errors: InvalidArgument for a frame that is nil, or has columns of unequal length; those of the
// context; FailedPrecondition after Finish; the error with which the stream has ended.
func (s *Stream) Send(ctx context.Context, frame *Frame) error {
	if err := s.send(ctx, frame, nil); err != nil {
		return err
	}
	return nil
}

func (s *Stream) send(ctx context.Context, frame *Frame, done chan *FrameAnswer) *Error {
	if problem := s.check(ctx); problem != nil {
		return problem
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return contextError(ctx)
	case <-s.ended:
		return s.why()
	}
	err := s.queue(frame, done)
	if err != nil {
		<-s.slots
	}
	return err
}

// queue encodes a frame and lets it be written.
func (s *Stream) queue(frame *Frame, done chan *FrameAnswer) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEnded() {
		return s.why()
	}
	if s.finished {
		return &Error{Code: FailedPrecondition, Field: "stream", Message: "is finished"}
	}
	var made *sentFrame
	if n := len(s.spare); n > 0 {
		made, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		made = new(sentFrame)
	}
	s.naming.bound = s.naming.bound[:0]
	if err := frame.encode(&made.writer, &s.naming, &made.asked); err != nil {
		return err
	}
	made.asked.bound = append(made.asked.bound, s.naming.bound...)
	made.request.data, made.calls, made.done = made.writer.bytes(), 0, done
	s.unanswered = append(s.unanswered, made)
	signal(s.wake)
	return nil
}

func (s *Stream) isEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// why returns the error of a stream that has ended.
func (s *Stream) why() *Error {
	if s.err != nil {
		return s.err
	}
	return &Error{Code: FailedPrecondition, Field: "stream", Message: "is finished"}
}

func signal(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// Recv returns the next answer to a frame of Send. A frame that the server refused is no error of
// Recv: see FrameAnswer.Err.
//
// Errors, after all answers that have arrived: io.EOF if the stream ended by Finish; those of the
// context; the error with which the stream has ended.
func (s *Stream) Recv(ctx context.Context) (*FrameAnswer, error) {
	if problem := s.check(ctx); problem != nil {
		return nil, problem
	}
	for {
		if answer := s.take1(); answer != nil {
			return answer, nil
		}
		select {
		case <-s.available:
		case <-ctx.Done():
			return nil, contextError(ctx)
		case <-s.ended:
			if answer := s.take1(); answer != nil {
				return answer, nil
			}
			if s.err == nil {
				return nil, io.EOF
			}
			return nil, s.err
		}
	}
}

// take1 returns the next answer, or nil.
func (s *Stream) take1() *FrameAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil
	}
	answer := s.answers[0]
	s.answers = append(s.answers[:0], s.answers[1:]...)
	if len(s.answers) > 0 {
		signal(s.available)
	}
	return answer
}

// Do sends a frame and returns its answer.
//
// Errors: as Send; the error of a frame that the server refused. After an error of the context, the
// frame may still be answered, also its edits made.
func (s *Stream) Do(ctx context.Context, frame *Frame) (*FrameAnswer, error) {
	done := make(chan *FrameAnswer, 1)
	if err := s.send(ctx, frame, done); err != nil {
		return nil, err
	}
	var answer *FrameAnswer
	select {
	case answer = <-done:
	case <-ctx.Done():
		return nil, contextError(ctx)
	case <-s.ended:
		select {
		case answer = <-done:
		default:
			return nil, s.why()
		}
	}
	if answer.err != nil {
		return nil, answer.err
	}
	return answer, nil
}

// Finish lets no further frame be sent, and waits until every frame is answered or the stream has
// ended. Recv still returns the answers. Returns nil if every frame is answered.
func (s *Stream) Finish(ctx context.Context) error {
	if problem := s.check(ctx); problem != nil {
		return problem
	}
	s.mu.Lock()
	s.finished = true
	s.mu.Unlock()
	signal(s.wake)
	select {
	case <-s.ended:
		if s.err != nil {
			return s.err
		}
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// Close ends the stream at once; calls that wait return Canceled. It returns nil.
func (s *Stream) Close() error {
	if s == nil || s.client == nil {
		return nil
	}
	s.cancel()
	<-s.ended
	return nil
}

// Reconnects returns how often another call has replaced a broken one and got an answer.
func (s *Stream) Reconnects() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reconnects
}

// Limits returns the limits that the server sent last, which are zero before the first answer.
func (s *Stream) Limits() StreamLimits {
	if s == nil {
		return StreamLimits{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits
}
