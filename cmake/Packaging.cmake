# Install rules for the package configurations and the documents, and Debian's packages: diacut (the
# programs), libdiacut-dev (the library) and diacut-doc. An install rule names its package as its
# component: program, development or documentation.
include(CMakePackageConfigHelpers)
set(cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/diacut")
configure_package_config_file(
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/diacutConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/diacutConfig.cmake"
  INSTALL_DESTINATION "${cmake_folder}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/diacutConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/diacutConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/diacutConfigVersion.cmake"
        DESTINATION "${cmake_folder}" COMPONENT development)
install(EXPORT diacutTargets NAMESPACE diacut:: DESTINATION "${cmake_folder}"
        COMPONENT development)
if(DIACUT_SOLVER_ONLY)
  return()
endif()

# For pkg-config. The paths are relative to the file, so that the installed tree can be moved.
file(RELATIVE_PATH DIACUT_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" DIACUT_PC_PREFIX "${DIACUT_PC_PREFIX}")
if(DIACUT_BESIDE)
  set(DIACUT_PC_BESIDE "-lzip ")
endif()
configure_file(cmake/diacut.pc.in diacut.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/diacut.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# As Debian wants its change logs: compressed, without a time in them.
find_program(GZIP gzip REQUIRED)
configure_file(cmake/changelog.Debian.in changelog.Debian @ONLY)
add_custom_command(
  OUTPUT changelog.gz changelog.Debian.gz
  COMMAND "${GZIP}" -9nc "${PROJECT_SOURCE_DIR}/CHANGELOG.md" > changelog.gz
  COMMAND "${GZIP}" -9nc changelog.Debian > changelog.Debian.gz
  DEPENDS "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian"
  VERBATIM)
add_custom_target(changelog ALL DEPENDS changelog.gz changelog.Debian.gz)
foreach(package_of_component "program diacut" "development libdiacut-dev"
                             "documentation diacut-doc")
  separate_arguments(pair UNIX_COMMAND "${package_of_component}")
  list(GET pair 0 component)
  list(GET pair 1 package)
  set(folder "${CMAKE_INSTALL_DATADIR}/doc/${package}")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/changelog.gz"
                "${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz"
          DESTINATION "${folder}" COMPONENT ${component})
  install(FILES LICENSE DESTINATION "${folder}" RENAME copyright COMPONENT ${component})
endforeach()

# The documents refer to each other and to their pictures by the paths that they have in the sources.
set(doc_folder "${CMAKE_INSTALL_DATADIR}/doc/diacut-doc")
install(FILES README.md DESTINATION "${doc_folder}" COMPONENT documentation)
install(DIRECTORY images/readme DESTINATION "${doc_folder}/images" COMPONENT documentation)
install(DIRECTORY docs examples DESTINATION "${doc_folder}" COMPONENT documentation
        PATTERN "docs/CMakeLists.txt" EXCLUDE PATTERN "*.in" EXCLUDE PATTERN "*.dox" EXCLUDE
        REGEX "engines/.*\\.(sh|py)$" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
        GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The API reference, if it was built.
install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/docs/html" DESTINATION "${doc_folder}"
        COMPONENT documentation OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME diacut)
set(CPACK_PACKAGE_VENDOR "The diacut authors")
set(CPACK_PACKAGE_CONTACT "The diacut authors <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development documentation)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME diacut)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS diacut-doc)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "image segmentation by normalized cuts on OpenCL devices
 The program segment divides photographs, and folders of them, into regions
 by normalized cuts. It runs on any OpenCL device: a GPU, or the CPU through
 PoCL. The program diacut-evaluate scores segmentations against human ground
 truth, and diacut-bench measures what a device can do.")

# What the users of a static library link too, and what its package configurations look for.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdiacut-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "diacut (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
if(NOT BUILD_SHARED_LIBS)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
         ", libfmt-dev, libgif-dev, libjpeg-dev, liblcms2-dev, libopencv-dev, libpng-dev, "
         "libpugixml-dev, libseccomp-dev, libtbb-dev, libtiff-dev, libtomlplusplus-dev, libzip-dev, "
         "ocl-icd-opencl-dev, pkgconf | pkg-config, zlib1g-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS diacut-doc)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "image segmentation by normalized cuts (development files)
 The C++20 library under the program segment, which divides images into
 regions by normalized cuts on any OpenCL device: its headers, the library
 itself, and its configurations for CMake and for pkg-config.")

set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME diacut-doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCUMENTATION_DESCRIPTION
  "image segmentation by normalized cuts (documentation)
 Guides to the programs and to the C++ library of diacut, which divides
 images into regions by normalized cuts on any OpenCL device, with examples
 and measurements.")
include(CPack)
