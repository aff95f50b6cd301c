// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func tokenLine(token, tenant, role string) string {
	return fmt.Sprintf("token %x %s %s\n", sha256.Sum256([]byte(token)), tenant, role)
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	fresh := path + ".fresh"
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each tenant has scenes of its own; a reader changes none; a call without a token gets nothing.
func TestTokensTenantsAndRoles(t *testing.T) {
	ctx := testContext(t)
	folder := t.TempDir()
	writer, reader, other := strings.Repeat("w", 40), strings.Repeat("r", 40), strings.Repeat("o", 40)
	file := write(t, filepath.Join(folder, "credentials"),
		tokenLine(writer, "acme", "writer")+tokenLine(reader, "acme", "reader")+tokenLine(other, "other", "writer"))
	server := startServer(t, "--credentials", file)
	stranger := dial(t, server.address)
	if _, err := stranger.ListScenes(ctx); !errors.Is(err, Unauthenticated) {
		t.Errorf("a stranger lists scenes: %v", err)
	}
	stream := open(t, stranger, StreamOptions{})
	if _, err := stream.Do(ctx, new(Frame)); !errors.Is(err, Unauthenticated) {
		t.Errorf("a stranger sends a frame: %v", err)
	}
	writes := dial(t, server.address, WithToken(writer))
	arena(t, writes)
	tokenFile := write(t, filepath.Join(folder, "token"), reader+"\n")
	reads := dial(t, server.address, WithTokenFile(tokenFile))
	frame := new(Frame)
	bullets(frame, "scenes/arena", 3)
	answer, err := open(t, reads, StreamOptions{}).Do(ctx, frame)
	if err != nil || checkBullets(answer, 3) != nil {
		t.Errorf("a reader asks: %v", err)
	}
	if err := reads.DeleteScene(ctx, "scenes/arena", 0); !errors.Is(err, PermissionDenied) {
		t.Errorf("a reader deletes: %v", err)
	}
	foreign := dial(t, server.address, WithPerRPCCredentials(&bearer{token: other}))
	if scenes, err := foreign.ListScenes(ctx); err != nil || len(scenes) != 0 {
		t.Errorf("scenes of another tenant: %v, %v", scenes, err)
	}
	// A token file that changes is read again; one without a token leaves the token as it was.
	write(t, tokenFile, writer)
	if _, err := reads.CreateScene(ctx, "scenes/second", nil); err != nil {
		t.Errorf("the token has changed: %v", err)
	}
	write(t, tokenFile, "no token at all")
	if _, err := reads.ListScenes(ctx); err != nil {
		t.Errorf("the file has no token: %v", err)
	}
}

// certificate makes a certificate that a signer signs, or that is its own authority.
func certificate(t *testing.T, folder, name string, signer *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost", name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: signer == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	parent, signing := made, any(key)
	if signer != nil {
		parent, signing = signer.Leaf, signer.PrivateKey
	}
	data, err := x509.CreateCertificate(rand.Reader, made, parent, &key.PublicKey, signing)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificatePEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	write(t, filepath.Join(folder, name+".pem"), string(certificatePEM))
	write(t, filepath.Join(folder, name+".key"), string(keyPEM))
	pair, err := tls.X509KeyPair(certificatePEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	if pair.Leaf, err = x509.ParseCertificate(data); err != nil {
		t.Fatal(err)
	}
	return pair
}

// Server and client prove who they are by certificates.
func TestTLS(t *testing.T) {
	folder := t.TempDir()
	authority := certificate(t, folder, "ca", nil)
	certificate(t, folder, "server", &authority)
	own := certificate(t, folder, "client", &authority)
	ca := filepath.Join(folder, "ca.pem")
	server := startServer(t, "--tls-certificate", filepath.Join(folder, "server.pem"), "--tls-key",
		filepath.Join(folder, "server.key"), "--tls-client-ca", ca)
	client := dial(t, server.address, WithTLS(&tls.Config{Certificates: []tls.Certificate{own}}), WithCAFile(ca))
	arena(t, client)
	frame := new(Frame)
	bullets(frame, "scenes/arena", 3)
	if answer, err := client.Evaluate(testContext(t), frame); err != nil || checkBullets(answer, 3) != nil {
		t.Error(err)
	}
	for name, options := range map[string][]Option{
		"plaintext": nil, "an unknown authority": {WithTLS(nil)},
	} {
		// A certificate is refused at once, but not within a second on every machine.
		for timeout := time.Second; ; timeout *= 4 {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			refused, err := Dial(ctx, server.address, options...)
			if err == nil {
				_, err = refused.ListScenes(ctx)
				_ = refused.Close()
			}
			cancel()
			if err == nil {
				t.Fatalf("%s is accepted", name)
			}
			if errors.Is(err, Unavailable) && (name == "plaintext" || strings.Contains(err.Error(), "certificate")) {
				break
			}
			if timeout > testTimeout/4 {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
