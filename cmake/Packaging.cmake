# Install rules for the package config and the documents, and the .deb.
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

install(FILES README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)
# As Debian wants its change logs: compressed, without a time in them.
find_program(GZIP gzip REQUIRED)
add_custom_command(
  OUTPUT changelog.gz
  COMMAND "${GZIP}" -9nc "${PROJECT_SOURCE_DIR}/CHANGELOG.md" > changelog.gz
  DEPENDS "${PROJECT_SOURCE_DIR}/CHANGELOG.md" VERBATIM)
add_custom_target(changelog ALL DEPENDS changelog.gz)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/changelog.gz" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME diacut)
set(CPACK_PACKAGE_VENDOR "The diacut authors")
set(CPACK_PACKAGE_CONTACT "The diacut authors <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "The program segment divides photographs, and folders of them, into regions by normalized cuts.
It runs on any OpenCL device: a GPU, or the CPU through PoCL. The program diacut-evaluate
scores segmentations against human ground truth, diacut-bench measures what a device can do, and the
library and its headers serve C++ programs.")
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
include(CPack)
