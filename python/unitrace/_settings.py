"""What the launcher asks for: the file "python" in the session directory."""
import os


class Settings:
    """One field per option of `unitrace record --python-...`."""

    def __init__(self):
        self.partial = self.lines = self.c_calls = self.imports = self.tests = False
        self.depth = self.min_ns = 0
        self.files, self.not_files, self.modules, self.not_modules = [], [], [], []

    def take(self, line):
        key, _, value = line.rstrip("\n").partition(" ")
        if key in ("partial", "lines", "c_calls", "imports", "tests"):
            setattr(self, key, value == "1")
        elif key in ("depth", "min_ns"):
            setattr(self, key, int(value))
        elif key in ("file", "not_file", "module", "not_module"):
            getattr(self, key + "s").append(value)


def read():
    """The session's settings; None when it was not asked for Python, or there is no session."""
    session = os.environ.get("UT_SESSION")
    if not session:
        return None
    settings = Settings()
    try:
        with open(os.path.join(session, "python"), encoding="utf-8",
                  errors="surrogateescape") as file:
            for line in file:
                settings.take(line)
    except (OSError, ValueError):
        return None
    return settings
