// Objects that two languages hold: one object, one count.
#pragma once

#include <atomic>

#include "holdfast/base/refcount.h"

namespace holdfast {

class Object;

/// What an object shows of itself: each reference that it holds, once.
class HOLDFAST_API Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void object(const Object& child) = 0;
  /// Something of the other language that C++ holds (a callable).
  virtual void foreign(void* /*held*/) {}

  template <class T>
  void child(const Ref<T>& held) {
    if (held) object(*held);
  }
  template <class List>
  void children(const List& held) {
    for (const auto& one : held) child(one);
  }
};

/// A class that the other language has a type for. Each is one object, which the C++ class defines
/// as `kClass`; classes that have none of their own appear as their nearest base.
struct ObjectClass {
  const char* name;
  const ObjectClass* base = nullptr;
  mutable void* type = nullptr;  // the other language's type, set when it is bound
};

/// Base of what Python may hold and subclass: variables, modules, layers.
///
/// The count is C++'s own until Python sees the object. From then on the Python object's count is
/// the only one: each `Ref` is a reference to that object, so it lives, with its attributes and its
/// class, as long as either language holds it, and Python's collector sees who holds whom.
/// `base/` knows no Python: whoever binds a language sets the hooks.
class HOLDFAST_API Object : public RefCounted {
 public:
  virtual const ObjectClass& object_class() const = 0;
  /// The references that this object holds: for collectors, and for who looks for variables.
  virtual void visit(Visitor&) const {}
  /// Lets go of those references, since a cycle of garbage goes through them. The object must stand
  /// being used afterwards, emptied.
  virtual void clear() {}

  /// The other language's object, once there is one. It lives as long as this one.
  void* shared() const noexcept { return shared_.load(std::memory_order_acquire); }
  /// What `visit` shows, and what the other language has put on the object as attributes.
  void visit_all(Visitor&) const;

  /// What the binding does with its own objects. All may be called by any thread.
  struct Hooks {
    void (*retain)(void* shared) noexcept;
    void (*release)(void* shared) noexcept;
    void (*attributes)(void* shared, Visitor&);
  };
  static void set_hooks(const Hooks&);
  /// Gives the count to `shared`, for the binding alone, which holds a reference and its own lock.
  /// Gives back how many references there are: they are `shared`'s from now on.
  int64_t share(void* shared) noexcept;
  /// Ends that when nobody holds `shared` any more: then the object goes.
  void end_sharing() noexcept;

 protected:
  void retained(int64_t before) const noexcept override;
  void released(int64_t before) const noexcept override;

 private:
  std::atomic<void*> shared_{nullptr};
};

}  // namespace holdfast
