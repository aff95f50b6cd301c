// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
)

// How a stream goes on: it has at most one call at a time. Frames wait in `unanswered` until their
// answers arrive; the first `sent` of them were written to the call. The goroutine of run opens the
// calls and writes; one for each call reads, and has ended before the next call begins.

const (
	framesInFlight = 16 // of a server that states no limit
	mostDoublings  = 7
)

// A flow is the state of the calls of a stream.
type flow struct {
	// The call.
	calls             int              // that were opened
	on                *grpc.ClientConn // the server
	answered          bool             // the call has got an answer, which brings the limits
	replay            []replayed       // that remain to be written
	replayOutstanding []string         // of those without an answer, the fork whose body sets each has
	outstanding       int              // messages that were written and are not answered
	sent              int
	// Calls that broke.
	fault    *Error // an answer that breaks the protocol
	failures int    // calls since the last answer to a frame
	next     time.Time
	giveUp   time.Time // zero: no limit
	last     *Error
}

var streamDesc = &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// isRetryable returns whether another call may succeed after one that ended with an error.
func isRetryable(err *Error) bool {
	switch err.Code {
	case Unavailable, Aborted, Canceled, Internal, Unknown:
		return true
	}
	return err.RetryDelay > 0
}

func (s *Stream) run() {
	server := int(s.client.servers.current.Load())
	for {
		err := s.restoreForks(server)
		if err == nil {
			err = s.call(server)
		}
		end, ended := s.afterCall(err, server)
		if !ended {
			server = int(s.client.servers.current.Load())
			end, ended = s.awaitAttempt()
		}
		if ended {
			s.end(end)
			return
		}
	}
}

func (s *Stream) restoreForks(server int) *Error {
	if s.flow.calls == 0 {
		return nil
	}
	return s.client.forks.restore(s.ctx, s.client.servers.conns[server])
}

// call makes one call, and returns the error with which it ended.
func (s *Stream) call(server int) *Error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	connected := func() bool { return true } // in time
	conn := s.client.servers.conns[server]
	if giveUp := s.beginCall(conn); !giveUp.IsZero() {
		// A host that drops packets does not hold the stream longer.
		connected = time.AfterFunc(time.Until(giveUp), cancel).Stop
	}
	conn.ResetConnectBackoff()
	stream, err := conn.NewStream(ctx, streamDesc, queriesPath+"Stream")
	if !connected() && s.ctx.Err() == nil {
		return s.flow.last
	}
	if err != nil {
		return callError(ctx, err)
	}
	over := make(chan *Error, 1)
	go func() {
		err := s.readAll(ctx, stream)
		cancel()
		over <- err
	}()
	for {
		message, isLast := s.nextMessage()
		switch {
		case message != nil:
			if stream.SendMsg(message) != nil {
				return <-over // which has the status of the call
			}
		case isLast:
			_ = stream.CloseSend() // its error is that of the call
			return <-over
		default:
			select {
			case err := <-over:
				return err
			case <-s.wake:
			}
		}
	}
}

// beginCall lets the call send all frames without answers.
func (s *Stream) beginCall(on *grpc.ClientConn) (giveUp time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flow
	f.calls++
	f.on = on
	f.answered, f.outstanding, f.replayOutstanding, f.sent = false, 0, nil, 0
	f.replay = s.session.replay(&s.limits)
	return f.giveUp
}

// nextMessage returns what is written next, or nil. isLast: nothing is written any more.
func (s *Stream) nextMessage() (message *payload, isLast bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flow
	most := s.limits.FramesInFlight
	if most == 0 {
		most = framesInFlight
	}
	// The first answer brings the limits of the server: before, it gets one message.
	if f.outstanding > 0 && (!f.answered || f.outstanding >= most) {
		return nil, false
	}
	if len(f.replay) > 0 {
		next := f.replay[0]
		f.replay, f.replayOutstanding = f.replay[1:], append(f.replayOutstanding, next.fork)
		f.outstanding++
		return next.payload, false
	}
	if f.sent < len(s.unanswered) {
		frame := s.unanswered[f.sent]
		frame.calls++
		f.sent++
		f.outstanding++
		return &frame.request, false
	}
	return nil, s.finished
}

// readAll reads the answers of a call, and returns the error with which it ended; nil: none.
func (s *Stream) readAll(ctx context.Context, stream grpc.ClientStream) *Error {
	var message payload
	d := decoderPool.Get().(*decoder)
	defer decoderPool.Put(d)
	for {
		if err := stream.RecvMsg(&message); err == io.EOF {
			return nil
		} else if err != nil {
			return callError(ctx, err)
		}
		if err := s.takeResponse(d, message.data); err != nil {
			return err
		}
		signal(s.wake)
	}
}

// takeResponse takes a message of the call. It returns an error if the call is of no further use.
func (s *Stream) takeResponse(d *decoder, data []byte) *Error {
	frame, fork, err := s.answeredFrame(d, data)
	if err != nil {
		return s.setFault(err)
	}
	answer := newAnswer()
	if frame == nil { // the answer to a message of the replay
		var nothing asked
		if err := d.response(data, &nothing, answer); err != nil {
			return s.setFault(asError(err))
		}
		if answer.err == nil || isRetryable(answer.err) {
			return answer.err
		}
		if fork == "" {
			return s.setFault(answer.err)
		}
		s.dropFork(fork)
		return nil
	}
	if err := d.response(data, &frame.asked, answer); err != nil {
		return s.setFault(asError(err))
	}
	s.deliver(frame, answer)
	return nil
}

