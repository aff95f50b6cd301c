// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// compose loads docker/compose.yaml, which the specification's schema must accept.
func compose(t *testing.T) *types.Project {
	t.Helper()
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  source + "/docker",
		ConfigFiles: []types.ConfigFile{{Filename: source + "/docker/compose.yaml"}},
		Environment: types.Mapping{"CAROM_GUARD_CERTIFICATE": "/guard.pem"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeServices(t *testing.T) {
	project := compose(t)
	want := []string{"caromd1", "caromd2", "etcd1", "etcd2", "etcd3", "guard", "prometheus"}
	if names := project.ServiceNames(); !slices.Equal(names, want) {
		t.Errorf("services: %q", names)
	}
	pinned := regexp.MustCompile(`^localhost/carom:dev$|^[a-z.]+/[a-z/]+:v?\d+\.\d+\.\d+$`)
	for name, service := range project.Services {
		if !pinned.MatchString(service.Image) {
			t.Errorf("%s: the image is %s", name, service.Image)
		}
		if !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Equal(service.SecurityOpt, []string{"no-new-privileges"}) {
			t.Errorf("%s has rights that it does not need", name)
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to other machines", name, port.Published)
			}
		}
		for _, volume := range service.Volumes {
			if _, err := os.Stat(volume.Source); volume.Type == types.VolumeTypeBind && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// One image of the guard is tested, so both have it.
	if guard := build(t, "fleet").container(t, "guard").Image; guard != project.Services["guard"].Image {
		t.Errorf("the guard of Kubernetes is %s", guard)
	}
}

func TestComposeCaromd(t *testing.T) {
	project := compose(t)
	guard := project.Services["guard"]
	sockets := map[string]string{"caromd1": "CAROM_GUARD_SOCKET", "caromd2": "CAROM_GUARD_SECOND_SOCKET"}
	for name, variable := range sockets {
		service := project.Services[name]
		options := optionsOf(t, service.Command)
		if options["--address"] != "unix:"+*guard.Environment[variable] {
			t.Errorf("%s listens on %s", name, options["--address"])
		}
		if options["--admin-address"] != "0.0.0.0:7421" || !strings.HasPrefix(options["--store"], "etcd://etcd1:2379,") {
			t.Errorf("%s: %v", name, options)
		}
		drain, err := strconv.Atoi(options["--drain-seconds"])
		if err != nil || time.Duration(*service.StopGracePeriod) <= time.Duration(drain)*time.Second {
			t.Errorf("%s is killed while it drains: %v", name, err)
		}
		if !strings.Contains(read(t, source+"/docker/prometheus.yml"), name+":7421") {
			t.Errorf("prometheus.yml does not name %s", name)
		}
	}
}
