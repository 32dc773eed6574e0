# Writes OUTPUT, a manual page: TEMPLATE with its variables, and the options from OPTIONS_FILE. Run as a
# script: cmake -DTEMPLATE=... -DOPTIONS_FILE=... -DOUTPUT=... -DPROGRAM=... -DVERSION=...
# -DDATE=... -P page.cmake
file(READ "${OPTIONS_FILE}" OPTIONS)
string(STRIP "${OPTIONS}" OPTIONS)
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
