// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which lanes of a mask are true, as bits of a number? For masks of at most 32 lanes.
//
// Highway compiles some .cc files once for each instruction set (target). These files include this
// header after hwy/foreach_target.h, once per target; the macro of the guard toggles between
// defined and undefined, so that the guard lets the header through each time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"

#if defined(CAROM_CORE_SRC_MASK_BITS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_MASK_BITS_H_
#undef CAROM_CORE_SRC_MASK_BITS_H_
#else
#define CAROM_CORE_SRC_MASK_BITS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Returns a number with bit i set if lane i of `mask` is true. `Tag` is that of the vectors that
// the mask belongs to. WebAssembly has an instruction for this, which Highway does not use.
template <class Tag>
HWY_INLINE uint32_t MaskBits(Tag d, hwy::HWY_NAMESPACE::Mask<Tag> mask) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr size_t kLanes = hn::MaxLanes(Tag());
#if HWY_TARGET == HWY_WASM
  constexpr size_t kSize = sizeof(hn::TFromD<Tag>);
  static_assert(kLanes * kSize == 16);
  const auto lanes = hn::VecFromMask(d, mask).raw;
  if constexpr (kSize == 1) return wasm_i8x16_bitmask(lanes);
  if constexpr (kSize == 2) return wasm_i16x8_bitmask(lanes);
  if constexpr (kSize == 4) return wasm_i32x4_bitmask(lanes);
  return wasm_i64x2_bitmask(lanes);
#else
  using Bits = std::conditional_t<(kLanes > 16), uint32_t,
                                  std::conditional_t<(kLanes > 8), uint16_t, uint8_t>>;
  uint8_t bytes[8];
  hn::StoreMaskBits(d, mask, bytes);
  Bits bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
#endif
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
