// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The kinds of questions on the wire: the list of carom/group_kinds.h with the accessors of the
// messages. Private to this folder.
//
// The fields of v1.Group and v1.GroupAnswer have the names of the members of `Group`, so that a
// kind that the messages lack does not compile, and tests/wire/counts_test.cc finds one that the
// list lacks. The list is gone over at compile time: no message is read by reflection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "carom/group_kinds.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// A field of one of the two messages. `Parent` is v1::Group or v1::GroupAnswer.
template <class Parent, class Message>
struct KindField {
  bool (Parent::*has)() const;
  const Message& (Parent::*get)() const;
  Message* (Parent::*mutate)();
  void (Parent::*clear)();
};

// One kind: what the core has of it, and its two messages.
template <class Core, class Question, class Answer>
struct WireKind {
  constexpr WireKind(Core core, KindField<v1::Group, Question> question,
                     KindField<v1::GroupAnswer, Answer> answer)
      : core(core), question(question), answer(answer) {}

  const char* name() const { return core.name; }

  Core core;
  KindField<v1::Group, Question> question;
  KindField<v1::GroupAnswer, Answer> answer;
};

template <class Parent, class Message>
constexpr KindField<Parent, Message> MakeField(bool (Parent::*has)() const,
                                               const Message& (Parent::*get)() const,
                                               Message* (Parent::*mutate)(),
                                               void (Parent::*clear)()) {
  return {has, get, mutate, clear};
}

inline constexpr std::tuple kWireKinds{
#define CAROM_WIRE_FIELD(Parent, name) \
  MakeField(&Parent::has_##name, &Parent::name, &Parent::mutable_##name, &Parent::clear_##name)
#define CAROM_WIRE_KIND(name, options, evaluate)                                         \
  WireKind(CAROM_GROUP_KIND(name, options, evaluate), CAROM_WIRE_FIELD(v1::Group, name), \
           CAROM_WIRE_FIELD(v1::GroupAnswer, name)),
    CAROM_GROUP_KINDS(CAROM_WIRE_KIND)
#undef CAROM_WIRE_KIND
#undef CAROM_WIRE_FIELD
};

// Calls f(kind) for each `WireKind`, in the order of the list.
template <class F>
constexpr void ForEachWireKind(F&& f) {
  std::apply([&](const auto&... kind) { (f(kind), ...); }, kWireKinds);
}

// Those that a message has. Written out, as the accessors of the list would be calls.
inline GroupKindSet KindsAsked(const v1::Group& group) {
  uint64_t asked = 0;
  size_t i = 0;
#define CAROM_KIND_ASKED(name, options, evaluate) \
  asked |= static_cast<uint64_t>(group.has_##name()) << i++;
  CAROM_GROUP_KINDS(CAROM_KIND_ASKED)
#undef CAROM_KIND_ASKED
  return GroupKindSet(asked);
}

}  // namespace carom::wire
