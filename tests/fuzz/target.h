// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What a fuzz target defines: the function that libFuzzer calls, and inputs to begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Returns 0, or does not return: a broken law aborts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// An input of use, the same for a seed on every machine.
std::vector<uint8_t> MakeInput(uint64_t seed);
