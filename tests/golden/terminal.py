#!/usr/bin/env python3
"""terminal.py COLUMNS COMMAND...: runs a command on a terminal of so many columns and prints what it
wrote there, escape sequences made visible; ends as it ended. For golden cases."""
import fcntl
import os
import pty
import struct
import sys
import termios


def shown(data):
    return data.replace(b"\r\n", b"\n").replace(b"\x1b", b"^[").replace(b"\r", b"^M\n")


def main():
    pid, screen = pty.fork()
    if pid == 0:
        size = struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0)
        fcntl.ioctl(1, termios.TIOCSWINSZ, size)  # before the command can ask
        os.environ.setdefault("TERM", "xterm-256color")
        os.execvp(sys.argv[2], sys.argv[2:])
    data = b""
    while True:
        try:
            got = os.read(screen, 65536)
        except OSError:  # the other side is closed
            break
        if not got:
            break
        data += got
    _, status = os.waitpid(pid, 0)
    sys.stdout.buffer.write(shown(data))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
