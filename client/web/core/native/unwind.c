/* SPDX-FileCopyrightText: The Carom authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How exceptions leave functions in WebAssembly: a source of LLVM that `ziglang` has, and does not compile. */
#include "libunwind/src/Unwind-wasm.c"
