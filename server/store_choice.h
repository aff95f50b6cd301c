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

// The persistent journal that `--store` selects.
struct Journals {
  std::unique_ptr<SceneJournal> journal;  // null: scenes are kept in memory only
  EtcdJournal* shared = nullptr;          // `journal`, if it is in etcd, which other servers write
};

// Opens the journal that `options.store` names. Opens the file of sqlite, but sends no request to
// etcd. Returns the errors of `SqliteJournal::Open` and `EtcdClient::Create`.
absl::StatusOr<Journals> OpenJournal(const ServerOptions& options);

// Returns the store that writes to `journals`, which must outlive it: a `FleetStore` if the journal
// is in etcd, else a `MemoryStore`.
std::unique_ptr<MemoryStore> MakeStore(const ServerOptions& options, MemoryAccount& memory,
                                       const Journals& journals);

}  // namespace carom::server
