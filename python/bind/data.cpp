// Datasets and their iterators: the C++ classes, with Python's functions and generators in them.
#include "python/bind/data.h"

#include <unistd.h>

#include "holdfast/base/text.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/loop.h"
#include "holdfast/data/worker.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"
#include "python/bind/arrays.h"
#include "python/bind/depth.h"
#include "python/bind/structure.h"
#include "python/bind/traced.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

using data::Dataset;
using data::DatasetObject;
using data::ElementSpec;
using data::IteratorObject;

namespace {

// -- specs

Object spec_object(const ElementSpec& spec, nb::handle make, nb::handle make_inner) {
  return structure_of(spec.form(), [&](const Tensor& t) {
    if (DatasetObject* inner = data::dataset_in(t)) {
      Object of = spec_object(inner->spec(), make, make_inner);
      return called(make_inner.ptr(), of.get());
    }
    Object shape = shape_object(t.shape());
    return called(make.ptr(), shape.get(), dtype_object(t.dtype()));
  });
}

// -- Python's functions

/// A function that is called with the values of each element: one that takes or gives datasets.
class CalledWithValues final : public data::ElementFunction,
                               public data::HoldsDatasets,
                               public data::MakesDatasets {
 public:
  CalledWithValues(PyRef f, ElementSpec gives) : code_(std::move(f)), gives_(std::move(gives)) {}
  void visit(Visitor& see) const override { see.foreign(code_.get()); }
  std::optional<ElementSpec> gives() const override { return gives_; }
  const holdfast::Object& draws_as() const override { return *place_; }
  void add_facts(data::Saving& to) const override { add_code_of(code_.get(), to); }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    add_datasets_in(code_.get(), to);
  }
  Nested operator()(const Nested& element) override {
    data::Making in_place(*place_);
    Nested out = in_python([&] {
      PyRef in = structure_of(element);
      return element_of(called(code_.get(), in.get()).get(), "what a function of elements gives");
    });
    if (auto wrong = gives_.mismatch(out))
      fail(Code::E1401, cat("what a function of elements gave: ", *wrong),
           "every element of a dataset has the form, dtypes and shapes of its spec");
    return data::holds_datasets(gives_.form()) ? data::with_origins(out, number, element) : out;
  }

 private:
  Callable code_;
  const ElementSpec gives_;
  const Ref<data::Place> place_ = data::made_in_place();
};

/// A traced function of Python's that calls Python, or uses what Python keeps alive.
class WithPythonCode final : public data::ElementFunction, public data::HoldsDatasets {
 public:
  WithPythonCode(Ref<data::ElementFunction> f, PyRef code)
      : function_(std::move(f)), code_(std::move(code)) {}
  void visit(Visitor& see) const override {
    see.child(function_);
    see.foreign(code_.get());
  }
  std::optional<ElementSpec> gives() const override { return function_->gives(); }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    if (auto* holds = dynamic_cast<const data::HoldsDatasets*>(function_.get()))
      holds->add_datasets(to);
    add_datasets_in(code_.get(), to);
  }
  void add_facts(data::Saving& to) const override {
    function_->add_facts(to);
    add_code_of(code_.get(), to);
  }
  const holdfast::Object& draws_as() const override { return function_->draws_as(); }
  Nested operator()(const Nested& element) override {
    // An exception of Python's is kept by the thread's state, which lives as long as this.
    NeedGil gil("a function of Python's");
    try {
      WithoutGil others;
      return (*function_)(element);
    } catch (const PythonError&) {
      throw nb::python_error();
    }
  }

 private:
  const Ref<data::ElementFunction> function_;
  Callable code_;
};

// -- generators

Tensor leaf_from(PyObject* value, DType want) {
  Tensor t = convert(value, want);
  return t.dtype() == want ? t : cast(t, want);
}

