# Every library that diacut uses, from the system. Named here once; nothing is vendored.
find_package(Threads REQUIRED)
# OpenCLHeaders first: on Debian 12 OpenCLHeadersCpp's config refers to its target.
find_package(OpenCLHeaders QUIET)
find_package(OpenCLHeadersCpp QUIET)
find_package(OpenCL REQUIRED)
set(opencv_modules core imgproc imgcodecs)
if(DIACUT_BUILD_TESTS)
  list(APPEND opencv_modules dnn)  # An oracle.
endif()
find_package(OpenCV 4.5 REQUIRED COMPONENTS ${opencv_modules})
find_package(JPEG REQUIRED)
find_package(PNG 1.6 REQUIRED)
find_package(TIFF 4.5 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Spectra 1.0 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus REQUIRED)
# matio comes without a CMake package.
find_package(PkgConfig REQUIRED)
pkg_check_modules(MATIO REQUIRED IMPORTED_TARGET matio)
