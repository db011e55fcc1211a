#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign on a real Slurm, a private cluster of two nodes here: the merged result is that of a local run, to the byte outside
/provenance; so it is after tasks were cancelled in the middle and the campaign was resumed, and after tasks were put back into the queue.

    slurm.py CACHETALLY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from campaigns import Campaigns, bundles, grid_text, is_complete, require_equal, wait_for  # noqa: E402

POINTS, TASKS = 200, 20
CLUSTER = pathlib.Path(__file__).with_name("slurm_cluster")


def slurm(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr}"
    return done.stdout.split()


class Test:
    def __init__(self, campaign, work):
        self.campaign, self.work = campaign, work
        self.file = work / "grid.yaml"
        self.file.write_text(grid_text("slurm's", [64, 96, 128, 160], 5, [8, 16, 32, 64, 128]))
        campaign("run", self.file, "--folder", work / "local", "--jobs", 2)
        self.expected = work / "local/result.h5"

    def submit(self, folder):
        self.campaign("run", self.file, "--folder", folder, "--slurm", "--tasks", TASKS, "--jobs", 1)
        return self.jobs(folder)[-2]

    @staticmethod
    def jobs(folder):
        return (folder / "slurm/jobs").read_text().split()

    def finish(self, folder):
        wait_for(lambda: not slurm("squeue", "-h", "-o", "%i", "-j", self.jobs(folder)[-1]), "the merge")
        assert is_complete(folder / "result.h5"), (folder / f"slurm/{self.jobs(folder)[-1]}.log").read_text()
        require_equal(self.expected, folder / "result.h5")
        status = self.campaign("status", folder)
        assert f"{POINTS} points, {POINTS} done, 0 failed, 0 running" in status and "all is done" in status, status

    def plain_run(self):
        folder = self.work / "plain run's"  # names that a shell would take apart
        array = self.submit(folder)
        self.finish(folder)
        logs = list((folder / "slurm").glob(f"{array}_*.log"))
        assert len(logs) == TASKS, logs
        assert not (folder / "errors.log").exists(), (folder / "errors.log").read_text()

    def cancelled(self):
        folder = self.work / "cancelled"
        array = self.submit(folder)
        wait_for(lambda: len(bundles(folder)) >= 5, "five bundles")
        slurm("scancel", array)
        wait_for(lambda: (folder / "result.h5").exists(), "a partial result")
        before = bundles(folder)
        assert 5 <= len(before) < 40 and not is_complete(folder / "result.h5"), len(before)
        self.campaign("resume", folder, "--slurm", "--tasks", TASKS, "--jobs", 1)
        self.finish(folder)
        after = bundles(folder)
        assert before.items() <= after.items(), "finished bundles were written again"

    def requeued(self):
        folder = self.work / "requeued"
        array = self.submit(folder)
        again = []
        while len(again) < 2:
            wait_for(lambda: bundles(folder), "a bundle")
            running = [task for task in slurm("squeue", "-h", "-r", "-t", "R", "-o", "%i", "-j", array) if task not in again]
            if running and subprocess.run(["scontrol", "requeue", running[0]], check=False, capture_output=True).returncode == 0:
                again.append(running[0])
        before = bundles(folder)
        self.finish(folder)
        assert before.items() <= bundles(folder).items(), "finished bundles were written again"
        for task in again:
            assert "Restarts=1" in slurm("scontrol", "show", "job", task), f"{task} was not put back"

    def cancelled_by_command(self):
        folder = self.work / "by command"
        array = self.submit(folder)
        wait_for(lambda: bundles(folder), "a bundle")
        self.campaign("cancel", folder)
        wait_for(lambda: not slurm("squeue", "-h", "-j", array), "the end of the tasks")
        assert "cancelled" in self.campaign("status", folder)
        before = bundles(folder)
        self.campaign("resume", folder, "--jobs", 2)  # here, what was begun there
        require_equal(self.expected, folder / "result.h5")
        assert before.items() <= bundles(folder).items(), "finished bundles were written again"


def main():
    campaign = Campaigns(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="slurm-test.") as name:
        work = pathlib.Path(name)
        cluster = work / "cluster"
        os.environ["SLURM_CONF"] = str(cluster / "slurm.conf")
        os.environ["PATH"] += ":/usr/sbin"
        try:
            started = subprocess.run([CLUSTER, "start", cluster], check=False)
            if started.returncode != 0:
                return started.returncode
            test = Test(campaign, work)
            for part in (test.plain_run, test.cancelled, test.requeued, test.cancelled_by_command):
                part()
                print(f"{part.__name__}: equal", flush=True)
        finally:
            subprocess.run([CLUSTER, "stop", cluster], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