// An element of a form: its tuples may be given as lists.
Nested element_from(PyObject* value, const Nested& form) {
  if (form.is_none()) {
    if (value == Py_None) return {};
    type_error(cat("a generator gave ", repr_of(value), ", expected None"));
  }
  if (form.is_tensor()) return leaf_from(value, form.tensor().dtype());
  if (form.is_dict()) {
    std::vector<Nested::Entry> entries;
    if (!PyDict_Check(value) || PyDict_GET_SIZE(value) != static_cast<Py_ssize_t>(form.size()))
      type_error(cat("a generator gave ", repr_of(value), ", expected ", form.form()));
    for (size_t i = 0; i < form.size(); ++i) {
      PyObject* item = PyDict_GetItemString(value, form.key(i).c_str());
      if (!item) type_error(cat("a generator gave ", repr_of(value), ", expected ", form.form()));
      Object keep = Object::share(item);
      entries.emplace_back(form.key(i), element_from(item, form[i]));
    }
    return Nested::dict(std::move(entries));
  }
  if (!PyTuple_Check(value) && !PyList_Check(value))
    type_error(cat("a generator gave ", repr_of(value), ", expected ", form.form()));
  Object all = Object::steal(PySequence_Fast(value, "an element"));
  if (PySequence_Fast_GET_SIZE(all.get()) != static_cast<Py_ssize_t>(form.size()))
    type_error(cat("a generator gave ", PySequence_Fast_GET_SIZE(all.get()), " values, expected ",
                   form.size(), ": ", form.form()));
  std::vector<Nested> items;
  for (size_t i = 0; i < form.size(); ++i)
    items.push_back(
        element_from(PySequence_Fast_GET_ITEM(all.get(), static_cast<Py_ssize_t>(i)), form[i]));
  return Nested::tuple(std::move(items));
}

// `next(iterator, no more)`: what is called by Python's own way can be left when the process ends.
PyObject* next_function() {
  static PyObject* f = nb::object(nb::module_::import_("builtins").attr("next")).release().ptr();
  return f;
}
PyObject* no_more() {
  static PyObject* end =
      nb::object(nb::module_::import_("builtins").attr("object")()).release().ptr();
  return end;
}

class PyGenerator final : public data::Generator {
 public:
  PyGenerator(PyRef iterator, Nested form)
      : iterator_(std::move(iterator)), form_(std::move(form)) {}
  void visit(Visitor& see) const override { see.foreign(iterator_.get()); }
  bool next(Nested& out) override {
    return in_python([&] {
      // While it runs it is no garbage, whoever else has let it go: it could not be ended.
      Object held = Object::share(iterator_.get());
      PyRef item = called(next_function(), iterator_.get(), no_more());
      if (item.get() == no_more()) return false;
      out = element_from(item.get(), form_);
      return true;
    });
  }

 private:
  Callable iterator_;
  const Nested form_;
};

class PyGeneratorSource final : public data::GeneratorSource, public data::HoldsDatasets {
 public:
  PyGeneratorSource(PyRef begin, Nested form) : begin_(std::move(begin)), form_(std::move(form)) {}
  void visit(Visitor& see) const override { see.foreign(begin_.get()); }
  // None: a generator is run again up to its place, with what it does to them.
  void add_datasets(std::vector<Ref<DatasetObject>>&) const override {}
  void add_code(data::Saving& to) const override { add_code_of(begin_.get(), to); }
  Ref<data::Generator> begin() override {
    NeedGil gil("a generator of Python's");
    return make_ref<PyGenerator>(called(begin_.get()), form_);
  }

 private:
  Callable begin_;
  const Nested form_;
};

// -- the iterator

IteratorObject& iterator_of(PyObject* o) {
  auto* found = object_behind<IteratorObject>(o);
  if (!found) type_error(cat("expected an iterator of a dataset, got ", repr_of(o)));
  return *found;
}

