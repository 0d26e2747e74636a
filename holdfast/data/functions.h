// Functions of elements that are traced.
#pragma once

#include "holdfast/data/node.h"
#include "holdfast/data/result.h"

namespace holdfast::data {

class Dataset;

/// Code that is traced for elements of a spec, and runs as a graph.
HOLDFAST_API Ref<ElementFunction> traced_function(detail::ElementCode code,
                                                  const ElementSpec& takes, const char* name);
/// Code that is called as it is; `around`, where it calls that one. `facts` tell it from other
/// code.
HOLDFAST_API Ref<ElementFunction> plain_function(detail::ElementCode code,
                                                 Ref<ElementFunction> around = nullptr,
                                                 std::string facts = {});
/// A function that was traced already: its arguments are the element's tensors, then `captured`.
/// What it gives are its first outputs, in the form of `gives`. `held` lives as long as it.
HOLDFAST_API Ref<ElementFunction> concrete_function(Ref<ConcreteFunction> function,
                                                    std::vector<Tensor> captured,
                                                    const ElementSpec& gives,
                                                    Ref<Object> held = nullptr);
/// Whether a function is a graph of elementwise ops: rows side by side come out as they would one
/// by one.
HOLDFAST_API bool is_elementwise(const ElementFunction& f);
/// Such a function for batches of what it takes.
HOLDFAST_API Ref<ElementFunction> for_batches(const ElementFunction& f, const ElementSpec& takes);
/// What a function makes of an element: the function runs once, on symbols. While it does, datasets
/// that it makes are known by their specs alone.
HOLDFAST_API ElementSpec spec_of_made(const Callback<ElementSpec(const Nested&)>& make,
                                      const ElementSpec& takes, const char* name);

/// Whether such a function runs on this thread.
HOLDFAST_API bool probing();
/// A dataset of a spec, and nothing more.
HOLDFAST_API Dataset promised(const ElementSpec& spec);

}  // namespace holdfast::data
