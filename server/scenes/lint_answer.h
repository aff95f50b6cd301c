// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does LintScene answer?
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "server/access/identity.h"
#include "server/scenes/scene_call.h"

namespace carom::server {

// Answers a LintScene call (`SceneMethod::handle`). Charges the memory that the lint needs to the
// peer of the call, and stops after `use.is_over` returns true, or after as much work as one call
// may cause. Cost: carom/lint.h.
absl::Status AnswerLint(const SceneRuntime& runtime, const Caller& caller,
                        const grpc::ByteBuffer& bytes, const SceneCallUse& use,
                        grpc::ByteBuffer& answer);

}  // namespace carom::server