// Once the interpreter goes only its main thread has anything to say: others, which it does not
// wait for, stay where they are.
void stay_if_left_behind() {
  if (getpid() == gettid()) return;
  WithoutGil others;
  stay_to_the_end();
}

PyObject* iterator_next(PyObject* self) {
  return method([&]() -> PyObject* {
    mark();
    Ref<IteratorObject> it(&iterator_of(self));
    if (context().interpreter) {
      data::Iterator over(it);
      return structure_of(data::next_element(data::begin_loop(over), over.element_spec()))
          .release();
    }
    Nested out;
    bool there;
    try {
      WithoutGil others;
      there = it->next(out);
    } catch (const Error& e) {
      if (e.code() == Code::E1501 && data::workers_stopped()) stay_if_left_behind();
      throw;
    } catch (nb::python_error& e) {
      // Who iterates would take it for the end of the data, as Python's generators know too.
      if (!e.matches(PyExc_StopIteration)) throw;
      nb::raise_from(e, PyExc_RuntimeError,
                     "a function of the dataset raised StopIteration, which does not end the data");
    }
    return there ? structure_of(out).release() : nullptr;
  });
}

// Python's own exceptions pass as they are.
void add_note(const std::exception_ptr& to, const std::string& note) {
  try {
    std::rethrow_exception(to);
  } catch (const nb::python_error& e) {
    if (WithGil gil; gil && nb::hasattr(e.value(), "add_note")) e.value().attr("add_note")(note);
  } catch (...) {  // of another kind: whoever throws it says what it is
  }
}

// Whether what Python raised is no mistake of an element: Ctrl-C, the end of the program.
bool stops(const std::exception_ptr& given) {
  try {
    std::rethrow_exception(given);
  } catch (const nb::python_error& e) {
    WithGil gil;
    return !gil || !e.matches(PyExc_Exception);
  } catch (...) {
    return false;
  }
}

}  // namespace

Dataset dataset_of(nb::handle o) {
  auto* found = object_behind<DatasetObject>(o.ptr());
  if (!found) type_error(cat("expected a dataset, got ", repr_of(o.ptr())));
  return Dataset(Ref<DatasetObject>(found));
}

void add_datasets_in(PyObject* function, std::vector<Ref<DatasetObject>>& to) {
  in_python([&] {
    static PyObject* find =
        nb::object(nb::module_::import_("holdfast.data.holding").attr("datasets_in"))
            .release()
            .ptr();
    Object all = called(find, function);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i)
      to.push_back(dataset_of(PyList_GET_ITEM(all.get(), i)).object());
    return 0;
  });
}

void add_code_of(PyObject* function, data::Saving& to) {
  in_python([&] {
    static PyObject* words =
        nb::object(nb::module_::import_("holdfast.data.code").attr("code_of")).release().ptr();
    Object text = called(words, function);
    to.text(nb::cast<std::string>(nb::handle(text.get())));
    return 0;
  });
}

nb::object face_of(const Dataset& d) { return given(python_of(*d.object())); }

ElementSpec spec_of(PyObject* o) {
  if (o == Py_None) return {};
  Deeper deeper(" while a spec was read");
  if (PyTuple_Check(o)) {
    std::vector<ElementSpec> items;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
      items.push_back(spec_of(PyTuple_GET_ITEM(o, i)));
    return ElementSpec::tuple(items);
  }
  if (PyDict_Check(o)) {
    std::vector<std::pair<std::string, ElementSpec>> entries;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) {
      if (!PyUnicode_Check(key))
        type_error(cat("a dict of a spec has the key ", repr_of(key), ", expected a text"));
      Object held = Object::share(value);  // code of its class may change the dict
      entries.emplace_back(bytes_of(key), spec_of(value));
    }
    return ElementSpec::dict(entries);
  }
  if (has_parts(o)) {
    std::vector<ElementSpec> parts;
    for (const Object& part : children_of(o)) parts.push_back(spec_of(part.get()));
    return ElementSpec::tuple(parts);
  }
  nb::handle spec(o);
  if (nb::hasattr(spec, "element_spec")) {
    nb::object inner = spec.attr("element_spec");
    return ElementSpec::of(data::component_of(data::promised(spec_of(inner.ptr()))));
  }
  if (!nb::hasattr(spec, "dtype") || !nb::hasattr(spec, "shape"))
    type_error(cat("a spec is ", repr_of(o), ", expected a TensorSpec"));
  nb::object dtype = spec.attr("dtype"), shape = spec.attr("shape");
  nb::object sizes = nb::none();
  if (!shape.attr("rank").is_none()) sizes = shape.attr("as_list")();
  return ElementSpec(dtype_of_object(dtype.ptr()), shape_of(sizes.ptr(), "the shape of a spec"));
}

