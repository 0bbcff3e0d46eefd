"""Programs made at random, and a tracer in pure Python that says what they do.

A program is a list of functions, the first of which is run. Each function calls others (never one
that comes before it, but itself a few times), is plain, a generator or a coroutine, raises or
catches exceptions. Text and behaviour depend on the seed alone.
"""
import random
import sys
import textwrap

FUNCTIONS = 12
CALLS = 3


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kinds = ["plain"] + [self.random.choice(["plain", "plain", "generator", "coroutine",
                                                      "method", "closure"])
                                  for _ in range(FUNCTIONS - 1)]
        self.text = HEAD + "\n".join(self.function(i) for i in range(FUNCTIONS))

    def call(self, i):
        """One statement that runs function i."""
        kind = self.kinds[i]
        if kind == "generator":
            return self.random.choice([
                f"for x in f{i}(depth + 1): pass",
                f"list(f{i}(depth + 1))",
                f"take_one(f{i}(depth + 1))",
                f"throw_into(f{i}(depth + 1))",
            ])
        if kind == "coroutine":
            return f"drive(f{i}(depth + 1))"
        return f"f{i}(depth + 1)"

    def statement(self, i):
        later = range(i + 1, FUNCTIONS)
        what = self.random.random()
        if what < 0.1:
            return f"if depth < 4:\n    {self.itself(i)}"
        if what < 0.2:
            return "raise ValueError(depth)" if i else "pass"
        if not later:
            return "[n * n for n in range(3)]"
        call = self.call(self.random.choice(later))
        if what < 0.4:
            return f"try:\n    {call}\nexcept ValueError:\n    pass\nfinally:\n    leaf()"
        if what < 0.5:
            return f"with Manager():\n    {call}"
        return call

    def itself(self, i):
        return self.call(i) if self.kinds[i] not in ("method", "closure") else "leaf()"

    def function(self, i):
        body = [self.statement(i) for _ in range(self.random.randint(1, CALLS))]
        if self.kinds[i] == "generator":
            body.insert(self.random.randint(0, len(body)), "yield depth")
            body.append("yield from iter([1, 2])")
        if self.kinds[i] == "coroutine":
            body.insert(self.random.randint(0, len(body)), "await Pause()")
        text = textwrap.indent("\n".join(body), "    ")
        if self.kinds[i] == "method":
            return (f"class C{i}:\n    def run(self, depth):\n{textwrap.indent(text, '    ')}\n"
                    f"def f{i}(depth):\n    return C{i}().run(depth)\n")
        if self.kinds[i] == "closure":
            return (f"def f{i}(depth):\n    def inner():\n{textwrap.indent(text, '    ')}\n"
                    f"    return inner()\n")
        prefix = "async " if self.kinds[i] == "coroutine" else ""
        return f"{prefix}def f{i}(depth):\n{text}\n"


HEAD = '''
def leaf():
    return 1

class Manager:
    def __enter__(self):
        leaf()
    def __exit__(self, *_):
        leaf()
        return True

class Pause:
    def __await__(self):
        yield 1
        yield 2

def take_one(generator):
    next(generator, None)
    generator.close()

def throw_into(generator):
    try:
        next(generator, None)
        generator.throw(ValueError("thrown"))
    except (ValueError, StopIteration):
        pass

def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass
'''


def compile_program(seed):
    """The function that runs the program; an exception that gets out is its end."""
    space = {"__name__": f"program{seed}"}
    exec(compile(Program(seed).text, f"<program {seed}>", "exec"), space)

    def run():
        try:
            space["f0"](0)
        except ValueError:
            pass
    return run


def reference(run):
    """[(depth, name, file, line)] of every call under run, in the order of their begins."""
    calls, depth = [], [0]

    def handler(frame, event, _):
        if event == "call":
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            calls.append((depth[0], name, code.co_filename, code.co_firstlineno))
            depth[0] += 1
        elif event == "return":
            depth[0] -= 1
    sys.setprofile(handler)
    run()
    sys.setprofile(None)
    return [c for c in calls if c[2].startswith("<program")]
