// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

const (
	defaultCallTimeout = 30 * time.Second
	defaultKeepalive   = time.Minute
	defaultMaxReceive  = 64 << 20
	defaultPingTimeout = 20 * time.Second
	connectTimeout     = 5 * time.Second
	failureTimeout     = 100 * time.Millisecond
	// Pauses between calls that fail one after the other.
	firstPause = 20 * time.Millisecond
	lastPause  = 2 * time.Second
	// For which a call that may be made twice is repeated.
	repeatTime = 6 * time.Second
)

// A Client is a client of one server, or of several servers with the same scenes, of which it uses
// one at a time. It is safe for concurrent use.
type Client struct {
	servers *servers
	forks   forkLog
	timeout time.Duration
	opening sync.Mutex // held while `closed` is set, and while a stream is opened
	closed  atomic.Bool
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	open    sync.WaitGroup // streams
}

// servers are the connections, in the order of the addresses, and which of them is used.
type servers struct {
	conns   []*grpc.ClientConn
	current atomic.Int64
}

// failOver uses the server after `from`, unless another call has done so.
func (s *servers) failOver(from int) {
	s.current.CompareAndSwap(int64(from), int64((from+1)%len(s.conns)))
}

// Dial returns a client of the servers at addresses: `host:port` or `unix:PATH`, or several of them
// separated by commas. It waits until one of them accepts a connection, at most until the context is
// done; without a deadline, for 30 s. So a game server and its side-car may start in any order.
//
// Calls use one server, at first the first of the list. A call that finds it unavailable makes later
// calls use the next one. Calls that may be made twice, which are Evaluate, CommitEdits and all that
// only read, are repeated for about 6 s; streams and watches reconnect by themselves.
//
// Errors: InvalidArgument naming `addresses` or an option; Unavailable if no server accepts a
// connection in time, which says why and wraps the error of the context.
func Dial(ctx context.Context, addresses string, opts ...Option) (*Client, error) {
	if ctx == nil {
		return nil, refuse("ctx", "is nil")
	}
	o := options{callTimeout: defaultCallTimeout, keepalive: defaultKeepalive, pingTimeout: defaultPingTimeout,
		maxReceive: defaultMaxReceive}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	list, problem := checkAddresses(addresses)
	if problem == nil {
		problem = o.problem
	}
	if problem != nil {
		return nil, problem
	}
	dialOptions, problem := o.dialOptions(list)
	if problem != nil {
		return nil, problem
	}
	made := &Client{servers: new(servers), timeout: o.callTimeout}
	made.ctx, made.cancel = context.WithCancel(context.Background())
	for _, address := range list {
		conn, err := grpc.NewClient(targetOf(address), dialOptions...)
		if err != nil {
			_ = made.Close()
			return nil, &Error{Code: InvalidArgument, Field: "addresses", Message: err.Error(), cause: err}
		}
		made.servers.conns = append(made.servers.conns, conn)
	}
	if err := made.servers.connect(ctx); err != nil {
		_ = made.Close()
		return nil, err
	}
	return made, nil
}

// targetOf returns an address as gRPC names it, by which a host is no scheme, even one of its name.
func targetOf(address string) string {
	if strings.HasPrefix(address, "unix:") {
		return address
	}
	return "dns:///" + address
}

func (o *options) dialOptions(addresses []string) ([]grpc.DialOption, *Error) {
	if o.roots != nil {
		if o.tls == nil {
			o.tls = new(tls.Config)
		}
		o.tls.RootCAs = o.roots
	}
	transport := insecure.NewCredentials()
	if o.tls != nil {
		transport = credentials.NewTLS(o.tls)
	}
	made := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: connectTimeout,
			Backoff: backoff.Config{BaseDelay: firstPause, Multiplier: 2, Jitter: 0.5, MaxDelay: lastPause}}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(wireCodec{}), grpc.MaxCallRecvMsgSize(o.maxReceive),
			grpc.MaxCallSendMsgSize(1<<31-1)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
	if o.keepalive > 0 {
		made = append(made, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: o.keepalive, Timeout: o.pingTimeout}))
	}
	if o.credentials != nil {
		if o.tls == nil && o.credentials.RequireTransportSecurity() {
			return nil, refuse("tls", "must be given with these credentials")
		}
		made = append(made, grpc.WithPerRPCCredentials(o.credentials))
	}
	if o.token == "" && o.tokenFile == "" {
		return made, nil
	}
	for _, address := range addresses {
		if o.tls == nil && !isOnThisMachine(address) {
			return nil, refuse("tls", "must be given with a token, unless the server is on this machine")
		}
	}
	token, problem := newBearer(o)
	if problem != nil {
		return nil, problem
	}
	return append(made, grpc.WithPerRPCCredentials(token)), nil
}

