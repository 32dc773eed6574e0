#!/usr/bin/python3
"""How the sources lie. What each folder of lib/FLOOR may include, and what no stage may do: a stage knows core, opencl,
matrix and the stages before it that it reads from; only the pipeline knows the order; only the programs of app/ print
and end the process. Where kernels, their launchers and their tests lie: kernels/FOLDER/X.cl is launched by a source of
lib/FLOOR/FOLDER, which names the kernel's file or is called as it is, and tested by tests/device/FOLDER/X_test.cpp. A source
or a test may serve several kernels whose names begin with its own: matvec_symmetric.cpp launches
matvec_symmetric_pack.cl and matvec_symmetric_run.cl. What the documents link to, the files that they name and the lines
of kernels that they quote are there, and they stay short."""

import os
import re
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
KERNELS = ROOT / "kernels"
DEVICE_TESTS = ROOT / "tests" / "device"

# Folder of lib/FLOOR -> the other folders whose headers it may include. All may include the public headers, "diacut".
# The compiler sees the headers of a folder's own floor and of those below it alone (lib/CMakeLists.txt).
FOLDERS = {
    "include": "",
    "core": "",
    "opencl": "core",
    "sandbox": "core",
    "image": "core sandbox",
    "matrix": "core opencl",
    "boundary": "core opencl matrix image",
    "affinity": "core opencl matrix boundary",
    "eigen": "core opencl matrix",
    "contour": "core opencl matrix boundary eigen",
    "region": "core opencl matrix eigen contour",
    "walker": "core opencl matrix eigen",
    "graph": "core opencl matrix eigen",
    "answers": "core opencl matrix eigen walker graph spmv",
    "output": "core image",
    "map": "core image output",
    "formats": "core image map output",
    "evaluate": "core image contour",
    "spmv": "core opencl matrix graph",
    "parameters": "core",
    "pipeline": "core opencl image output matrix boundary affinity eigen contour region walker parameters",
    # The order of the stages for one picture in tiles.
    "page": "core image output",
    "clusters": "core opencl matrix graph image output",
    "tiles": "core output map region pipeline boundary image matrix opencl",
    "doctor": "core opencl image matrix boundary affinity eigen contour region pipeline answers",
}
# Start of a library's headers -> the folders that may include them.
LIBRARIES = {
    "CL/": "opencl",
    "opencv2/": "boundary image map output page evaluate contour region",
    "gdal": "map",
    "ogr": "map",
    "cpl_": "map",
    "tbb/": "core",
    "toml++/": "parameters",
    "Spectra/": "eigen",
    "Eigen/": "answers clusters doctor eigen graph region spmv",
    "nlohmann/": "clusters image boundary doctor matrix region spmv output evaluate page pipeline tiles",
    "seccomp": "sandbox",
    "CLI/": "",
    "iostream": "",
}
# Names whose use prints or ends the process, or by which a text would be read that a failed allocation cuts off without
# an error -> the folders that may use them all the same.
NAMES = dict.fromkeys(
    "stderr cout cerr clog printf fprintf vprintf vfprintf puts putchar perror _Exit quick_exit abort terminate "
    "fmt::print stringstream istringstream ostringstream".split(), "")
