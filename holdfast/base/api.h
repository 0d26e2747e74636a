#pragma once

/// Marks what libholdfast.so exports; everything else is hidden.
#define HOLDFAST_API [[gnu::visibility("default")]]
