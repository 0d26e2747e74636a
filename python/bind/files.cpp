// Files of weights: formats of `holdfast/io` for the Python part of saving, and for tests.
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/hdf5.h"
#include "holdfast/io/tensor_bundle.h"
#include "holdfast/io/zip.h"
#include "holdfast/keras/saving/archive.h"
#include "python/bind/in_python.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

// Runs `f` for the line of Python that called.
template <class F>
auto called(F&& f) {
  return run([&] {
    mark();
    return f();
  });
}

std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }
nb::bytes bytes(std::string_view s) { return nb::bytes(s.data(), s.size()); }

// (path, the dataset or None for a group, attributes), a group before what it holds.
void list_h5(const io::H5Reader& file, const std::string& path, nb::list& out) {
  bool group = file.has_group(path);
  out.append(nb::make_tuple(path, group ? nb::none() : nb::cast(file.read(path)),
                            nb::cast(file.attributes(path))));
  if (!group) return;
  for (const std::string& name : file.children(path))
    list_h5(file, path.empty() ? name : path + "/" + name, out);
}

nb::list graph_list(const io::ObjectGraph& graph) {
  nb::list out;
  for (const auto& n : graph.nodes) {
    nb::list children, attributes, slots;
    for (const auto& c : n.children) children.append(nb::make_tuple(c.node, c.name));
    for (const auto& a : n.attributes)
      attributes.append(nb::make_tuple(a.name, a.full_name, a.key));
    for (const auto& s : n.slots) slots.append(nb::make_tuple(s.variable, s.name, s.slot));
    nb::object saver = n.saver ? nb::object(nb::make_tuple(n.saver->name, n.saver->object_name))
                               : nb::object(nb::none());
    out.append(nb::make_tuple(children, attributes, slots, saver, n.has_values));
  }
  return out;
}

using Children = std::vector<std::pair<int64_t, std::string>>;
io::ObjectGraph graph_of(const nb::list& nodes) {
  io::ObjectGraph out;
  for (nb::handle h : nodes) {
    auto node = nb::cast<nb::tuple>(h);
    io::ObjectGraph::Node& n = out.nodes.emplace_back();
    for (auto& [id, name] : nb::cast<Children>(node[0])) n.children.push_back({id, name});
    for (nb::handle a : nb::cast<nb::list>(node[1]))
      n.attributes.push_back(
          {nb::cast<std::string>(a[0]), nb::cast<std::string>(a[1]), nb::cast<std::string>(a[2])});
    for (nb::handle s : nb::cast<nb::list>(node[2]))
      n.slots.push_back(
          {nb::cast<int64_t>(s[0]), nb::cast<std::string>(s[1]), nb::cast<int64_t>(s[2])});
    if (!node[3].is_none())
      n.saver.emplace(io::ObjectGraph::Saver{nb::cast<std::string>(node[3][0]),
                                             nb::cast<std::string>(node[3][1])});
    n.has_values = nb::cast<std::optional<bool>>(node[4]);
  }
  return out;
}

void bind_archives(nb::module_& m) {
  m.def("h5_read", [](const nb::bytes& file) {
    return called([&] {
      io::H5Reader reader(io::ByteSource::of_view("the file", view(file)));
      nb::list out;
      list_h5(reader, "", out);
      return out;
    });
  });
  m.def("h5_write", [](const nb::list& items) {
    return called([&] {
      io::H5Writer writer;
      for (nb::handle h : items) {
        auto path = nb::cast<std::string>(h[0]);
        if (h[1].is_none())
          writer.group(path);
        else
          writer.dataset(path, nb::cast<Tensor>(h[1]));
        for (const auto& [name, value] : nb::cast<Named>(h[2])) writer.attribute(path, name, value);
      }
      return bytes(writer.bytes());
    });
  });
  m.def("zip_read", [](const nb::bytes& file) {
    return called([&] {
      io::ZipReader reader(io::ByteSource::of_view("the archive", view(file)));
      nb::list out;
      for (const io::ZipEntry& e : reader.entries())
        out.append(nb::make_tuple(bytes(e.name), bytes(reader.read(e.name))));
      return out;
    });
  });
  m.def("zip_write", [](const nb::list& files) {
    return called([&] {
      std::string out;
      io::ZipWriter writer([&](std::string_view piece) { out += piece; });
      for (nb::handle h : files)
        writer.add(nb::cast<std::string>(h[0]), view(nb::cast<nb::bytes>(h[1])));
      writer.finish();
      return bytes(out);
    });
  });
}