NAMES |= {
    "stdout": "output",  # Data, for the file name "-".
    "exit": "sandbox",
    "_exit": "sandbox",
    "getline": "core",  # Where the stream throws.
}
# Kernels without a test of their name -> the test that holds them, and why it is another one.
TESTS_OF_OTHER_NAMES = {
    # The basis of Lanczos' iteration is tested by the eigenvectors that it yields.
    "eigen/lanczos/basis": "eigen/eigensolver_test.cpp",
    # The conjugate gradient method is tested by the solutions that it yields.
    "eigen/multilevel/conjugate_gradient": "walker/random_walker_test.cpp",
    # Gram matrices are put together from the kernel's tiles.
    "eigen/lobpcg/projection": "eigen/known_answers_test.cpp",
    "eigen/lobpcg/tile_products": "eigen/known_answers_test.cpp",
    # Blocks between grids are known answers of each kind of device.
    "eigen/multilevel/transfer_pairs": "eigen/known_answers_test.cpp",
    "eigen/multilevel/transfer_planes": "eigen/known_answers_test.cpp",
    "eigen/multilevel/transfer_runs": "eigen/known_answers_test.cpp",
    # The Rayleigh quotients of a block of vectors come from one of these two kernels.
    "matrix/block_quadratic": "eigen/lobpcg/block_kernels_test.cpp",
    "matrix/quadratic_form": "eigen/lobpcg/block_kernels_test.cpp",
    # Pictures go through all of these to a boundary map, which is compared with a reference of the whole.
    "boundary/network/blend": "boundary/network/network_boundary_test.cpp",
    "boundary/network/input": "boundary/network/network_boundary_test.cpp",
    "boundary/network/output": "boundary/network/network_boundary_test.cpp",
    "boundary/network/upsample": "boundary/network/network_boundary_test.cpp",
    # Held to its definition as a known answer.
    "contour/boundary_contour": "doctor/examine_test.cpp",
}

SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\[^\n])*"|\'(?:[^\'\\\n]|\\[^\n])+\'', re.DOTALL)
INCLUDE = re.compile(r'#include\s*(?:"([^"]+)"|<([^>]+)>)')
WORD = re.compile(r"fmt::print|[A-Za-z_]\w*")
CREATION = re.compile(r"context\w*(?:\(\))?\s*(?:\.|->)\s*(?:kernel|program)\s*\(|cl::(?:Kernel|Program)\s*[({]")
KERNEL_FILE = re.compile(r'"([\w/{}]+\.clh?)"')
QUOTED_PATH = re.compile(
    "`((?:app|cmake|configs|docs|examples|images|kernels|lib|man|python|tests)/[a-z0-9_./-]+)`")


def text_of(path):
    return path.read_text(encoding="utf-8")


def without_floor(path):
    """matrix/matvec.cpp for lib/solver/matrix/matvec.cpp."""
    floor, *rest = path.relative_to(LIB).parts
    return Path(floor) if floor == "include" else Path(*rest)


def files_with(root, *endings):
    return sorted(path for path in root.rglob("*") if path.suffix in endings)


def blanked(source, literals=False):
    """Source without comments; if `literals`, without literals too, except for the file names of includes."""
    def blank(found):
        before = source[source.rfind("\n", 0, found.start()) + 1:found.start()]
        is_comment = found[0].startswith(("//", "/*"))
        if not is_comment and (not literals or before.strip() == "#include"):
            return found[0]
        return "\n" * found[0].count("\n") + " "

    return SKIPPED.sub(blank, source)


def violations(folder, source):
    code = blanked(source, literals=True)
    found = []
    for own, library in INCLUDE.findall(code):
        if own and own.split("/")[0] not in ["diacut", folder, *FOLDERS[folder].split()]:
            found.append(own)
        found += [library for start, folders in LIBRARIES.items()
                  if library.startswith(start) and folder not in folders.split()]
    return found + [word for word in WORD.findall(code) if word in NAMES and folder not in NAMES[word].split()]


def kernels():
    """"matrix/matvec_image" for kernels/matrix/matvec_image.cl."""
    return [path.relative_to(KERNELS).with_suffix("").as_posix() for path in files_with(KERNELS, ".cl")]


def names_for(kernel):
    """"a/b_c_d", "a/b_c" and "a/b" for "a/b_c_d": the names that a launcher or test of it may have."""
    folder, _, name = kernel.rpartition("/")
    parts = name.split("_")
    return [f"{folder}/{'_'.join(parts[:count])}" for count in range(len(parts), 0, -1)]


def any_exists(kernel, root, ending):
    """`root`: a pattern."""
    return any(any(ROOT.glob(f"{root}/{name}{ending}")) for name in names_for(kernel))


def kernel_creations(source):
    """The uses of OpenCL programs and kernels by name that only launchers may have."""
    return CREATION.findall(blanked(source, literals=True))


def kernel_literals(source):
    """The kernel files that a source names in its literals."""
    return KERNEL_FILE.findall(blanked(source))


