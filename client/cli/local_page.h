// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the page of the viewer with one scene to a browser on this machine, without caromd.
//
//   absl::StatusOr<LocalPage> page = LocalPage::Listen(0, {.name = "arena.json", .bundle = bytes});
//   std::cout << page->address() << "\n";
//   page->Serve();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "proto/page/page_files.h"

namespace carom::cli {

// The scene that the page shows.
struct LocalScene {
  std::string name;         // what the page calls the scene
  std::string bundle;       // the scene (carom/bundle.h), served at `/local/scene.carom`
  std::string report = {};  // a JSON object about the scene, served at `/local/scene.json`
};

// A server of HTTP/1.1 on 127.0.0.1, which answers GET and HEAD. It refuses requests whose Host is
// not an address of this machine, since another page could reach it by a name of its own (DNS
// rebinding). At most 64 connections at once, each for one request, which has 10 seconds to arrive.
class LocalPage {
 public:
  // Listens on `port`; 0: a port that is free. `files` outlive the page.
  //
  // Errors: FAILED_PRECONDITION if `files` is empty, since this build has no page; UNAVAILABLE if
  // the port cannot be used.
  static absl::StatusOr<LocalPage> Listen(uint16_t port, LocalScene scene,
                                          std::span<const PageFile> files = PageFiles());
  LocalPage(LocalPage&&) noexcept;
  LocalPage& operator=(LocalPage&&) noexcept;
  ~LocalPage();

  // Returns the address for a browser, such as `http://127.0.0.1:40123/?local=arena.json`.
  std::string address() const;
  // Serves requests until SIGINT or SIGTERM arrives, or `Stop` is called.
  void Serve();
  // Ends `Serve`. Thread-safe.
  void Stop();

 private:
  class Impl;
  explicit LocalPage(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom::cli
