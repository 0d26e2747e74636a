# What is installed: headers, the library, a CMake package and a pkg-config file; and, for the wheel,
# the library beside the Python module.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS holdfast EXPORT holdfast LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "cuda" EXCLUDE)
install(EXPORT holdfast NAMESPACE holdfast:: FILE holdfast-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast COMPONENT library)
configure_package_config_file(cmake/holdfast-config.cmake.in ${PROJECT_BINARY_DIR}/holdfast-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfast-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfast-config.cmake ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast COMPONENT library)
configure_file(cmake/holdfast.pc.in ${PROJECT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

# The compute library that was linked against, once, under the name the loader asks for.
set(runtime_libraries)
if(dnnl_FOUND)
  get_target_property(dnnl_file DNNL::dnnl IMPORTED_LOCATION_RELEASE)
  if(NOT dnnl_file)
    get_target_property(dnnl_file DNNL::dnnl IMPORTED_LOCATION)
  endif()
  get_filename_component(dnnl_dir ${dnnl_file} DIRECTORY)
  list(APPEND runtime_libraries ${dnnl_dir}/libdnnl.so.3)
endif()
set_target_properties(holdfast PROPERTIES INSTALL_RPATH "$ORIGIN")
foreach(file ${runtime_libraries})
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endforeach()

if(HOLDFAST_PYTHON)
  install(TARGETS _holdfast LIBRARY DESTINATION . COMPONENT python)
  install(TARGETS holdfast LIBRARY DESTINATION . COMPONENT python NAMELINK_SKIP)
  foreach(file ${runtime_libraries})
    install(FILES ${file} DESTINATION . COMPONENT python)
  endforeach()
  install(DIRECTORY docs/errors DESTINATION . COMPONENT python FILES_MATCHING PATTERN "*.md")
  if(TARGET holdfast_cuda)
    install(TARGETS holdfast_cuda LIBRARY DESTINATION . COMPONENT python)
  endif()
endif()

# The package's Python files; the wheel takes them on its own.
install(DIRECTORY python/holdfast/ DESTINATION . COMPONENT python_sources PATTERN "__pycache__" EXCLUDE)