def foreign_includes(folder, source):
    """Included files of a kernel of `folder` that it may not know."""
    return [file for file in kernel_literals(source) if file.split("/")[0] not in (folder, "common", "matrix")]


def literals_by_source(kernel):
    """For each source of lib in the folder that mirrors the kernel's: the kernel files that it names."""
    return {path: kernel_literals(text_of(path)) for path in LIB.glob(f"*/{Path(kernel).parent}/*.cpp")}


def is_launched(kernel):
    named = [name for names in literals_by_source(kernel).values() for name in names]
    # "{}" stands for any rest of a name.
    return any(f"{kernel}.cl" == name or "{}" in name and kernel.startswith(name.split("{}")[0])
               for name in named) or any_exists(kernel, "lib/*", ".cpp")


def has_test(kernel):
    """Whether there is a test with the name of the kernel or of a source that launches it."""
    folder = (DEVICE_TESTS / kernel).parent
    return any(f"{kernel}.cl" in names and (folder / f"{path.stem}_test.cpp").exists()
               for path, names in literals_by_source(kernel).items()) or any_exists(kernel, "tests/device", "_test.cpp")


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "images" / "GALLERY.md", *(ROOT / "docs").glob("*.md")]


def anchors(text):
    """The anchors of a document's headings, as GitHub and GitLab make them."""
    headings = re.findall("^#+ (.*)", text, re.MULTILINE)
    return {re.sub("[^a-z0-9_-]", "", heading.lower().replace(" ", "-")) for heading in headings}


def dead_links(text, folder):
    """Links within the repository that lead nowhere. `folder`: what they are relative to."""
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        if "://" in target:
            continue
        if not (folder / file).exists() or anchor and anchor not in anchors(text_of(folder / file) if file else text):
            dead.append(target)
    return dead


def missing_paths(text):
    """Paths of the source tree in back quotes ("`lib/solver/matrix/grid.hpp`", and "`lib/solver/matrix/grid`" for both files of that
    stem) that are not there. Patterns (with <, * or capital words) are passed."""
    return [path for path in QUOTED_PATH.findall(text)
            if not any((ROOT / (path + ending)).exists() for ending in ("", ".hpp", ".cpp", ".cl"))]


def stale_quotes(text):
    """Lines of code blocks whose first line is "// PATH" of a kernel, or "# PATH" of an example, that are not in that
    file."""
    stale = []
    for block in re.findall(r"^```.*\n((?:.*\n)*?)```", text, re.MULTILINE):
        first, *lines = block.splitlines() or [""]
        if first.startswith(("// kernels/", "# examples/")):
            source = text_of(ROOT / first.split(" ", 1)[1])
            stale += [line for line in lines if line.strip() not in source]
    return stale