// connect waits until a server accepts a connection, and uses it: the first one of the list, unless
// it has refused a connection by then.
func (s *servers) connect(ctx context.Context) error {
	ctx, cancel := withTimeout(ctx, defaultCallTimeout)
	defer cancel()
	results := make(chan result, 3*len(s.conns))
	for i, conn := range s.conns {
		go connectOne(ctx, i, conn, results)
	}
	known := make([]connectivity.State, len(s.conns)) // Idle: not known
	message := "no server accepts a connection"
	for {
		select {
		case each := <-results:
			known[each.server] = each.state
			if each.why != "" {
				message = "no server accepts a connection: " + each.why
			}
		case <-ctx.Done():
			return &Error{Code: Unavailable, Field: "addresses", Message: message, cause: ctx.Err()}
		}
		for i, state := range known {
			if state == connectivity.Ready {
				s.current.Store(int64(i))
				return nil
			}
			if state != connectivity.TransientFailure {
				break
			}
		}
	}
}

// A result is that a server accepts a connection (Ready), or has refused one (TransientFailure).
type result struct {
	server int
	state  connectivity.State
	why    string // a connection was refused, or empty
}

func connectOne(ctx context.Context, server int, conn *grpc.ClientConn, results chan<- result) {
	for hasFailed, isKnown := false, false; ; {
		switch state := conn.GetState(); {
		case state == connectivity.Ready:
			results <- result{server, state, ""}
			return
		case state == connectivity.Shutdown:
			return
		case state == connectivity.TransientFailure && !isKnown && ctx.Err() == nil:
			why := failureOf(ctx, conn)
			if isKnown = why != ""; isKnown || !hasFailed {
				results <- result{server, state, why}
			}
			hasFailed = true
		default:
			conn.Connect()
			if !conn.WaitForStateChange(ctx, state) {
				return
			}
		}
	}
}

// failureOf returns why a connection has failed, such as a certificate of an unknown authority. gRPC
// says so to calls alone, which fail at once before another attempt begins.
func failureOf(ctx context.Context, conn *grpc.ClientConn) string {
	ctx, cancel := context.WithTimeout(ctx, failureTimeout)
	defer cancel()
	err := conn.Invoke(ctx, "/grpc.health.v1.Health/Check", new(payload), new(payload))
	if err == nil || status.Code(err) != codes.Unavailable {
		return ""
	}
	return status.Convert(err).Message()
}

// Close ends the streams of the client at once and closes its connections. Later calls return
// FailedPrecondition. It returns nil; a second call does nothing.
func (c *Client) Close() error {
	if c == nil {
		return nil
	}
	c.opening.Lock()
	isClosed := c.closed.Swap(true)
	c.opening.Unlock()
	if isClosed || c.cancel == nil {
		return nil
	}
	c.cancel()
	c.open.Wait()
	for _, conn := range c.servers.conns {
		_ = conn.Close()
	}
	return nil
}

// check returns why no call can be made, or nil.
func (c *Client) check(ctx context.Context) *Error {
	switch {
	case c == nil || c.servers == nil:
		return &Error{Code: FailedPrecondition, Field: "client", Message: "is nil; make it by Dial"}
	case ctx == nil:
		return refuse("ctx", "is nil")
	case c.closed.Load():
		return &Error{Code: FailedPrecondition, Field: "client", Message: "is closed"}
	case ctx.Err() != nil:
		return contextError(ctx)
	}
	return nil
}

// withTimeout gives a context a timeout, 0: none, unless it has a deadline.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has || timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

const (
	scenesPath  = "/carom.v1.SceneService/"
	queriesPath = "/carom.v1.QueryService/"
)

