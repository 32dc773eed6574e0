# diacut_own_code(target): the warnings and sanitizers that our own code is held to.
function(diacut_own_code target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                         -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
  if(DIACUT_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(DIACUT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DIACUT_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${DIACUT_SANITIZE})
  endif()
  if(DIACUT_FUZZ)
    set(instruments -fprofile-instr-generate -fcoverage-mapping)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link ${instruments})
    target_link_options(${target} PUBLIC ${instruments})
  endif()
endfunction()