class Architecture(unittest.TestCase):
    def test_folders_include_only_what_the_design_allows_and_never_print(self):
        seen = set()
        for path in files_with(LIB, ".hpp", ".cpp", ".in"):
            folder = without_floor(path).parts[0]
            self.assertIn(folder, FOLDERS, f"{path}: say in this file what the new folder may include")
            self.assertEqual(violations(folder, text_of(path)), [], path)
            seen.add(folder)
        self.assertEqual(seen, set(FOLDERS))

    def test_the_python_module_knows_the_public_headers_alone(self):
        folder = ROOT / "python" / "src"
        sources = map(text_of, files_with(folder, ".hpp", ".cpp"))
        headers = [own for source in sources for own, _ in INCLUDE.findall(source) if own]
        public = {own for own in headers if own.startswith("diacut/")}
        self.assertGreaterEqual(len(public), 8)
        self.assertEqual([own for own in headers if own not in public and not (folder / own).exists()], [])

    def test_the_design_has_no_cycles(self):
        # Folders whose dependencies are all placed can be placed; in a cycle none can.
        placed = set()
        for _ in FOLDERS:
            placed |= {folder for folder, needs in FOLDERS.items() if placed.issuperset(needs.split())}
        self.assertEqual(placed, set(FOLDERS))

    def test_the_rules_find_what_is_not_allowed(self):
        for folder, source, found in (
            ("eigen", '#include "pipeline/run_forms.hpp"\n', ["pipeline/run_forms.hpp"]),
            ("core", '#include "opencl/context.hpp"\n#include "core/a.hpp"\n', ["opencl/context.hpp"]),
            ("include", '#include "core/parameter_table.hpp"\n', ["core/parameter_table.hpp"]),
            ("region", "#include <CL/cl.h>\n#include <Eigen/Dense>\n", ["CL/cl.h"]),
            ("output", "void f() { std::cout << 1; }", ["cout"]),
            ("core", "f(); std::exit(1);\n", ["exit"]),
            ("core", 'const char* s = "a\\""; printf(s);', ["printf"]),
            ("tiles", "std::getline(lines, line);", ["getline"]),
            ("core", 'fmt::print("x"); fmt::format("x");', ["fmt::print"]),
            ("affinity", '#include "affinity/a.hpp"\n#include "boundary/boundary.hpp"\n'
             '#include "diacut/image.hpp"\n#include <vector>\n', []),
            ("core", '// printf(1) exit\n/* std::cout\n exit(1); */ int i = \'"\';\n'
             'f("std::cerr // \\" exit(2)"); g(R"(exit(3) ")"); snprintf(b);\n'
             'int exit_code = 0;  // #include "pipeline/a.hpp"\n', []),
        ):
            self.assertEqual(violations(folder, source), found)


class KernelLayout(unittest.TestCase):
    def test_every_kernel_says_what_it_computes(self):
        paths = files_with(KERNELS, ".cl", ".clh")
        self.assertGreater(len(paths), 1)
        self.assertEqual([path for path in paths if not text_of(path).startswith(("//", "/*"))], [])

    def test_every_kernel_has_a_launcher_and_a_test_in_the_folders_that_mirror_its_own(self):
        for kernel in kernels():
            self.assertTrue(is_launched(kernel), f"{kernel} needs a launcher in the folder of lib of that name")
            other = TESTS_OF_OTHER_NAMES.get(kernel)
            if other:
                self.assertTrue((DEVICE_TESTS / other).exists(), other)
                self.assertFalse(has_test(kernel), f"{kernel} has its test: take it out of the table")
            else:
                self.assertTrue(has_test(kernel), f"{kernel} needs tests/device/{kernel}_test.cpp, or an entry in "
                                "TESTS_OF_OTHER_NAMES that says which test holds it")
        self.assertEqual(TESTS_OF_OTHER_NAMES.keys() - set(kernels()), set(), "kernels that are gone")

    def test_only_launchers_make_kernels(self):
        launchers = {"opencl/context", "opencl/kernel_file"}.union(*map(names_for, kernels()))
        for path in files_with(LIB, ".hpp", ".cpp"):
            text = text_of(path)
            if without_floor(path).with_suffix("").as_posix() not in launchers and not kernel_literals(text):
                self.assertEqual(kernel_creations(text), [], f"{path}: only the launcher of a kernel, which names the "
                                 "kernel's file, may do this")

    def test_a_folder_loads_its_own_kernels(self):
        for path in files_with(LIB, ".hpp", ".cpp"):
            for file in kernel_literals(text_of(path)):
                self.assertEqual((KERNELS / file).parent, KERNELS / without_floor(path).parent, path)
                self.assertTrue("{}" in file or (KERNELS / file).exists(), f"{path}: {file}")

    def test_kernels_include_their_own_folder_and_common_files_only(self):
        for path in files_with(KERNELS, ".cl", ".clh"):
            self.assertEqual(foreign_includes(path.relative_to(KERNELS).parts[0], text_of(path)), [], path)

    def test_opencl_names_no_stage(self):
        # "image" and "matrix" are things of OpenCL and of mathematics too, and "map" of both.
        stages = FOLDERS.keys() - {"include", "core", "opencl", "image", "matrix", "map"}
        named = re.compile(rf"\b(?:{'|'.join(stages)})\b|embedded_(?!kernels\b)\w+_kernels")
        for path in files_with(LIB / "ground" / "opencl", ".hpp", ".cpp"):
            self.assertEqual(named.findall(blanked(text_of(path))), [], path)

    def test_the_rules_find_what_is_not_allowed(self):
        for source, found in (
            ('auto k = context.kernel(kFile, "a", "");', ["context.kernel("]),
            ('context_->program(f, o); cl::Kernel(p, "a");', ["context_->program(", "cl::Kernel("]),
            ('cl::Kernel kernel_; // context.kernel(\nf("context.kernel(");', []),
        ):
            self.assertEqual(kernel_creations(source), found)
        self.assertEqual(kernel_literals('f("a/b.cl"); // "c/d.cl"\n#include "e/f.clh"\n'), ["a/b.cl", "e/f.clh"])
        self.assertEqual(foreign_includes("eigen", '#include "region/a.clh"\n#include "common/b.clh"\n'
                                          '#include "eigen/c.clh"\n#include "matrix/d.clh"\n'), ["region/a.clh"])
        self.assertEqual(names_for("matrix/matvec_symmetric_run"),
                         ["matrix/matvec_symmetric_run", "matrix/matvec_symmetric", "matrix/matvec"])
        self.assertEqual(names_for("a_b/c"), ["a_b/c"])


