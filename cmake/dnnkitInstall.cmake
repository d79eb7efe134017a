# SPDX-License-Identifier: MIT
# Install rules: the headers, the package files that find_package(dnnkit) reads, and the source of the ONNX generator.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_DATADIR}/cmake/dnnkit)
install(DIRECTORY include/dnnkit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS dnnkit EXPORT dnnkitTargets)
install(EXPORT dnnkitTargets NAMESPACE dnnkit:: DESTINATION ${package_folder})
configure_package_config_file(cmake/dnnkitConfig.cmake.in dnnkitConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(dnnkitConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dnnkitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dnnkitConfigVersion.cmake
        cmake/dnnkitOnnx.cmake
        DESTINATION ${package_folder})
install(DIRECTORY cmake/onnx_generator DESTINATION ${package_folder})
