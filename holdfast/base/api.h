// What every header of ours begins with.
#pragma once

#if __cplusplus < 202002L
#error "Holdfast needs C++20: compile with -std=c++20"
#elif defined(__clang__)
#if __clang_major__ < 16
#error "Holdfast needs clang 16 or later (or GCC 12)"
#endif
#elif !defined(__GNUC__) || __GNUC__ < 12
#error "Holdfast needs GCC 12 or later (or clang 16)"
#endif

/// Marks what libholdfast.so exports; everything else is hidden.
#define HOLDFAST_API [[gnu::visibility("default")]]
