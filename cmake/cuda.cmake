# libholdfast_cuda.so: built wherever nvcc is found, opened at run time only where a driver is. It links
# to no CUDA library: the runtime is inside it, cuBLASLt, cuDNN and NVRTC are opened when first used.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "Holdfast: no nvcc, so no CUDA plugin")
  return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
if(HOLDFAST_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${HOLDFAST_CCACHE})
endif()
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know the dialects of CUDA 13
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit REQUIRED)
find_path(HOLDFAST_CUBLASLT_INCLUDE cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(HOLDFAST_NVRTC_INCLUDE nvrtc.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT HOLDFAST_CUBLASLT_INCLUDE OR NOT HOLDFAST_NVRTC_INCLUDE)
  message(STATUS "Holdfast: CUDA without the headers of cuBLASLt and NVRTC, so no CUDA plugin")
  return()
endif()

set(device_headers kScalarMath=holdfast/expr/scalar_math.h kIntegerMath=holdfast/expr/integer_math.h kSpecialFunctions=holdfast/expr/special_functions.h
    kElementTypes=holdfast/cuda/element_types.h kScalarDevice=holdfast/cuda/scalar_device.h
    kFoldDevice=holdfast/cuda/fold_device.h)
string(REGEX REPLACE "[a-zA-Z]+=" "${PROJECT_SOURCE_DIR}/" device_header_files "${device_headers}")
set(embedded ${HOLDFAST_GENERATED_DIR}/holdfast/cuda/device_headers.h)
add_custom_command(OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${embedded} "-DPAIRS=${device_headers}"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${device_header_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/cuda/*.cpp ${PROJECT_SOURCE_DIR}/holdfast/cuda/*.cu)
find_path(HOLDFAST_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT HOLDFAST_CUDNN_INCLUDE)
  message(STATUS "Holdfast: CUDA without the headers of cuDNN, so convolutions run on the CPU")
  list(FILTER cuda_sources EXCLUDE REGEX "/convolution\\.cpp$")
endif()
add_library(holdfast_cuda MODULE ${cuda_sources} ${embedded})
target_include_directories(holdfast_cuda PRIVATE ${HOLDFAST_GENERATED_DIR} ${HOLDFAST_CUBLASLT_INCLUDE} ${HOLDFAST_NVRTC_INCLUDE}
  $<$<BOOL:${HOLDFAST_CUDNN_INCLUDE}>:${HOLDFAST_CUDNN_INCLUDE}>)
target_compile_definitions(holdfast_cuda PRIVATE HOLDFAST_BUILDING)
target_compile_options(holdfast_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
target_precompile_headers(holdfast_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/holdfast/op/op.h>")
target_link_libraries(holdfast_cuda PRIVATE holdfast CUDA::cudart_static)
# What the plugin carries inside must not meet another copy in the process (PyTorch's, say).
target_link_options(holdfast_cuda PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs)
set_target_properties(holdfast_cuda PROPERTIES
  CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:holdfast> BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
message(STATUS "Holdfast: CUDA plugin for sm_${CMAKE_CUDA_ARCHITECTURES}, nvcc ${CMAKE_CUDA_COMPILER_VERSION}")

# Plain programs, so that they also build where GoogleTest is absent. 77: nothing to test on this machine.
option(HOLDFAST_CUDA_TESTS "Build the tests of the CUDA plugin" ${HOLDFAST_TESTS})
if(HOLDFAST_CUDA_TESTS)
  enable_testing()
  foreach(test slice plugin source fused train)
    add_executable(cuda_${test}_test ${PROJECT_SOURCE_DIR}/tests/cuda/${test}_test.cpp)
    target_link_libraries(cuda_${test}_test PRIVATE holdfast ${CMAKE_DL_LIBS})
    add_dependencies(cuda_${test}_test holdfast_cuda)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/cuda/${test}_test.cpp PROPERTIES COMPILE_OPTIONS -O0)
    add_test(NAME cuda_${test} COMMAND cuda_${test}_test $<TARGET_FILE:holdfast_cuda>)
    set_tests_properties(cuda_${test} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
  add_test(NAME cuda_slice_fake COMMAND ${CMAKE_COMMAND} -E env HOLDFAST_CUDA_PLUGIN=off $<TARGET_FILE:cuda_slice_test> none fake)
  add_test(NAME cuda_train_fake COMMAND ${CMAKE_COMMAND} -E env HOLDFAST_CUDA_PLUGIN=off $<TARGET_FILE:cuda_train_test> none fake)
  target_sources(cuda_slice_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda/slice_time.cpp)
  # The printer and the compiler of kernels need no GPU: their test has them inside.
  foreach(file source statements compile disk_cache libraries)
    target_sources(cuda_source_test PRIVATE ${PROJECT_SOURCE_DIR}/holdfast/cuda/${file}.cpp)
  endforeach()
  target_sources(cuda_source_test PRIVATE ${embedded})
  target_include_directories(cuda_source_test PRIVATE ${HOLDFAST_GENERATED_DIR} ${HOLDFAST_CUBLASLT_INCLUDE} ${HOLDFAST_NVRTC_INCLUDE})
endif()