// attempt makes a call by `make`, on one server after the other. repeats: the call may be made
// twice, and is repeated if a server is unavailable.
func (c *Client) attempt(ctx context.Context, repeats bool, make func(context.Context, *grpc.ClientConn) error) error {
	if problem := c.check(ctx); problem != nil {
		return problem
	}
	ctx, cancel := withTimeout(ctx, c.timeout)
	defer cancel()
	begun, pause := time.Now(), firstPause
	for failed := 1; ; failed++ {
		server := int(c.servers.current.Load())
		err := make(ctx, c.servers.conns[server])
		if err == nil {
			return nil
		}
		why := callError(ctx, err)
		if why.Code != Unavailable {
			return why
		}
		c.servers.failOver(server)
		if !repeats || c.closed.Load() {
			return why
		}
		if failed%len(c.servers.conns) != 0 {
			continue // the next server is asked at once
		}
		wait := max(why.RetryDelay, jitter(pause))
		pause = min(2*pause, lastPause)
		if time.Since(begun)+wait > repeatTime {
			return why
		}
		if err := sleep(ctx, wait); err != nil {
			return why
		}
	}
}

// call makes a unary call of SceneService.
func (c *Client) call(ctx context.Context, method string, repeats bool, request, response any) error {
	if named, ok := request.(interface{ GetName() string }); ok {
		if problem := checkText("name", named.GetName()); problem != nil {
			return problem
		}
	}
	return c.attempt(ctx, repeats, func(ctx context.Context, conn *grpc.ClientConn) error {
		return conn.Invoke(ctx, scenesPath+method, request, response)
	})
}

// jitter shortens a pause by up to half, so that clients do not all return at one time.
func jitter(pause time.Duration) time.Duration {
	return pause/2 + time.Duration(rand.Int63n(int64(pause/2)+1))
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// callError returns the error of a call, with its field path and its delay.
func callError(ctx context.Context, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if cause := ctx.Err(); cause != nil {
		found := contextError(ctx)
		found.Message = fmt.Sprintf("%s: %v", found.Message, status.Convert(err).Message())
		return found
	}
	found := status.Convert(err)
	var violations []Violation
	var delay time.Duration
	for _, detail := range found.Details() {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			for _, each := range detail.GetFieldViolations() {
				violations = append(violations, Violation{each.GetField(), each.GetDescription()})
			}
		case *errdetails.RetryInfo:
			delay = detail.GetRetryDelay().AsDuration()
		}
	}
	made := makeError(Code(found.Code()), found.Message(), violations, delay)
	// The server counts the same deadline, and its answer may arrive before the context is done.
	if deadline, ok := ctx.Deadline(); ok && made.Code == DeadlineExceeded && time.Until(deadline) < time.Second {
		made.cause = context.DeadlineExceeded
	}
	return made
}

// Evaluate returns the answer to one frame. Trackers that the frame defines end with the call.
//
// Errors: InvalidArgument and ResourceExhausted if the frame is refused; those of the context.
// Errors of groups and items are in the answer.
func (c *Client) Evaluate(ctx context.Context, frame *Frame) (*FrameAnswer, error) {
	if problem := c.check(ctx); problem != nil {
		return nil, problem
	}
	one := evaluationPool.Get().(*evaluation)
	if problem := frame.encode(&one.writer, nil, &one.asked); problem != nil {
		evaluationPool.Put(one)
		return nil, problem
	}
	one.request.data = one.writer.bytes()
	var on *grpc.ClientConn
	err := c.attempt(ctx, true, func(ctx context.Context, conn *grpc.ClientConn) error {
		on = conn
		return conn.Invoke(ctx, queriesPath+"Evaluate", &one.request, &one.response)
	})
	if err != nil {
		return nil, err // gRPC may still read the request: its memory is not used again
	}
	defer evaluationPool.Put(one)
	answer := newAnswer()
	if err := one.decoder.response(one.response.data, &one.asked, answer); err != nil {
		return nil, err
	}
	c.forks.recordAnswer(&one.asked, answer, on)
	if answer.err != nil {
		return nil, answer.err
	}
	return answer, nil
}

// An evaluation is the memory of one call of Evaluate.
type evaluation struct {
	writer            writer
	asked             asked
	request, response payload
	decoder           decoder
}

var evaluationPool = sync.Pool{New: func() any { return new(evaluation) }}

// response decodes a response of Evaluate or Stream, which have the answer in the field 1.
func (d *decoder) response(data []byte, asked *asked, into *FrameAnswer) error {
	if !d.outer.read(data, 0, nil) {
		return malformed("response")
	}
	answer, _ := d.outer.message(1)
	return d.decode(answer, asked, into)
}
