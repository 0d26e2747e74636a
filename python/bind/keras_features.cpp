// What layers have besides calls: streams of seeds, statistics of data, where channels are.
#include "holdfast/keras/layers/normalization/feature_normalization.h"
#include "holdfast/keras/layers/spatial/spatial.h"
#include "holdfast/keras/seed_generator.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {

using keras::layers::NormalizationLayer;

namespace {

// Says which streams of seeds hang on a layer's object: Python's function, set once.
nb::object& finder() {
  static auto* f = new nb::object;
  return *f;
}

std::vector<Variable> python_seeds(const keras::Layer& layer) {
  WithGil gil;
  if (!gil || !layer.shared() || !finder().is_valid()) return {};
  nb::object found = finder()(nb::handle(static_cast<PyObject*>(layer.shared())));
  return variables_from(found.ptr(), "seeds");
}

// Python's class of streams, set once.
nb::object& stream_class() {
  static auto* type = new nb::object;
  return *type;
}

// A stream of Python's: its own `next` is asked, which a class of the program may override.
class PyStream final : public keras::SeedSource {
 public:
  static const ObjectClass kClass;
  explicit PyStream(PyObject* stream)
      : stream_(PyRef::share(stream)),
        state_(variable_argument(nb::object(nb::handle(stream).attr("state")).ptr(),
                                 "`state` of a SeedGenerator")) {}
  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override {
    see.foreign(stream_.get());
    see.object(*state_.state());
  }
  PyObject* stream() const { return stream_.get(); }
  Tensor next() override {
    NeedGil gil("a SeedGenerator of Python's");
    PyObject* next = PyObject_CallMethod(stream_.get(), "next", nullptr);
    if (!next) throw nb::python_error();
    return keras::drawn_seed(convert(PyRef::steal(next).get()));
  }
  const Variable& state() override { return state_; }
  Config config() const override {
    NeedGil gil("the config of a SeedGenerator");
    return config_from(stream_.get(), "`seed`");
  }

 private:
  Callable stream_;
  Variable state_;
};
const ObjectClass PyStream::kClass{"PythonStream"};

nb::list variable_list(const std::vector<Variable>& all) {
  nb::list out;
  for (const Variable& v : all) out.append(given(python_of(*v.state())));
  return out;
}

}  // namespace

Ref<keras::SeedSource> seed_stream(PyObject* o) {
  const nb::object& type = stream_class();
  if (!type.is_valid() || !PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(type.ptr())))
    return {};
  return make_ref<PyStream>(o);
}

Object python_stream(const Shared& object) {
  if (auto* mine = dynamic_cast<const PyStream*>(&object)) return Object::share(mine->stream());
  auto* made = dynamic_cast<const keras::SeedGenerator*>(&object);
  if (!made) return {};
  nb::object type = nb::module_::import_("holdfast.keras.random").attr("SeedGenerator");
  const Variable& state = const_cast<keras::SeedGenerator*>(made)->state();
  nb::object shown = type.attr("_of_state")(given(python_of(*state.state())));
  return Object::share(shown.ptr());
}

void bind_keras_features(nb::module_& m) {
  m.def("set_seed_class", [](nb::object type) { stream_class() = std::move(type); });
  m.def("set_seed_finder", [](nb::object f) {
    finder() = std::move(f);
    keras::set_attribute_seeds(&python_seeds);
  });
  m.def("variables_and_seeds", [](nb::handle self) {
    return run([&] { return variable_list(keras::variables_and_seeds(layer_of(self.ptr()))); });
  });
  m.def("seed_states", [](nb::handle self) {
    return run([&] { return variable_list(keras::seed_states(layer_of(self.ptr()))); });
  });
  m.def("normalization_adapt", [](nb::handle self, nb::iterator batches) {
    run([&] {
      mark();
      layer_of<NormalizationLayer>(self.ptr()).adapt([&]() -> Tensor {
        if (batches == nb::iterator::sentinel()) return {};
        Tensor batch = nb::cast<Tensor>(*batches);
        ++batches;
        return batch;
      });
      return 0;
    });
  });
  m.def("normalization_statistics", [](nb::handle self) {
    return run([&] {
      mark();
      auto [mean, variance] = layer_of<NormalizationLayer>(self.ptr()).statistics();
      return nb::make_tuple(mean, variance);
    });
  });
  m.def("image_data_format", &keras::image_data_format);
  m.def("set_image_data_format", [](const std::string& format) {
    run([&] { return keras::set_image_data_format(format), 0; });
  });
}

}  // namespace holdfast::py
