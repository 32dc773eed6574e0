# Writes OUTPUT, a manual page: TEMPLATE with its variables, the options from OPTIONS_FILE, and the formats that are
# read from IMAGES_FILE. Run as a script: cmake -DTEMPLATE=... -DOPTIONS_FILE=... -DIMAGES_FILE=... -DOUTPUT=...
# -DPROGRAM=... -DVERSION=... -DDATE=... -P page.cmake
file(READ "${IMAGES_FILE}" IMAGES)
file(READ "${OPTIONS_FILE}" OPTIONS)
string(STRIP "${OPTIONS}" OPTIONS)
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
