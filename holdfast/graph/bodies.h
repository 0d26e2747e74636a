// Graphs inside a node: the branches and bodies of control flow.
#pragma once

#include <utility>
#include <variant>

#include "holdfast/graph/graph.h"
#include "holdfast/op/opdef.h"

namespace holdfast {

/// The graph that an attribute is; null for other attributes.
inline const Graph* body_in(const Arg& a) {
  auto* object = std::get_if<Ref<RefCounted>>(&a.value());
  return object ? dynamic_cast<const Graph*>(object->get()) : nullptr;
}

/// The graphs of a branch and of a loop.
struct BranchAttrs {
  Attr<RefCounted> then_branch;
  Attr<RefCounted> else_branch;
};
struct LoopAttrs {
  Attr<RefCounted> cond;
  Attr<RefCounted> body;
};
/// The graph that such an attribute is; refuses what is none.
inline Graph& body_of(const Attr<RefCounted>& a) {
  auto* body = const_cast<Graph*>(body_in(a.arg()));
  if (!body) fail(Code::E1104, "a branch or a loop has an attribute that is no graph");
  return *body;
}
/// The two graphs of either: of branches the one taken where the condition holds, of loops the
/// condition.
inline std::pair<Graph&, Graph&> bodies_in(const OpDef& op, const Attrs& attrs) {
  if (op.traits.control == Control::kBranch) {
    auto a = attrs_of<BranchAttrs>(op, attrs);
    return {body_of(a.then_branch), body_of(a.else_branch)};
  }
  auto a = attrs_of<LoopAttrs>(op, attrs);
  return {body_of(a.cond), body_of(a.body)};
}

}  // namespace holdfast