Ref<data::ElementFunction> function_from(nb::handle f, const std::vector<Tensor>& captured,
                                         nb::handle gives) {
  if (PyFunction_Check(f.ptr()))
    return make_ref<CalledWithValues>(Object::share(f.ptr()), spec_of(gives.ptr()));
  const Concrete& c = concrete_of(f.ptr());
  Ref<data::ElementFunction> traced =
      data::concrete_function(c.function, captured, spec_of(gives.ptr()));
  if (c.code) return make_ref<WithPythonCode>(std::move(traced), c.code);
  return traced;
}

void bind_data(nb::module_& m) {
  bind_data_stages(m);
  data::set_exception_note(&add_note);
  data::set_stop_judge(&stops);
  add_object_type(m.ptr(), {.name = "holdfast._holdfast.DatasetBase",
                            .kind = &DatasetObject::kClass,
                            .doc = "A pipeline of elements."});
  add_object_type(m.ptr(), {.name = "holdfast._holdfast.DatasetIteratorBase",
                            .kind = &IteratorObject::kClass,
                            .doc = "One iteration of a dataset.",
                            .slots = {{Py_tp_iter, reinterpret_cast<void*>(&PyObject_SelfIter)},
                                      {Py_tp_iternext, reinterpret_cast<void*>(&iterator_next)}}});

  m.def(
      "data_from_tensors",
      [](nb::handle element) {
        return made([&] { return Dataset::from_tensors(element_of(element.ptr(), "`tensors`")); });
      },
      "element"_a.none());
  m.def(
      "data_from_tensor_slices",
      [](nb::handle tensors) {
        return made(
            [&] { return Dataset::from_tensor_slices(element_of(tensors.ptr(), "`tensors`")); });
      },
      "tensors"_a.none());
  m.def("data_range", [](int64_t start, int64_t stop, int64_t step, nb::handle dtype) {
    return made(
        [&] { return Dataset::range(start, stop, step, {.dtype = dtype_of_object(dtype.ptr())}); });
  });
  m.def(
      "data_from_generator",
      [](nb::handle begin, nb::handle spec) {
        return made([&] {
          ElementSpec gives = spec_of(spec.ptr());
          return Dataset::generated(
              gives, make_ref<PyGeneratorSource>(Object::share(begin.ptr()), gives.form()));
        });
      },
      "begin"_a, "spec"_a.none());
  m.def(
      "data_zip",
      [](const std::vector<nb::object>& datasets, nb::handle keys) {
        return made([&] {
          std::vector<Dataset> all;
          for (const nb::object& d : datasets) all.push_back(dataset_of(d));
          if (keys.is_none()) return Dataset::zip(all);
          auto names = nb::cast<std::vector<std::string>>(keys);
          std::vector<std::pair<std::string, Dataset>> entries;
          for (size_t i = 0; i < all.size() && i < names.size(); ++i)
            entries.emplace_back(names[i], all[i]);
          return Dataset::zip(entries);
        });
      },
      "datasets"_a, "keys"_a.none());
  m.def(
      "data_map",
      [](nb::handle self, nb::handle concrete, const std::vector<Tensor>& captured,
         nb::handle gives, int64_t calls, bool deterministic) {
        return made([&] {
          return dataset_of(self).mapped(
              function_from(concrete, captured, gives),
              {.num_parallel_calls = calls, .deterministic = deterministic});
        });
      },
      "self"_a, "concrete"_a, "captured"_a, "gives"_a.none(), "calls"_a, "deterministic"_a);
  m.def("data_filter", [](nb::handle self, nb::handle concrete, const std::vector<Tensor>& captured,
                          nb::handle gives, bool until_first) {
    return made([&] {
      return dataset_of(self).filtered(function_from(concrete, captured, gives), until_first);
    });
  });
  m.def(
      "data_interleave",
      [](nb::handle self, nb::handle f, int64_t cycle, int64_t block, nb::handle gives,
         int64_t calls, bool deterministic) {
        return made([&] {
          auto held = make_ref<HeldByData>(Object::share(f.ptr()));
          ElementSpec spec = spec_of(gives.ptr());
          auto make = [code = held.get()](const Nested& element) {
            return in_python([&] {
              PyRef in = structure_of(element);
              return dataset_of(called(code->get(), in.get()).get());
            });
          };
          return dataset_of(self).interleaved(make,
                                              {.cycle_length = cycle,
                                               .block_length = block,
                                               .num_parallel_calls = calls,
                                               .deterministic = deterministic},
                                              held, &spec);
        });
      },
      "self"_a, "f"_a, "cycle"_a, "block"_a, "gives"_a.none(), "calls"_a, "deterministic"_a);
  m.def(
      "data_shuffle",
      [](nb::handle self, int64_t size, std::optional<int64_t> seed, bool anew) {
        return made([&] {
          return dataset_of(self).shuffle(size, {.seed = seed, .reshuffle_each_iteration = anew});
        });
      },
      "self"_a, "size"_a, "seed"_a.none(), "anew"_a);
  m.def("data_batch", [](nb::handle self, int64_t size, bool drop) {
    return made([&] { return dataset_of(self).batch(size, {.drop_remainder = drop}); });
  });
  m.def(
      "data_padded_batch",
      [](nb::handle self, int64_t size, nb::handle shapes,
         const std::vector<std::optional<Tensor>>& values, bool drop) {
        return made([&] {
          data::PaddedBatchOptions o{.drop_remainder = drop};
          if (!shapes.is_none()) {
            o.padded_shapes.emplace();
            for (nb::handle s : nb::cast<std::vector<nb::object>>(shapes))
              o.padded_shapes->push_back(shape_of(s.ptr(), "`padded_shapes`"));
          }
          for (const auto& v : values) o.padding_values.push_back(v.value_or(Tensor()));
          return dataset_of(self).padded_batch(size, o);
        });
      },
      "self"_a, "size"_a, "shapes"_a.none(), "values"_a, "drop"_a);
  m.def("data_unbatch",
        [](nb::handle self) { return made([&] { return dataset_of(self).unbatch(); }); });
  m.def("data_repeat", [](nb::handle self, int64_t count) {
    return made([&] { return dataset_of(self).repeat(count); });
  });
  m.def("data_take", [](nb::handle self, int64_t count) {
    return made([&] { return dataset_of(self).take(count); });
  });
  m.def("data_with_options", [](nb::handle self) {
    return made([&] { return Dataset(data::with_options(dataset_of(self).object())); });
  });
  m.def("data_skip", [](nb::handle self, int64_t count) {
    return made([&] { return dataset_of(self).skip(count); });
  });
  m.def("data_shard", [](nb::handle self, int64_t shards, int64_t index) {
    return made([&] { return dataset_of(self).shard(shards, index); });
  });
  m.def("data_concatenate", [](nb::handle self, nb::handle other) {
    return made([&] { return dataset_of(self).concatenate(dataset_of(other)); });
  });
  m.def("data_enumerate", [](nb::handle self, int64_t start) {
    return made([&] { return dataset_of(self).enumerate(start); });
  });
  m.def("data_cache",
        [](nb::handle self) { return made([&] { return dataset_of(self).cache(); }); });
  m.def("data_prefetch", [](nb::handle self, int64_t size) {
    return made([&] { return dataset_of(self).prefetch(size); });
  });
  m.def(
      "data_arrays",
      [](nb::handle tensors, int64_t size, bool shuffle, std::optional<int64_t> seed, bool drop) {
        return made([&] {
          return data::arrays(
              element_of(tensors.ptr(), "`arrays`"),
              {.batch_size = size, .shuffle = shuffle, .seed = seed, .drop_remainder = drop});
        });
      },
      "tensors"_a, "size"_a, "shuffle"_a, "seed"_a.none(), "drop"_a);
  m.def("data_spec", [](nb::handle self, nb::handle make, nb::handle make_inner) {
    return run(
        [&] { return given(spec_object(dataset_of(self).element_spec(), make, make_inner)); });
  });
  m.def("data_cardinality",
        [](nb::handle self) { return run([&] { return dataset_of(self).cardinality(); }); });
  m.def("data_stages",
        [](nb::handle self) { return run([&] { return dataset_of(self).object()->chain(); }); });
  m.def("data_iterator", [](nb::handle self) {
    return run([&] {
      mark();
      Dataset d = dataset_of(self);
      return given(python_of(*make_ref<IteratorObject>(d.object())));
    });
  });
  m.def("data_iterator_save", [](nb::handle self) {
    return run([&] {
      Ref<IteratorObject> it(&iterator_of(self.ptr()));
      std::string bytes;
      {
        WithoutGil others;
        bytes = it->save();
      }
      return nb::bytes(bytes.data(), bytes.size());
    });
  });
  m.def("data_iterator_restore", [](nb::handle self, nb::bytes position) {
    run([&] {
      mark();
      Ref<IteratorObject> it(&iterator_of(self.ptr()));
      std::string bytes(position.c_str(), position.size());
      WithoutGil others;
      it->restore(bytes);
      return 0;
    });
  });
  m.def("data_begin_loop", [](nb::handle over) {
    return run([&] {
      mark();
      if (auto* it = object_behind<IteratorObject>(over.ptr()))
        return data::begin_loop(data::Iterator(Ref<IteratorObject>(it)));
      return data::begin_loop(dataset_of(over));
    });
  });
  m.def("data_position", [](nb::handle iterator) {
    return run([&] {
      mark();
      InterpreterScope eagerly(nullptr);
      NoTapes unseen;
      return data::begin_loop(data::Iterator(Ref<IteratorObject>(&iterator_of(iterator.ptr()))));
    });
  });
  m.def("data_next_at", [](const Tensor& position, nb::handle dataset) {
    return run([&] {
      mark();
      return given(structure_of(data::next_element(position, dataset_of(dataset).element_spec())));
    });
  });
  m.def("data_single_element", [](nb::handle dataset) {
    return run([&] {
      mark();
      return given(structure_of(data::single_element(dataset_of(dataset))));
    });
  });
  m.def("data_advance_loop", [](const Tensor& position) {
    return run([&] {
      mark();
      return data::advance_loop(position);
    });
  });
  m.def("data_loop_element", [](const Tensor& position, nb::handle dataset) {
    return run([&] {
      mark();
      return given(structure_of(data::loop_element(position, dataset_of(dataset).element_spec())));
    });
  });
  m.def(
      "data_promised",
      [](nb::handle spec) { return made([&] { return data::promised(spec_of(spec.ptr())); }); },
      "spec"_a.none(), "A dataset of a spec, and nothing more.");
  bind_data_files(m);
  bind_data_iterators(m);
  bind_examples(m);
}

}  // namespace holdfast::py
