#!/usr/bin/env bash
# kubernetes.sh SOURCE SEGMENT: runs what the manifest of docs/scale.md gives to its pods, with the
# variables that an indexed job sets, one after another and without Kubernetes. Labels are those of
# one run. It needs Debian's python3-yaml.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/scale/bed.sh
. "$here/bed.sh"

"$python" -c 'import yaml' 2>/dev/null || skip "$python has no yaml (python3-yaml)"
need gdal_translate
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP

make_bed "$1" "$2" "$folder"
"$python" - "$source/examples/engines/kubernetes_photos.yaml" "$folder" "${options[@]}" <<'TEXT'
import os
import subprocess
import sys

import yaml

manifest, folder, *options = sys.argv[1:]
with open(manifest) as file:
    job = yaml.safe_load(file)["spec"]
(container,) = job["template"]["spec"]["containers"]
(mount,) = container["volumeMounts"]
variables = {entry["name"]: entry["value"] for entry in container["env"]}
assert job["completionMode"] == "Indexed"
assert variables == {"DIACUT_SHARDS": str(job["completions"])}, variables
assert job["podFailurePolicy"]["rules"][1]["onExitCodes"]["containerName"] == container["name"]
arguments = [text.replace(mount["mountPath"] + "/", folder + "/") for text in container["args"]]
for index in range(job["completions"]):
    subprocess.run(container["command"] + arguments + options + ["-q"], check=True,
                   env={**os.environ, **variables, "JOB_COMPLETION_INDEX": str(index)})
TEXT
mv report-*.jsonl reports/
mv labels report
same_photos report