std::vector<keras::StoredWeights> weights_of(const nb::list& objects) {
  std::vector<keras::StoredWeights> out;
  for (nb::handle h : objects)
    out.push_back(
        {nb::cast<std::string>(h[0]), nb::cast<std::string>(h[1]), nb::cast<Named>(h[2])});
  return out;
}
nb::list weights_list(const keras::WeightsReader& file) {
  nb::list out;
  for (const std::string& path : file.paths()) {
    keras::StoredWeights w = file.read(path);
    out.append(nb::make_tuple(w.path, w.name, nb::cast(w.values)));
  }
  return out;
}

void bind_models(nb::module_& m) {
  m.def("weights_write", [](const std::string& path, const nb::list& weights) {
    called([&] {
      keras::write_weights(path, weights_of(weights));
      return 0;
    });
  });
  m.def("weights_read", [](const std::string& path) {
    return called(
        [&] { return weights_list(keras::WeightsReader(io::ByteSource::of_file(path))); });
  });
  m.def("archive_write", [](const std::string& path, const std::string& metadata,
                            const std::string& config, const nb::list& weights,
                            const nb::list& assets) {
    called([&] {
      keras::ModelArchive model{metadata, config, weights_of(weights), {}};
      for (nb::handle h : assets)
        model.assets.emplace_back(nb::cast<std::string>(h[0]), view(nb::cast<nb::bytes>(h[1])));
      keras::write_archive(path, model);
      return 0;
    });
  });
  m.def("archive_read", [](const std::string& path) {
    return called([&] {
      keras::ArchiveReader model(io::ByteSource::of_file(path));
      nb::list assets;
      for (const std::string& name : model.assets())
        assets.append(nb::make_tuple(name, bytes(model.asset(name))));
      return nb::make_tuple(bytes(model.metadata()), bytes(model.config()),
                            weights_list(model.weights()), assets);
    });
  });
}

void bind_checkpoints(nb::module_& m) {
  m.def("write_text_file", [](const std::string& path, const std::string& text) {
    called([&] {
      io::AtomicFile file(path);
      file.write(text.data(), text.size());
      file.commit();
      return 0;
    });
  });
  m.def("bundle_entries", [](const std::string& prefix) {
    return called([&] {
      io::BundleReader reader(prefix);
      nb::list out;
      for (const io::BundleEntry& e : reader.entries())
        out.append(nb::make_tuple(
            e.key,
            e.dtype == DType::kInvalid ? nb::object(nb::int_(e.number)) : nb::cast(name(e.dtype)),
            std::vector<int64_t>(e.shape.begin(), e.shape.end())));
      return out;
    });
  });
  m.def("bundle_read", [](const std::string& prefix, const std::vector<std::string>& keys) {
    return called([&] {
      io::BundleReader reader(prefix);
      std::vector<Tensor> out;
      for (const std::string& key : keys) out.push_back(reader.read(key));
      return out;
    });
  });
  m.def("bundle_write", [](const std::string& prefix, const Named& tensors) {
    called([&] {
      io::write_bundle(prefix, tensors);
      return 0;
    });
  });
  m.def("object_graph_decode", [](const nb::bytes& graph) {
    return called(
        [&] { return graph_list(io::decode_object_graph("the checkpoint", view(graph))); });
  });
  m.def("object_graph_encode", [](const nb::list& nodes) {
    return called([&] { return bytes(io::encode(graph_of(nodes))); });
  });
}

}  // namespace

void bind_files(nb::module_& m) {
  bind_archives(m);
  bind_models(m);
  bind_checkpoints(m);
}

}  // namespace holdfast::py
