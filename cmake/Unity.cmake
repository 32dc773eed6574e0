# diacut_unity(target): compiles the sources of each folder together, at most `DIACUT_UNITY_FILES` at
# once, which reads each header once for all of them. Names are unique within a folder, those in
# unnamed namespaces too. A source that has properties of its own is compiled alone.
set(DIACUT_UNITY_FILES 12 CACHE STRING "How many sources of a folder are compiled as one; 1: each alone")

function(diacut_unity target)
  if(DIACUT_UNITY_FILES LESS_EQUAL 1)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    get_filename_component(folder "${source}" DIRECTORY)
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR part "${count_${folder}} / ${DIACUT_UNITY_FILES}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target}
                 PROPERTY UNITY_GROUP "${folder}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The compiler takes the sources for headers of one another here.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-shadow;-Wshadow=local>"
                         "$<$<NOT:$<CXX_COMPILER_ID:GNU>>:-Wno-shadow>")
endfunction()
