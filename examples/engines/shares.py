#!/usr/bin/env python3
"""Gives the shares of a command of segment to the workers of Dask, Ray or Spark.

shares.py ENGINE ADDRESS COUNT segment [ARGUMENT]...

ENGINE is dask, ray or spark. ADDRESS is what the engine calls its scheduler, as
tcp://head:8786, ray://head:10001 or spark://head:7077; "local" begins an engine on this machine.
COUNT is the number of shares: a few for each worker, so that none waits long for the last one.
The command is run COUNT times, with --shard 1/COUNT to COUNT/COUNT. All workers see its files.
A share whose worker died is run again. Ends with the worst exit code of the shares.
"""

import subprocess
import sys
import tempfile

RETRIES = 3


def run_share(index, count, command):
    """Runs one share on the worker that calls this; returns the program's exit code."""
    # PoCL's processes must not share a folder of compiled kernels, and homes are shared by
    # machines. The program ends with its worker, since another worker then has its share.
    with tempfile.TemporaryDirectory(prefix="diacut-kernels-") as kernels:
        code = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", "env", f"POCL_CACHE_DIR={kernels}", *command,
             "--shard", f"{index}/{count}"], check=False).returncode
    # The device failed, or the program was killed: the engine tries again. Other exit codes tell
    # of files, options and pictures, which are the same on another worker.
    if code == 4 or code < 0 or code > 128:
        raise RuntimeError(f"share {index} of {count} ended with exit code {code}")
    return code


def by_dask(address, count, share):
    from dask.distributed import Client

    with Client(None if address == "local" else address) as client:
        return client.gather(client.map(share, range(1, count + 1), pure=False, retries=RETRIES))


def by_ray(address, count, share):
    import ray

    ray.init(None if address == "local" else address)
    # On GPUs num_gpus=1: each share has one for itself.
    task = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=True)(share)
    return ray.get([task.remote(index) for index in range(1, count + 1)])


def by_spark(address, count, share):
    from pyspark.sql import SparkSession

    master = f"local[2,{RETRIES + 1}]" if address == "local" else address
    builder = SparkSession.builder.master(master).appName("diacut")
    with builder.config("spark.task.maxFailures", RETRIES + 1).getOrCreate() as session:
        return session.sparkContext.parallelize(range(1, count + 1), count).map(share).collect()


def main(engine, address, count, *command):
    def share(index):
        return run_share(index, int(count), command)

    run = {"dask": by_dask, "ray": by_ray, "spark": by_spark}[engine]
    return max(run(address, int(count), share))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
