// Stages of datasets that collect, choose, carry and keep elements.
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/parts.h"
#include "holdfast/data/stored.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "python/bind/data.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using data::Dataset;
using data::ElementSpec;

int64_t integer_of(PyObject* o, const char* what) {
  long long v = PyLong_AsLongLong(o);
  if (v == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    type_error(cat(what, " is ", repr_of(o), ", expected an integer"));
  }
  return v;
}

// What is told of each value of an element: its kind, how many splits it has and their dtype, and
// the shape of a row.
std::vector<data::PartRule> rules_of(const nb::list& rules) {
  using Kind = data::PartRule::Kind;
  std::vector<data::PartRule> out;
  for (nb::handle each : rules) {
    auto kind = nb::cast<std::string>(each[0]);
    data::PartRule rule;
    rule.kind = kind == "ragged"     ? Kind::kRagged
                : kind == "rows"     ? Kind::kRows
                : kind == "sparse"   ? Kind::kSparse
                : kind == "elements" ? Kind::kElements
                                     : Kind::kTensor;
    if (rule.kind == Kind::kRagged || rule.kind == Kind::kRows) {
      rule.splits = nb::cast<int>(each[1]);
      rule.splits_dtype = dtype_of_object(nb::object(each[2]).ptr());
    }
    if (rule.kind == Kind::kElements)
      rule.row_shape = shape_of(nb::object(each[1]).ptr(), "`row_shape`");
    out.push_back(std::move(rule));
  }
  return out;
}

nb::object group_by_window(nb::handle self, nb::handle key, const std::vector<Tensor>& captured,
                           nb::handle key_gives, nb::handle reduce, nb::handle size,
                           nb::handle gives) {
  return made([&] {
    // Both functions in one: what they hold is found, and let go of, together.
    auto held = make_ref<HeldByData>(Object::share(nb::make_tuple(reduce, size).ptr()));
    auto code = [f = held.get()](const Tensor& of, const Dataset& window) {
      return in_python([&] {
        PyRef face = python_of(*window.object()), number = Object::steal(wrap(of));
        PyObject* reduces = PyTuple_GET_ITEM(f->get(), 0);
        return dataset_of(called(reduces, number.get(), face.get()).get());
      });
    };
    data::GroupOptions o;
    if (PyCallable_Check(size.ptr())) {
      o.window_size_of = [f = held.get()](int64_t of) {
        return in_python([&] {
          PyRef number = Object::steal(wrap(Tensor::scalar(of)));
          PyObject* sizes = PyTuple_GET_ITEM(f->get(), 1);
          return integer_of(called(sizes, number.get()).get(), "`window_size_func`'s size");
        });
      };
    } else {
      o.window_size = nb::cast<int64_t>(size);
    }
    ElementSpec spec = spec_of(gives.ptr());
    return dataset_of(self).grouped(function_from(key, captured, key_gives), code, o, held, &spec);
  });
}

std::vector<Shape> shapes_from(nb::handle shapes, const char* what) {
  std::vector<Shape> out;
  for (nb::handle s : nb::cast<std::vector<nb::object>>(shapes))
    out.push_back(shape_of(s.ptr(), what));
  return out;
}

nb::object bucket(nb::handle self, nb::handle length, const std::vector<Tensor>& captured,
                  nb::handle length_gives, const std::vector<int64_t>& boundaries,
                  const std::vector<int64_t>& sizes, nb::handle shapes,
                  const std::vector<std::optional<Tensor>>& values, bool to_boundary,
                  bool no_padding, bool drop) {
  return made([&] {
    data::BucketOptions o{.boundaries = boundaries,
                          .batch_sizes = sizes,
                          .padding = {.drop_remainder = drop},
                          .pad_to_bucket_boundary = to_boundary,
                          .no_padding = no_padding};
    if (!shapes.is_none()) o.padding.padded_shapes = shapes_from(shapes, "`padded_shapes`");
    for (const auto& v : values) o.padding.padding_values.push_back(v.value_or(Tensor()));
    return dataset_of(self).bucketed(function_from(length, captured, length_gives), o);
  });
}

