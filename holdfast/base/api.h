#pragma once

/// Marks what libholdfast.so exports; everything else is hidden.
#define HOLDFAST_API __attribute__((visibility("default")))
