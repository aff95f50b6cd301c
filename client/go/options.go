// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

type options struct {
	tls         *tls.Config
	roots       *x509.CertPool
	token       string
	tokenFile   string
	credentials credentials.PerRPCCredentials
	callTimeout time.Duration
	keepalive   time.Duration
	pingTimeout time.Duration // of keepalive
	maxReceive  int
	problem     *Error
}

// An Option changes how Dial connects.
type Option func(*options)

// WithTLS connects by TLS; a certificate of the client is one of the configuration's. nil: the
// certificate authorities of the system.
func WithTLS(config *tls.Config) Option {
	return func(o *options) {
		if config == nil {
			config = new(tls.Config)
		}
		o.tls = config.Clone()
	}
}

// WithCAFile connects by TLS to servers whose certificates are signed by an authority of a file in
// PEM. Dial returns InvalidArgument naming `ca_file` if it has none.
func WithCAFile(path string) Option {
	return func(o *options) {
		data, err := os.ReadFile(path)
		if err != nil {
			o.problem = &Error{Code: InvalidArgument, Field: "ca_file", Message: "cannot be read: " + err.Error(), cause: err}
			return
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data) {
			o.problem = refuse("ca_file", "has no certificate in PEM")
			return
		}
		o.roots = pool
	}
}

// WithToken gives each call a token: one word of printable ASCII. Without TLS, servers must be on
// this machine.
func WithToken(token string) Option {
	return func(o *options) {
		if o.token = token; !isToken(token) {
			o.problem = refuse("token", "is no token, one word of printable ASCII")
		}
	}
}

// WithTokenFile gives each call the token in a file, which is read again when it has changed. A
// file that cannot be used after a change leaves the token as it was.
func WithTokenFile(path string) Option {
	return func(o *options) {
		if o.tokenFile = path; path == "" {
			o.problem = refuse("token_file", "is an empty path")
		}
	}
}

// WithPerRPCCredentials gives each call the credentials of gRPC's interface.
func WithPerRPCCredentials(given credentials.PerRPCCredentials) Option {
	return func(o *options) {
		if o.credentials = given; given == nil {
			o.problem = refuse("credentials", "are nil")
		}
	}
}

// WithCallTimeout is the timeout of calls whose context has no deadline; 30 s unless given, 0: none.
// Streams and watches have no timeout.
func WithCallTimeout(timeout time.Duration) Option {
	return func(o *options) {
		if o.callTimeout = timeout; timeout < 0 {
			o.problem = refuse("call_timeout", "is %v; at least 0 is accepted", timeout)
		}
	}
}

// WithKeepalive is the time without data after which the client pings the server, 60 s unless given;
// 0: never. A server takes pings at intervals below 10 s as an attack: 10 s is the least.
func WithKeepalive(interval time.Duration) Option {
	return func(o *options) {
		if o.keepalive = interval; interval != 0 && interval < 10*time.Second {
			o.problem = refuse("keepalive", "is %v; 0 and at least 10 s are accepted", interval)
		}
	}
}

// WithMaxReceiveBytes is the greatest size of a message that the client accepts; 64 MiB unless given.
func WithMaxReceiveBytes(bytes int) Option {
	return func(o *options) {
		if o.maxReceive = bytes; bytes <= 0 {
			o.problem = refuse("max_receive_bytes", "is %d; above 0 is accepted", bytes)
		}
	}
}

// checkAddresses splits and checks a list of addresses.
func checkAddresses(list string) ([]string, *Error) {
	addresses := strings.Split(list, ",")
	for i, address := range addresses {
		address = strings.TrimSpace(address)
		addresses[i] = address
		if path, isUnix := strings.CutPrefix(address, "unix:"); isUnix && path != "" {
			continue
		}
		host, port, err := net.SplitHostPort(address)
		number, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || portErr != nil || number == 0 || host == "" || strings.ContainsAny(host, "/ ") {
			return nil, refuse("addresses", "has %q; host:port or unix:PATH, or several of them with commas, are accepted", address)
		}
	}
	return addresses, nil
}

// isOnThisMachine returns whether calls to an address stay on this machine.
func isOnThisMachine(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func isToken(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}

// A bearer is the token of calls, as gRPC's PerRPCCredentials.
type bearer struct {
	file   string
	secure bool

	mu      sync.Mutex
	token   string
	changed time.Time
	size    int64
}

func newBearer(o *options) (*bearer, *Error) {
	made := &bearer{file: o.tokenFile, token: o.token, secure: o.tls != nil}
	if o.tokenFile == "" {
		return made, nil
	}
	if o.token != "" {
		return nil, refuse("token", "and a file of it are both given; one is accepted")
	}
	if made.refresh(); made.token == "" {
		return nil, refuse("token_file", "cannot be read, or has no token, one word of printable ASCII")
	}
	return made, nil
}

func (b *bearer) refresh() {
	info, err := os.Stat(b.file)
	if err != nil || info.ModTime().Equal(b.changed) && info.Size() == b.size {
		return
	}
	b.changed, b.size = info.ModTime(), info.Size()
	if data, err := os.ReadFile(b.file); err == nil {
		if token := strings.TrimSpace(string(data)); isToken(token) {
			b.token = token
		}
	}
}

// GetRequestMetadata returns the token.
func (b *bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != "" {
		b.refresh()
	}
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity returns whether the token needs TLS: not on this machine.
func (b *bearer) RequireTransportSecurity() bool { return b.secure }
