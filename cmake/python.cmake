# The extension module. nanobind comes from the Python environment that builds.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
find_package(nanobind CONFIG REQUIRED)

file(GLOB bind_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bind/*.cpp)
nanobind_add_module(_holdfast NB_STATIC NOMINSIZE ${bind_sources})
target_compile_options(nanobind-static PRIVATE -Wno-shadow)  # its code, not ours
target_include_directories(_holdfast PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(_holdfast PRIVATE HOLDFAST_BUILDING)
target_link_libraries(_holdfast PRIVATE holdfast)
target_precompile_headers(_holdfast PRIVATE "${PROJECT_SOURCE_DIR}/python/bind/nb.h" <holdfast/op/op.h>)
set_target_properties(_holdfast PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/lib" BUILD_RPATH_USE_ORIGIN ON)