// dropFork forgets the body sets of a fork that has other sets. The server keeps the sets of a fork
// that does not exist until it does.
func (s *Stream) dropFork(fork string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session.dropFork(fork)
	left := s.flow.replay[:0]
	for _, each := range s.flow.replay {
		if each.fork != fork {
			left = append(left, each)
		}
	}
	s.flow.replay = left
}

// answeredFrame takes the limits of a response, and returns the frame that it answers; nil: a message
// of the replay, with the fork whose body sets that has.
func (s *Stream) answeredFrame(d *decoder, data []byte) (frame *sentFrame, fork string, err *Error) {
	if !d.outer.read(data, 0, nil) {
		return nil, "", malformed("response")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flow
	if limits, there := d.outer.message(2); there && !s.limits.decode(limits) {
		return nil, "", malformed("response")
	}
	if !f.answered && f.calls > 1 {
		s.reconnects++
	}
	f.answered = true
	if len(f.replayOutstanding) > 0 {
		fork, f.replayOutstanding = f.replayOutstanding[0], f.replayOutstanding[1:]
		f.outstanding--
		return nil, fork, nil
	}
	if f.sent == 0 {
		return nil, "", &Error{Code: Internal, Message: "the server answered a frame that was not sent"}
	}
	return s.unanswered[0], "", nil
}

func (s *Stream) setFault(err *Error) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flow.fault = err
	return err
}

// deliver passes the answer of the oldest frame to the call of Recv or Do that waits for it.
func (s *Stream) deliver(frame *sentFrame, answer *FrameAnswer) {
	f := &s.flow
	s.client.forks.recordAnswer(&frame.asked, answer, f.on) // f.on changes between calls alone
	s.client.forks.removeMissing(&frame.asked, answer, f.on)
	s.mu.Lock()
	s.unanswered = append(s.unanswered[:0], s.unanswered[1:]...)
	f.sent--
	f.outstanding--
	f.failures, f.giveUp = 0, time.Time{}
	if answer.err == nil {
		s.session.apply(&frame.asked)
	}
	if frame.done != nil {
		frame.done <- answer
	} else {
		s.answers = append(s.answers, answer)
		signal(s.available)
	}
	// gRPC may still read the message of a frame that an earlier call wrote.
	if frame.calls == 1 && len(s.spare) < mostSpareFrames && len(frame.writer.buf) <= mostSpareBytes {
		frame.done = nil
		s.spare = append(s.spare, frame)
	}
	s.mu.Unlock()
	<-s.slots
}

// afterCall decides what follows a call that ended with an error, or nil: the end of the stream, or
// another call.
func (s *Stream) afterCall(err *Error, server int) (end *Error, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flow
	if f.fault != nil {
		return f.fault, true
	}
	allAnswered := s.finished && len(s.unanswered) == 0
	if allAnswered && err == nil {
		return nil, true
	}
	if s.ctx.Err() != nil {
		return s.cancelled(), true
	}
	if err == nil {
		err = &Error{Code: Unavailable, Message: "the server closed the stream before every frame was answered"}
	}
	if allAnswered && isRetryable(err) {
		return nil, true // only the final status was lost
	}
	gaveUp := !f.giveUp.IsZero() && !time.Now().Before(f.giveUp)
	if !isRetryable(err) || gaveUp || s.reconnect < 0 {
		return err, true
	}
	f.last = err
	// A server ends an idle stream with ABORTED, which is no reason to leave the server.
	if err.Code != Aborted {
		s.client.servers.failOver(server)
	}
	wait := time.Duration(0)
	if f.failures > 0 {
		wait = jitter(min(firstPause<<min(f.failures-1, mostDoublings), lastPause))
	}
	f.failures++
	f.next = time.Now().Add(max(wait, err.RetryDelay))
	return nil, false
}

func (s *Stream) cancelled() *Error {
	return &Error{Code: Canceled, Message: "the stream is closed, or its context is done", cause: s.ctx.Err()}
}

// awaitAttempt waits until the next call is due, which is not before there is a frame to send.
func (s *Stream) awaitAttempt() (end *Error, ended bool) {
	for {
		s.mu.Lock()
		f := &s.flow
		isIdle, isFinished := len(s.unanswered) == 0, s.finished
		if !isIdle && f.giveUp.IsZero() {
			f.giveUp = time.Now().Add(s.reconnect)
		}
		wait, last := time.Until(f.next), f.last
		givesUp := !isIdle && !f.next.Before(f.giveUp)
		s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
			return s.cancelled(), true
		case isIdle && isFinished:
			return nil, true
		case givesUp:
			return last, true
		case isIdle:
			select {
			case <-s.wake:
			case <-s.ctx.Done():
			}
		case sleep(s.ctx, wait) == nil:
			return nil, false
		}
	}
}

// end ends the stream; frames without answers fail with its error.
func (s *Stream) end(err *Error) {
	s.mu.Lock()
	s.err = err
	s.unanswered, s.spare = nil, nil
	s.session.trackers, s.session.bodySets = nil, nil
	close(s.ended)
	s.mu.Unlock()
	s.cancel()
}
