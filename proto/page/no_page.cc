// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proto/page/page_files.h"

namespace carom {

std::span<const PageFile> PageFiles() { return {}; }

}  // namespace carom
