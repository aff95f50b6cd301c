// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which store does `--store` ask for?
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/options.h"
#include "server/store/etcd/etcd_journal.h"
#include "server/store/memory_store.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// The journal, the durable storage of scenes, that `--store` selects: an SQLite file or etcd.
struct Journals {
  std::unique_ptr<SceneJournal> journal;  // null: the server keeps scenes in memory only
  // `journal`, if it is in etcd, where other servers write changes, too; else null
  EtcdJournal* shared = nullptr;
};

// Opens the journal that `options.store` names. Opens the file of SQLite, but sends no request to
// etcd. Returns the errors of `SqliteJournal::Open` and `EtcdClient::Create`.
absl::StatusOr<Journals> OpenJournal(const ServerOptions& options);

// Returns the store that holds the scenes in memory and writes their changes to `journals`, which
// must outlive the store: a `FleetStore`, which also applies the changes of other servers, if the
// journal is in etcd, else a `MemoryStore`. The store counts its changes in `metrics`.
std::unique_ptr<MemoryStore> MakeStore(const ServerOptions& options, MemoryAccount& memory,
                                       const Journals& journals, Metrics& metrics);

}  // namespace carom::server
