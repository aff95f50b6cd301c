// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A Code is the kind of an Error, a code of gRPC. A Code is an error itself, for
// errors.Is: errors.Is(err, carom.NotFound).
type Code uint32

// The codes, with the numbers of gRPC.
const (
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	AlreadyExists      Code = 6
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	DataLoss           Code = 15
	Unauthenticated    Code = 16
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// String returns the name of the code as gRPC spells it, such as NOT_FOUND.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("CODE_%d", uint32(c))
}

// Error returns the name of the code.
func (c Code) Error() string { return c.String() }

// A Violation names one offending field.
type Violation struct {
	Field       string // path inside the request, frame or group
	Description string // the allowed range, as text for people
}

// An Error is why a call, a frame, a group or an item failed. Every error of this package that is
// not io.EOF is one, or wraps one: use errors.As.
type Error struct {
	Code       Code
	Field      string        // path of the first offending field, or empty
	Message    string        // what is wrong, as text for people
	Violations []Violation   // at most 16
	RetryDelay time.Duration // after which the same request may succeed; 0: not known
	Fault      ItemFault     // of an item of a question; 0: of anything else
	cause      error
}

// Error returns the code, the field path and what is wrong.
func (e *Error) Error() string {
	if e == nil {
		return "OK"
	}
	if e.Field != "" {
		return fmt.Sprintf("carom: %v: %s: %s", e.Code, e.Field, e.Message)
	}
	return fmt.Sprintf("carom: %v: %s", e.Code, e.Message)
}

// Is returns whether target is the code of the error.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && e != nil && code == e.Code
}

// Unwrap returns the error of the context or of the system that caused this one, or nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

const (
	mostViolations = 16
	mostCode       = 1 << 16
	mostDelay      = 24 * time.Hour
)

// makeError returns the error of a status. The first violation is its field path.
func makeError(code Code, message string, violations []Violation, delay time.Duration) *Error {
	if len(violations) > mostViolations {
		violations = violations[:mostViolations]
	}
	made := &Error{Code: code, Message: message, Violations: violations}
	if len(violations) != 0 {
		made.Field = violations[0].Field
		made.Message = strings.TrimPrefix(message, made.Field+": ")
	}
	if delay > 0 {
		made.RetryDelay = min(delay, mostDelay)
	}
	return made
}

func refuse(field, format string, arguments ...any) *Error {
	return &Error{Code: InvalidArgument, Field: field, Message: fmt.Sprintf(format, arguments...)}
}

// checkText returns what is wrong with a text that protobuf does not take: a server cannot read the
// message then, and ends the call.
func checkText(field, text string) *Error {
	if utf8.ValidString(text) {
		return nil
	}
	return refuse(field, "is not UTF-8")
}

// contextError returns the error of a context that is done.
func contextError(ctx context.Context) *Error {
	cause := ctx.Err()
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Error{Code: DeadlineExceeded, Message: "the deadline of the context passed", cause: cause}
	}
	return &Error{Code: Canceled, Message: "the context was cancelled", cause: cause}
}

// asError returns an error of this package as *Error.
func asError(err error) *Error {
	var found *Error
	if errors.As(err, &found) {
		return found
	}
	return &Error{Code: Internal, Message: err.Error(), cause: err}
}

// Must returns value, or panics if err is not nil: for examples, tests and programs that cannot go
// on.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
