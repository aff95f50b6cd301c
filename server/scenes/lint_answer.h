// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does LintScene answer?
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>

#include "absl/status/status.h"
#include "server/access/identity.h"
#include "server/base/memory_account.h"
#include "server/scenes/scene_call.h"

namespace carom::server {

// Answers a LintScene call (`SceneMethod::handle`). Charges the memory that the lint needs to the
// peer of `bytes_charge`, and stops after `is_over` returns true, or after as much work as one call
// may cause. Cost: carom/lint.h.
absl::Status AnswerLint(const SceneRuntime& runtime, const Caller& caller,
                        const grpc::ByteBuffer& bytes, const MemoryCharge& bytes_charge,
                        const std::function<bool()>& is_over, grpc::ByteBuffer& answer);

}  // namespace carom::server
