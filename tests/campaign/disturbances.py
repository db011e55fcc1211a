# SPDX-License-Identifier: BSD-3-Clause
"""What happens to the campaigns of faults.py."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

from campaigns import bundles, children, has_failures, is_complete, kill, require_equal, wait_for

CLUSTER = pathlib.Path(__file__).with_name("slurm_cluster")
BUNDLES = 30


class Run:
    """One campaign, and what happens to it."""

    def __init__(self, setting, folder, draw):
        self.setting, self.campaign, self.folder, self.draw = setting, setting.campaign, folder, draw
        self.finished = {}  # bundles that must stay as they are
        self.mounted = False

    def moment(self, most=0.9):
        time.sleep(self.draw.uniform(0, most * self.setting.seconds))

    def begin(self, *words, **options):
        return self.campaign.begin(*(words or self.setting.words(self.folder, self.draw.choice([1, 2, 3]))), **options)

    def keep(self):
        """All that is finished by now is not to be written again, but for what failed."""
        self.finished.update({name: state for name, state in bundles(self.folder).items() if not has_failures(self.folder / "bundles" / name)})

    def resume(self):
        return self.campaign.run("resume", self.folder, "--jobs", self.draw.choice([1, 2, 3]))

    def begun(self):
        """Something to disturb: part of the bundles."""
        if (self.folder / "campaign.json").exists() and len(bundles(self.folder)) < BUNDLES:
            return
        process = self.begin()
        wait_for(lambda: len(bundles(self.folder)) >= self.draw.randint(1, BUNDLES // 2) or process.poll() is not None, "bundles")
        kill(process)
        process.wait()
        wait_for(lambda: not self.workers(), "the end of its workers")

    def workers(self):
        """Processes of this folder."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(self.folder).encode() in words:
                found.append(int(path.name))
        return found

    @staticmethod
    def words_of(process, codes=(0, 1)):
        """How a process ended that was not killed: never by a signal, and with words where it failed."""
        _, errors = process.communicate(timeout=120)
        assert process.returncode in codes, f"ended with {process.returncode}: {errors}"
        assert process.returncode == 0 or errors.strip(), "failed without a word"
        return errors

    def refuse(self, done, words):
        assert done.returncode == 1 and words in done.stderr, f"{done.returncode}, wanted '{words}': {done.stderr}"

    # Each fault is a method below; its docstring is its row of the table. False: there was nothing to disturb.

    def worker(self):
        """a worker killed, up to four times"""
        process = self.begin()
        for _ in range(self.draw.randint(1, 4)):
            self.moment(0.25)
            for each in self.draw.sample(found, 1) if (found := children(process.pid)) else []:
                kill(each)
            self.keep()
        self.words_of(process)

    def coordinator(self):
        """the coordinator killed"""
        process = self.begin()
        self.moment()
        self.keep()
        kill(process)
        process.wait()

    def both(self):
        """coordinator and workers killed at once"""
        process = self.begin()
        self.moment()
        self.keep()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def asked_to_end(self):
        """SIGTERM or SIGINT, once or twice"""
        process = self.begin()
        self.moment()
        for _ in range(self.draw.randint(1, 2)):
            kill(process, self.draw.choice([signal.SIGTERM, signal.SIGINT]))
            time.sleep(self.draw.choice([0, 0.01, 0.7]))
        self.keep()
        process.communicate(timeout=120)

    def merge(self):
        """the merge killed"""
        self.campaign.run("run", self.setting.file, "--folder", self.folder, "--points-per-bundle", 8, "--jobs", 2, "--shard", "1/1")
        self.campaign.run("resume", self.folder)
        self.keep()
        for _ in range(3):
            process = self.begin("merge", self.folder, "--partial")
            time.sleep(self.draw.uniform(0, 0.08))
            kill(process)
            process.wait()

    def cancel(self):
        """cancelled from another process"""
        process = self.begin()
        wait_for(lambda: (self.folder / "campaign.json").exists(), "the beginning")
        self.moment()
        self.campaign("cancel", self.folder)
        self.words_of(process)
        self.keep()

    def two_coordinators(self):
        """two coordinators, one of them killed in half of the runs"""
        both = [self.begin(), self.begin()]
        self.moment()
        self.keep()
        if self.draw.random() < 0.5:
            os.killpg(both[0].pid, signal.SIGKILL)
            both[0].wait()
            both = both[1:]
        for process in both:
            self.words_of(process)
        self.keep()

    def shards(self):
        """three shards at once, one of them killed"""
        words = self.setting.words(self.folder, 1)
        shards = [self.begin(*words, "--shard", f"{i}/3") for i in (1, 2, 3)]
        self.moment()
        os.killpg(shards[0].pid, signal.SIGKILL)
        shards[0].wait()
        for process in shards[1:]:
            self.words_of(process)
        self.keep()

    def another_campaign(self):
        """two campaigns into one folder"""
        self.begun()
        self.refuse(self.campaign.run("run", self.setting.other, "--folder", self.folder), "holds another campaign ('disturbed')")
        self.keep()

    def machine_file(self):
        """the machine file changed in between"""
        self.begun()
        text = self.setting.machine.read_text()
        self.setting.machine.write_text(text + "# changed\n")
        try:
            self.refuse(self.campaign.run("resume", self.folder), "is not what it was when the campaign began")
            self.refuse(self.campaign.run(*self.setting.words(self.folder)), "with other machine files")
        finally:
            self.setting.machine.write_text(text)
        self.keep()

    def damaged(self):
        """a bundle cut, emptied, or with another byte"""
        self.begun()
        self.keep()
        if not self.finished:
            return False
        name = self.draw.choice(sorted(self.finished))
        path = self.folder / "bundles" / name
        whole = path.read_bytes()
        at = self.draw.randrange(len(whole))
        with open(path, "r+b") as file:  # the same file
            if self.draw.random() < 0.5:
                file.truncate(self.draw.choice([0, at]))
            else:
                file.seek(at)
                file.write(bytes([whole[at] ^ 1 << self.draw.randrange(8)]))
        del self.finished[name]
        self.resume()
        self.set_aside(name)

    def of_another(self):
        """a bundle of another campaign in its place"""
        self.begun()
        self.keep()
        name = f"{self.draw.randrange(BUNDLES):06}.h5"
        shutil.copy(self.setting.work / "other/bundles/000000.h5", self.folder / "bundles" / name)
        self.finished.pop(name, None)
        self.resume()
        self.set_aside(name)

    def set_aside(self, name):
        assert list((self.folder / "aside").glob(name.replace(".h5", ".*.h5"))), f"{name} was not set aside"
        assert f"bundle {int(name[:6])} was set aside" in (self.folder / "errors.log").read_text()

    def folder_gone(self):
        """the folder removed"""
        if self.mounted:  # it cannot be
            return False
        process = self.begin()
        wait_for(lambda: (self.folder / "campaign.json").exists(), "the beginning")
        self.moment(0.5)
        gone = self.folder.with_suffix(".gone")
        self.folder.rename(gone)
        errors = self.words_of(process)
        assert process.returncode == 0 or "cannot" in errors or "not there" in errors, errors
        shutil.rmtree(gone)
        shutil.rmtree(self.folder, ignore_errors=True)  # what a merge at its end may have begun
        self.finished = {}
        self.refuse(self.campaign.run("resume", self.folder), "holds no campaign")

    def full_disk(self):
        """the disk full"""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.finished = {}
        self.mounted = self.setting.mount(self.folder, f"{self.draw.randint(12, 400)}K")
        for _ in range(3):  # who tries again finds it full again
            process = self.begin()
            errors = self.words_of(process, (1,))
            assert "No space left" in errors or "the disk is full" in errors, errors
            self.keep()
        subprocess.run(["mount", "-o", "remount,size=16M", self.folder], check=True)
        done = self.resume()
        assert done.returncode == 0, f"points pay for a full disk: {done.stderr}"

    def limited_files(self):
        """files that may not grow (ulimit -f)"""
        limit = self.draw.choice([0, 64, 1024, 8192])
        process = self.begin(*self.setting.words(self.folder), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert "cannot write" in (errors := self.words_of(process, (1,))), errors
        self.keep()

    def deadly_steps(self):
        """one or both steps of a bundle end every process"""
        if not self.mounted:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.finished = {}
        bundle = self.draw.randrange(BUNDLES)
        if f"{bundle:06}.h5" in bundles(self.folder):
            return False
        deadly = self.draw.choice([[0], [4], [0, 4]])  # of a bundle's points, the first of a run
        running = self.folder / f"bundles/{bundle:06}.running"
        process = self.begin(*self.setting.words(self.folder, 1))
        killed = set()
        while process.poll() is None:
            assert len(killed) < 8, "a bundle that cannot be computed is begun for ever"
            try:
                words = running.read_text().split()
            except FileNotFoundError:
                continue
            if len(words) >= 8 and words[6] == "pid" and int(words[1]) - 8 * bundle in deadly and words[7] not in killed:
                killed.add(words[7])
                kill(int(words[7]))
        self.words_of(process)
        log = (self.folder / "errors.log").read_text() if killed else ""
        left_out = [8 * bundle + step for step in deadly if f"point {8 * bundle + step}: ended its process twice" in log]
        status = json.loads(self.campaign("status", self.folder, "--json"))
        assert status["failed"] == 4 * len(left_out) and status["done"] == status["items"] - status["failed"], status  # 4 share a run
        if left_out:  # told once, with the first point
            reason = {"first": min(left_out), "items": 4 * len(left_out), "error": "ended its process twice (errors.log)"}
            assert status["failures"] == [reason], status
        assert is_complete(self.folder / "result.h5") == (not left_out)
        self.keep()
        return bool(left_out)

    def little_memory(self):
        """a point that does not fit into memory (ulimit -v)"""
        folder = self.folder.with_suffix(".memory")
        limit = 300 << 20
        self.words_of(self.begin("run", self.setting.large, "--folder", folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))), (1,))
        status = json.loads(self.campaign("status", folder, "--json"))
        assert (status["done"], [(each["first"], each["items"]) for each in status["failures"]]) == (2, [(1, 1)]), status
        assert "point 1: " in (log := (folder / "errors.log").read_text()) and "memory" in log, log
        self.campaign("resume", folder)
        assert is_complete(folder / "result.h5")

    def submit(self):
        return self.begin("run", self.setting.file, "--folder", self.folder, "--points-per-bundle", 8, "--jobs", 1, "--slurm", "--tasks", 10)

    def submit_what_is_left(self):
        """Nothing is, where earlier disturbances left failed points alone, or where their array is still in the queue."""
        process = self.submit()
        said = self.words_of(process, (0, 1))
        assert process.returncode == 0 or "points failed" in said or "is in the queue" in said, said

    def submitting_command(self):
        """the submitting command killed"""
        process = self.submit()
        time.sleep(self.draw.uniform(0, 0.15))
        kill(process)
        process.wait()
        self.keep()

    def tasks_cancelled(self):
        """scancel of all jobs"""
        self.submit_what_is_left()
        self.moment(2)
        subprocess.run(["scancel", "-u", "root"], check=True)
        self.keep()

    def node_fails(self):
        """a node of the cluster killed with its tasks"""
        self.submit_what_is_left()
        wait_for(lambda: bundles(self.folder), "a bundle")
        self.moment(1)
        node = self.draw.choice(["node1", "node2"])
        self.keep()
        subprocess.run([CLUSTER, "kill", self.setting.cluster, node], check=True)
        time.sleep(self.draw.uniform(0, 1))
        subprocess.run([CLUSTER, "node", self.setting.cluster, node], check=True)
        self.keep()

    def daemon_killed(self):
        """slurmd killed and begun anew, its tasks going on"""
        self.submit_what_is_left()
        node = self.draw.choice(["node1", "node2"])
        self.moment(2)
        kill(int((self.setting.cluster / f"{node}.pid").read_text()))
        time.sleep(self.draw.uniform(0, 1))
        subprocess.run([CLUSTER, "node", self.setting.cluster, node], check=True)
        self.keep()

    def finish(self):
        if not (self.folder / "campaign.json").exists():
            self.setting.run(self.folder)
        else:
            for _ in range(4):
                done = self.resume()
                assert done.returncode in (0, 1), f"{done.returncode}: {done.stderr}"
                if done.returncode == 0:
                    break
            else:
                raise AssertionError(f"resume fails: {done.stderr}")
        assert is_complete(self.folder / "result.h5")
        require_equal(self.setting.expected, self.folder / "result.h5")
        again = [name for name, state in bundles(self.folder).items() if self.finished.get(name, state) != state]
        assert not again, f"written again: {again}"


ALONE = ["worker", "coordinator", "both", "asked_to_end", "merge", "cancel", "two_coordinators", "shards", "another_campaign", "machine_file",
         "damaged", "of_another", "folder_gone", "limited_files", "deadly_steps", "little_memory"]
ON_CLUSTER = ["submitting_command", "tasks_cancelled", "node_fails", "daemon_killed"]
FIRST = ["full_disk", "folder_gone"]  # they begin the folder anew
