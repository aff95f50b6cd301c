// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store_choice.h"

#include <utility>

#include "server/store/etcd/fleet_store.h"
#include "server/store/sqlite/sqlite_journal.h"

namespace carom::server {

// Parses the etcd URL in `options.store` a second time: `CheckServerOptions` has checked the URL,
// but does not return the parsed URL.
absl::StatusOr<Journals> OpenJournal(const ServerOptions& options) {
  if (options.store == "memory") return Journals();
  if (options.store == "sqlite") {
    absl::StatusOr<std::unique_ptr<SceneJournal>> sqlite = SqliteJournal::Open(
        {.folder = options.state_dir.empty() ? DefaultStateDir() : options.state_dir,
         .history_versions = options.history_versions,
         .history_bytes = options.history_bytes});
    if (!sqlite.ok()) return sqlite.status();
    return Journals{*std::move(sqlite), nullptr};
  }
  const absl::StatusOr<EtcdUrl> url = ParseEtcdUrl(options.store);
  if (!url.ok()) return url.status();
  absl::StatusOr<std::unique_ptr<EtcdClient>> client =
      EtcdClient::Create({.url = *url,
                          .password_file = options.etcd_password_file,
                          .ca = options.etcd_ca,
                          .certificate = options.etcd_certificate,
                          .key = options.etcd_key});
  if (!client.ok()) return client.status();
  auto journal = std::make_unique<EtcdJournal>(
      *std::move(client), EtcdJournalOptions{.history_versions = options.history_versions,
                                             .history_bytes = options.history_bytes,
                                             .store_bytes = options.store_bytes});
  EtcdJournal* const shared = journal.get();
  return Journals{std::move(journal), shared};
}

std::unique_ptr<MemoryStore> MakeStore(const ServerOptions& options, MemoryAccount& memory,
                                       const Journals& journals, Metrics& metrics) {
  std::unique_ptr<MemoryStore> store;
  if (journals.shared != nullptr) {
    store = std::make_unique<FleetStore>(options.max_scenes, options.scene_limits(), memory,
                                         *journals.shared);
  } else {
    store = std::make_unique<MemoryStore>(options.max_scenes, options.scene_limits(), memory,
                                          journals.journal.get());
  }
  store->set_metrics(metrics);
  return store;
}

}  // namespace carom::server
