# libholdfast.so: everything under holdfast/ but the CUDA plugin.
include(GNUInstallDirs)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/*.cpp)
list(FILTER sources EXCLUDE REGEX "/holdfast/cuda/")

# Kernels that are compiled once per instruction set: every file in a folder named cpu whose name
# begins with loops_.
set(isa_sources ${sources})
list(FILTER isa_sources INCLUDE REGEX "/loops_[a-z0-9_]*\\.cpp$")
list(FILTER sources EXCLUDE REGEX "/loops_[a-z0-9_]*\\.cpp$")

# Machine code for expressions; without Xbyak the loops run alone, and say so.
if(HOLDFAST_XBYAK AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  find_path(HOLDFAST_XBYAK_INCLUDE xbyak/xbyak.h)
  mark_as_advanced(HOLDFAST_XBYAK_INCLUDE)
endif()
if(HOLDFAST_XBYAK_INCLUDE)
  set(jit ${PROJECT_SOURCE_DIR}/holdfast/expr/jit)
  set_source_files_properties(${jit}/code.cpp PROPERTIES COMPILE_DEFINITIONS HOLDFAST_XBYAK SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(${jit}/emitter.cpp ${jit}/fold_code.cpp ${jit}/vector_code.cpp PROPERTIES
    COMPILE_OPTIONS "-idirafter${HOLDFAST_XBYAK_INCLUDE}" SKIP_PRECOMPILE_HEADERS ON)
else()
  list(FILTER sources EXCLUDE REGEX "/expr/jit/(emitter|fold_code|vector_code)\\.cpp$")
endif()

add_library(holdfast SHARED ${sources})
add_library(holdfast::holdfast ALIAS holdfast)
target_include_directories(holdfast PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(holdfast PUBLIC cxx_std_20)
target_compile_definitions(holdfast PRIVATE HOLDFAST_BUILDING)
target_compile_options(holdfast PRIVATE -fno-math-errno -fno-trapping-math)
# Calls from the library to itself go straight there, not through a table that a program could change: a tenth of a small op.
target_link_options(holdfast PRIVATE -Wl,-Bsymbolic-functions)
# What plugins compare before they speak C++ with the library.
file(GLOB shared_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/base/* ${PROJECT_SOURCE_DIR}/holdfast/tensor/*
     ${PROJECT_SOURCE_DIR}/holdfast/device/* ${PROJECT_SOURCE_DIR}/holdfast/op/* ${PROJECT_SOURCE_DIR}/holdfast/expr/*)
list(FILTER shared_headers INCLUDE REGEX "\\.(h|def)$")
set(HOLDFAST_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
add_custom_command(OUTPUT ${HOLDFAST_GENERATED_DIR}/holdfast/build_id.h
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${HOLDFAST_GENERATED_DIR}/holdfast/build_id.h
          -DVERSION=${PROJECT_VERSION} "-DCOMPILER=${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}"
          -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
  DEPENDS ${shared_headers} ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake VERBATIM)
target_sources(holdfast PRIVATE ${HOLDFAST_GENERATED_DIR}/holdfast/build_id.h)
target_include_directories(holdfast PRIVATE ${HOLDFAST_GENERATED_DIR})
set_target_properties(holdfast PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${PROJECT_VERSION})

# A rule of an optimizer is one loop over all its variables, which -O2 leaves scalar.
file(GLOB rule_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/ops/training/*.cpp)
if(NOT HOLDFAST_SANITIZE)
  set_source_files_properties(${rule_sources} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
endif()

# Every op file includes op.h, and parsing it costs more than the file itself.
target_precompile_headers(holdfast PRIVATE <holdfast/op/op.h>)

set(isa_flags_baseline -march=x86-64)
set(isa_flags_avx2 -march=x86-64-v3)
set(isa_flags_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
# The baseline runs on machines of before 2013. Under a sanitizer the loops need not be fast, and vectorising
# checked code takes minutes a file.
set(isa_optimise_baseline -O2)
set(isa_optimise_avx2 -O3)
set(isa_optimise_avx512 -O3)
foreach(isa ${HOLDFAST_INSTRUCTION_SETS})
  string(TOUPPER ${isa} isa_name)
  list(APPEND isa_definitions HOLDFAST_HAS_${isa_name})
endforeach()
target_compile_definitions(holdfast PRIVATE ${isa_definitions})
foreach(isa ${HOLDFAST_INSTRUCTION_SETS})
  if(HOLDFAST_SANITIZE)
    set(isa_optimise_${isa} -O1)
  endif()
  add_library(holdfast_${isa} OBJECT ${isa_sources})
  target_include_directories(holdfast_${isa} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(holdfast_${isa} PRIVATE HOLDFAST_BUILDING HOLDFAST_ISA=${isa} ${isa_definitions})
  # Vectors are wider than the narrower instruction sets pass; they are never passed, only inlined: -Wno-psabi.
  target_compile_options(holdfast_${isa} PRIVATE ${isa_optimise_${isa}} -fno-math-errno -fno-trapping-math -Wno-psabi
    ${isa_flags_${isa}})
  # GCC 13 splits lone chains of fused multiply-adds into products and sums, which round twice: a result would depend on how
  # many rows lie beside it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(holdfast_${isa} PRIVATE --param=avoid-fma-max-bits=0)
  endif()
  target_link_libraries(holdfast PRIVATE $<TARGET_OBJECTS:holdfast_${isa}>)
endforeach()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
target_link_libraries(holdfast PRIVATE Threads::Threads ZLIB::ZLIB ${CMAKE_DL_LIBS})

# What one source needs is told to that source alone: without the library its functions say so.
function(holdfast_optional_library name source)
  find_library(HOLDFAST_${name}_LIBRARY NAMES ${ARGN})
  mark_as_advanced(HOLDFAST_${name}_LIBRARY)
  if(HOLDFAST_${name}_LIBRARY)
    target_link_libraries(holdfast PRIVATE ${HOLDFAST_${name}_LIBRARY})
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES COMPILE_DEFINITIONS HOLDFAST_${name}
      SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
holdfast_optional_library(JPEG holdfast/io/images/jpeg.cpp jpeg)
holdfast_optional_library(PNG holdfast/io/images/png.cpp png)
holdfast_optional_library(RE2 holdfast/ops/strings/regex.cpp re2)

if(HOLDFAST_OPENMP)
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    target_compile_definitions(holdfast PRIVATE HOLDFAST_OPENMP)
    target_link_libraries(holdfast PRIVATE OpenMP::OpenMP_CXX)
  endif()
endif()
if(HOLDFAST_ONEDNN)
  find_package(dnnl 3 CONFIG QUIET)
  if(dnnl_FOUND)
    target_compile_definitions(holdfast PRIVATE HOLDFAST_ONEDNN)
    target_link_libraries(holdfast PRIVATE DNNL::dnnl)
  endif()
endif()
if(HOLDFAST_OPENBLAS)
  find_library(HOLDFAST_OPENBLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-pthread)
  find_path(HOLDFAST_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-pthread x86_64-linux-gnu/openblas-pthread openblas)
  if(HOLDFAST_OPENBLAS_LIBRARY AND HOLDFAST_OPENBLAS_INCLUDE)
    set(HOLDFAST_HAS_OPENBLAS ON)
    target_compile_definitions(holdfast PRIVATE HOLDFAST_OPENBLAS)
    target_include_directories(holdfast SYSTEM PRIVATE ${HOLDFAST_OPENBLAS_INCLUDE})
    target_link_libraries(holdfast PRIVATE ${HOLDFAST_OPENBLAS_LIBRARY})
  endif()
endif()
message(STATUS "Holdfast: OpenMP ${OpenMP_CXX_FOUND}, oneDNN ${dnnl_FOUND}, OpenBLAS ${HOLDFAST_HAS_OPENBLAS}, Xbyak ${HOLDFAST_XBYAK_INCLUDE}")
