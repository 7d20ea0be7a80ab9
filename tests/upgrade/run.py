"""Old and new together: controllers, drivers and the state of a cluster, before version 1 of the specification and now.

    python3 tests/upgrade/run.py FOLDER_BEFORE FOLDER_NOW

Each folder has an `lbcf`, and that of before the mock's fixture of then: `lbcf` of then refuses what fixtures have now."""
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import bodies
from processes import Process
from rollover import roll_over

HERE = pathlib.Path(__file__).parent
WEBHOOKS_OF_TOUR = ("validateLoadBalancer", "validateBackend")


def tours(lbcfs, fixture_of_before, folder):
    """The demo of each controller with each driver; those of one controller side by side. What only the tour sends is
    compared, too: it has admission."""
    for of_controller, lbcf in lbcfs.items():
        running = {}
        for of_driver in (*lbcfs, "python"):
            name = f"controller-{of_controller}-driver-{of_driver}"
            if of_driver == "python":
                driver = Process(folder, name, sys.executable, HERE / "driver.py", folder / f"{name}.jsonl")
                flags = ["--fixture", HERE / "conformance.yaml"]
            else:
                driver = Process(folder, name, lbcfs[of_driver], "mock-driver", "--listen", "127.0.0.1:0")
                flags = ["--fixture", fixture_of_before] if of_controller == "before" else []
            log = open(folder / f"{name}-tour.log", "w")
            command = [lbcf, "demo", "--once", "--driver-url", driver.url(), *flags]
            running[name] = (driver, log, subprocess.Popen([str(word) for word in command], stdout=log, stderr=log))
        failed = [name for name, (_, _, tour) in running.items() if tour.wait() != 0]
        for name, (driver, log, _) in running.items():
            driver.end()
            print(f"{name}: {pathlib.Path(log.name).read_text().strip().splitlines()[-1]}", flush=True)
        if failed:
            sys.stderr.write(pathlib.Path(running[failed[0]][1].name).read_text())
            raise SystemExit(f"the tour failed: {', '.join(failed)}")
    recorded = [bodies.read(folder / f"controller-{name}-driver-python.jsonl") for name in lbcfs]
    bodies.compare(*([call for call in calls if call["webhook"] in WEBHOOKS_OF_TOUR] for calls in recorded))


def both_bodies(lbcfs, folder):
    """Side by side, as they mostly wait."""
    with ThreadPoolExecutor() as pool:
        recordings = [pool.submit(bodies.record, lbcfs["now"], lbcf, made(folder / name)) for name, lbcf in lbcfs.items()]
        bodies.compare(*(it.result() for it in recordings))


def main(before, now):
    before, now = pathlib.Path(before), pathlib.Path(now)
    lbcfs = {"before": before / "lbcf", "now": now / "lbcf"}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = {
            "tours": lambda: tours(lbcfs, before / "conformance.yaml", folder),
            "bodies": lambda: both_bodies(lbcfs, folder),
            "rollover": lambda: roll_over(*lbcfs.values(), made(folder / "rollover")),
        }
        for name, run in parts.items():
            began = time.monotonic()
            run()
            print(f"-- {name}: {time.monotonic() - began:.0f} s", flush=True)


def made(folder):
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main(*sys.argv[1:])
