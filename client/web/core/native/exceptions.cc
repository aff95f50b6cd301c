// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exceptions for the core in WebAssembly: std::bad_alloc becomes RESOURCE_EXHAUSTED, as in other builds. The library of
// `ziglang` is compiled without exceptions, and has the sources of what they need, which are LLVM's.

#define _LIBCXXABI_HAS_NO_THREADS

#include <stdlib.h>

#include <new>

#include "libcxxabi/src/cxa_exception.cpp"
#include "libcxxabi/src/cxa_personality.cpp"

// What it would register runs when a thread ends, which none does.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

void* operator new(size_t size) {
  if (void* const memory = malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }

// What a WebAssembly exception of C++ is marked with: an exception tag whose one value is an address.
asm(".globl __cpp_exception\n.tagtype __cpp_exception i32\n__cpp_exception:\n");
