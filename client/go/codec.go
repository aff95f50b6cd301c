// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// A payload is a message as bytes, for gRPC. What is sent must not change until the server has
// answered: gRPC writes it later.
type payload struct{ data []byte }

// wireCodec passes payloads on as they are, and other messages by the protobuf library.
type wireCodec struct{}

// Name is that of the content type application/grpc+proto.
func (wireCodec) Name() string { return "proto" }

func (wireCodec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *payload:
		return mem.BufferSlice{mem.SliceBuffer(v.data)}, nil
	case proto.Message:
		data, err := proto.Marshal(v)
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(data)}, nil
	}
	return nil, fmt.Errorf("carom: %T is no message", v)
}

func (wireCodec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *payload:
		v.data = resize(v.data, data.Len())
		data.CopyTo(v.data)
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), v)
	}
	return fmt.Errorf("carom: %T is no message", v)
}
