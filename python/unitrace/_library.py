"""libunitrace-read.so by ctypes: the functions of include/unitrace/read.h, and errors as exceptions."""
import ctypes
import errno
import os
import threading

NAME = "libunitrace-read.so.1"


class Error(Exception):
    """What the command line would have printed. code is a negative errno."""

    def __init__(self, text, code=0):
        super().__init__(text)
        self.code = code


class Interrupted(Error):
    """A question that was ended while it ran."""


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("text", ctypes.c_char * 1024)]


_Warn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _OpenOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("warn", _Warn),
                ("ctx", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    """struct ArrowArrayStream"""
    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p),
                ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private_data", ctypes.c_void_p)]


def _candidates():
    """Beside the package in a build tree or an installation, then wherever the system looks."""
    at = os.path.dirname(os.path.abspath(__file__))
    for _ in range(5):
        at = os.path.dirname(at)
        for folder in ("", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64"):
            path = os.path.join(at, folder, NAME)
            if os.path.exists(path):
                yield path
    yield NAME


def _declare(lib):
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    texts, error = ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_Error)
    stream = ctypes.POINTER(Stream)
    for name, result, arguments in (
            ("read_version", ctypes.c_uint32, []),
            ("open", ctypes.c_int, [ctypes.POINTER(pointer), texts, ctypes.c_size_t,
                                    ctypes.POINTER(_OpenOptions), error]),
            ("close", None, [pointer]),
            ("path", text, [pointer, ctypes.c_size_t]),
            ("interrupt", None, [pointer]),
            ("query", ctypes.c_int, [pointer, text, stream, error]),
            ("table", ctypes.c_int, [pointer, text, texts, stream, error]),
            ("diff", ctypes.c_int, [pointer, pointer, texts, stream, error]),
            ("slices", ctypes.c_int, [pointer, texts, stream, error]),
            ("page", ctypes.c_int, [pointer, text, texts, error])):
        function = getattr(lib, "unitrace_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


_lock = threading.Lock()
_loaded = []


def library():
    """The library, loaded when it is first needed."""
    with _lock:
        if not _loaded:
            failed = None
            for path in _candidates():
                try:
                    _loaded.append(_declare(ctypes.CDLL(path)))
                    break
                except OSError as wrong:
                    failed = failed or wrong
            else:
                raise Error(f"{NAME} is neither beside this package nor installed: build it (make)"
                            f" or pip install unitrace ({failed})")
        return _loaded[0]


def _texts(items):
    array = (ctypes.c_char_p * (len(items) + 1))()
    array[:len(items)] = items
    return array


def options(given):
    """{"min_dur": "20us", "name": ["a", "b"]} as read.h takes it. None is nothing."""
    words = []
    for key, value in given.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                words.append(f"{key}={one}".encode(errors="surrogateescape"))
    return _texts(words)


def check(rc, error):
    if rc == -errno.EINTR:
        raise Interrupted("interrupted", rc)
    if rc:
        raise Error(error.text.decode(errors="replace"), rc)


def open_trace(paths, threads, warn):
    handle, error = ctypes.c_void_p(), _Error()
    names = [os.fsencode(path) for path in paths]
    own = _OpenOptions(ctypes.sizeof(_OpenOptions), threads,
                       _Warn(lambda _, text: warn(text.decode(errors="replace"))))
    check(library().unitrace_open(ctypes.byref(handle), _texts(names), len(names),
                                  ctypes.byref(own), ctypes.byref(error)), error)
    return handle.value


def ask(name, *arguments):
    """A question whose answer is a stream."""
    stream, error = Stream(), _Error()
    check(getattr(library(), "unitrace_" + name)(*arguments, ctypes.byref(stream),
                                                 ctypes.byref(error)), error)
    return stream


def write_page(handle, path, given):
    error = _Error()
    check(library().unitrace_page(handle, os.fsencode(path), options(given), ctypes.byref(error)),
          error)
