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

// Where scenes are written down.
struct Journals {
  std::unique_ptr<SceneJournal> journal;  // null: of a store in memory alone
  EtcdJournal* shared = nullptr;          // the same, if other servers write it too
};

// Opens the file of sqlite; asks nothing of etcd yet. Errors are those of SqliteJournal::Open and
// EtcdClient::Create.
absl::StatusOr<Journals> OpenJournal(const ServerOptions& options);

// Over the journals, which it does not own: a FleetStore over those that are shared.
std::unique_ptr<MemoryStore> MakeStore(const ServerOptions& options, MemoryAccount& memory,
                                       const Journals& journals);

}  // namespace carom::server
