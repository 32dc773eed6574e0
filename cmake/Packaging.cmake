# Install rules for the package config, and the .deb.
include(CMakePackageConfigHelpers)
configure_package_config_file(
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/diacutConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/diacutConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/diacut")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/diacutConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/diacutConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/diacutConfigVersion.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/diacut")
install(EXPORT diacutTargets NAMESPACE diacut::
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/diacut")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME diacut)
set(CPACK_PACKAGE_VENDOR "The diacut authors")
set(CPACK_PACKAGE_CONTACT "The diacut authors <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
include(CPack)
