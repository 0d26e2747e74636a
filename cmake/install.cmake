# What is installed. The component `holdfast` is the C++ library: headers, the library, the CUDA plugin, a CMake package and
# a pkg-config file. It is all that a plain install installs; `python` and `python_sources` are there for who asks for them.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
set_target_properties(holdfast PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS holdfast EXPORT holdfast LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT holdfast)
foreach(header ${HOLDFAST_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT holdfast)
endforeach()
install(EXPORT holdfast NAMESPACE holdfast:: FILE holdfast-targets.cmake DESTINATION ${package_dir} COMPONENT holdfast)
configure_package_config_file(cmake/holdfast-config.cmake.in ${PROJECT_BINARY_DIR}/holdfast-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 each minor version may change what programs see.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfast-config.cmake ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
        DESTINATION ${package_dir} COMPONENT holdfast)

# pkg-config finds everything from where the file itself lies, so that the prefix can be chosen late, and moved.
foreach(kind LIB INCLUDE)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}DIR})
    set(pc_${kind}DIR ${CMAKE_INSTALL_${kind}DIR})
  else()
    set(pc_${kind}DIR "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  endif()
endforeach()
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(pc_PREFIX "\${pcfiledir}/${up}")
endif()
configure_file(cmake/holdfast.pc.in ${PROJECT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT holdfast)

# oneDNN as it was linked against, once, under the name the loader asks for. A system's own is found without a copy.
set(onednn_library)
if(dnnl_FOUND)
  get_target_property(dnnl_file DNNL::dnnl IMPORTED_LOCATION_RELEASE)
  if(NOT dnnl_file)
    get_target_property(dnnl_file DNNL::dnnl IMPORTED_LOCATION)
  endif()
  get_filename_component(dnnl_dir ${dnnl_file} DIRECTORY)
  set(onednn_library ${dnnl_dir}/libdnnl.so.3)
  if(NOT dnnl_dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    install(FILES ${onednn_library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT holdfast)
  endif()
endif()
if(TARGET holdfast_cuda)  # the library looks for it beside itself
  install(TARGETS holdfast_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT holdfast)
endif()

if(HOLDFAST_PYTHON)  # one folder that holds the whole package
  install(TARGETS _holdfast LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS holdfast LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL NAMELINK_SKIP)
  if(onednn_library)
    install(FILES ${onednn_library} DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  endif()
  if(TARGET holdfast_cuda)
    install(TARGETS holdfast_cuda LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  endif()
  install(DIRECTORY docs/errors DESTINATION . COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.md")
  # The package's Python files; the wheel takes them on its own.
  install(DIRECTORY python/holdfast/ DESTINATION . COMPONENT python_sources EXCLUDE_FROM_ALL PATTERN "__pycache__" EXCLUDE)
endif()
