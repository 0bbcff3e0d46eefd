"""A real sshd of the system's for tests: on loopback, on a port of its own, as the user who runs the test, with keys
in a folder of its own."""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

from common import PATIENCE, skip

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
if not SSHD or not all(shutil.which(p) for p in ("ssh", "ssh-keygen")):
    skip("no sshd: tools/setup.sh test installs openssh-server")
USER = pwd.getpwuid(os.getuid()).pw_name


def make_key(path, kind="ed25519", secret=""):
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", secret, "-C", "test", "-f", path], check=True)
    return path


def fingerprint(path):
    said = subprocess.run(["ssh-keygen", "-l", "-f", path], capture_output=True, text=True, check=True).stdout
    return said.split()[1]


class Sshd:
    """home: what people who log in find as their home folder; never the user's."""

    def __init__(self, folder, home=None):
        self.folder = pathlib.Path(folder)
        self.home = pathlib.Path(home) if home else self.folder / "home"
        self.folder.mkdir()
        self.home.mkdir(exist_ok=True)
        self.folder.chmod(0o700)
        self.identity = make_key(self.folder / "id")
        self.host_key = make_key(self.folder / "host_key")
        shutil.copy(f"{self.identity}.pub", self.folder / "authorized_keys")
        self.process, self.port = None, self.free_port()
        self.inside = []
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # its package's service makes it, where that runs

    @staticmethod
    def free_port():
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def start(self, *more):
        lines = [f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {self.host_key}", f"PidFile {self.folder}/pid",
                 f"AuthorizedKeysFile {self.folder}/authorized_keys", "StrictModes no", "UsePAM no", "PasswordAuthentication no",
                 "KbdInteractiveAuthentication no", "PermitRootLogin yes", "PrintMotd no", f"SetEnv HOME={self.home} XDG_CACHE_HOME=",
                 "MaxStartups 100"]  # what comes first counts
        (self.folder / "config").write_text("\n".join([*more, *lines]) + "\n")
        self.process = subprocess.Popen([*self.inside, SSHD, "-D", "-e", "-f", self.folder / "config", "-E", self.folder / "log"])
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    skip(f"sshd does not start here: {(self.folder / 'log').read_text()[-300:]}")
                time.sleep(0.02)

    def add_user(self, name, password):
        """One who logs in by a password, in files that only this sshd sees. False: only root can do that."""
        if os.getuid() != 0 or not shutil.which("unshare") or not shutil.which("openssl"):
            return False
        hashed = subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=password, capture_output=True, text=True, check=True).stdout.strip()
        for file, line in (("passwd", f"{name}:x:0:0::{self.home}:/bin/sh"), ("shadow", f"{name}:{hashed}:19000:0:99999:7:::")):
            (self.folder / file).write_text(pathlib.Path(f"/etc/{file}").read_text() + line + "\n")
            (self.folder / file).chmod(0o600 if file == "shadow" else 0o644)
        self.inside = ["unshare", "-m", "sh", "-c", 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/shadow" /etc/shadow && exec "$@"',
                       str(self.folder)]
        return not subprocess.run([*self.inside, "true"], capture_output=True, check=False).returncode

    def sessions(self):
        """Processes of connections that are open."""
        return [int(p) for p in subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()]

    def cut(self):
        """Ends all connections, as a network would: without a word."""
        for pid in self.sessions() if self.process.poll() is None else self.left:
            below = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
            for one in (pid, *map(int, below)):
                try:
                    os.kill(one, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def stop(self):
        """No new connections; those that are open stay."""
        if self.process and self.process.poll() is None:
            self.left = self.sessions()
            self.process.kill()
            self.process.wait()

    def restart(self, *settings):
        """With other settings (NAME=VALUE) for whoever logs in."""
        self.stop()
        words = " ".join(f'"{s}"' for s in (f"HOME={self.home}", "XDG_CACHE_HOME=", *settings))
        return self.start(f"SetEnv {words}")

    def lie(self, answer):
        """A machine whose agent is none of ours, and answers so, whatever it is asked."""
        (self.folder / "answer").write_bytes(answer)
        evil = self.folder / "evil.sh"
        evil.write_text(f"#!/bin/sh\nread folder; read mark; echo unitrace-agent-1\nread ask; echo answer 0 {len(answer)} -\n"
                        f"cat {self.folder}/answer\n")
        evil.chmod(0o755)
        self.stop()
        return self.start(f"ForceCommand {evil}")

    def machine(self, name="far", **more):
        return {"name": name, "host": "127.0.0.1", "port": self.port, "user": USER, "login": "key",
                "identity": str(self.identity), **more}
