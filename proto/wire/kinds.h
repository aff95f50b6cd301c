// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which protobuf fields carry each kind of query and its answers? Combines the list of
// carom/group_kinds.h with the accessors of the messages. Private to this folder.
//
// The fields of v1.Group and v1.GroupAnswer have the same names as the members of the struct
// `Group`. A kind without a field in the messages does not compile, and tests/wire/counts_test.cc
// finds a field without a kind in the list. The list is iterated at compile time, without
// reflection of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "carom/group_kinds.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The accessors of the protobuf field that carries one kind of query (in `Parent` v1::Group) or its
// answers (in `Parent` v1::GroupAnswer).
template <class Parent, class Message>
struct KindField {
  bool (Parent::*has)() const;
  const Message& (Parent::*get)() const;
  Message* (Parent::*mutate)();
  void (Parent::*clear)();
};

// One kind of query, such as casts of segments: its entry in the list of the geometry core
// (carom/group_kinds.h), and its fields in v1::Group and v1::GroupAnswer.
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

// Calls f(kind) for each `WireKind` of `kWireKinds`, in the order of `CAROM_GROUP_KINDS`.
template <class F>
constexpr void ForEachWireKind(F&& f) {
  std::apply([&](const auto&... kind) { (f(kind), ...); }, kWireKinds);
}

// Returns the kinds of queries that `group` has. Calls the accessor `has_…` of each kind by name,
// which a macro writes out: calls through the member pointers of `kWireKinds` would not be inlined.
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
