"""everything.py - each thing that Intel's ittapi package can say, once or a few times."""
import threading

import ittapi


@ittapi.task
def decorated():
    pass


@ittapi.task("by another name")
def renamed():
    decorated()


def worker():
    ittapi.thread_set_name("été worker")
    with ittapi.task("on the worker", domain="other.domain"):
        pass


def main():
    ittapi.thread_set_name("the main thread")
    decorated()
    renamed()
    with ittapi.task("outer"):
        for i in range(3):
            with ittapi.task(f"inner {i}"):
                decorated()
    first, second = ittapi.overlapped_task("first"), ittapi.overlapped_task("second")
    first.begin()
    second.begin()
    first.end()
    second.end()
    with ittapi.event("an event"):
        pass
    parent = ittapi.task("the parent")
    with parent:
        with ittapi.task("the child", parent=parent.id()):
            pass
    thread = threading.Thread(target=worker)
    thread.start()
    thread.join()
    print("done")


main()
