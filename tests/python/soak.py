"""soak.py [MINUTES]: one process that does again and again what a host program may do with diacut: threads, forks,
interrupts, ends of interpreters, devices opened and closed. It ends with an error where something hangs for five
minutes, memory, threads or files grow, or the handling of a signal changes. By hand: an hour (60) before a release.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import diacut

P = (np.random.default_rng(0).random((60, 80, 3)) * 255).astype(np.uint8)
LARGE = np.tile(P, (8, 8, 1))
HANDLED = [kind for kind in range(1, 32) if kind not in (signal.SIGKILL, signal.SIGSTOP)]


def threads() -> None:
    shared, errors = diacut.Segmenter(config="fast", regions=3), []

    def work(own: bool) -> None:
        try:
            one = diacut.Segmenter(config="fast", regions=3) if own else shared
            for _ in range(3):
                assert one.segment(P).labels.shape == P.shape[:2]
        except Exception as error:
            errors.append(error)

    started = [threading.Thread(target=work, args=(own,)) for own in (False, False, True)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not errors, errors


def fork() -> None:
    segmenter = diacut.Segmenter(config="fast")
    segmenter.segment(P)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            segmenter.segment(P)
        except diacut.DeviceError:
            del segmenter
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def interrupt() -> None:
    at: list[float] = []

    def kill() -> None:
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(random.uniform(0.1, 2), kill)
    timer.start()
    try:
        while True:
            diacut.segment(LARGE, config=random.choice(["fast", "default", "ncut"]), detail="native")
    except KeyboardInterrupt:
        late = time.monotonic() - at[0]
        others = max(1, os.getloadavg()[0] / (os.cpu_count() or 1))  # Who share the processors.
        assert late < 5 * others, f"interrupted after {late:.1f} s"
    timer.join()


def end() -> None:
    program = f"""
import threading, time, numpy as np, diacut
s = diacut.Segmenter(config="fast")
P = np.zeros((60, 80, 3), np.uint8)
for _ in range(2):
    threading.Thread(target=lambda: [s.segment(P) for _ in range(10**6)], daemon=True).start()
next(diacut.Segmenter(config="fast").map([P] * 50))
time.sleep({random.uniform(0, 0.5)})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "terminate" not in done.stderr, done.stderr


def devices() -> None:
    diacut.list_devices()
    for _ in range(3):
        diacut.Segmenter(config="fast", boundary=random.choice(["learned", "gradient"])).segment(P)
    diacut.eigenvectors(np.ones((6, 6)), 2)
    next(diacut.Segmenter(config="fast").map([P] * 5))


def state() -> tuple[float, int, int, str]:
    """Memory in MB, threads, open files, and the signals that have handlers."""
    gc.collect()
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    memory = float(lines["VmRSS"].split()[0]) / 1024
    return memory, int(lines["Threads"]), len(os.listdir("/proc/self/fd")), lines["SigCgt"].strip()


def main(minutes: float) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it.
    actions = [threads, fork, interrupt, end, devices]
    for action in actions:
        action()
    before = [signal.getsignal(kind) for kind in HANDLED]
    begin = time.monotonic()
    first, most, rounds, told = None, 0.0, 0, 0.0
    while time.monotonic() < begin + 60 * minutes:
        faulthandler.dump_traceback_later(300, exit=True)
        random.choice(actions)()
        rounds += 1
        now = state()
        minute = (time.monotonic() - begin) / 60
        if first is None:
            most = max(most, now[0])  # What is freed may stay with the process for a while.
            if minute > minutes / 4:
                first = now
        if minute > told:
            told += 1
            print(f"{minute:.1f} min: {rounds} rounds, {now[0]:.0f} MB, {now[1]} threads, {now[2]} files", flush=True)
        assert [signal.getsignal(kind) for kind in HANDLED] == before, "a handler has changed"
        if first is not None:
            assert now[3] == first[3], "a signal is handled that was not, or the other way"
            assert now[0] < 1.1 * most + 50, f"memory grew from at most {most:.0f} to {now[0]:.0f} MB"
            assert now[1] <= first[1] + 4 and now[2] <= first[2] + 4, f"threads or files grew: {first} {now}"
    faulthandler.cancel_dump_traceback_later()
    print(f"{rounds} rounds in {minutes:.0f} minutes: nothing hung, grew or changed")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
