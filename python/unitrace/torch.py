"""PyTorch: every operator, and on request shapes and modules, in the timeline.

    import unitrace.torch

    with unitrace.torch.observe(model, shapes=True):
        train()

PyTorch's own marks (torch.autograd.profiler.emit_itt) are used where the build has them and they
are enough; else an observer of ours sees the operators as they are dispatched: those that do the
work, forward and backward, without those that are made of others.
"""
import contextlib
import threading

import torch as _torch
from torch.nn.modules import module as _module
from torch.utils._python_dispatch import TorchDispatchMode

from . import _marks
from ._native import core

OPERATORS = "PyTorch"
MODULES = "PyTorch module"


def has_marks():
    """Was this PyTorch built with ITT?"""
    return hasattr(_torch._C, "_itt")


def _shape(value):
    if isinstance(value, _torch.Tensor):
        return list(value.shape)
    if isinstance(value, (list, tuple)) and any(isinstance(v, _torch.Tensor) for v in value):
        return [_shape(v) for v in value]
    return None


class _Running(threading.local):
    """The modules whose forward() runs on this thread, the innermost last."""

    def __init__(self):
        super().__init__()
        self.names = []


_running = _Running()


class _Observer(TorchDispatchMode):
    def __init__(self, shapes):
        super().__init__()
        self._domain = _marks.domain(OPERATORS)
        self._shapes = shapes

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        core.task_begin(self._domain, _marks.handle(func._schema.name), 0, 0)
        try:
            if self._shapes:
                shapes = [s for s in map(_shape, args) if s is not None]
                core.metadata(self._domain, 0, _marks.handle("shapes"), str(shapes))
            if _running.names:
                core.metadata(self._domain, 0, _marks.handle("module"), _running.names[-1])
            return func(*args, **(kwargs or {}))
        finally:
            core.task_end(self._domain)


class _Modules:
    """A range around every forward(), named as in the model: "layers.0 (Linear)"."""

    def __init__(self, model):
        self._domain = _marks.domain(MODULES)
        named = model.named_modules() if model is not None else ()
        self._names = {id(m): name for name, m in named}
        self._hooks = []
        self._around = 0

    def _name(self, module):
        kind = type(module).__name__
        name = self._names.get(id(module))
        return f"{name} ({kind})" if name else kind

    def _begin(self, module, _):
        name = self._name(module)
        _running.names.append(name)
        core.task_begin(self._domain, _marks.handle(name), 0, 0)

    def _end(self, *_):
        core.task_end(self._domain)
        if _running.names:
            _running.names.pop()

    def __enter__(self):
        self._around = len(_running.names)
        self._hooks = [_module.register_module_forward_pre_hook(self._begin)]
        try:  # also after an exception, from PyTorch 2.1 on
            self._hooks.append(_module.register_module_forward_hook(self._end, always_call=True))
        except TypeError:
            self._hooks.append(_module.register_module_forward_hook(self._end))

    def __exit__(self, *_):
        for hook in self._hooks:
            hook.remove()
        del _running.names[self._around:]  # what an exception has left, in an old PyTorch


@contextlib.contextmanager
def observe(model=None, shapes=False, modules=None, own=False):
    """Marks operators while it is open.

    model    names the modules as they are called in it, also in our own observer's operators
    shapes   the shapes of the operators' tensors, as an argument in the timeline
    modules  a range for each module; by default when there is a model
    own      our own observer, also where PyTorch has marks
    """
    with contextlib.ExitStack() as stack:
        if _marks.recording():
            if modules or (modules is None and model is not None):
                stack.enter_context(_Modules(model))
            if shapes or own or not has_marks():
                stack.enter_context(_Observer(shapes))
            else:
                stack.enter_context(_torch.autograd.profiler.emit_itt())
        yield
