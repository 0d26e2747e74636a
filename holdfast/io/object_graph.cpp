// The object graph of a checkpoint, in protobuf's wire format.
#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/base/wire.h"
#include "holdfast/io/tensor_bundle.h"

namespace holdfast::io {
namespace {

// Fields that hold their type's zero are left out, as protobuf does.
Message& number(Message& m, int field, int64_t v) { return v ? m.number(field, v) : m; }
Message& text(Message& m, int field, const std::string& v) {
  return v.empty() ? m : m.bytes(field, v);
}

class Decoder {
 public:
  explicit Decoder(const std::string& name) : name_(name) {}

  ObjectGraph graph(std::string_view bytes) {
    ObjectGraph out;
    fields(bytes, [&](const WireField& f) {
      if (f.number == 1) out.nodes.push_back(node(f.bytes));
    });
    auto count = static_cast<int64_t>(out.nodes.size());
    auto check = [&](int64_t n) {
      if (n < 0 || n >= count) damaged(cat("it names the object ", n, " of ", count));
    };
    for (const ObjectGraph::Node& n : out.nodes) {
      for (const auto& c : n.children) check(c.node);
      for (const auto& s : n.slots) check(s.variable), check(s.slot);
    }
    return out;
  }

 private:
  std::string text_of(const WireField& f) {
    std::string out(f.bytes);
    if (valid_utf8(out) != out) damaged(cat("the text ", shown(out), " is not UTF-8"));
    return out;
  }
  template <class F>
  void fields(std::string_view bytes, F each) {
    WireReader in(bytes);
    for (WireField f; in.next(f);) each(f);
    if (!in.good()) damaged("it can't be read");
  }
  ObjectGraph::Node node(std::string_view bytes) {
    ObjectGraph::Node out;
    fields(bytes, [&](const WireField& f) {
      if (f.number == 1) {
        auto& child = out.children.emplace_back();
        fields(f.bytes, [&](const WireField& g) {
          if (g.number == 1) child.node = static_cast<int64_t>(g.value);
          if (g.number == 2) child.name = text_of(g);
        });
      } else if (f.number == 2) {
        auto& attribute = out.attributes.emplace_back();
        fields(f.bytes, [&](const WireField& g) {
          if (g.number == 1) attribute.name = text_of(g);
          if (g.number == 2) attribute.full_name = text_of(g);
          if (g.number == 3) attribute.key = text_of(g);
        });
      } else if (f.number == 3) {
        auto& slot = out.slots.emplace_back();
        fields(f.bytes, [&](const WireField& g) {
          if (g.number == 1) slot.variable = static_cast<int64_t>(g.value);
          if (g.number == 2) slot.name = text_of(g);
          if (g.number == 3) slot.slot = static_cast<int64_t>(g.value);
        });
      } else if (f.number == 4) {
        auto& saver = out.saver.emplace();
        fields(f.bytes, [&](const WireField& g) {
          if (g.number == 1) saver.name = text_of(g);
          if (g.number == 2) saver.object_name = text_of(g);
        });
      } else if (f.number == 5) {
        out.has_values = false;
        fields(f.bytes, [&](const WireField& g) {
          if (g.number == 1) out.has_values = g.value != 0;
        });
      }
    });
    return out;
  }
  [[noreturn]] void damaged(const std::string& why) {
    fail(Code::E1302, cat(shown(name_), " is damaged"), cat("its object graph is none: ", why));
  }
  const std::string& name_;
};

}  // namespace

std::string encode(const ObjectGraph& graph) {
  Message out;
  for (const ObjectGraph::Node& n : graph.nodes) {
    Message node;
    for (const auto& c : n.children) {
      Message m;
      node.message(1, text(number(m, 1, c.node), 2, c.name));
    }
    for (const auto& a : n.attributes) {
      Message m;
      node.message(2, text(text(text(m, 1, a.name), 2, a.full_name), 3, a.key));
    }
    for (const auto& s : n.slots) {
      Message m;
      node.message(3, number(text(number(m, 1, s.variable), 2, s.name), 3, s.slot));
    }
    if (n.saver) {
      Message m;
      node.message(4, text(text(m, 1, n.saver->name), 2, n.saver->object_name));
    }
    if (n.has_values) {
      Message m;
      node.message(5, number(m, 1, *n.has_values));
    }
    out.message(1, node);
  }
  return out.text();
}

ObjectGraph decode_object_graph(const std::string& name, std::string_view bytes) {
  return Decoder(name).graph(bytes);
}

}  // namespace holdfast::io
