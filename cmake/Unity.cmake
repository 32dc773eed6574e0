# diacut_unity(target [ACROSS_FOLDERS]): compiles at most `DIACUT_UNITY_FILES` sources as one, which reads each header
# and makes each template once for all of them: sources of one folder, or of any in the order of their paths. Names
# are unique among them, those in unnamed namespaces too. A source that has properties of its own is compiled alone.
set(DIACUT_UNITY_FILES 12 CACHE STRING "How many sources are compiled as one; 1: each alone")

function(diacut_unity target)
  if(DIACUT_UNITY_FILES LESS_EQUAL 1)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    if(alone OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    if("ACROSS_FOLDERS" IN_LIST ARGN)
      set(folder "${target}")
    else()
      get_filename_component(folder "${source}" DIRECTORY)
      file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
      string(MAKE_C_IDENTIFIER "${folder}" folder)
    endif()
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