class Hosting(unittest.TestCase):
    def test_the_workflow_runs_what_ci_runs_on_both_debians(self):
        job, = yaml.safe_load(text_of(ROOT / ".github" / "workflows" / "test.yml"))["jobs"].values()
        self.assertEqual(job["strategy"]["matrix"]["debian"], ["12", "13"])
        self.assertEqual(job["container"], "debian:${{ matrix.debian }}")
        self.assertEqual(job["steps"][-1], {"run": ".ci/run"})
        self.assertTrue(os.access(ROOT / ".ci" / "run", os.X_OK))

    def test_templates_and_citation_are_complete(self):
        for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
            self.assertLessEqual({"name", "description", "body"}, yaml.safe_load(text_of(form)).keys(), form)
        citation = yaml.safe_load(text_of(ROOT / "CITATION.cff"))
        self.assertLessEqual({"cff-version", "message", "title", "authors"}, citation.keys())
        self.assertIn(f"project(diacut VERSION {citation['version']} ", text_of(ROOT / "CMakeLists.txt"))


class Documents(unittest.TestCase):
    def test_links_named_files_and_quoted_lines_are_there(self):
        self.assertGreaterEqual(len(documents()), 8)
        for path in documents():
            text = text_of(path)
            self.assertEqual(dead_links(text, path.parent) + missing_paths(text) + stale_quotes(text), [], path)

    def test_are_short(self):
        changes = ROOT / "CHANGELOG.md"
        words = {path: len(text_of(path).split()) for path in [*documents(), changes]}
        most = {ROOT / "README.md": 900, ROOT / "CONTRIBUTING.md": 900, changes: 500}
        for path, count in words.items():
            if path.name != "reference.md":  # The programs write it.
                self.assertLessEqual(count, most.get(path, 2500), path)
        self.assertLessEqual(sum(words.values()), 32_000)

    def test_the_readers_of_links_and_paths_see_what_is_not_there(self):
        text = ("# A Heading, here\n[a](README.md) [b](nowhere.md) [c](#a-heading-here) [d](#none) "
                "[e](https://example.org/x) `lib/solver/matrix/grid.hpp` `lib/nowhere.hpp` `lib/ground/core` "
                "`kernels/<stage>/x.cl`\n")
        self.assertEqual(dead_links(text, ROOT), ["nowhere.md", "#none"])
        self.assertEqual(missing_paths(text), ["lib/nowhere.hpp"])
        self.assertEqual(stale_quotes("```c\n// kernels/matrix/matvec_naive.cl\n  float sum = 0.0f;\n"
                                      "  float sum = 1.0f;\n```\n  float sum = 2.0f;\n"), ["  float sum = 1.0f;"])
        self.assertEqual(stale_quotes("```python\n# examples/engines/shares.py\nRETRIES = 3\nRETRIES = 9\n```\n"),
                         ["RETRIES = 9"])


if __name__ == "__main__":
    unittest.main()
