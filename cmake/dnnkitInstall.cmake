# SPDX-License-Identifier: MIT
# Install rules: the headers, the package files that find_package(dnnkit) reads, the tool and the program that turns ONNX
# models into headers, as far as they have been built, and the source of the latter.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_DATADIR}/cmake/dnnkit)
set(program_folder ${CMAKE_INSTALL_LIBEXECDIR}/dnnkit)
set(include_folder ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/dnnkit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS dnnkit EXPORT dnnkitTargets)
install(EXPORT dnnkitTargets NAMESPACE dnnkit:: DESTINATION ${package_folder})
configure_package_config_file(cmake/dnnkitConfig.cmake.in dnnkitConfig.cmake INSTALL_DESTINATION ${package_folder}
                              PATH_VARS program_folder include_folder)
write_basic_package_version_file(dnnkitConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dnnkitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dnnkitConfigVersion.cmake
        cmake/dnnkitOnnx.cmake
        DESTINATION ${package_folder})
install(DIRECTORY cmake/onnx_generator DESTINATION ${package_folder})
if(DNNKIT_BUILD_TOOL)
  install(PROGRAMS $<TARGET_FILE:dnnkit_tool> TYPE BIN OPTIONAL)
  install(PROGRAMS $<TARGET_FILE:dnnkit_onnx_generator> DESTINATION ${program_folder} OPTIONAL)
endif()

# CMake's install script ends by writing a list of what it installed into the build folder, which may belong to somebody
# else than who installs: it cannot be written, or cannot be written again by its owner. The list goes with the package.
if(PROJECT_IS_TOP_LEVEL)
  install(CODE "
    list(JOIN CMAKE_INSTALL_MANIFEST_FILES \"\\n\" installed)
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${package_folder}/installed_files.txt\" \"\${installed}\\n\")
    return()" ALL_COMPONENTS)
endif()