std::vector<Dataset> datasets_of(const std::vector<nb::object>& given) {
  std::vector<Dataset> out;
  for (const nb::object& d : given) out.push_back(dataset_of(d));
  return out;
}

}  // namespace

void bind_data_stages(nb::module_& m) {
  m.def(
      "data_window",
      [](nb::handle self, int64_t size, int64_t shift, int64_t stride, bool drop, nb::handle gives,
         const std::vector<int64_t>& widths) {
        return made([&] {
          Dataset d = dataset_of(self);
          data::WindowOptions o{.shift = shift, .stride = stride, .drop_remainder = drop};
          if (gives.is_none()) return d.windowed(size, o);
          data::WindowParts parts{spec_of(gives.ptr()), widths};
          return d.windowed(size, o, &parts);
        });
      },
      "self"_a, "size"_a, "shift"_a, "stride"_a, "drop"_a, "gives"_a.none(), "widths"_a);
  m.def("data_group_by_window", &group_by_window, "self"_a, "key"_a, "captured"_a, "key_gives"_a,
        "reduce"_a, "size"_a, "gives"_a.none());
  m.def("data_bucket", &bucket, "self"_a, "length"_a, "captured"_a, "length_gives"_a,
        "boundaries"_a, "sizes"_a, "shapes"_a.none(), "values"_a, "to_boundary"_a, "no_padding"_a,
        "drop"_a);
  m.def(
      "data_random",
      [](std::optional<int64_t> seed, bool anew) {
        return made(
            [&] { return Dataset::random({.seed = seed, .rerandomize_each_iteration = anew}); });
      },
      "seed"_a.none(), "anew"_a);
  m.def("data_choose",
        [](const std::vector<nb::object>& datasets, nb::handle choices, bool stop_on_empty) {
          return made([&] {
            return Dataset::choose_from_datasets(datasets_of(datasets), dataset_of(choices),
                                                 {.stop_on_empty_dataset = stop_on_empty});
          });
        });
  m.def(
      "data_list_files",
      [](const std::vector<std::string>& patterns, bool shuffle, std::optional<int64_t> seed) {
        return made(
            [&] { return Dataset::list_files(patterns, {.shuffle = shuffle, .seed = seed}); });
      },
      "patterns"_a, "shuffle"_a, "seed"_a.none());
  m.def("data_scan", [](nb::handle self, nb::handle state, nb::handle f,
                        const std::vector<Tensor>& captured, nb::handle gives) {
    return made([&] {
      return dataset_of(self).scanned(element_of(state.ptr(), "`initial_state`"),
                                      function_from(f, captured, gives));
    });
  });
  m.def("data_unique",
        [](nb::handle self) { return made([&] { return dataset_of(self).unique(); }); });
  m.def("data_rebatch", [](nb::handle self, const std::vector<int64_t>& sizes, bool drop) {
    return made([&] { return dataset_of(self).rebatch(sizes, {.drop_remainder = drop}); });
  });
  m.def("data_batch_parts", [](nb::handle self, int64_t size, bool drop, const nb::list& rules,
                               nb::handle gives) {
    return made([&] {
      return data::batch_parts(dataset_of(self), size, drop, rules_of(rules), spec_of(gives.ptr()));
    });
  });
  m.def("data_unbatch_parts", [](nb::handle self, const nb::list& rules, nb::handle gives) {
    return made([&] {
      return data::unbatch_parts(dataset_of(self), rules_of(rules), spec_of(gives.ptr()));
    });
  });
  m.def("data_ignore_errors", [](nb::handle self, bool log_warning) {
    return made([&] { return dataset_of(self).ignore_errors(log_warning); });
  });
  m.def("data_assert_cardinality", [](nb::handle self, int64_t expected) {
    return made([&] { return dataset_of(self).assert_cardinality(expected); });
  });
  m.def(
      "data_save",
      [](nb::handle self, const std::string& path, const std::string& about,
         const std::string& compression, nb::handle shard, const std::vector<Tensor>& captured,
         nb::handle shard_gives) {
        run([&] {
          mark();
          Dataset d = dataset_of(self);
          data::SaveOptions o;
          o.compression = compression;
          if (!shard.is_none())
            o.shard_func =
                [f = function_from(shard, captured, shard_gives)](const Nested& element) {
                  return data::integer_in((*f)(element), "what `shard_func` gives");
                };
          WithoutGil others;
          d.write_to(path, o, about);
          return 0;
        });
      },
      "self"_a, "path"_a, "about"_a, "compression"_a, "shard"_a.none(), "captured"_a,
      "shard_gives"_a.none());
  m.def("data_load",
        [](const std::string& path) { return made([&] { return Dataset::load(path); }); });
  m.def("data_stored_about", [](const std::string& path) {
    return run([&] {
      std::string about = data::stored_about(path);
      return nb::str(about.data(), about.size());
    });
  });
  m.def("data_load_parts",
        [](const std::string& path) { return made([&] { return Dataset::load_parts(path); }); });
  m.def("data_of_datasets", [](const std::vector<nb::object>& datasets) {
    return made([&] { return data::of_datasets(datasets_of(datasets)); });
  });
  m.def("data_made_by", [](uint64_t stage) {
    return run([&]() -> nb::object {
      const Ref<data::Iteration>& now = data::Working::current();
      Ref<data::DatasetObject> made = now ? now->made_by(stage) : nullptr;
      return made ? face_of(Dataset(made)) : nb::none();
    });
  });
  m.def("data_keep", [](uint64_t stage, nb::handle dataset) {
    run([&] {
      if (const Ref<data::Iteration>& now = data::Working::current())
        now->keep(stage, dataset_of(dataset).object());
      return 0;
    });
  });
  m.def("data_counter", [](int64_t start, int64_t step, nb::handle dtype) {
    return made(
        [&] { return Dataset::counter(start, step, {.dtype = dtype_of_object(dtype.ptr())}); });
  });
  m.def("data_cache_in", [](nb::handle self, const std::string& path) {
    return made([&] { return dataset_of(self).cache(path); });
  });
  m.def(
      "data_snapshot",
      [](nb::handle self, const std::string& path, const std::string& compression, nb::handle shard,
         const std::vector<Tensor>& captured, nb::handle shard_gives, nb::handle reader) {
        return made([&] {
          data::SnapshotOptions o{.compression = compression};
          if (!reader.is_none())
            o.reader_func = [&](const Dataset& parts) {
              nb::object face = face_of(parts);
              return dataset_of(called(reader.ptr(), face.ptr()).get());
            };
          Ref<data::ElementFunction> f;
          if (!shard.is_none()) f = function_from(shard, captured, shard_gives);
          return dataset_of(self).snapshot_in(path, o, std::move(f));
        });
      },
      "self"_a, "path"_a, "compression"_a, "shard"_a.none(), "captured"_a, "shard_gives"_a.none(),
      "reader"_a.none());
  m.def("data_to_device", [](nb::handle self, const std::string& kind, int index) {
    return made([&] {
      Device* device = find_device(kind == "GPU" ? DeviceKind::kCuda : DeviceKind::kCpu, index);
      if (!device) type_error(cat("there is no device ", kind, ":", index));
      return dataset_of(self).to_device(device);
    });
  });
  m.def("data_fingerprint",
        [](nb::handle self) { return run([&] { return dataset_of(self).fingerprint(); }); });
  m.def("data_at", [](nb::handle self, int64_t index) {
    return run([&] {
      mark();
      Dataset d = dataset_of(self);
      Nested out;
      {
        WithoutGil others;
        out = data::at(d, index);
      }
      return given(structure_of(out));
    });
  });
  m.def("data_explain", [](nb::handle self, double seconds) {
    return run([&] {
      mark();
      Dataset d = dataset_of(self);
      WithoutGil others;
      return d.explain(seconds);
    });
  });
}

}  // namespace holdfast::py
